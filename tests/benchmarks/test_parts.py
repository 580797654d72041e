"""The parts of the benchmarks that compute: stores, verdicts, slopes, curves, peers."""

import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris

from benchmarks import fuzz, peers
from benchmarks.page import holds
from benchmarks.papers import (
    beam_causes,
    causes,
    curve_causes,
    curves,
    penalty,
    shallow_tree,
    star,
    trade_off,
)
from benchmarks.papers.curves import at
from benchmarks.papers.significance import mark
from benchmarks.papers.starts import Starts, converges
from benchmarks.quality import long_search, searches
from benchmarks.quality.least_cost import least_cost
from benchmarks.settings import Refused, Settings
from benchmarks.speed import cases, table
from benchmarks.speed.limits import generated_text
from benchmarks.speed.scaling import exponent
from benchmarks.store import Store, group, mean
from benchmarks.verdicts import Cell, explain, judge
from pellucid import ExShallow
from pellucid._core.refine.tuning import EFFORTS
from pellucid.baselines import CLTree
from tests.fuzz.counts import engine_hash

pytestmark = pytest.mark.slow

NAN = float("nan")


def test_a_store_remembers_and_forgets(tmp_path):
    path = tmp_path / "folder" / "file.csv"
    store = Store(path, ("name", "seed"), ("seconds",))
    store.add([{"name": "a, b", "seed": 0, "seconds": 0.5}, {"name": "c", "seed": 1}])
    again = Store(path, ("name", "seed"), ("seconds",))
    assert {"name": "a, b", "seed": 0} in again
    assert {"name": "c"} in again
    assert {"name": "c", "seed": 0} not in again
    assert again.rows[1]["seconds"] == ""
    again.drop([{"name": "c"}])
    assert [row["name"] for row in Store(path, ("name", "seed"), ("seconds",)).rows] == ["a, b"]
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("is_stale", [False, True])
@pytest.mark.parametrize("title", fuzz.FILES)
def test_counts_of_another_version_are_stale(tmp_path, title, is_stale):
    name, folders = fuzz.FILES[title]
    found = "another" if is_stale else engine_hash(folders=folders)
    counts = {"IMM": {"cases": 1000, "fits": 2000, "correct": 999, "hang": 1}}
    document = {"engine": found, "tables": found, "commit": "abc", "estimators": counts}
    (tmp_path / name).write_text(json.dumps({**document, "runs": []}))
    [section] = fuzz.sections(Settings(output=tmp_path))
    [sheet] = section.items
    total = "all (stale)" if is_stale else "all"
    assert sheet.rows[-1] == [total, "1,000", "2,000", "999", "0", "1"]
    assert ("stale" in sheet.note) == is_stale


def test_a_store_with_other_columns_is_refused(tmp_path):
    path = tmp_path / "file.csv"
    Store(path, ("name",), ("seconds",)).add([{"name": "a", "seconds": 1.0}])
    with pytest.raises(Refused, match="file.csv has other columns"):
        Store(path, ("name",), ("minutes",))


def test_means_skip_what_is_not_known():
    rows = [{"a": "x", "b": "1"}, {"a": "y", "b": ""}, {"a": "x", "b": "2"}]
    assert mean(rows, "b") == 1.5
    assert np.isnan(mean(rows[1:2], "b"))
    assert list(group(rows, "a")) == [("x",), ("y",)]


@pytest.mark.parametrize(
    ("ours", "paper", "larger_is_better", "verdict"),
    [
        (1.06, 1.04, False, "same"),
        (1.07, 1.04, False, "worse"),
        (1.00, 1.04, False, "better"),
        (0.104, 0.10, True, "same"),
        (0.80, 0.72, True, "better"),
        (0.60, 0.72, True, "worse"),
        (0.60, None, True, "no target"),
    ],
)
def test_two_percent_and_the_rounding_make_the_verdict(ours, paper, larger_is_better, verdict):
    assert judge(ours, paper, larger_is_better=larger_is_better) == verdict


