"""The EOP benchmark: its parts compute the right numbers, and a quick run writes what it should."""

import csv

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from benchmarks import eop
from benchmarks.__main__ import main
from benchmarks.eop import (
    ateop,
    boosting,
    claims,
    ensembles,
    figures,
    levels,
    methods,
    patterns,
    real,
    sets,
    synthetic,
)
from benchmarks.eop.choice import Trial, folds, most_accurate, simplest
from benchmarks.eop.lists import EOP, answers, n_rows
from benchmarks.store import read_rows
from pellucid.datasets import make_eop_patterns, make_three_features, make_xor_triangles

pytestmark = pytest.mark.slow

NAN = float("nan")


def test_planes_are_those_of_scikit_learn():
    random = np.random.default_rng(0)
    X = random.random((300, 4))
    sign = np.where(X[:, 0] + X[:, 2] + 0.2 * random.normal(size=300) > 1, 1.0, -1.0)
    weight = random.random(300)
    pairs = [(0, 1), (0, 2), (1, 3)]
    planes = np.stack([np.column_stack([X[:, pair], np.ones(300)]) for pair in pairs])
    found = boosting.fit_planes(planes, sign, weight, C=2.0)
    warm = boosting.fit_planes(planes, sign, weight, C=2.0, start=found + 0.1)
    for pair, normal, again in zip(pairs, found, warm):
        peer = LinearSVC(C=2.0, dual=False, tol=1e-10).fit(X[:, pair], sign, sample_weight=weight)
        assert normal == pytest.approx([*peer.coef_[0], peer.intercept_[0]], abs=1e-2)
        assert again == pytest.approx(normal, abs=1e-2)


def test_boosting_gets_better_and_stops_when_it_cannot():
    X, y = make_eop_patterns(400, 5, background=0, random_state=0)
    model = boosting.BoostedPlanes(30).fit(X, y)
    right = [np.mean(answer == y) for answer in model.staged_predict(X)]
    assert len(right) == len(model.members_) <= 30
    assert right[-1] > right[0] + 0.02
    hopeless = boosting.BoostedPlanes(5).fit(np.zeros((4, 2)), np.array([0, 1, 0, 1]))
    assert hopeless.members_ == []
    with pytest.raises(ValueError, match="3 classes"):
        boosting.BoostedPlanes().fit(X[:3], np.arange(3))


def test_support_is_a_share_of_all_rows():
    assert n_rows(0.03, 2000) == 42
    assert n_rows(0.03, 1333) == 28
    assert n_rows(0.0, 10) == 1
    assert EOP("stump", "box", min_support=0.02)._make(2000, 0.1, 0.0).min_support == 28


def test_the_simplest_within_one_standard_error():
    trials = [Trial("large", 90, 30), Trial("small", 87, 5), Trial("tiny", 80, 1)]
    assert simplest(trials, 100) == "small"
    many = [Trial(name, 100 * n_right, size) for name, n_right, size in trials]
    assert simplest(many, 10_000) == "large"
    assert most_accurate(trials) == "large"
    assert most_accurate([Trial("a", 5, 2), Trial("b", 5, 1)]) == "b"
    y = np.repeat([0, 1], 30)
    tested = np.concatenate([test for _, test in folds(y)])
    assert sorted(tested) == list(range(60))


@pytest.mark.parametrize(
    ("regions", "leftover"),
    [("nonparametric", "majority"), ("nonparametric", "neighbours"), ("box", "majority")],
)
def test_a_list_that_is_cut_short_is_one_with_fewer_levels(regions, leftover):
    X, y = make_three_features(150, random_state=0)
    X_test, y_test = make_three_features(100, random_state=1)
    kind = EOP("linear_svm", regions, leftover=leftover)
    model = kind._make(len(y), 0.1, 0.0).fit(X, y)
    stages = list(kind._stages(model, y, X_test, y_test))
    assert len(stages) == model.n_levels_ + 1 > 3
    assert stages[0] == (np.sum(y_test == np.bincount(y).argmax()), 0.0)
    for n_levels in (1, 3, model.n_levels_):
        short = kind._make(len(y), 0.1, 0.0, n_levels).fit(X, y)
        figures_of_it = kind.judge(short, X_test, y_test)
        assert stages[n_levels] == (
            pytest.approx(100 * figures_of_it["accuracy"]),
            figures_of_it["size"],
        )


