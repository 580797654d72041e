"""A walk from tree to tree: what it says of its trees is true, and they never become costlier."""

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import make_blobs

from pellucid import ExplainableKMeans
from pellucid._core.criteria.problem import Problem
from pellucid._core.data.dataset import Dataset
from pellucid._core.data.weights import Weights
from pellucid._core.refine import local_search as walking
from pellucid._core.refine.local_search import Walk, Work, can_walk, change, walk_from
from pellucid._core.refine.local_search_data import Ground
from pellucid._core.refine.local_search_tree import AT, FEATURE, NONE, ROOT, Room, Standing
from pellucid.tree import TreeBuilder

SOME = Work(3e6, 0)


def cost_of(X, weight, labels):
    """The k-means cost of some clusters, row by row."""
    total = 0.0
    for cluster in set(labels.tolist()):
        rows = labels == cluster
        mean = np.average(X[rows], axis=0, weights=weight[rows])
        total += (weight[rows] * ((X[rows] - mean) ** 2).sum(axis=1)).sum()
    return total


@st.composite
def case(draw, max_clusters=6):
    """Data with ties, and a tree all of whose leaves have rows."""
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
    for cluster, leaf in enumerate(builder.leaves):
        builder.set_cluster(leaf, cluster)
    tree = builder.build()
    labels = tree.predict(X)
    centers = np.array([X[labels == c].mean(axis=0) for c in range(tree.n_leaves)])
    return Problem(Dataset(X, Weights.of(weight)), centers, labels), tree


def stand(problem, tree):
    ground = Ground(problem)
    return Standing(ground, Room(ground), tree)


def check(tree):
    """Whatever has been done to it, it is a tree over all rows, and knows what it costs."""
    problem, ground = tree.ground.problem, tree.ground
    leaves, labels = tree.leaves(), np.full(problem.n_samples, NONE)
    for leaf in leaves:
        begin, end = tree.nodes[leaf, 4:6]
        labels[tree.rows[begin:end]] = leaf
    for row, values in enumerate(ground.rank.tolist()):
        i = ROOT
        while not tree.is_leaf(i):
            i = tree.nodes[i, 2 + (values[tree.nodes[i, FEATURE]] > tree.nodes[i, AT])]
        assert labels[row] == i
    lines = [ground.lines[labels == leaf].sum(axis=0) for leaf in leaves]
    np.testing.assert_array_equal(tree.sums[leaves], lines)
    cost = (ground.cost - tree.share(leaves)) * ground.unit**2
    true = cost_of(problem.X, problem.weights.values, labels)
    assert cost == pytest.approx(true, rel=1e-9, abs=1e-9 * ground.cost * ground.unit**2)
    return true


@given(case(), st.integers(0, 99))
@settings(max_examples=100, deadline=None)
def test_changes_keep_the_tree_in_order(found, seed):
    problem, start = found
    here, random = stand(problem, start), Random(seed)
    check(here)
    for _ in range(6):
        before = here.nodes.copy(), here.rows.copy(), here.sums.copy(), here.shares.copy()
        trial = here.copy()
        top = change(trial, random)
        after = here.nodes, here.rows, here.sums, here.shares
        for one, other in zip(before, after):
            np.testing.assert_array_equal(one, other)
        if top is not None:
            check(trial)
            assert len(trial.leaves()) == start.n_leaves
            assert set(trial.leaves()) - set(trial.leaves(top)) == (
                set(here.leaves()) - set(here.leaves(top))
            )
            here = trial


@given(case(), st.integers(0, 99))
@settings(max_examples=100, deadline=None)
def test_mending_never_costs(found, seed):
    problem, start = found
    tree, random = stand(problem, start), Random(seed)
    for top in [ROOT, random.choice(tree.inner())]:
        before, share = check(tree), tree.share(tree.leaves())
        tree.mend(top)
        assert check(tree) <= before * (1 + 1e-9) + 1e-9
        assert tree.share(tree.leaves()) >= share
        assert len(tree.leaves()) == start.n_leaves


@given(case())
@settings(max_examples=100, deadline=None)
def test_the_best_split_of_a_leaf_is_the_best_of_all(found):
    problem, start = found
    tree = stand(problem, start)
    X, weight, unit = problem.X, problem.weights.values, tree.ground.unit
    for leaf in tree.leaves():
        rows = np.sort(tree.rows[slice(*tree.nodes[leaf, 4:6])])
        now = cost_of(X[rows], weight[rows], np.zeros(len(rows)))
        gains = [
            now - cost_of(X[rows], weight[rows], X[rows, j] <= at)
            for j in range(X.shape[1])
            for at in np.unique(X[rows, j])[:-1]
        ]
        best = max(gains, default=0.0)
        size = tree.ground.cost * unit**2
        assert tree.gain(leaf) * unit**2 == pytest.approx(best, rel=1e-6, abs=1e-8 * size)