def test_a_gap_is_explained_by_what_is_known():
    assert "itself gives 1.17" in explain("some", "npc", [1.17, 1.18], 1.05, peer=1.17)
    assert "other seeds" in explain("some", "npc", [1.1, 1.3], 1.1, peer=NAN)
    assert explain("some", "npc", [1.17, 1.18], 1.05, peer=NAN) == "Differs; unexplained."
    assert explain("some", "npc", [1.17], 1.05, peer=1.0) == "Differs; unexplained."
    assert "further" in explain("some", "npc", [1.17], 1.05, peer=1.3)
    same = explain("some", "npc", [1.17, 1.171], 1.05, peer=1.3, ours_there=1.3)
    assert "gives 1.30 and we 1.30" in same


def test_a_variant_that_agrees_with_most_figures_is_the_reason(tmp_path):
    figures = {"npc": "1.1", "waes": "3.0", "wad": "4.0", "nmi": "0.5"}
    methods = ("exshallow", "exgreedy", "imm", "kmc")
    keys = ("dataset", "variant", "seed", "method")
    store = Store(tmp_path / causes.FILE, keys, tuple(figures))
    for variant, factor in (("as in the tables", 2), ("columns from 0 to 1", 1)):
        store.add(
            {"dataset": "avila", "variant": variant, "seed": 0, "method": method}
            | {measure: factor * float(value) for measure, value in figures.items()}
            for method in methods
        )
    published = Store(tmp_path / causes.PUBLISHED, ("dataset", "method"), tuple(figures))
    published.add({"dataset": "avila", "method": method, **figures} for method in methods)
    gap = Cell("avila", "imm", "waes", 2, 6.0, 3.0, "worse", "Differs; unexplained.")
    same = Cell("avila", "imm", "npc", 2, 1.1, 1.1, "same", "")
    found = causes.with_reasons([gap, same], tmp_path)
    assert found[0].why.startswith("With columns from 0 to 1 it is 3.00; 12 of 12")
    assert found[1] == same
    other = Cell("avila", "imm", "nmi", 2, 0.6, 1.0, "worse", "Differs; unexplained.")
    [by_other] = causes.with_reasons([other], tmp_path)
    assert "only as in the tables gives the paper's figure (1.00)" in by_other.why
    none = Cell("avila", "imm", "nmi", 2, 0.6, 0.7, "worse", "Differs; unexplained.")
    store.add(
        {"dataset": "avila", "variant": "one start of k-means", "seed": 0, "method": method}
        | dict.fromkeys(figures, 9)
        for method in methods
    )
    [excluded] = causes.with_reasons([none], tmp_path)
    assert "Tested and excluded: one start of k-means; the nearest is 0.50" in excluded.why
    store.add(
        {"dataset": "avila", "variant": "columns from 0 to 1", "seed": 1, "method": method}
        | {measure: 1.01 * float(value) for measure, value in figures.items()}
        | {"nmi": 0.9}
        for method in methods
    )
    [by_chance] = causes.with_reasons([none], tmp_path)
    assert by_chance.why.startswith("With columns from 0 to 1 it is 0.70;")
    far = Cell("avila", "imm", "nmi", 2, 0.6, 0.85, "worse", "Differs; unexplained.")
    [by_chance] = causes.with_reasons([far], tmp_path)
    assert "than other seeds bring about (± 0.57)" in by_chance.why


def test_a_mark_needs_a_significant_difference():
    near, far = [1.0, 1.1, 1.2], [2.0, 2.1, 2.2]
    assert mark(near, far, larger_is_better=False) == "worse"
    assert mark(near, far, larger_is_better=True) == "better"
    assert mark(near, [1.0, 1.1, 1.3], larger_is_better=False) == ""
    assert mark([1.0, 1.0], [1.0, 1.0], larger_is_better=False) == ""
    assert mark([1.0, 1.0], [1.5, 1.5], larger_is_better=False) == "worse"


def test_a_star_is_explained_by_its_goal():
    def cell(method, measure, ours, paper):
        verdict = judge(ours, paper, larger_is_better=measure == "nmi")
        why = "" if verdict in ("same", "no target") else "Differs; unexplained."
        return Cell("some", method, measure, 2, ours, paper, verdict, why)

    def reason(goal_cost, star_cost):
        cells = [
            cell("kmc", "npc", goal_cost, 1.3),
            cell("kmc", "waes", 3.5, 3.5),
            cell(star.METHOD, "npc", star_cost, 1.2),
            cell(star.METHOD, "waes", 3.0, 3.4),
        ]
        return star.with_reasons(cells)[-1].why

    assert "Both goals are reached" in reason(1.3, 1.1)
    assert reason(1.3, 1.4) == "Differs; unexplained."
    assert "KMC has an NPC of 1.50 (1.30) and a WAES of 3.50 (3.50)" in reason(1.5, 1.1)