def test_a_list_is_judged_by_what_its_levels_do():
    X, y = make_three_features(300, random_state=0)
    kind = EOP("linear_svm", "nonparametric")
    model = kind._make(len(y), 0.2, 0.0, 3).fit(X, y)
    found = kind.judge(model, X, y)
    level = model.apply(X)[:, 0]
    m, dims = 5, [len(one.features) for one in model.levels_]
    asked = np.where(level < 0, len(dims), level + 1)
    used = [one.regions.n_neighbors for one in model.levels_]
    assert used[0] == m
    assert found["complexity"] == pytest.approx(np.mean([sum(used[:n]) for n in asked]) + 1)
    assert found["effort"] == pytest.approx(np.mean([sum(dims[:n]) for n in asked]))
    assert found["size"] == sum(dims)
    given = answers(model, X)
    inside = level >= 0
    assert (given[inside, level[inside]] == model.predict(X)[inside]).all()


def test_a_tree_is_judged_in_both_readings():
    X, y = make_xor_triangles(400, random_state=0)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    whole, by_leaf = methods._judge_cart(tree, X, y), methods._judge_leaves(tree, X, y)
    assert whole["complexity"] == tree.tree_.node_count
    assert whole["effort"] == pytest.approx(np.mean(tree.decision_path(X).sum(axis=1)) - 1)
    # All leaves have one classifier, so what they lift adds up to nothing.
    assert whole["lift"] == pytest.approx(1)
    assert by_leaf["lift"] > 1
    forest = RandomForestClassifier(3, random_state=0).fit(X, y)
    nodes = sum(member.tree_.node_count for member in forest.estimators_)
    assert methods._judge_members(forest, X, y)["complexity"] == nodes


def test_pairs_means_and_tests():
    rows = [
        {"dataset": "a", "method": "x", "v": "1"},
        {"dataset": "a", "method": "x", "v": "3"},
        {"dataset": "b", "method": "x", "v": "inf"},
        {"dataset": "c", "method": "y", "v": "4"},
    ]
    assert figures.column(rows, "x", "v").tolist()[:2] == [2.0, np.inf]
    assert np.isnan(figures.column(rows, "x", "v")[2])
    assert figures.mean(figures.column(rows, "x", "v")) == 2.0
    assert figures.paired_p(np.array([1.0, 2, 3]), np.array([1.1, 2.3, 3.2])) == pytest.approx(
        0.0742, abs=1e-3
    )
    assert np.isnan(figures.paired_p(np.array([1.0]), np.array([2.0])))
    assert np.isnan(figures.paired_p(np.array([1.0, 2]), np.array([2.0, 3])))
    assert figures.cell(0.5, 0.25) == "0.500 (0.250)"
    assert figures.cell(np.inf, NAN) == "Inf"
    assert figures.cell(NAN) == "–"
    assert [figures.p_text(p) for p in (0.5, 1e-5, NAN)] == ["p = 0.500", "p < 0.001", "–"]


def test_accuracy_inside_the_regions_is_compared_with_the_allowed_error():
    def row(inside, error, rows):
        return {"inside": str(inside), "error": str(error), "rows": str(rows)}

    assert ateop.is_accurate_inside(row(0.9, 0.1, 10))
    assert ateop.is_accurate_inside(row(NAN, 0.1, 0))
    slightly, clearly = row(0.89, 0.1, 100), row(0.8, 0.1, 1000)
    assert not ateop.is_accurate_inside(slightly)
    assert [ateop.is_beyond_chance(r) for r in (slightly, clearly)] == [False, True]
    rows = (row(0.9, 0.1, 10), row(NAN, 0.1, 0), slightly)
    verdicts = [ateop.verdict(each, "inside") for each in rows]
    assert verdicts == ["holds", "no rows", "misses"]
    found = claims._on_ateop([{**slightly, "confidence": "default", "further_inside": "0.91"}])
    assert [claim.verdict for claim in found] == ["misses", "holds"]
    assert found[1].found == "1 of 1 runs, at worst +1.0 points"