@given(case())
@settings(max_examples=100, deadline=None)
def test_a_better_cut_is_as_much_better_as_it_says(found):
    problem, start = found
    tree = stand(problem, start)
    for node in tree.inner():
        gain, feature, at = tree.find_cut(node)
        if gain > 0:
            trial, before = tree.copy(), check(tree)
            trial.nodes[node, : AT + 1] = feature, at
            assert trial.send(node)
            size = tree.ground.cost * tree.ground.unit**2
            assert before - check(trial) == pytest.approx(
                gain * tree.ground.unit**2, rel=1e-6, abs=1e-9 * size
            )


@given(case())
@settings(max_examples=30, deadline=None)
def test_a_walk_ends_no_costlier_than_it_began(found):
    problem, start = found
    tree = walk_from([start], problem, SOME, "midpoint")
    X, weight = problem.X, problem.weights.values
    before, after = cost_of(X, weight, start.predict(X)), cost_of(X, weight, tree.predict(X))
    assert after <= before * (1 + 1e-9) + 1e-9
    assert tree.n_leaves == start.n_leaves
    assert sorted(tree.cluster[tree.leaves]) == list(range(start.n_leaves))
    assert tree == walk_from([start], problem, SOME, "midpoint")


def test_a_walk_finds_what_greedy_trees_miss():
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
    problem = Problem(Dataset(X, Weights.of(np.ones(200))), centers, labels)
    tree = walk_from([start], problem, SOME, "round")
    assert cost_of(X, np.ones(200), tree.predict(X)) < 0.1 * cost_of(X, np.ones(200), labels)


def test_a_tree_without_rows_in_a_leaf_is_no_start():
    X = np.arange(8.0)[:, None]
    builder = TreeBuilder(1)
    for cluster, leaf in enumerate(builder.split(0, feature=0, threshold=99.0)):
        builder.set_cluster(leaf, cluster)
    problem = Problem(
        Dataset(X, Weights.of(np.ones(8))), np.array([[1.0], [6.0]]), np.zeros(8, int)
    )
    assert walk_from([builder.build()], problem, SOME, "round") is None


def test_large_data_and_single_clusters_are_not_walked_on(monkeypatch):
    X = np.arange(8.0)[:, None]
    weights = Weights.of(np.ones(8))
    two = Problem(Dataset(X, weights), np.array([[1.0], [6.0]]), np.arange(8) // 4)
    one = Problem(Dataset(X, weights), np.array([[1.0]]), np.zeros(8, int))
    assert can_walk(two)
    assert not can_walk(one)
    monkeypatch.setattr(walking, "_MOST_ROWS", 7)
    assert not can_walk(two)
    model = ExplainableKMeans(reference=two.centers).fit(X)
    assert model.n_leaves_ == 2


@pytest.fixture(scope="module")
def blobs():
    X, _ = make_blobs(400, 5, centers=7, cluster_std=4.0, random_state=1)
    X = X.round(1)
    return np.where(np.abs(X) < 2, 0.0, X), X[::57][:7]


def test_the_same_tree_whatever_the_storage_the_threads_and_the_order(blobs):
    X, centers = blobs
    model = ExplainableKMeans(reference=centers, n_jobs=1).fit(X)
    others = [
        ExplainableKMeans(reference=centers, n_jobs=n_jobs).fit(form(X))
        for n_jobs in (1, 2, 3)
        for form in (np.asfortranarray, sparse.csc_array)
    ]
    assert all(other.tree_ == model.tree_ for other in others)


def test_a_whole_weight_is_a_number_of_rows(blobs):
    X, centers = blobs
    weight = np.random.default_rng(0).integers(1, 4, len(X))
    weighted = ExplainableKMeans(reference=centers).fit(X, sample_weight=weight)
    repeated = ExplainableKMeans(reference=centers).fit(np.repeat(X, weight, axis=0))
    for name in ("feature", "threshold", "cluster"):
        np.testing.assert_array_equal(
            getattr(weighted.tree_, name), getattr(repeated.tree_, name), name
        )


def test_a_walk_makes_the_flagship_cheaper(blobs, monkeypatch):
    from pellucid._core.refine import portfolio

    X, centers = blobs
    walked = ExplainableKMeans(reference=centers).fit(X)
    monkeypatch.setattr(portfolio, "can_walk", lambda problem: False)
    plain = ExplainableKMeans(reference=centers).fit(X)
    assert walked.inertia_ <= plain.inertia_
    assert walked.n_leaves_ == plain.n_leaves_ == 7


def test_regrown_trees_are_trees_of_the_same_data(blobs):
    X, centers = blobs
    labels = ((X[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
    problem = Problem(Dataset(X, Weights.of(np.ones(len(X)))), centers, labels)
    start = ExplainableKMeans(reference=centers, effort="fast").fit(X).tree_
    walk = Walk(Ground(problem), start)
    more = walk.regrow()
    assert more
    assert all(len(other.best.leaves()) == 7 and check(other.best) > 0 for other in more)
    assert walk.regrow() == []