def test_a_star_counts_the_seeds_in_which_it_is_no_worse():
    def row(seed, method, npc, waes):
        return {"seed": seed, "method": method, "npc": npc, "waes": waes}

    rows = [
        row("0", "kmc", "1.2", "3.5"), row("1", "kmc", "1.2", "3.5"), row("2", "kmc", "1", "1"),
        row("0", star.METHOD, "1.2", "3.5"), row("1", star.METHOD, "1.1", "3.6"),
        row("0", "imm", "1", "1"),
    ]  # fmt: skip
    assert [star.reaches(pair) for pair in star.seeds(rows)] == [True, False]


def test_a_beam_is_explained_by_the_variant_that_agrees(tmp_path):
    assert beam_causes.reason("avila", tmp_path) is None
    columns = ("npc_imm", "nmi_imm", "npc_bsimm", "nmi_bsimm")
    published = Store(tmp_path / beam_causes.PUBLISHED, ("dataset",), columns)
    for name in ("avila", "ecoli"):
        published.add([{"dataset": name, **dict.fromkeys(columns, 1.0)}])
    keys = ("dataset", "variant", "seed", "method")
    store = Store(tmp_path / beam_causes.FILE, keys, ("npc", "nmi", "mistakes"))
    for name, variant, value in (
        ("avila", "as in the table", 1.5),
        ("avila", "columns from 0 to 1", 1.01),
        ("ecoli", "as in the table", 1.5),
        ("ecoli", "columns of variance 1", 1.2),
    ):
        for method in beam_causes.METHODS:
            key = {"dataset": name, "variant": variant, "seed": 0, "method": method}
            store.add([{**key, "npc": value, "nmi": value, "mistakes": 1}])
    assert beam_causes.reason("avila", tmp_path).startswith("with columns from 0 to 1, all four")
    excluded = beam_causes.reason("ecoli", tmp_path)
    assert excluded == "tested and excluded: columns of variance 1, larger B and C"
    [section] = beam_causes.sections(tmp_path)
    assert ["Ecoli", "*the paper*", *["1.000 / 1.000"] * 2, "", "", "10"] in section.items[0].rows


def test_claims_about_cubt_and_cltree():
    costs = {"ExKMC": 1.0, curves.OURS: 1.0, "CART": 1.2, "KDTree": 1.3, "CUBT": 1.05}
    rows = [
        {"dataset": name, "method": method, "k": "2", "leaves": "8", "ratio": str(ratio)}
        for name, worst in (("iris", 3.0), ("wine", 1.25), ("digits", 1.4))
        for method, ratio in {**costs, "CLTree": worst}.items()
    ]
    [sheet] = curves._claims_about_baselines(rows)
    assert [row[1:] for row in sheet.rows] == [
        ["costliest on 2 of 3", "holds"],
        ["at most 10% above the cheapest on 3 of 3: Iris, Wine, Digits", "holds"],
        ["cost ratio 1.050, ExKMC (base: IMM) 1.000", "misses"],
    ]
    assert curves._claims_about_baselines(rows[:5]) == []


def test_the_number_of_leaves_that_comes_near_to_k_means(tmp_path):
    store = Store(tmp_path / curve_causes.FILE, ("dataset", "variant", "seed"), ("factor", "ratio"))
    for variant, least in (("as in the figure", 1.05), ("columns from 0 to 1", 1.0)):
        for seed, shift in ((0, 0.0), (1, 0.01)):
            rows = [{"factor": f, "ratio": least + shift + 0.1 / f} for f in curve_causes.FACTORS]
            key = {"dataset": "digits", "variant": variant, "seed": seed}
            store.add({**key, **row} for row in rows)
    [section] = curve_causes.sections(tmp_path)
    [plain, scaled] = section.items[0].rows
    assert plain == ["Digits", "as in the figure", "1.105 / 1.088 / 1.080", "more than 32k", "2"]
    assert scaled[2:] == ["1.055 / 1.038 / 1.030", "8k", "2"]