def test_further_rows_are_others_of_the_same_patterns():
    X, y = sets.further_rows(3, quick=True)
    known, _, pattern, patterns = sets.generate(3)
    assert not np.isin(X, known).any()
    for number, one in enumerate(patterns):
        near = [
            np.linalg.norm((rows[:, one.features] - one.center) / 0.1, axis=1) < 1
            for rows in (X, known)
        ]
        assert near[0].mean() == pytest.approx(near[1].mean(), abs=0.03)
        assert (y[near[0]] == one.label).mean() > 0.6
        assert near[1][pattern == number].mean() > 0.6


@pytest.mark.parametrize("number", [2, 5, 8])
def test_further_rows_repeat_no_number_of_the_set(number):
    assert not np.isin(sets.generate(number)[0], sets.further_rows(number)[0]).any()


def test_early_levels_are_counted():
    def row(pattern, features, level, level_features, rows):
        names = ("dataset", "pattern", "features", "level", "level_features", "rows")
        return dict(zip(names, map(str, ("DS1", pattern, features, level, level_features, rows))))

    rows = [
        row(-1, "", 0, "0 1", 9), row(-1, "", 1, "2 4", 9), row(-1, "", -1, "", 9),
        row(0, "0 1 3", 0, "0 1", 6), row(0, "0 1 3", 1, "2 4", 1), row(0, "0 1 3", -1, "", 3),
    ]  # fmt: skip
    assert patterns.early_share(rows, 1) == 0.6
    assert patterns.early_share(rows, 2) == 0.7
    *found, chance = patterns.n_projections_found(rows, 2)
    assert found == [1, 2]
    assert chance == pytest.approx(3 / 45)


def test_real_sets_are_found_and_merged(tmp_path):
    random = np.random.default_rng(0)
    y = np.repeat(["hid", "hId", "hud"], 30)
    np.savez(tmp_path / "vowel.npz", X=random.random((90, 3)), y=y)
    assert sets.real_names(None) == []
    assert sets.real_names(tmp_path) == ["vowel", "vowel_2"]
    whole, merged = (sets.split_real(name, 0, tmp_path) for name in ("vowel", "vowel_2"))
    assert len(whole.X) == 60
    assert sorted(set(whole.y)) == ["hId", "hid", "hud"]
    assert merged.y.sum() == 40


@pytest.fixture
def targets(tmp_path):
    """Figures in the form of the paper's tables."""
    folder = tmp_path / "targets"
    folder.mkdir()
    pairs = {
        "1_vs_boosting": ("boosting", "eop"),
        "2_nonparametric_vs_cart": ("cart", "eop"),
        "3_parametric_vs_cart": ("cart", "eop"),
    }
    for name, kinds in pairs.items():
        columns = [f"{kind}_{what}" for kind in kinds for what in ("accuracy", "complexity")]
        rows = [
            ["DS1", 0.9, 40, 0.8, 10],
            ["DS2", 0.8, 50, 0.75, 12],
            ["Mean", 0.85, 45, 0.775, 11],
        ]
        write_csv(folder / f"eop_table{name}.csv", ["dataset", *columns], rows)
    for name in ("4_uci", "5_real"):
        rows = [["Vowel", what, 0.9, 0.8] for what in ("accuracy", "complexity")]
        write_csv(folder / f"eop_table{name}.csv", ["dataset", "measure", "cart", "n_eop"], rows)
    columns = [f"{kind}_{m}" for kind in ("cart", "eop") for m in ("bf", "lift", "j", "nmi")]
    rows = [["SyntheticMean", *[0.125] * 8], ["DS1", "Inf", *[0.5] * 7]]
    write_csv(folder / "eop_table6_7_metrics.csv", ["dataset", *columns], rows)
    return folder


