"""Local search: statistics of its trees are exact, and the cost never rises."""

from random import Random

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import make_blobs

from _support.extended import EXTENDED, examples, seeds
from _support.problems import problem_of
from pellucid import IMM, ExplainableKMeans
from pellucid._core.criteria.problem import Problem
from pellucid._core.data.arrays import Weights
from pellucid._core.data.dataset import Dataset
from pellucid._core.refine import tuning
from pellucid._core.refine.local_search import LocalSearch, TreeLimits, change, search_from
from pellucid._core.refine.local_search_data import (
    LocalSearchData,
    Workspace,
    row_hashes,
    sample_problem,
    searchable,
)
from pellucid._core.refine.local_search_tree import LocalSearchTree
from pellucid._utils.threads import ThreadPool
from pellucid.tree import LEAF, TreeBuilder
from pellucid.tree.measures import conditions_per_leaf

WORK, SHORT_WORK = 3e6, 1e8 if EXTENDED else 4e7


def cost_of(X, weight, labels):
    """The k-means cost of clusters, row by row."""
    total = 0.0
    for cluster in set(labels.tolist()):
        rows = labels == cluster
        mean = np.average(X[rows], axis=0, weights=weight[rows])
        total += (weight[rows] * ((X[rows] - mean) ** 2).sum(axis=1)).sum()
    return total