def starts_of(**methods):
    """Two starts, k = 2, costs and accuracies as given for 2, 4 and 8 leaves."""
    rows = []
    for method, (ratios, surrogate, accuracy) in methods.items():
        name = curves.OURS if method == "ours" else method
        for seed, shift in (("0", 0.0), ("1", 0.01)):
            rows += [
                {"method": name, "seed": seed, "k": "2", "leaves": str(leaves)}
                | {"ratio": str(ratio + shift), "surrogate": str((ratio + shift) * surrogate)}
                | {"accuracy": str(accuracy)}
                for leaves, ratio in zip((2, 4, 8), ratios)
            ]
    return Starts(rows)


def test_costs_converge_if_their_gap_halves_and_is_small():
    assert converges([0.1, 0.05, 0.01])
    assert converges([0.0005, 0.0005, 0.0005])
    assert not converges([0.1, 0.05, 0.02])  # halved, but not small
    assert not converges([0.006, 0.005, 0.005])  # small, but nearly the same as at first


def test_starts_have_a_middle_and_a_spread():
    found = starts_of(
        ExKMC=((1.3, 1.2, 1.1), 1.0, 0.8),
        ours=((1.3, 1.2, 1.1), 1.05, 0.8),
        CART=((1.4, 1.3, 1.2), 1.0, 0.9),
        KDTree=((1.4, 1.3, 1.21), 1.0, 0.1),
    )
    assert found.interval(curves.OURS, 7, "ratio") == pytest.approx((1.205, 0.005))
    assert found.gap(4) == pytest.approx(0.05)
    assert found.widest("ratio") == pytest.approx(0.005)
    assert found.cart_is_nearer_and_costlier()
    # At 5 to 7 leaves two pairs have equal costs; at 8 leaves the bands of CART and KDTree touch.
    apart, total = found.separated()
    assert total == 3 * 4 + 5
    assert 3 * 4 + 4 <= apart <= total


def test_more_leaves_come_closer_to_long_groups():
    case = trade_off.make_clouds(0)
    kmeans, models = trade_off.fit(case, 0)
    imm, expanded, exact = trade_off.measure(case, kmeans, models)
    assert imm["leaves"] == 3
    assert imm["ratio"] > expanded["ratio"] > exact["ratio"] == pytest.approx(1)
    assert imm["mistakes"] > expanded["mistakes"] > exact["mistakes"] == 0
    assert imm["expanded"] == 0
    assert expanded["expanded"] > 0


def test_topics_are_four_newsgroups_with_words_of_middling_frequency(tmp_path):
    titles = [*trade_off.TOPICS, "another"]
    y = np.repeat(np.arange(5), 40)
    X = np.zeros((200, 4), dtype=np.int16)
    X[:, 0] = 1  # in all texts
    X[::25, 1] = 2  # in 4 % of them
    X[160:, 2] = 1  # in the other newsgroup only
    rows = sparse.csr_array(X)
    parts = {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr, "shape": rows.shape}
    names = np.array(["all", "some", "none", "never"])
    np.savez(tmp_path / "newsgroups20.npz", **parts, y=y, target_names=titles, feature_names=names)
    case = trade_off.read_topics(tmp_path)
    assert case.X.shape == (160, 1)
    assert case.names == ["some"]
    assert np.bincount(case.y).tolist() == [40] * 4


def test_sizes_are_relative_to_no_penalty():
    rows = [
        {"dataset": "a", "seed": seed, "penalty": p, "waes": str(w), "npc": "1.5"}
        for seed, plain in (("0", 4.0), ("1", 8.0))
        for p, w in (("0.0", plain), ("0.03", plain / 2))
    ]
    sizes, costs = penalty.by_penalty(rows)
    assert sizes == {0.0: [1.0], 0.03: [0.5]}
    assert costs[0.03] == [1.5]
    assert penalty.rank_correlation(sizes) == pytest.approx(-1)


def test_a_slope_is_the_power():
    sizes = [1.0, 2.0, 4.0, 8.0]
    assert exponent(sizes, [3 * size**1.5 for size in sizes]) == pytest.approx(1.5)


def test_a_curve_that_has_stopped_keeps_its_cost():
    curve = [{"leaves": "3", "ratio": "1.5"}, {"leaves": "5", "ratio": "1.2"}]
    assert [at(curve, leaves) for leaves in (2, 3, 4, 5, 12)] == [1.5, 1.5, 1.5, 1.2, 1.2]


def test_floors_hold_or_not():
    assert holds(0.1, 0.12) == "holds"
    assert holds(0.13, 0.12) == "misses"
    assert holds(3.1, 3.0, at_least=True) == "holds"
    assert holds(3.1, None) == "–"


