"""The oracles find planted mistakes, exact costs are exact, and cases repeat by their number."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from _support.extended import EXTENDED, examples
from pellucid import BSIMM, EMN, IMM, ExGreedy, ExKMC, ExShallow, SpEx

from .__main__ import _current_counts
from .campaign import Campaign
from .counts import ENGINE, add_counts, engine_hash, table, version, write_counts
from .cut_oracles import check_cuts
from .exact import partition_cost
from .numbers import STORAGES, store
from .running import draw_case, is_clear, run_case
from .tree_cases import TreeCase
from .tree_oracles import WrongResult, check_tree, check_variants


def test_exact_costs():
    X = np.array([[0.0], [1.0], [5e-324], [1e300]])
    cost = partition_cost(X, np.array([0, 0, 1, -1]), np.array([1.0, 3.0, 1.0, 1.0]), 2)
    assert cost == Fraction(3, 4)
    cost = partition_cost(X[:3], np.array([0, 0, 0]), np.array([1.0, 0.5, 0.5]), 1)
    assert cost == Fraction(1, 2) + Fraction(5e-324) / 2  # the lower median is 0


def test_storages_hold_the_same_numbers():
    rng = np.random.default_rng(0)
    X = rng.integers(-1, 2, (6, 3)).astype(float)
    for storage in STORAGES:
        stored = store(rng, X, storage)
        dense = stored.toarray() if hasattr(stored, "toarray") else np.asarray(stored)
        np.testing.assert_array_equal(dense, X, err_msg=storage)


@pytest.fixture
def solved():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    case = TreeCase("IMM", IMM(reference=X[:3], n_jobs=1), "", X, X, reference="rows")
    return case, case.fit()


def test_right_result_passes(solved):
    case, model = solved
    check_tree(case, model, np.random.default_rng(0))


@pytest.mark.parametrize(
    ("attribute", "changed"),
    [
        ("labels_", lambda labels: np.roll(labels, 1)),
        ("inertia_", lambda inertia: inertia * (1 + 1e-6)),
        ("inertia_", lambda inertia: np.nan),
        ("reference_labels_", lambda labels: np.roll(labels, 1)),
        ("tree_", lambda tree: tree.replace(threshold=tree.threshold + 0.5)),
        ("tree_", lambda tree: tree.replace(n_node_samples=tree.n_node_samples + 1)),
        ("n_leaves_", lambda n: n + 1),
        ("rules_", lambda rules: rules[:-1]),
    ],
)
def test_planted_mistakes_are_found(solved, attribute, changed):
    case, model = solved
    setattr(model, attribute, changed(getattr(model, attribute)))
    with pytest.raises(WrongResult):
        check_tree(case, model, np.random.default_rng(0))


def test_cases_repeat_by_their_number():
    for seed in range(20):
        (first, _), (second, _) = draw_case(seed), draw_case(seed)
        assert first.description == second.description
        np.testing.assert_array_equal(first.X, second.X)
        assert repr(first.model) == repr(second.model)


def test_errors_that_are_clear():
    def error_of(call):
        with pytest.raises(Exception) as caught:  # noqa: PT011
            call()
        return caught.value

    assert is_clear(error_of(lambda: IMM(2).fit([[np.nan], [1.0]])))
    assert is_clear(error_of(lambda: IMM(3).fit([[0.0], [1.0]])))
    assert not is_clear(error_of(lambda: np.zeros(3)[5]))
    assert not is_clear(error_of(lambda: np.zeros((2, 2)) @ np.zeros(3)))


CUTTING = [
    BSIMM(beam_width=3),
    EMN(),
    ExGreedy(),
    ExGreedy(objective="kmedians"),
    ExKMC(),
    ExKMC(base=None, n_leaves=5),
    ExShallow(),
    IMM(),
    SpEx(n_leaves=5),
]


@pytest.mark.parametrize("model", CUTTING, ids=str)
@pytest.mark.parametrize("values", ["integers", "floats"])
def test_cuts_that_are_not_the_best_are_found(model, values):
    """Each cut in turn is moved to the next value of its column."""
    rng = np.random.default_rng(3)
    X = rng.integers(0, 9, (25, 2)).astype(float) if values == "integers" else rng.random((25, 2))
    labels = (X[:, 0] > np.median(X[:, 0])) + 2 * (X[:, 1] > np.median(X[:, 1]))
    model = type(model)(**{**model.get_params(), "n_jobs": 1})
    case = TreeCase(type(model).__name__, model, "", X, X, y=labels, reference="labels")
    fitted = case.fit()
    check_cuts(case, fitted)
    tree = fitted.tree_
    for node in np.flatnonzero(~tree.is_leaf):
        column = np.unique(np.append(X[:, tree.feature[node]], fitted.reference_centers_))
        above, below = column[column > tree.threshold[node]], column[column <= tree.threshold[node]]
        for moved in (*above[:3], *below[-4:-1]):
            threshold = tree.threshold.copy()
            threshold[node] = moved
            fitted.tree_ = tree.replace(threshold=threshold)
            if np.array_equal(fitted.tree_.apply(X), tree.apply(X)):
                continue
            with pytest.raises(WrongResult):
                check_cuts(case, fitted)


def test_ties_go_to_the_lowest_feature():
    X = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 1.0], [1.0, 1.0]])
    case = TreeCase("IMM", IMM(reference=X[1:3], n_jobs=1), "", X, X, reference="rows")
    fitted = case.fit()
    check_cuts(case, fitted)
    fitted.tree_ = fitted.tree_.replace(feature=np.where(fitted.tree_.is_leaf, -1, 1))
    with pytest.raises(WrongResult, match="ties go to the lowest"):
        check_cuts(case, fitted)


def _counts(first_seed, next_seed, engine="a"):
    run = {"first_seed": first_seed, "next_seed": next_seed}
    estimators = {"IMM": {"cases": 2, "fits": 3, "correct": 1, "hang": 1}}
    return {"engine": engine, "estimators": estimators, "runs": [run]}


def test_counts_of_several_runs_are_added():
    total = add_counts([_counts(0, 10), _counts(10, 20)])
    assert table(total).splitlines()[-1].split() == ["all", "6", "4", "2", "0", "0", "2"]
    with pytest.raises(ValueError, match="seed 5 is counted twice"):
        add_counts([_counts(0, 10), _counts(5, 20)])
    with pytest.raises(ValueError, match="different versions"):
        add_counts([_counts(0, 10), _counts(10, 20, "b")])


def test_counts_of_another_version_are_dropped(tmp_path):
    def is_kept(estimator, **other):
        counts = {"estimators": {estimator: {"cases": 2}}, "runs": []}
        write_counts(tmp_path / "counts.json", {**version(), **other, **counts})
        return _current_counts(tmp_path / "counts.json") != []

    assert is_kept("IMM")
    assert is_kept("explain")
    assert is_kept("IMM", tables="other")
    assert not is_kept("explain", tables="other")
    assert not is_kept("IMM", engine="other")


def test_hash_of_the_engine_depends_on_content_only(tmp_path):
    def write(folder, text):
        for name in ENGINE:
            (tmp_path / folder / name).mkdir(parents=True)
        (tmp_path / folder / ENGINE[0] / "loops.py").write_bytes(text)
        return engine_hash(tmp_path / folder)

    first = write("first", b"x = 1\ny = 2\n")
    assert write("second", b"x = 1\r\ny = 2\r\n") == first
    assert write("third", b"x = 1\ny = 3\n") != first


@pytest.mark.slow
def test_campaign_counts_hangs():
    """A case above the time limit ends its process, which another one replaces."""
    lines: list[str] = []
    n = 2 if EXTENDED else 1
    campaign = Campaign(10, 1, 5, n_cases=n, show=lines.append, time_limit=1e-3)
    campaign.run()
    run = campaign.document()["runs"][0]
    assert (run["first_seed"], run["next_seed"], run["cases"]) == (5, 5 + n, n)
    assert campaign.total("hang") == run["failures"] == n
    hung = [line.split(" ?: ")[0] for line in lines if "hang" in line]
    assert hung == [f"seed {5 + i}" for i in range(n)]
    assert all("\n" not in line for line in lines)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 480, 40) if EXTENDED else [1])
def test_short_run(first):
    """The first case takes as long as all others of the ordinary run: there it is left out."""
    outcomes = [run_case(seed) for seed in range(first, first + 40)]
    assert [outcome for outcome in outcomes if outcome.is_failure] == []


@pytest.mark.slow
@settings(max_examples=examples(60), deadline=None, derandomize=True)
@given(st.data())
def test_small_tables(data):
    """Tables that Hypothesis can shrink: few distinct numbers of any magnitude, whole weights."""
    n, d = data.draw(st.integers(1, 8)), data.draw(st.integers(1, 3))
    numbers = st.sampled_from([0.0, -0.0, 1.0, 1 / 3, -1e100, 1e100, 1e-60, 2.0**53, 0.1])
    X = data.draw(hnp.arrays(np.float64, (n, d), elements=numbers))
    centers = X[data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=4))]
    weight = data.draw(st.lists(st.integers(1, 3), min_size=n, max_size=n))
    method = data.draw(st.sampled_from([EMN, ExGreedy, ExKMC, IMM, SpEx]))
    objective = data.draw(st.sampled_from(["kmeans", "kmedians"]))
    model = method(reference=centers, objective=objective, n_jobs=1)
    case = TreeCase(method.__name__, model, "", X, X, weight=weight, reference="rows")
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = case.fit()
        check_tree(case, fitted, rng)
        check_cuts(case, fitted)
        check_variants(case, fitted, rng)


@pytest.mark.slow
def test_campaign_counts_cases_of_one_estimator():
    lines: list[str] = []
    campaign = Campaign(10, 1, 5, 20, show=lines.append, time_limit=600, only="IMM")
    campaign.run()
    run = campaign.document()["runs"][0]
    n_cases = sum(draw_case(seed)[0].name == "IMM" for seed in range(5, 25))
    assert n_cases > 1
    assert (run["first_seed"], run["next_seed"], run["cases"]) == (5, 25, n_cases)
    assert {name for name, _ in campaign.counts} == {"IMM"}
    assert campaign.total("hang") == run["failures"] == len(campaign.failures) == len(lines) == 0
