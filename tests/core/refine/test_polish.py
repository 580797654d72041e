"""Polishing never makes a tree costlier, and ends where no single change makes it cheaper."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from _support import oracles
from _support.strategies import tiny_data
from pellucid._core.criteria.problem import Problem
from pellucid._core.data import binning as bins
from pellucid._core.data.dataset import Dataset
from pellucid._core.data.weights import Weights
from pellucid._core.refine import moving_center_split as moving
from pellucid._core.refine.fixed_center_split import TornSearch, tear
from pellucid._core.refine.mutable_tree import Routes
from pellucid._core.refine.polish import polish_tree
from pellucid._utils.threads import SERIAL, ThreadPool
from pellucid.tree import TreeBuilder

deeply = pytest.mark.parametrize("deep", [False, True])


def pose(data, X=None, pool=SERIAL):
    X = data.X if X is None else X
    return Problem(Dataset(X, Weights.of(data.weight), pool), data.centers, data.labels)


@st.composite
def data_and_tree(draw, max_leaves=7, **how):
    """Tiny data and any tree at all, whose leaves carry any clusters."""
    data = draw(tiny_data(**how))
    k, d = len(data.centers), data.X.shape[1]
    builder = TreeBuilder(d)
    for _ in range(draw(st.integers(0, max_leaves - 1))):
        leaf = draw(st.sampled_from(builder.leaves))
        at = draw(st.integers(-9, 9)) / 2
        builder.split(leaf, feature=draw(st.integers(0, d - 1)), threshold=at)
    for leaf in builder.leaves:
        builder.set_cluster(leaf, draw(st.integers(0, k - 1)))
    return data, builder.build()


def exact_cost(data, labels):
    """Cost of the rows to the means of their clusters, without rounding."""
    cost = Fraction(0)
    for cluster in set(labels.tolist()):
        rows = np.flatnonzero(labels == cluster)
        weight = [Fraction(data.weight[i]) for i in rows]
        for column in data.X[rows].T:
            values = [Fraction(value) for value in column]
            mean = sum(w * x for w, x in zip(weight, values)) / sum(weight)
            cost += sum(w * (x - mean) ** 2 for w, x in zip(weight, values))
    return cost


def check(data, tree, polished, n_leaves):
    before, after = tree.predict(data.X), polished.tree.predict(data.X)
    cost = exact_cost(data, after)
    assert cost <= exact_cost(data, before)
    assert set(before) <= set(after)
    assert polished.tree.n_leaves <= n_leaves
    np.testing.assert_array_equal(polished.tree.apply(data.X), polished.leaf)
    assert polished.cost == pytest.approx(float(cost), rel=1e-12, abs=1e-12)
    assert (np.diff(polished.history) < 0).all()
    counts = np.bincount(polished.leaf, minlength=polished.tree.node_count)
    leaves = polished.tree.leaves
    np.testing.assert_array_equal(polished.tree.n_node_samples[leaves], counts[leaves])
    for cluster in set(after):
        rows = after == cluster
        mean = np.average(data.X[rows], axis=0, weights=data.weight[rows])
        np.testing.assert_allclose(polished.centers[cluster], mean, atol=1e-12)


@deeply
@given(case=data_and_tree(), more=st.integers(0, 3))
@settings(max_examples=120, deadline=None)
def test_the_cost_never_rises_and_no_cluster_is_lost(deep, case, more):
    data, tree = case
    n_leaves = tree.n_leaves + more
    polished = polish_tree(tree, pose(data), n_leaves=n_leaves, deep=deep)
    check(data, tree, polished, n_leaves)


def labels_by_hand(routes, cuts, clusters):
    """Cluster of each row, walked down the tree one by one; `cuts` says who goes left."""
    labels = []
    for row in range(routes.problem.n_samples):
        node = routes.root
        while node in cuts:
            node = routes.children(node)[0 if cuts[node][row] else 1]
        labels.append(clusters[node])
    return np.array(labels)


def single_changes(data, routes):
    """The clusters after each other cut of each node, and after each other cluster of each leaf."""
    cuts = {node: routes.goes_left[node] for node in routes.inner()}
    clusters = {leaf: int(routes.cluster[leaf]) for leaf in routes.leaves()}
    for node in cuts:
        for column in data.X.T:
            for at in sorted(set(column[routes.rows[node]]))[:-1]:
                yield labels_by_hand(routes, {**cuts, node: column <= at}, clusters)
    for leaf in clusters:
        for cluster in range(len(data.centers)):
            yield labels_by_hand(routes, cuts, {**clusters, leaf: cluster})


@given(data_and_tree(max_rows=8, max_leaves=5))
@settings(max_examples=60, deadline=None)
def test_no_single_change_makes_a_polished_tree_cheaper(case):
    data, tree = case
    problem = pose(data)
    polished = polish_tree(tree, problem, tol=0.0)
    routes = Routes(polished.tree, problem, "midpoint", polished.tree.n_leaves)
    labels = routes.labels()
    limit = exact_cost(data, labels) * (1 - Fraction(1, 10**8))
    for other in single_changes(data, routes):
        if set(labels) <= set(other):
            assert exact_cost(data, other) >= limit
    assert polish_tree(polished.tree, problem, tol=0.0).tree == polished.tree


@deeply
@pytest.mark.filterwarnings("error")
def test_a_tree_that_costs_nothing_stays(deep):
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    tree = a_tree([(0, 0, 0.5), (2, 0, 5.0)], {1: 0, 3: 1, 4: 2}, n_features=1)
    polished = polish_tree(tree, problem_of(X, 3), deep=deep)
    assert polished.history == [0.0]
    assert oracles.as_nested(polished.tree) == (0, 0.5, 0, 1)


@pytest.fixture(params=[2, 5])
def few_bins(request, monkeypatch):
    monkeypatch.setattr(bins, "QUANTILES", request.param)


@given(tiny_data(max_rows=14), st.data())
@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_the_best_cut_of_a_node_is_that_of_brute_force(few_bins, data, draw):
    """The centers stay; columns are ranked by their best cuts."""
    problem, n = pose(data), len(data.X)
    clusters = st.lists(st.integers(0, len(data.centers) - 1), min_size=n, max_size=n)
    near, far = np.array(draw.draw(clusters)), np.array(draw.draw(clusters))
    extra = [data.cost(i, near[i]) - data.cost(i, far[i]) for i in range(n)]
    cares = [i for i in range(n) if extra[i]]
    rows = np.arange(n, dtype=np.int32)
    torn = tear(rows, near, far, np.arange(len(data.centers)), problem.costs)
    assert torn.rows.tolist() == cares
    least = {}
    for feature in range(data.X.shape[1]):
        for at in sorted({data.X[i, feature] for i in cares})[:-1]:
            total = sum(extra[i] for i in cares if data.X[i, feature] <= at)
            least[feature] = min(least.get(feature, (np.inf,)), (total, feature, at))
    search = TornSearch(problem, torn)
    found = search.best(goal=2**61)
    if not least:
        assert found is None
        return
    total, feature, at = min(least.values())
    assert (found.objective * problem.cost_unit, found.feature, found.threshold) == (
        total,
        feature,
        at,
    )
    assert search.best(goal=found.objective) is None
    number = draw.draw(st.integers(1, data.X.shape[1]))
    best = sorted(range(data.X.shape[1]), key=lambda j: least.get(j, (np.inf,))[0])[:number]
    assert search.best_features(number).tolist() == sorted(best)


@given(tiny_data(max_rows=10), st.data())
@settings(max_examples=80, deadline=None)
def test_the_best_cut_with_moving_centers_is_that_of_brute_force(data, draw):
    problem, n, k = pose(data), len(data.X), len(data.centers)
    clusters = st.lists(st.integers(0, k - 1), min_size=n, max_size=n)
    near, far = np.array(draw.draw(clusters)), np.array(draw.draw(clusters))
    torn = np.flatnonzero(near != far).astype(np.int32)
    wanted = np.array(draw.draw(st.lists(st.booleans(), min_size=k, max_size=k)))
    costs = {}
    for feature, column in enumerate(data.X.T):
        for at in sorted(set(column[torn]))[:-1]:
            labels = np.where(column <= at, near, far)
            if set(np.flatnonzero(wanted)) <= set(labels):
                costs[feature, at] = exact_cost(data, labels)
    found = cut_with_moving_centers(problem, torn, near, far, wanted)
    if not costs:
        assert found is None
        return
    found, after = found
    least = min(costs.values())
    ties = [cut for cut, cost in costs.items() if cost == least]
    assert (found.feature, found.threshold) == min(ties)
    squares = sum(w * x * x for row, w in zip(data.X, data.weight) for x in row)
    assert squares - found.gain == pytest.approx(float(least), abs=1e-9)
    assert after.weights.sum() == data.weight.sum()


def cut_with_moving_centers(problem, torn, near, far, wanted, origin=0.0):
    k, d = problem.centers.shape
    weight, X = problem.weights.values, problem.X - origin
    sums = np.stack([(weight * (far == c)) @ X for c in range(k)])
    weights = np.bincount(far, weights=weight, minlength=k)
    base = moving.Moments(sums, weights, np.bincount(far, minlength=k))
    rows = moving.MovingRows(problem, torn, near[torn], far[torn], np.full(d, origin))
    return moving.best_moving_cut(rows, base, wanted, np.arange(d), tolerance=1e-9)


@deeply
@given(case=data_and_tree(), style=st.sampled_from(["round", "midpoint", "data"]))
@settings(max_examples=40, deadline=None)
def test_storage_threads_bins_and_copies_make_no_difference(deep, case, style):
    data, tree = case

    def polish(problem):
        polished = polish_tree(tree, problem, threshold_style=style, deep=deep)
        return polished.tree, polished.tree.cluster[polished.leaf]

    expected, labels = polish(pose(data))
    for X in (sparse.csc_array(data.X), data.X.astype(np.float32), np.asfortranarray(data.X)):
        assert polish(pose(data, X))[0] == expected
    with ThreadPool(2) as pool:
        assert polish(pose(data, pool=pool))[0] == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bins, "QUANTILES", 4)
        assert polish(pose(data))[0] == expected
    copies = np.repeat(np.arange(len(data.X)), data.weight.astype(int))
    one = np.ones(len(copies))
    repeated = oracles.Data(data.X[copies], data.centers, data.labels[copies], one)
    found, found_labels = polish(pose(repeated))
    assert oracles.as_nested(found) == oracles.as_nested(expected)
    np.testing.assert_array_equal(found_labels, labels[copies])


@given(data_and_tree())
@settings(max_examples=60, deadline=None)
def test_the_style_of_thresholds_does_not_change_the_clusters(case):
    data, tree = case
    polished = {
        style: polish_tree(tree, pose(data), threshold_style=style, deep=True)
        for style in ("round", "midpoint", "data")
    }
    for style, other in polished.items():
        np.testing.assert_array_equal(other.leaf, polished["round"].leaf)
        if other.tree.n_leaves > 1 and style == "data" and len(other.history) > 1:
            root = other.tree.feature[0], other.tree.threshold[0]
            assert root[1] in data.X[:, root[0]] or root == (tree.feature[0], tree.threshold[0])


@deeply
@given(case=data_and_tree(max_rows=30, max_clusters=3))
@settings(max_examples=60, deadline=None)
def test_with_many_rows_some_are_enough_to_find_cuts(deep, case):
    data, tree = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(moving, "_MANY_ROWS", 12)
        patch.setattr(moving, "_SOME_ROWS", 6)
        patch.setattr(moving, "_WORK", 1)
        patch.setattr(moving, "_LEAST_FEATURES", 1)
        polished = polish_tree(tree, pose(data), deep=deep)
        check(data, tree, polished, tree.n_leaves)
        assert polish_tree(tree, pose(data, sparse.csc_array(data.X)), deep=deep).tree == (
            polished.tree
        )


def blocks(*sizes):
    """Two columns; a block of rows for each size, far from the others."""
    corners = np.array([[0, 0], [0, 100], [100, 0], [100, 100], [200, 200]], dtype=float)
    noise = np.random.default_rng(0).integers(-3, 4, (sum(sizes), 2))
    return corners[np.repeat(np.arange(len(sizes)), sizes)] + noise


def a_tree(cuts, clusters, n_features=2):
    """Cuts as (node, feature, threshold) in order, and the clusters of the leaves."""
    builder = TreeBuilder(n_features)
    for node, feature, at in cuts:
        builder.split(node, feature=feature, threshold=at)
    for leaf, cluster in clusters.items():
        builder.set_cluster(leaf, cluster)
    return builder.build()


def problem_of(X, n_clusters):
    centers = np.zeros((n_clusters, X.shape[1]))
    labels = np.zeros(len(X), dtype=int)
    return Problem(Dataset(X, Weights.of(np.ones(len(X)))), centers, labels)


def test_an_empty_cluster_gets_the_split_that_gains_most():
    X = blocks(20, 20, 20)
    empty = a_tree([(0, 0, 500.0), (1, 0, 50.0)], {2: 1, 3: 0, 4: 2})
    polished = polish_tree(empty, problem_of(X, 3))
    assert sorted(np.bincount(polished.tree.predict(X))) == [20, 20, 20]


def test_a_useless_split_is_spent_elsewhere():
    """Two leaves of one cluster side by side, and two blocks in one leaf."""
    X = blocks(20, 20, 20, 20)
    idle = a_tree([(0, 0, 50.0), (1, 1, -1.0), (2, 1, 50.0)], {3: 0, 4: 0, 5: 1, 6: 2})
    before = polish_tree(idle, problem_of(X, 4), rounds=0)
    assert before.tree.n_leaves == 3
    polished = polish_tree(idle, problem_of(X, 4))
    assert sorted(np.bincount(polished.tree.predict(X))) == [20, 20, 20, 20]


def test_a_swap_gets_out_of_where_single_changes_do_not():
    """One block is cut in two and two others are one leaf: no cut alone can mend that."""
    X = blocks(40, 10, 40, 10, 40)
    X[:, 0] *= 3
    stuck = a_tree(
        [(0, 0, 450.0), (1, 0, 150.0), (3, 1, 50.0), (5, 0, 0.0)],
        {2: 4, 4: 2, 6: 1, 7: 0, 8: 3},
    )
    problem = problem_of(X, 5)
    shallow, deep = (polish_tree(stuck, problem, deep=deep) for deep in (False, True))
    assert deep.cost < shallow.cost / 5
    assert sorted(np.bincount(deep.tree.predict(X))) == [10, 10, 40, 40, 40]


def test_no_rounds_leave_the_tree_as_it_is():
    X = blocks(20, 20)
    tree = a_tree([(0, 0, 1.0)], {1: 0, 2: 1})
    polished = polish_tree(tree, problem_of(X, 2), rounds=0)
    assert polished.tree.threshold[0] == 1.0
    assert polished.history == [polished.cost]
