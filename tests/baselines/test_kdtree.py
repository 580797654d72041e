"""KDTreeExplainer against brute force: which leaf, which column, which value, which center."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_blobs

from _support.extended import examples, seeds
from _support.fitting import fit_exactly
from _support.strategies import tiny_data
from pellucid.baselines import KDTreeExplainer


def brute_median(values, weight):
    """Repeats each row, sorts, takes the middle; the next lower value if that is the largest."""
    repeated = np.sort(np.repeat(values, weight.astype(int)))
    median = repeated[(len(repeated) - 1) // 2]
    return median if median < values.max() else values[values < values.max()].max()


def brute_cut(X, weight):
    """Column and value, or None for a cell of equal rows."""
    varying = [j for j in range(X.shape[1]) if X[:, j].min() < X[:, j].max()]
    if not varying:
        return None
    spread = [np.var(np.repeat(X[:, j], weight.astype(int))) for j in varying]
    best = varying[next(i for i, s in enumerate(spread) if np.isclose(s, max(spread), rtol=1e-9))]
    return best, brute_median(X[:, best], weight)


def brute_leaves(data, n_leaves):
    """Rows of each leaf, in the order in which the leaves were made."""
    leaves = [np.arange(len(data.X))]
    while len(leaves) < n_leaves:
        able = [i for i, rows in enumerate(leaves) if brute_cut(data.X[rows], data.weight[rows])]
        if not able:
            break
        heaviest = max(able, key=lambda i: data.weight[leaves[i]].sum())
        rows = leaves.pop(heaviest)
        feature, at = brute_cut(data.X[rows], data.weight[rows])
        left = data.X[rows, feature] <= at
        leaves += [rows[left], rows[~left]]
    return leaves


@pytest.mark.slow
@given(tiny_data(), st.integers(1, 10))
@settings(max_examples=examples(200), deadline=None)
def test_the_leaves_are_those_of_brute_force(data, n_leaves):
    model = fit_exactly(KDTreeExplainer(n_leaves=n_leaves), data)
    expected = brute_leaves(data, n_leaves)
    leaf = model.apply(data.X)
    found = {tuple(np.flatnonzero(leaf == node)) for node in np.unique(leaf)}
    assert found == {tuple(rows) for rows in expected}
    assert model.n_leaves_ == len(expected)


@given(tiny_data(), st.integers(1, 10))
@settings(max_examples=examples(100), deadline=None)
def test_each_leaf_is_its_cheapest_center(data, n_leaves):
    model = fit_exactly(KDTreeExplainer(n_leaves=n_leaves), data)
    leaf = model.apply(data.X)
    for node in model.tree_.leaves:
        rows = data.X[leaf == node], data.weight[leaf == node]
        costs = [rows[1] @ ((rows[0] - center) ** 2).sum(axis=1) for center in data.centers]
        assert model.tree_.cluster[node] == np.argmin(costs)


def test_each_cut_is_at_the_weighted_median_of_the_column_that_varies_most():
    X, y = make_blobs(400, 5, centers=6, cluster_std=4, random_state=0)
    weight = np.random.default_rng(0).integers(1, 5, len(X)).astype(float)
    model = KDTreeExplainer(n_leaves=16, threshold_style="data")
    tree = model.fit(X, y, sample_weight=weight).tree_
    passes = tree.decision_path(X).toarray().astype(bool)
    for node in np.flatnonzero(~tree.is_leaf):
        rows = passes[:, node]
        feature, at = brute_cut(X[rows], weight[rows])
        assert (tree.feature[node], tree.threshold[node]) == (feature, at)


def test_cells_are_halves_when_no_values_are_equal():
    X = np.random.default_rng(0).normal(size=(256, 3))
    model = KDTreeExplainer(4, n_leaves=16, random_state=0).fit(X)
    assert set(model.tree_.n_node_samples[model.tree_.leaves]) == {16}


def test_as_many_leaves_as_clusters_unless_told_otherwise():
    X, y = make_blobs(100, 3, centers=6, random_state=0)
    assert KDTreeExplainer().fit(X, y).n_leaves_ == 6


def test_equal_rows_are_never_parted():
    X = np.repeat([[0.1, 3.0], [0.1, 7.0]], 50, axis=0)
    with pytest.warns(match="2 leaves for 3 clusters"):
        model = KDTreeExplainer().fit(X, np.arange(100) % 3)
    assert model.n_leaves_ == 2


@pytest.mark.slow
@pytest.mark.parametrize("has_weights", [False, True])
def test_the_order_of_the_rows_does_not_matter(has_weights):
    """Values that differ by a few units of the last place, and columns of equal variance."""
    random = np.random.default_rng(0)
    for offset in (0.0, 1.0, 1e10):
        steps = random.integers(0, 4, size=(40, 3)) * np.spacing(max(offset, 1e-3))
        X = offset + np.column_stack([steps, steps[:, ::-1], -steps])
        weight = random.random(40) + 0.01 if has_weights else None
        trees = []
        for order in (np.arange(40), *(random.permutation(40) for _ in seeds(10))):
            model = KDTreeExplainer(n_leaves=12, reference=X[:3], threshold_style="data")
            ordered = weight[order] if has_weights else None
            trees.append(model.fit(X[order], sample_weight=ordered).tree_)
        assert all(tree == trees[0] for tree in trees)
