"""Polishing never raises the cost, and ends where no single change lowers it."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from _support import oracles
from _support.extended import EXTENDED, examples
from _support.problems import pose, problem_of
from _support.strategies import tiny_data
from pellucid import EMN, ExKMC, SpEx
from pellucid._core.data import binning as bins
from pellucid._core.refine.mutable_tree import MutableTree
from pellucid._core.refine.polish import polish_tree
from pellucid._core.refine.polish_state import Moments, MovingRows, best_moving_cut
from pellucid._core.refine.polish_steps import FixedCenterSearch, contested_rows
from pellucid._core.refine.tuning import SweepLimits
from pellucid._utils.threads import ThreadPool
from pellucid.tree import TreeBuilder

pytestmark = pytest.mark.slow

deep_or_not = pytest.mark.parametrize("deep", [False, True])


@st.composite
def data_and_tree(draw, max_leaves=7, **limits):
    """Tiny data and an arbitrary tree with arbitrary clusters."""
    data = draw(tiny_data(**limits))
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


@deep_or_not
@given(case=data_and_tree(), more=st.integers(0, 3))
@settings(max_examples=examples(120), deadline=None)
def test_the_cost_never_rises_and_no_cluster_is_lost(deep, case, more):
    data, tree = case
    n_leaves = tree.n_leaves + more
    polished = polish_tree(tree, pose(data), n_leaves=n_leaves, deep=deep)
    check(data, tree, polished, n_leaves)


def labels_by_hand(tree, goes_left, clusters):
    """Cluster of each row, routed through the tree one by one."""
    labels = []
    for row in range(tree.problem.n_samples):
        node = tree.root
        while node in goes_left:
            node = tree.children(node)[0 if goes_left[node][row] else 1]
        labels.append(clusters[node])
    return np.array(labels)


def single_changes(data, tree):
    """Labels after each other cut of each node, and after each other cluster of each leaf."""
    goes_left = {node: tree.goes_left[node] for node in tree.inner()}
    clusters = {leaf: int(tree.cluster[leaf]) for leaf in tree.leaves()}
    for node in goes_left:
        for column in data.X.T:
            for at in sorted(set(column[tree.rows[node]]))[:-1]:
                yield labels_by_hand(tree, {**goes_left, node: column <= at}, clusters)
    for leaf in clusters:
        for cluster in range(len(data.centers)):
            yield labels_by_hand(tree, goes_left, {**clusters, leaf: cluster})


@given(data_and_tree(max_rows=8, max_leaves=5))
@settings(max_examples=examples(60), deadline=None)
def test_no_single_change_makes_a_polished_tree_cheaper(case):
    data, tree = case
    problem = pose(data)
    polished = polish_tree(tree, problem, tol=0.0)
    mutable = MutableTree(polished.tree, problem, "midpoint", polished.tree.n_leaves)
    labels = mutable.labels()
    limit = exact_cost(data, labels) * (1 - Fraction(1, 10**8))
    for other in single_changes(data, mutable):
        if set(labels) <= set(other):
            assert exact_cost(data, other) >= limit
    assert polish_tree(polished.tree, problem, tol=0.0).tree == polished.tree


@deep_or_not
@pytest.mark.filterwarnings("error")
def test_a_tree_of_cost_zero_is_unchanged(deep):
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    tree = a_tree([(0, 0, 0.5), (2, 0, 5.0)], {1: 0, 3: 1, 4: 2}, n_features=1)
    polished = polish_tree(tree, unlabelled(X, 3), deep=deep)
    assert polished.history == [0.0]
    assert oracles.as_nested(polished.tree) == (0, 0.5, 0, 1)


@pytest.fixture(params=[2, 5])
def few_bins(request, monkeypatch):
    """So few bins that tiny data have several values in one."""
    monkeypatch.setattr(bins, "N_BINS", request.param)


@given(tiny_data(max_rows=14), st.data())
@settings(
    max_examples=examples(80),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_the_best_cut_with_fixed_centers_is_that_of_brute_force(few_bins, data, draw):
    problem, n = pose(data), len(data.X)
    clusters = st.lists(st.integers(0, len(data.centers) - 1), min_size=n, max_size=n)
    left, right = np.array(draw.draw(clusters)), np.array(draw.draw(clusters))
    difference = [data.cost(i, left[i]) - data.cost(i, right[i]) for i in range(n)]
    expected = [i for i in range(n) if difference[i]]
    rows = np.arange(n, dtype=np.int32)
    contested = contested_rows(rows, left, right, np.arange(len(data.centers)), problem.costs)
    assert contested.rows.tolist() == expected
    least = {}
    for feature in range(data.X.shape[1]):
        for at in sorted({data.X[i, feature] for i in expected})[:-1]:
            total = sum(difference[i] for i in expected if data.X[i, feature] <= at)
            least[feature] = min(least.get(feature, (np.inf,)), (total, feature, at))
    search = FixedCenterSearch(problem, contested)
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
@settings(max_examples=examples(80), deadline=None)
def test_the_best_cut_with_moving_centers_is_that_of_brute_force(data, draw):
    problem, n, k = pose(data), len(data.X), len(data.centers)
    clusters = st.lists(st.integers(0, k - 1), min_size=n, max_size=n)
    left, right = np.array(draw.draw(clusters)), np.array(draw.draw(clusters))
    rows = np.flatnonzero(left != right).astype(np.int32)
    wanted = np.array(draw.draw(st.lists(st.booleans(), min_size=k, max_size=k)))
    costs = {}
    for feature, column in enumerate(data.X.T):
        for at in sorted(set(column[rows]))[:-1]:
            labels = np.where(column <= at, left, right)
            if set(np.flatnonzero(wanted)) <= set(labels):
                costs[feature, at] = exact_cost(data, labels)
    found = cut_with_moving_centers(problem, rows, left, right, wanted)
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


def cut_with_moving_centers(problem, rows, left, right, wanted):
    k, d = problem.centers.shape
    weight = problem.weights.values
    sums = np.stack([(weight * (right == c)) @ problem.X for c in range(k)])
    weights = np.bincount(right, weights=weight, minlength=k)
    base = Moments(sums, weights, np.bincount(right, minlength=k))
    moving = MovingRows(problem, rows, left[rows], right[rows], np.zeros(d))
    return best_moving_cut(moving, base, wanted, np.arange(d), tolerance=1e-9)


@deep_or_not
@given(case=data_and_tree(), style=st.sampled_from(["round", "midpoint", "data"]))
@settings(max_examples=examples(24), deadline=None)
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
        patch.setattr(bins, "N_BINS", 4)
        assert polish(pose(data))[0] == expected
    copies = np.repeat(np.arange(len(data.X)), data.weight.astype(int))
    one = np.ones(len(copies))
    repeated = oracles.Data(data.X[copies], data.centers, data.labels[copies], one)
    found, found_labels = polish(pose(repeated))
    assert oracles.as_nested(found) == oracles.as_nested(expected)
    np.testing.assert_array_equal(found_labels, labels[copies])


@given(data_and_tree())
@settings(max_examples=examples(60), deadline=None)
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


@deep_or_not
@given(case=data_and_tree(max_rows=30, max_clusters=3))
@settings(max_examples=examples(30), deadline=None)
def test_cuts_are_searched_on_a_sample_of_many_rows(deep, case):
    data, tree = case
    limits = SweepLimits(work=1, min_features=1, max_rows=12, n_sampled=6)
    polished = polish_tree(tree, pose(data), deep=deep, limits=limits)
    check(data, tree, polished, tree.n_leaves)
    as_sparse = pose(data, sparse.csc_array(data.X))
    assert polish_tree(tree, as_sparse, deep=deep, limits=limits).tree == polished.tree


def test_a_node_is_searched_again_if_other_columns_are_promising():
    """It was not where sums of the same rows were equal to the last bit: in one storage only."""
    random = np.random.default_rng(20)
    X = random.integers(-4, 5, size=(24, 3)).astype(float)
    centers = X[:3] + 0.5
    labels = ((X[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
    data = oracles.Data(X, centers, labels, random.integers(1, 4, 24).astype(float))
    builder = TreeBuilder(3)
    for _ in range(4):
        leaf, feature = random.choice(builder.leaves), int(random.integers(3))
        builder.split(leaf, feature=feature, threshold=random.integers(-9, 10) / 2)
    for leaf in builder.leaves:
        builder.set_cluster(leaf, int(random.integers(3)))
    limits = SweepLimits(work=1, min_features=1, max_rows=12, n_sampled=6)
    dense, as_sparse = (
        polish_tree(builder.build(), pose(data, each), deep=True, limits=limits)
        for each in (X, sparse.csc_array(X))
    )
    assert dense.tree == as_sparse.tree


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


def unlabelled(X, n_clusters):
    """A problem whose reference does not matter."""
    return problem_of(X, np.zeros((n_clusters, X.shape[1])), np.zeros(len(X), dtype=int))


def test_an_empty_cluster_gets_the_split_that_gains_most():
    X = blocks(20, 20, 20)
    empty = a_tree([(0, 0, 500.0), (1, 0, 50.0)], {2: 1, 3: 0, 4: 2})
    polished = polish_tree(empty, unlabelled(X, 3))
    assert sorted(np.bincount(polished.tree.predict(X))) == [20, 20, 20]


def test_a_useless_split_is_moved_elsewhere():
    """Two leaves of one cluster side by side, and two blocks in one leaf."""
    X = blocks(20, 20, 20, 20)
    idle = a_tree([(0, 0, 50.0), (1, 1, -1.0), (2, 1, 50.0)], {3: 0, 4: 0, 5: 1, 6: 2})
    before = polish_tree(idle, unlabelled(X, 4), rounds=0)
    assert before.tree.n_leaves == 3
    polished = polish_tree(idle, unlabelled(X, 4))
    assert sorted(np.bincount(polished.tree.predict(X))) == [20, 20, 20, 20]


def test_a_swap_leaves_a_local_optimum_of_single_changes():
    """One block is cut in two and two others are one leaf: no single cut can repair that."""
    X = blocks(40, 10, 40, 10, 40)
    X[:, 0] *= 3
    stuck = a_tree(
        [(0, 0, 450.0), (1, 0, 150.0), (3, 1, 50.0), (5, 0, 0.0)],
        {2: 4, 4: 2, 6: 1, 7: 0, 8: 3},
    )
    problem = unlabelled(X, 5)
    shallow, deep = (polish_tree(stuck, problem, deep=deep) for deep in (False, True))
    assert deep.cost < shallow.cost / 5
    assert sorted(np.bincount(deep.tree.predict(X))) == [10, 10, 40, 40, 40]


def test_zero_rounds_leave_the_tree_unchanged():
    X = blocks(20, 20)
    tree = a_tree([(0, 0, 1.0)], {1: 0, 2: 1})
    polished = polish_tree(tree, unlabelled(X, 2), rounds=0)
    assert polished.tree.threshold[0] == 1.0
    assert polished.history == [polished.cost]


@pytest.mark.filterwarnings("ignore:the tree has")
def test_gains_below_rounding_errors_do_not_decide():
    """One huge value makes all other differences smaller than the rounding error of a gain."""
    weight = np.random.default_rng(0).random(35)
    X = np.append(np.zeros(30), [-4e79, 1.8e67, 2e53, -1.8e39, 1e87])[:, None]
    centers = np.array([[2e86], [3.7e86], [1.4e86], [7e85], [3.9e86]])
    found = []
    for seed in range(6):
        order = np.random.default_rng(seed).permutation(35)
        model = SpEx(reference=centers, n_leaves=8, polish=True)
        found.append(model.fit(X[order], sample_weight=weight[order]).predict(X))
    assert all(np.array_equal(found[0], labels) for labels in found)


@pytest.mark.parametrize("deep", [True, "deep"])
def test_sparse_rows_far_from_zero_are_polished_as_dense_rows(deep):
    """Sums of sparse rows are taken about 0, where differences lose their digits."""
    for seed in range(8 if EXTENDED else 3):
        random = np.random.default_rng(seed)
        X = 2.0**40 + random.integers(0, 40, size=(60, 2)) * 2.0**-10
        labels = random.integers(0, 4, size=60)
        dense, from_csr = (
            SpEx(n_leaves=6, polish=deep).fit(form(X), labels)
            for form in (np.asarray, sparse.csr_array)
        )
        assert dense.tree_ == from_csr.tree_


@pytest.mark.filterwarnings("ignore:the tree has")
def test_a_row_of_small_weight_keeps_its_digits_in_sparse_data():
    """A cluster that loses nearly all of its weight keeps the rounding errors of its square."""
    X = np.array([[2.0, 0, 7, -4, 0], [-12, 2, -2, -10, 7], [3, 1, -8, -4, 16]])[[0, 1, 2, 0]] / 10
    weights = np.array([0.5, 1e-9, 1 / 3, 10 / 3])
    trees = [
        EMN(reference=X[[1, 0, 0, 0]], polish=True).fit(form(X), sample_weight=weights).tree_
        for form in (np.asarray, sparse.csr_array)
    ]
    assert trees[0] == trees[1]
    assert trees[0].n_leaves == 3


@pytest.mark.filterwarnings("ignore:the tree has")
def test_neighbouring_floats_are_polished_alike_in_any_order():
    """Their means are rounded as much as they differ, so that another origin gives other gains."""
    for seed in range(30 if EXTENDED else 5):
        random = np.random.default_rng(seed)
        X = 0.1 + random.integers(0, 4, size=(34, 3)) * 2.0**-56
        weights, order = random.random(34), random.permutation(34)
        model = ExKMC(reference=X[:4], base=None, n_leaves=7, polish="deep")
        tree = model.fit(X, sample_weight=weights).tree_
        assert model.fit(X[order], sample_weight=weights[order]).tree_ == tree


@pytest.mark.parametrize("n_features", [1, 2, 7])
def test_between_ss_adds_up_columns_in_a_fixed_order(n_features):
    rng = np.random.default_rng(n_features)
    moments = Moments(rng.normal(size=(5, n_features)), rng.random(5), np.array([3, 0, 1, 2, 9]))
    total = 0.0
    for c in (0, 2, 3, 4):
        parts = [0.0, 0.0]
        for j, value in enumerate(moments.sums[c].tolist()):
            parts[j % 2] += value * value
        total += (parts[0] + parts[1]) / moments.weights[c]
    assert moments.between_ss() == total
    assert Moments(moments.sums, moments.weights, np.zeros(5, dtype=np.int64)).between_ss() == 0


def test_a_changed_node_is_updated_as_the_whole_tree_is():
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(120, 3)), 1)
    tree = ExKMC(reference=X[:6], n_leaves=9).fit(X).tree_
    mutable = MutableTree(tree, problem_of(X, X[:6], np.arange(120) % 6), "midpoint", 12)
    for _ in range(60):
        node = int(rng.choice(mutable.inner()))
        change = int(rng.integers(3))
        if change == 0:
            mutable.cut(node, int(rng.integers(3)), float(rng.normal()))
        elif change == 1 and len(mutable.leaves()) < 12:
            node = int(rng.choice(mutable.leaves()))
            mutable.split(node, int(rng.integers(3)), float(rng.normal()))
        elif change == 2 and len(mutable.leaves()) > 4 and mutable.is_leaf(mutable.left[node]):
            child = int(mutable.right[node])
            mutable.replace(node, child)
            node = child
        mutable.update_at(node)
        whole = mutable.copy()
        whole.update_all()
        for used in mutable.preorder():
            assert (mutable.reach[used] == whole.reach[used]).all()
            assert (mutable.rows[used] == whole.rows[used]).all()