@pytest.fixture
def no_memory():
    peers.find.cache_clear()
    yield
    peers.find.cache_clear()


def test_peers_that_are_absent_are_left_out(monkeypatch, no_memory):
    for peer in peers.PEERS.values():
        if peer.package != "scikit-learn":
            # Another test may have imported both.
            for module in (peer.module, peer.module.split(".")[0]):
                monkeypatch.setitem(sys.modules, module, None)
    assert peers.names(100, is_sparse=False) == ["CART, k leaves (scikit-learn)"]
    assert "gemclus" in peers.unmeasured({"CART, k leaves (scikit-learn)"})
    assert peers.unmeasured(set(peers.PEERS)) == ""


def test_peers_that_are_there_are_fitted_beside_the_k_means(monkeypatch, no_memory):
    class Tree:
        def __init__(self, **parameters):
            self.parameters = parameters

        def fit(self, X, kmeans=None):
            return self.parameters, kmeans

    monkeypatch.setitem(sys.modules, "ExKMC", SimpleNamespace(__path__=[]))
    monkeypatch.setitem(sys.modules, "ExKMC.Tree", SimpleNamespace(Tree=Tree))
    X = np.arange(20.0).reshape(10, 2)
    kmeans = KMeans(3, n_init=1, random_state=0).fit(X)
    name = "IMM + expansion to 2k (ExKMC)"
    assert name in peers.names(10, is_sparse=False)
    assert name not in peers.names(10, is_sparse=True)
    assert peers.fit(name, X, kmeans) == ({"k": 3, "max_leaves": 6}, kmeans)


def test_a_peer_that_fails_does_not_end_the_run(tmp_path, monkeypatch, capsys):
    def fail(name, X, kmeans):
        raise RuntimeError("out of order")

    monkeypatch.setattr(peers, "fit", fail)
    store = Store(
        tmp_path / table.FILE, ("case", "method", "run"), ("kind", "seconds", "kmeans_seconds")
    )
    table._peer_job(store, cases.blobs(50, 2, 2), "IMM (ExKMC)", repeats=1).do()
    assert store.rows[0]["seconds"] == ""
    assert "out of order" in capsys.readouterr().err
    [section] = table.sections(tmp_path)
    assert section.items[0].rows == [["blobs 50 × 2, k = 2", "failed"]]


def test_real_data_are_found_in_a_folder_and_their_methods_summed(tmp_path):
    X = np.random.default_rng(0).integers(0, 9, (60, 4)).astype(np.int16)
    y = np.arange(60) % 3
    rows = sparse.csr_array(X)
    np.savez(tmp_path / "covtype.npz", X=X, y=y)
    parts = {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr, "shape": rows.shape}
    np.savez(tmp_path / "newsgroups20.npz", **parts, y=y)
    dense, scattered = cases.real(tmp_path)
    assert cases.load(dense)[0].dtype == np.float64
    assert sparse.issparse(cases.load(scattered)[0])
    assert cases.real(None) == []

    store = Store(
        tmp_path / table.FILE, ("case", "method", "run"), ("kind", "seconds", "kmeans_seconds")
    )
    for case in (dense, scattered):
        for method in table.ON_REAL_DATA:
            table._job(store, case, method, run=0, repeats=1).do()
    [section] = table.sections(tmp_path)
    [sheet] = section.items
    assert [row[0] for row in sheet.rows] == [dense.name, scattered.name]
    for row, case in zip(sheet.rows, (dense, scattered)):
        ratios = [table.ratio(r) for r in store.rows if r["case"] == case.name]
        assert row[-1].startswith(f"{sum(ratios):.2f} (≤ 1: ")


def all_trees(X, n_leaves):
    """The costs of all trees, from the labels of their rows."""

    def labels(rows, n):
        if n == 1:
            yield np.zeros(len(rows), dtype=int)
            return
        for j in range(X.shape[1]):
            for threshold in np.unique(X[rows, j])[:-1]:
                goes_left = X[rows, j] <= threshold
                for n_left in range(1, n):
                    for left in labels(rows[goes_left], n_left):
                        for right in labels(rows[~goes_left], n - n_left):
                            found = np.empty(len(rows), dtype=int)
                            found[goes_left], found[~goes_left] = left, right + n_left
                            yield found

    for found in labels(np.arange(len(X)), n_leaves):
        parts = [X[found == c] for c in range(n_leaves)]
        yield sum(((part - part.mean(axis=0)) ** 2).sum() for part in parts)