def write_csv(path, headings, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([headings, *rows])


def test_a_quick_run_measures_every_part(tmp_path, targets, monkeypatch):
    monkeypatch.setattr(eop.three_features, "N_ROWS", 150)
    monkeypatch.setattr(eop.xor, "N_ROWS", 300)
    output = tmp_path / "results"
    arguments = ["eop", "--quick", "--seeds", "1", "--output", str(output)]
    assert main([*arguments, "--targets", str(targets)]) == 0
    rows = read_rows(output / synthetic.FILE)
    assert [row["method"] for row in rows] == list(synthetic.ON_SYNTHETIC)
    assert all(0.5 < float(row["accuracy"]) <= 1 for row in rows)
    page = (tmp_path / "RESULTS.md").read_text(encoding="utf-8")
    for title in ("what the paper claims", "tables 1, 2, 3 and 6", "figure 9", "figure 10"):
        assert title in page
    assert "(0.850)" in page
    assert "real data" not in page
    for picture in (ateop.PICTURE, patterns.PICTURE, eop.xor.PICTURE):
        assert (output / picture).stat().st_size < 150_000
        assert f"(results/{picture})" in page
    assert str(tmp_path) not in page
    (tmp_path / "RESULTS.md").unlink()
    assert main(["report", "--output", str(output)]) == 0
    assert (tmp_path / "RESULTS.md").read_text(encoding="utf-8") == page


def test_what_cannot_be_run_is_refused(tmp_path, capsys):
    output = str(tmp_path / "results")
    assert main(["eop", "--only", "iris", "--output", output]) == 2
    assert "choose from synthetic, real" in capsys.readouterr().err
    assert main(["eop", "--targets", str(tmp_path), "--output", output]) == 2
    assert "no eop_table1_vs_boosting.csv" in capsys.readouterr().err


def test_inequalities_and_tests_are_counted_alike(tmp_path):
    from benchmarks.eop import against_cart, ten_sets
    from benchmarks.settings import Settings
    from pellucid import EOPClassifier

    assert len(set(ten_sets.TEN)) == 10
    assert ten_sets.names(None) == ["wine", "breast_cancer", "digits"]
    X = np.repeat([[0.0], [1.0], [2.0]], 20, axis=0)
    y = np.repeat(["a", "b", "a"], 20)
    split = sets.Split(X, y, X, y)
    tree = against_cart._tree(split)
    assert (tree["inequalities"], tree["accuracy"], tree["f1"], tree["rare"]) == (2, 1.0, 1.0, 0)
    assert tree["tests"] == pytest.approx(5 / 3)
    model = EOPClassifier(max_error=0.1, complexity_penalty=0.01, calibration=0)
    found = against_cart._list(split, model)
    assert (found["accuracy"], found["inequalities"], found["classes"]) == (1.0, 2, 2)
    constant = against_cart._judge(split, np.full(60, "a"), np.array(["a"]))
    assert (constant["rare"], constant["f1"]) == (1, pytest.approx(0.4))
    assert found["tests"] == pytest.approx(5 / 3)
    assert against_cart.sections(Settings(output=tmp_path)) == []


def test_multiboosting_and_feating_are_better_than_their_parts():
    X, y = make_eop_patterns(1500, 5, random_state=0)
    train, test = np.arange(1500) < 1000, np.arange(1500) >= 1000
    tree = DecisionTreeClassifier(min_samples_leaf=2, random_state=0).fit(X[train], y[train])
    least = tree.score(X[test], y[test])
    boosted = ensembles.MultiBoosting(16).fit(X[train], y[train])
    assert len(boosted.members_) == len(boosted.votes_) == 16
    assert np.mean(boosted.predict(X[test]) == y[test]) >= least
    aggregated = ensembles.Feating().fit(X[train], y[train])
    assert len(aggregated.members_) == 5
    assert np.mean(aggregated.predict(X[test]) == y[test]) >= least
    for model in (boosted, aggregated):
        names = np.array(["no", "yes"])[y[train].astype(int)]
        assert set(type(model)().fit(X[train][:40], names[:40]).predict(X[test])) <= {"no", "yes"}


def test_errors_by_level():
    X, y = make_three_features(300, random_state=0)
    rows = levels.measure(sets.Split(X[:200], y[:200], X[200:], y[200:]))
    assert len(rows) == 4 * levels.N_LEVELS
    assert {row["method"] for row in rows} == {"cart", "n_eop", *levels.CAUSES}
    tree = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X[:200], y[:200])
    assert rows[0]["error"] == pytest.approx(1 - tree.score(X[200:], y[200:]))
    last = [row["error"] for row in rows if row["method"] == "n_eop"]
    assert last[-1] <= last[0]


def test_figures_over_fewer_splits_are_named():
    rows = [{"dataset": "spambase", "method": m} for m in ("cart", "cart", "r_eop")]
    assert real._fewer_splits(rows) == " Means over fewer than 2 splits: R-EOP on Spambase (1)."
    assert real._fewer_splits(rows[:2]) == ""