@st.composite
def problem_and_tree(draw, max_clusters=6, grouped=(False, True)):
    """Data with ties, and a tree all of whose leaves have rows, one or more for each cluster."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d, k = draw(st.integers(20, 60)), draw(st.integers(1, 3)), draw(st.integers(2, max_clusters))
    X = rng.integers(-20, 20, size=(n, d)) / draw(st.sampled_from([1.0, 3.0]))
    weight = draw(
        st.sampled_from([np.ones(n), rng.integers(1, 4, n).astype(float), rng.uniform(0.1, 2, n)])
    )
    builder, rows = TreeBuilder(d), {0: np.arange(n)}
    while len(builder.leaves) < k:
        leaf = max(builder.leaves, key=lambda leaf: len(rows[leaf]))
        values = X[rows[leaf]]
        j = int(np.argmax(np.ptp(values, axis=0)))
        if np.ptp(values[:, j]) == 0:
            break
        at = float(rng.choice(np.unique(values[:, j])[:-1]))
        goes_left = values[:, j] <= at
        for child, side in zip(builder.split(leaf, feature=j, threshold=at), (True, False)):
            rows[child] = rows[leaf][goes_left == side]
    n_leaves = len(builder.leaves)
    k = (
        draw(st.integers(2, n_leaves - 1))
        if n_leaves > 2 and draw(st.sampled_from(grouped))
        else n_leaves
    )
    for place, leaf in enumerate(builder.leaves):
        builder.set_cluster(leaf, place % k)
    tree = builder.build()
    labels = tree.predict(X)
    centers = np.array([X[labels == c].mean(axis=0) for c in range(k)])
    space = draw(st.sampled_from([None, 1, 4]))
    Z = None if space is None else np.round(rng.normal(size=(n, space)) + X[:, :1], 2)
    problem = problem_of(X, centers, labels, weight, space=Z)
    return problem.with_mistake_cost(draw(st.sampled_from([0.0, 0.25, 10.0]))), tree


def search_tree(problem, tree):
    data = LocalSearchData(problem)
    return LocalSearchTree(data, Workspace(data, tree.n_leaves), tree)


def size_of(tree):
    return TreeLimits(tree.n_leaves)


def check(tree):
    """It is a tree over all rows, and its statistics are exact; return its cost.

    Infinity if a cluster has no rows.
    """
    problem, data, arrays = tree.data.problem, tree.data, tree.arrays
    leaves, labels = tree.leaves(), np.full(problem.n_samples, LEAF)
    for leaf in leaves:
        labels[tree.node_rows(leaf)] = leaf
    for row, ranks in enumerate(data.rows.rank.tolist()):
        i = tree.root
        while not tree.is_leaf(i):
            i = tree.children(i)[int(ranks[arrays.feature[i]] > arrays.rank[i])]
        assert labels[row] == i
    sums = [data.rows.statistics[labels == leaf, :-1].sum(axis=0) for leaf in leaves]
    np.testing.assert_array_equal(arrays.sums[leaves], sums)
    group = arrays.group[labels]
    cost = (data.total_ss - tree.between_ss()) * data.unit**2
    if len(set(group.tolist())) < problem.n_clusters:
        assert cost == np.inf
        return np.inf
    true = cost_of(problem.space.X, problem.weights.values, group)
    if problem.mistake_cost > 0:
        wrong = arrays.cluster[group] != problem.labels
        true += problem.mistake_cost * problem.weights.values[wrong].sum()
    assert cost == pytest.approx(true, rel=1e-9, abs=1e-9 * data.total_ss * data.unit**2)
    return true


@pytest.mark.slow
@given(problem_and_tree(), st.integers(0, 99))
@settings(max_examples=examples(100), deadline=None)
def test_random_changes_give_valid_trees_and_keep_the_original(found, seed):
    problem, start = found
    tree, random = search_tree(problem, start), Random(seed)
    check(tree)
    for _ in range(6):
        before = [array.copy() for array in tree.arrays]
        trial = tree.copy()
        top = change(trial, random)
        for array, unchanged in zip(tree.arrays, before):
            np.testing.assert_array_equal(array, unchanged)
        if top is not None:
            check(trial)
            assert len(trial.leaves()) == start.n_leaves
            assert set(trial.leaves()) - set(trial.leaves(top)) == (
                set(tree.leaves()) - set(tree.leaves(top))
            )
            tree = trial


@given(problem_and_tree(), st.integers(0, 99))
@settings(max_examples=examples(100), deadline=None)
def test_reoptimisation_never_raises_the_cost(found, seed):
    problem, start = found
    tree, random = search_tree(problem, start), Random(seed)
    for top in [tree.root, random.choice(tree.inner())]:
        before, between_ss = check(tree), tree.between_ss()
        found = tree.reoptimise(top)
        assert check(tree) <= before * (1 + 1e-9) + 1e-9
        assert tree.between_ss() >= found >= between_ss
        assert found == tree.between_ss() or problem.mistake_cost > 0  # clusters are matched again
        assert len(tree.leaves()) == start.n_leaves


@given(problem_and_tree(grouped=(False,)))
@settings(max_examples=examples(100), deadline=None)
def test_the_best_split_of_a_leaf_is_that_of_brute_force(found):
    problem, start = found
    tree = search_tree(problem, start)
    X, Z, weight = problem.X, problem.space.X, problem.weights.values
    unit = tree.data.unit
    for leaf in tree.leaves():
        rows = np.sort(tree.node_rows(leaf))
        now = cost_of(Z[rows], weight[rows], np.zeros(len(rows)))
        gains = [
            now - cost_of(Z[rows], weight[rows], X[rows, j] <= at)
            for j in range(X.shape[1])
            for at in np.unique(X[rows, j])[:-1]
        ]
        best = max(gains, default=0.0)
        size = tree.data.total_ss * unit**2
        assert tree.split_gain(leaf) * unit**2 == pytest.approx(best, rel=1e-6, abs=1e-8 * size)


@given(problem_and_tree(), st.integers(0, 99))
@settings(max_examples=examples(100), deadline=None)
def test_no_other_cut_is_cheaper_for_the_means_after_reoptimisation(found, seed):
    problem, start = found
    tree = search_tree(problem, start)
    top = Random(seed).choice(tree.inner())
    tree.n_exact_columns = problem.n_features  # no column is left out
    before, after = -np.inf, tree.reoptimise(top)
    while after > before:  # columns that are much worse for the means before a cut may win after it
        tree.arrays.is_stale[tree.inner()] = True
        before, after = after, tree.reoptimise(top)
    X, Z, group = problem.X, problem.space.X, tree.arrays.group
    weight = problem.weights.values
    labels = np.empty(len(X), dtype=int)
    for leaf in tree.leaves():
        labels[tree.node_rows(leaf)] = group[leaf]
    means = {
        c: np.average(Z[labels == c], axis=0, weights=weight[labels == c]) for c in set(labels)
    }

    def reached(row, node):
        while not tree.is_leaf(node):
            rank = tree.data.rows.rank[row, tree.arrays.feature[node]]
            node = tree.children(node)[int(rank > tree.arrays.rank[node])]
        return group[node]

    rows = tree.node_rows(top)
    sides = [np.array([reached(row, child) for row in rows]) for child in tree.children(top)]
    cluster = tree.arrays.cluster

    def costs_in(groups):
        apart = ((Z[rows] - np.array([means[c] for c in groups])) ** 2).sum(axis=1)
        apart += problem.mistake_cost * (cluster[groups] != problem.labels[rows])
        return weight[rows] * apart

    costs, now = [costs_in(side) for side in sides], costs_in(labels[rows]).sum()
    for j in range(X.shape[1]):
        for at in np.unique(X[rows, j])[:-1]:
            goes_left, changed = X[rows, j] <= at, labels.copy()
            changed[rows] = np.where(goes_left, *sides)
            is_division = len(set(goes_left[sides[0] != sides[1]])) == 2
            if is_division and set(changed) == set(labels):
                assert np.where(goes_left, *costs).sum() >= now - 1e-6 * problem.n_samples


@given(problem_and_tree(grouped=(True,)))
@settings(max_examples=examples(60), deadline=None)
def test_bounds_of_splits_are_those_of_the_nearest_of_two_centers(found):
    problem, start = found
    tree = search_tree(problem, start)
    assume(tree.is_grouped)  # two leaves can only be two clusters
    X, weight, labels = problem.space.X, problem.weights.values, start.predict(problem.X)
    means = [
        np.average(X[labels == c], axis=0, weights=weight[labels == c])
        for c in range(problem.n_clusters)
    ]
    costs = ((X[:, None] - np.array(means)) ** 2).sum(axis=2)
    costs += problem.mistake_cost * (labels[:, None] != np.arange(problem.n_clusters))
    costs *= weight[:, None]
    scale = tree.data.unit**2
    for leaf, bounds in zip(tree.leaves(), tree.gain_bounds(tree.leaves())):
        rows = tree.node_rows(leaf)
        own = costs[rows, labels[rows]]
        expected = np.maximum(own[:, None] - costs[rows], 0).sum(axis=0)
        np.testing.assert_allclose(bounds * scale, expected, rtol=1e-6, atol=1e-7 * costs.sum())


@given(problem_and_tree())
@settings(max_examples=examples(30), deadline=None)
def test_the_search_never_raises_the_cost_and_is_repeatable(found):
    problem, start = found
    tree = search_from([start], problem, WORK, "midpoint", size_of(start))
    X, weight, k = problem.X, problem.weights.values, problem.n_clusters
    before, after = (
        cost_of(problem.space.X, weight, found.predict(X))
        + problem.mistake_cost * weight[found.predict(X) != problem.labels].sum()
        for found in (start, tree)
    )
    assert after <= before * (1 + 1e-9) + 1e-9
    assert tree.n_leaves <= start.n_leaves
    assert tree.n_leaves == start.n_leaves or start.n_leaves > k
    assert set(tree.predict(X)) == set(range(k))
    assert tree == search_from([start], problem, WORK, "midpoint", size_of(start))


def test_costlier_trees_on_the_way_are_not_the_best():
    """Short runs end while steps to trees that are up to 1% costlier are still accepted."""
    X = np.random.default_rng(0).normal(size=(150, 5))
    start = IMM(reference=X[:20], threshold_style="midpoint").fit(X).tree_
    labels = start.predict(X)
    centers = np.array([X[labels == c].mean(axis=0) for c in range(20)])
    data = LocalSearchData(problem_of(X, centers, labels))
    search = LocalSearch(data, start, size_of(start))
    for seed in range(20):
        before = search.between_ss
        search.run(WORK, seed)
        assert search.between_ss >= before
        assert search.best.between_ss() == pytest.approx(search.between_ss)


def test_the_search_repairs_a_bad_first_cut():
    """Four blobs at the corners of a square, and a first cut through two of them."""
    X, _ = make_blobs(200, centers=[[0, 0], [0, 9], [9, 0], [9, 9]], random_state=0)
    builder = TreeBuilder(2)
    left, right = builder.split(0, feature=0, threshold=0.0)
    for leaf in (left, right):
        builder.split(leaf, feature=0, threshold=-1.0 if leaf == left else 1.0)
    for cluster, leaf in enumerate(builder.leaves):
        builder.set_cluster(leaf, cluster)
    start = builder.build()
    labels = start.predict(X)
    centers = np.array([X[labels == c].mean(axis=0) for c in range(4)])
    tree = search_from([start], problem_of(X, centers, labels), WORK, "round", size_of(start))
    assert cost_of(X, np.ones(200), tree.predict(X)) < 0.1 * cost_of(X, np.ones(200), labels)


def test_no_search_starts_from_a_tree_with_an_empty_leaf():
    X = np.arange(8.0)[:, None]
    builder = TreeBuilder(1)
    for cluster, leaf in enumerate(builder.split(0, feature=0, threshold=99.0)):
        builder.set_cluster(leaf, cluster)
    problem = problem_of(X, np.array([[1.0], [6.0]]), np.zeros(8, int))
    assert search_from([builder.build()], problem, WORK, "round", TreeLimits(2)) is None


@pytest.mark.slow
def test_what_is_not_searched():
    """A single cluster, and data with so many columns that a sample would have few rows."""
    X = np.arange(8.0)[:, None]
    assert searchable(problem_of(X, X[:1], np.zeros(8, int))) is None
    wide = sparse.csc_array((40, 2**19 // 19))
    labels = np.arange(40) % 2
    assert searchable(problem_of(wide, np.zeros((2, wide.shape[1])), labels)) is None
    narrower = wide[:, : 2**19 // 20]
    problem = problem_of(narrower, np.zeros((2, narrower.shape[1])), labels)
    assert searchable(problem).n_samples == 2  # rows of zeros with two labels


@given(problem_and_tree(), st.sampled_from([{"max_depth": 3}, {"max_conditions": 3}]))
@settings(max_examples=examples(60), deadline=None)
def test_limits_are_kept(found, limit):
    problem, start = found
    limits = TreeLimits(start.n_leaves, **limit)
    tree = search_from([start], problem, WORK, "midpoint", limits)
    if tree is None:
        assert not limits.allows(start)
    else:
        assert limits.allows(start)
        assert limits.allows(tree)
        X, Z, weight = problem.X, problem.space.X, problem.weights.values
        before, after = (cost_of(Z, weight, found.predict(X)) for found in (start, tree))
        assert after <= before * (1 + 1e-9) + 1e-9


@given(problem_and_tree())
@settings(max_examples=examples(60), deadline=None)
def test_sizes_of_rules_are_those_of_the_tree(found):
    problem, start = found
    tree = search_tree(problem, start)
    assert tree.rule_sizes() == (start.max_depth, conditions_per_leaf(start).max())


def test_small_data_are_searched_as_they_are():
    X = np.arange(2.0**15 + 1)[:, None]
    problem = problem_of(X, np.array([[1.0], [9e3]]), (X[:, 0] > 4e3).astype(int))
    assert searchable(problem).n_samples == 2**15
    few = problem_of(X[:-1], problem.centers, problem.labels[:-1])
    assert searchable(few) is few


def as_set(problem):
    """Rows, labels and weights, in any order."""
    X = problem.X.toarray() if sparse.issparse(problem.X) else problem.X
    columns = *X.T, problem.labels, problem.weights.values
    return sorted(zip(*(column.tolist() for column in columns)))


def test_a_sample_depends_on_the_values_alone():
    rng = np.random.default_rng(0)
    X = rng.integers(-2, 3, size=(400, 3)) / 4
    centers, weight = X[:3], rng.integers(1, 4, 400)
    labels = rng.integers(0, 3, 400)
    sample = sample_problem(problem_of(X, centers, labels, weight), 50)
    assert sample.n_samples == 50
    assert len({row[:-1] for row in as_set(sample)}) == 50
    order = rng.permutation(400)
    repeated = np.repeat(order, weight[order])
    for other in (
        problem_of(X[order], centers, labels[order], weight[order]),
        problem_of(X[repeated], centers, labels[repeated]),
        problem_of(sparse.csc_array(X), centers, labels, weight),
        problem_of(X.astype(np.float32), centers, labels, weight),
    ):
        found = sample_problem(other, 50)
        assert as_set(found) == as_set(sample)
        np.testing.assert_array_equal(found.labels, sample.labels)
    all_rows = sample_problem(problem_of(X, centers, labels, weight), 999)
    assert all_rows.weights.units.sum() == weight.sum()


def test_hashes_of_zeros_and_threads():
    X = np.array([[0.0, 1.0], [-0.0, 1.0], [1.0, 0.0], [1.0, -0.0], [0.0, 0.0]])
    first, second, third, fourth, fifth = row_hashes(problem_of(X, X[:1], np.zeros(5, int)))
    assert first == second
    assert third == fourth
    assert len({first, third, fifth}) == 3


@pytest.mark.slow
def test_many_rows_are_searched_by_a_sample(monkeypatch):
    """The tree is at most as costly as one that is polished only, on all rows."""
    monkeypatch.setattr(tuning, "MAX_ROWS", 80)  # 240 rows are many
    X, _ = make_blobs(240, 3, centers=5, cluster_std=3.0, random_state=2)
    options = {"reference": X[:5], "faithfulness": 0}
    fast, searched = (
        ExplainableKMeans(effort=effort, **options).fit(X) for effort in ("fast", "balanced")
    )
    assert searched.inertia_ < fast.inertia_
    order = np.random.default_rng(0).permutation(len(X))
    shuffled = ExplainableKMeans(**options).fit(X[order])
    np.testing.assert_array_equal(shuffled.tree_.threshold, searched.tree_.threshold)


@pytest.fixture(scope="module")
def blobs():
    X, _ = make_blobs(240, 5, centers=7, cluster_std=4.0, random_state=1)
    X = X.round(1)
    return np.where(np.abs(X) < 2, 0.0, X), X[::34][:7]


def searched(X, centers, n_leaves, work, *, weight=None, n_threads=1):
    """The tree of a short search, from the tree of the fast effort."""
    model = ExplainableKMeans(reference=centers, n_leaves=n_leaves, effort="fast")
    start = model.fit(X, sample_weight=weight).tree_
    weight = np.ones(X.shape[0]) if weight is None else weight.astype(float)
    with ThreadPool(n_threads) as pool:
        data = Dataset(X, Weights.of(weight), pool)
        problem = Problem(data, centers, data.nearest(centers))
        return search_from([start], searchable(problem), work, "round", TreeLimits(n_leaves))


def assert_same_splits(first, second):
    for name in ("feature", "threshold", "cluster"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name), name)


@pytest.mark.slow
@pytest.mark.parametrize("n_leaves", [7, 11])
def test_storage_threads_and_order_do_not_change_the_tree(blobs, n_leaves):
    X, centers = blobs
    order = np.random.default_rng(0).permutation(len(X))
    tree = searched(X, centers, n_leaves, SHORT_WORK)
    for n_threads, form in (
        (2, np.asfortranarray),
        (3, sparse.csc_array),
        (1, lambda X: X[order]),
    ):
        found = searched(form(X), centers, n_leaves, SHORT_WORK, n_threads=n_threads)
        assert_same_splits(found, tree)


@pytest.mark.slow
@pytest.mark.parametrize("n_leaves", [7, 11])
def test_an_integer_weight_is_a_number_of_rows(blobs, n_leaves):
    X, centers = blobs
    weight = np.random.default_rng(0).integers(1, 4, len(X))
    weighted = searched(X, centers, n_leaves, SHORT_WORK, weight=weight)
    repeated = searched(np.repeat(X, weight, axis=0), centers, n_leaves, SHORT_WORK)
    assert_same_splits(repeated, weighted)


@pytest.mark.slow
@pytest.mark.parametrize("n_leaves", [7, 11])
def test_the_search_improves_the_trees_of_all_methods(blobs, n_leaves):
    X, centers = blobs
    searched, polished = (
        ExplainableKMeans(reference=centers, n_leaves=n_leaves, effort=effort, faithfulness=0).fit(
            X
        )
        for effort in ("balanced", "fast")
    )
    assert searched.inertia_ < polished.inertia_
    assert searched.n_leaves_ == polished.n_leaves_ == n_leaves


def test_regrown_trees_have_one_leaf_per_cluster(blobs):
    X, centers = blobs
    labels = ((X[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
    start = ExplainableKMeans(reference=centers, effort="fast").fit(X).tree_
    search = LocalSearch(LocalSearchData(problem_of(X, centers, labels)), start, size_of(start))
    others = search.regrow()
    assert others
    assert all(len(other.best.leaves()) == 7 and check(other.best) > 0 for other in others)
    assert search.regrow() == []


@given(problem_and_tree(), st.randoms(use_true_random=False))
@settings(max_examples=examples(20), deadline=None)
def test_random_cuts_do_not_depend_on_the_order_of_the_rows(case, random):
    problem, tree = case
    order = np.array(random.sample(range(problem.n_samples), problem.n_samples))
    shuffled = problem_of(
        problem.X[order], problem.centers, problem.labels[order], problem.weights.values[order]
    )
    for quantile in (0.0, 0.3, 0.8):
        cuts = []
        for given_problem in (problem, shuffled):
            found = search_tree(given_problem, tree)
            found.cut_at_quantile(found.root, 0, quantile)
            cuts.append(found.arrays.rank[found.root])
        assert cuts[0] == cuts[1]


@pytest.mark.parametrize("seed", seeds(24))
def test_ties_between_columns_do_not_depend_on_weights_or_order(seed):
    """Many rows have the same values, so that columns that are equally good are frequent."""
    rng = np.random.default_rng(seed)
    n_clusters, n_columns = int(rng.integers(2, 9)), int(rng.integers(3, 8))
    X, _ = make_blobs(200, n_columns, centers=n_clusters, cluster_std=4.0, random_state=seed)
    X, weight = X.round(), rng.integers(1, 4, 200)
    centers, n_leaves = X[:n_clusters], int(rng.integers(n_clusters, 2 * n_clusters + 1))
    weighted = searched(X, centers, n_leaves, 2e7, weight=weight)
    order = rng.permutation(weight.sum())
    repeated = np.repeat(X, weight, axis=0)[order]
    assert_same_splits(searched(repeated, centers, n_leaves, 2e7), weighted)
