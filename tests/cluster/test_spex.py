"""SpEx grows the brute-force tree for any labels."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_digits, make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning

from _support import oracles
from _support.extended import examples, seeds
from _support.spex_oracle import best_cut, cut_ratio, grow_spex
from _support.strategies import tiny_data
from pellucid import SpEx
from pellucid._core.data import binning as bins


@pytest.fixture(scope="module", params=[2, 5, 256])
def n_quantiles(request):
    """Number of bins per column; with few bins, most thresholds lie inside a bin."""
    before, bins.N_BINS = bins.N_BINS, request.param
    yield
    bins.N_BINS = before


@st.composite
def labelled(draw):
    """Labels 0, 1, ..., none of them empty, that are independent of the columns."""
    data = draw(tiny_data(max_rows=14))
    n = len(data.X)
    wanted = draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    labels = np.unique(wanted, return_inverse=True)[1]
    unweighted = draw(st.booleans())
    return data.X, labels, np.ones(n) if unweighted else data.weight


@pytest.mark.usefixtures("n_quantiles")
@given(labelled(), st.integers(1, 8))
@settings(max_examples=examples(80), deadline=None)
def test_it_is_the_brute_force_tree(data, n_leaves):
    X, labels, weight = data
    model = SpEx(n_leaves=n_leaves, threshold_style="data", n_jobs=1)
    expected = grow_spex(X, labels, weight, n_leaves)
    for table in (X, sparse.csc_array(X)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(table, labels, sample_weight=weight)
        assert oracles.as_nested(model.tree_) == expected


@pytest.mark.usefixtures("n_quantiles")
@pytest.mark.parametrize("seed", seeds(4))
def test_every_node_attains_the_optimum_among_many_values(seed):
    """Clusters of very different sizes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(500, 3)).round(1)
    labels = np.searchsorted([0.02, 0.1, 0.5], rng.random(500)) + (X[:, 0] > 0.5)
    labels[:2] = [5, 6]
    weight = rng.integers(1, 3, 500).astype(float) if seed % 2 else np.ones(500)
    tree = SpEx(n_leaves=12).fit(X, labels, sample_weight=weight).tree_
    assert tree.n_leaves == 12
    path = tree.decision_path(X).toarray().astype(bool)
    for node in np.flatnonzero(~tree.is_leaf):
        least, _, _ = best_cut(X, labels, weight, np.flatnonzero(path[:, node]))
        left, right = (
            np.flatnonzero(path[:, children[node]])
            for children in (tree.children_left, tree.children_right)
        )
        found = cut_ratio(labels, weight, left) + cut_ratio(labels, weight, right)
        assert found == pytest.approx(least, abs=1e-12)


def test_dense_and_sparse_data_give_the_same_tree():
    X, y = make_blobs(6000, 6, centers=4, cluster_std=5, random_state=0)
    X = np.where(np.abs(X) < 3, 0.0, X)
    dense = SpEx(n_leaves=10).fit(X, y)
    assert dense.tree_ == SpEx(n_leaves=10).fit(sparse.csr_array(X), y).tree_


def test_the_sum_of_cut_ratios_never_falls_and_full_trees_are_pure():
    X, y = load_digits(return_X_y=True)
    X, y = X[:300, 16:40], y[:300]
    totals = []
    for n_leaves in (1, 2, 5, 10, 20):
        leaf = SpEx(n_leaves=n_leaves).fit(X, y).apply(X)
        totals.append(
            sum(cut_ratio(y, np.ones(len(y)), np.flatnonzero(leaf == i)) for i in set(leaf))
        )
    assert totals == sorted(totals)
    full = SpEx(n_leaves=300).fit(X, y)
    np.testing.assert_array_equal(full.labels_, y)
    assert full.n_leaves_ < 300


def test_clusters_without_a_meaningful_center_are_explained():
    X, y = make_moons(400, noise=0.05, random_state=0)
    names = np.array(["lower", "upper"])[y]
    model = SpEx(n_leaves=8).fit(X, names)
    assert (model.labels_ == names).mean() > 0.99


def test_separating_a_cluster_of_one_row_is_free():
    X, _ = make_blobs(60, 2, centers=[[0, 0], [1, 1]], random_state=0)
    X[7] = [50.0, 0.0]
    labels = np.arange(60) % 2
    labels[7] = 2
    model = SpEx(n_leaves=2).fit(X, labels)
    assert model.tree_.feature[0] == 0
    assert np.flatnonzero(model.labels_ == 2).tolist() == [7]


def test_only_the_ratios_of_fractional_weights_matter():
    X, y = make_blobs(200, 3, centers=4, cluster_std=4, random_state=0)
    weight = np.random.default_rng(0).uniform(0.1, 2.0, 200)
    trees = [SpEx().fit(X, y, sample_weight=weight * scale).tree_ for scale in (1e-3, 1, 64)]
    for tree in trees[1:]:
        np.testing.assert_array_equal(tree.feature, trees[0].feature)
        np.testing.assert_array_equal(tree.threshold, trees[0].threshold)
