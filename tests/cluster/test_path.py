"""ExShallow.path returns every undominated tree once and searches few nodes."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale

from _support import oracles
from _support.extended import EXTENDED, examples, seeds
from _support.strategies import tiny_data
from pellucid import ExGreedy, ExplainableKMeans, ExShallow
from pellucid._core.growers.penalty_path import PenaltyPath
from pellucid._utils.progress import Progress
from pellucid.metrics import (
    kmeans_cost,
    weighted_average_depth,
    weighted_average_explanation_size,
)
from pellucid.tree.trade_off import TradeOff, TradeOffPoint

pytestmark = pytest.mark.slow

GRID = np.concatenate([[0.0], np.geomspace(1e-4, 1.0, 60)])


def measures(point):
    return point.cost, point.waes, point.wad


def brute_force(data, grid=GRID, **parameters):
    """Cost, WAES and WAD of the fit at each penalty of a dense grid."""
    found = {}
    for penalty in grid:
        model = ExShallow(reference=data.centers, depth_penalty=penalty, **parameters)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            tree = model.fit(data.X, sample_weight=data.weight).tree_
        cost = kmeans_cost(data.X, tree.predict(data.X), sample_weight=data.weight)
        size = weighted_average_explanation_size(tree), weighted_average_depth(tree)
        found[penalty] = tree, (cost, *size)
    return found


def noisy_blobs(seed, n=150, k=6):
    rng = np.random.default_rng(seed)
    X, _ = make_blobs(n, 4, centers=k, cluster_std=4.0, random_state=seed)
    centers = KMeans(k, n_init=2, random_state=seed).fit(X).cluster_centers_
    weight = rng.integers(1, 4, n).astype(float)
    return oracles.Data(X, centers, oracles.nearest(X, centers), weight)


def check_against_grid(data, path, found):
    for tree, of_grid in found.values():
        limit = np.array(of_grid) * (1 + 1e-9) + 1e-9
        assert any((np.array(measures(point)) <= limit).all() for point in path), tree
    trees = {tree for tree, _ in found.values()}
    assert len(path) >= 1
    assert not any(a.dominates(b) for a in path for b in path)
    assert len({point.tree for point in path}) == len(path)
    return trees


@pytest.mark.parametrize("seed", seeds(4))
def test_no_fit_of_a_dense_grid_beats_the_path(seed):
    data = noisy_blobs(seed)
    path = ExShallow(reference=data.centers).path(data.X, sample_weight=data.weight, max_fits=2000)
    assert path.is_complete
    found = brute_force(data, GRID if EXTENDED else GRID[::2])
    trees = check_against_grid(data, path, found)
    assert len(trees) > 3
    for penalty, (tree, _) in found.items():
        for point in path:
            inside = point.penalties[0] <= penalty <= point.penalties[1]
            assert (tree == point.tree) == inside


@given(tiny_data())
@settings(max_examples=examples(40), deadline=None)
def test_ties_and_equal_rows(data):
    path = ExShallow(reference=data.centers, n_jobs=1).path(
        data.X, sample_weight=data.weight, max_fits=500
    )
    check_against_grid(data, path, brute_force(data, GRID[::6], n_jobs=1))


@pytest.mark.parametrize(
    ("seed", "objective"),
    [(0, "kmeans"), (0, "kmedians")] + [(1, "kmeans"), (2, "kmeans")] * EXTENDED,
)
def test_points_equal_the_fits_at_their_penalties(seed, objective):
    data = noisy_blobs(seed)
    parameters = {"reference": data.centers, "objective": objective}
    path = ExShallow(**parameters).path(data.X, sample_weight=data.weight)
    for point in path:
        for penalty in (point.penalty, *point.penalties):
            model = ExShallow(**parameters, depth_penalty=penalty)
            model.fit(data.X, sample_weight=data.weight)
            assert model.tree_ == point.tree
        assert point.cost == pytest.approx(model.inertia_, rel=1e-12)
        assert point.npc == pytest.approx(model.inertia_ / model.reference_inertia_, rel=1e-12)
        assert point.waes == weighted_average_explanation_size(model.tree_)
        assert point.wad == weighted_average_depth(model.tree_)
        assert point.n_leaves == model.n_leaves_
        assert point.penalties[0] <= point.penalty <= point.penalties[1]


def test_the_path_begins_with_the_shortest_explanations():
    path = ExShallow(5, random_state=0).path(load_iris().data)
    sizes = [point.waes for point in path]
    assert sizes == sorted(sizes)
    assert path[0].cost > path[-1].cost
    greedy = ExGreedy(5, random_state=0).fit(load_iris().data)
    assert min(point.cost for point in path) <= greedy.inertia_


@pytest.mark.parametrize("convert", [sparse.csr_array, sparse.csc_matrix, np.asfortranarray])
def test_storage_and_threads_do_not_matter(convert):
    data = noisy_blobs(0)
    X = np.round(data.X).astype(np.float32)
    path = ExShallow(reference=data.centers, n_jobs=1).path(X)
    other = ExShallow(reference=data.centers, n_jobs=2).path(convert(X))
    assert [point.tree for point in path] == [point.tree for point in other]
    assert [point.penalties for point in path] == [point.penalties for point in other]


def test_integer_weights_are_repeated_rows():
    data = noisy_blobs(1, n=80)
    times = data.weight.astype(int)
    weighted = ExShallow(reference=data.centers).path(data.X, sample_weight=data.weight)
    repeated = ExShallow(reference=data.centers).path(np.repeat(data.X, times, axis=0))
    assert [p.tree.threshold.tolist() for p in weighted] == [
        pytest.approx(p.tree.threshold.tolist(), nan_ok=True, rel=0, abs=0) for p in repeated
    ]
    assert [p.waes for p in weighted] == pytest.approx([p.waes for p in repeated])


def test_max_fits_bounds_the_search_and_marks_the_path_incomplete():
    data = noisy_blobs(2)
    path = ExShallow(reference=data.centers).path(data.X, max_fits=5)
    assert not path.is_complete
    assert "there may be more" in str(path)
    whole = ExShallow(reference=data.centers).path(data.X)
    assert whole.is_complete
    assert "there may be more" not in str(whole)
    assert len(path) <= 5 < len(whole)


def test_given_penalties_are_the_range():
    data = noisy_blobs(2)
    model = ExShallow(reference=data.centers)
    only = model.path(data.X, penalties=[0.2, 0.05, 0.2], max_fits=1)
    assert {penalty for point in only for penalty in point.penalties} <= {0.05, 0.2}
    between = model.path(data.X, penalties=[0.2, 0.05])
    assert all(0.05 <= penalty <= 0.2 for point in between for penalty in point.penalties)
    [single] = model.path(data.X, penalties=[0.03])
    assert single.tree == model.fit(data.X).tree_
    assert single.penalty == 0.03


@pytest.mark.parametrize(
    ("penalties", "message"),
    [([], "at least one"), ([[0.1]], "1-D array"), ([0.1, -1.0], r"penalties\[1\] is -1.0"),
     ([np.nan], r"penalties\[0\] is nan")],
)  # fmt: skip
def test_invalid_penalties_raise(penalties, message):
    with pytest.raises(ValueError, match=message):
        ExShallow(2).path([[0.0], [1.0]], penalties=penalties)


def test_path_does_not_change_the_estimator(monkeypatch):
    X = load_wine(as_frame=True).data
    calls = []
    fit = KMeans.fit
    monkeypatch.setattr(KMeans, "fit", lambda self, *a, **k: calls.append(1) or fit(self, *a, **k))
    model = ExShallow(3, random_state=0)
    path = model.path(X)
    assert len(calls) == 1  # the reference is fitted once
    assert not [name for name in vars(model) if name.endswith("_")]
    kmeans = KMeans(3, n_init=1, random_state=7).fit(X)
    fitted = ExShallow(reference=kmeans).fit(X)
    before = dict(vars(fitted))
    fitted.path(X)
    assert vars(fitted) == before
    assert len(path) > 1


def test_path_as_a_data_frame():
    path = ExShallow(3, random_state=0).path(load_wine().data)
    table = path.to_pandas()
    assert len(table) == len(path)
    assert table["npc"].tolist() == [point.npc for point in path]
    assert table["tree"][0] is path[0].tree
    assert (table["lowest_penalty"] <= table["penalty"]).all()
    assert (table["penalty"] <= table["highest_penalty"]).all()


def test_one_of_several_equal_points_is_kept():
    def point(penalty, cost, waes, wad):
        return TradeOffPoint(penalty, (penalty, penalty), None, cost, cost, waes, wad, 3)

    points = [
        point(0.5, 1.0, 2.0, 2.0),
        point(0.1, 1.0, 2.0, 2.0),
        point(0.2, 1.0, 2.0, 3.0),
        point(0.3, 2.0, 1.0, 3.0),
        point(0.4, 2.0, 2.0, 1.0),
    ]
    assert [p.penalty for p in TradeOff(points).undominated()] == [0.3, 0.4, 0.1]


@pytest.mark.parametrize("seed", range(3))
def test_cached_nodes_are_not_searched_again(seed):
    """Fewer searches than separate fits need, and none at penalties that the cache covers."""
    data = noisy_blobs(seed, n=300)
    model = ExShallow(reference=data.centers)
    with model._prepare(data.X, y=None, sample_weight=None) as (_, _, problem):
        path = PenaltyPath(problem, "round", Progress("", 0, 0), 2000)
        path.fit(0.0)
        path.fit(1.0)
        path.refine()
        alone = len(path.fits) * (len(data.centers) - 1)
        assert path.is_complete
        assert path.criterion.cache.n_searches < 0.8 * alone
        before = path.criterion.cache.n_searches
        for point in path.trade_off():
            assert path.grow(point.penalty).builder.build() == point.tree
        assert path.criterion.cache.n_searches == before


@pytest.mark.slow
def test_the_trade_off_of_cost_and_agreement():
    X = scale(load_breast_cancer().data)
    model = ExplainableKMeans(4, random_state=0, effort="fast")
    path = model.trade_off(X, faithfulness=(0, 0.3, 3))
    assert not any(a.dominates(b, ("cost", "agreement", "waes")) for a in path for b in path)
    by_cost = sorted(path, key=lambda point: point.cost)
    assert by_cost[0].faithfulness == 0
    shares = [point.agreement for point in by_cost]
    assert shares[0] < shares[-1]
    for point in path:
        fitted = clone(model).set_params(faithfulness=point.faithfulness).fit(X)
        assert fitted.tree_ == point.tree
        assert point.npc == pytest.approx(fitted.inertia_ / fitted.reference_inertia_)
        assert point.agreement == pytest.approx((fitted.labels_ == fitted.reference_labels_).mean())
    assert f"{by_cost[0].agreement:.1%}" in str(path)
    assert path.to_pandas().faithfulness.tolist() == [point.faithfulness for point in path]


def test_notebooks_show_the_trees_of_a_path_as_a_table():
    path = ExShallow(3, random_state=0).path(load_iris().data)
    shown = path._repr_html_()
    assert shown.count("<tr>") == 1 + len(path)
    assert f"<td>{path[0].npc:.3f}</td>" in shown
    assert str(path).splitlines()[1].split()[0] == f"{path[0].npc:.3f}"