@pytest.mark.parametrize("n_leaves", [1, 2, 3, 4])
def test_the_least_cost_is_that_of_all_trees(n_leaves):
    X = np.random.default_rng(n_leaves).integers(0, 4, size=(8, 2)).astype(float)
    assert least_cost(X, n_leaves) == pytest.approx(min(all_trees(X, n_leaves)), abs=1e-9)


def test_generated_text_has_topics():
    X = generated_text(200, 1000, 40)
    assert X.shape == (200, 1000)
    assert 20 < X.nnz / 200 <= 40
    np.testing.assert_allclose((X * X).sum(axis=1), 1)


def test_pruned_trees_of_one_growth_are_those_of_a_fit():
    X = load_iris().data
    centers = KMeans(3, n_init=1, random_state=0).fit(X).cluster_centers_
    for model, setting in zip(curves._cltree_models(3, centers, len(X)), curves.CLTREE_GRID[:4]):
        alone = CLTree(reference=centers, **setting).fit(X)
        assert model.fit(X).tree_ == alone.tree_
        np.testing.assert_array_equal(model.relative_density_, alone.relative_density_)


def test_longer_searches_are_compared_with_the_balanced_one(tmp_path):
    before = EFFORTS["best"]
    with long_search.work_times("best", 10):
        assert EFFORTS["best"].search_work == tuple(10 * part for part in before.search_work)
        assert EFFORTS["best"].work_with_more_leaves == before.work_with_more_leaves
    assert EFFORTS["best"] is before
    (tmp_path / long_search.FILE).write_text(
        'dataset,seed,balanced,best,"best, 10 × the work"\n'
        "a,0,0.2,0.2,0.1\na,1,0.2,0.2,0.1\nb,0,0.1,0.1,0.1\n",
        encoding="utf-8",
    )
    (section,) = long_search.sections(Settings(output=tmp_path))
    assert section.items[0].rows[0] == ["a", "0.2000", "0.2000", "0.1000", "2"]
    assert section.items[0].rows[-1][1:] == ["+0.0%", "+0.0%", "-29.3%", ""]


@pytest.mark.slow
def test_polish_and_local_search_start_from_the_same_tree(tmp_path):
    settings = Settings(output=tmp_path, quick=True)
    jobs = searches.jobs(settings)
    assert [job.key for job in jobs] == [{"dataset": "iris", "leaves": n} for n in ("1k", "2k")]
    found = jobs[0].measure()
    for way in searches.WAYS:
        assert found[way] <= found["start"] + 1e-12
    assert found["then polished"] <= found["balanced search"] + 1e-12
    jobs[0].store.add([{**jobs[0].key, **found}])
    (section,) = searches.sections(settings)
    assert section.items[0].rows[0][:3] == ["iris", "1k", f"{found['start']:.4f}"]


@pytest.mark.parametrize("seed", range(3))
def test_the_objective_of_splits_is_that_of_exshallow(seed):
    random = np.random.default_rng(seed)
    X = random.integers(0, 6, (40, 3)) + random.random((40, 3)).round(1)
    centers = KMeans(4, n_init=1, random_state=seed).fit(X).cluster_centers_
    tree = ExShallow(depth_penalty=shallow_tree.PENALTY, reference=centers).fit(X).tree_
    choice = shallow_tree.Choice(X, centers, frozenset(), (0, 0.0), (0, 0.0))
    objective = {}
    for split in ((j, t) for j, column in enumerate(X.T) for t in np.unique(column)):
        left, left_centers = (points[:, split[0]] <= split[1] for points in (X, centers))
        enough = left_centers.sum() <= left.sum() and (~left_centers).sum() <= (~left).sum()
        if enough and 0 < left_centers.sum() < 4:
            objective[split] = shallow_tree._objective(choice, split, False, False)
    root = (int(tree.feature[0]), float(tree.threshold[0]))
    ours = shallow_tree._objective(choice, root, False, False)
    assert ours == pytest.approx(min(objective.values()), rel=1e-9)
    if len(np.unique(X, axis=0)) == len(X):
        assert shallow_tree._objective(choice, root, True, False) == ours
