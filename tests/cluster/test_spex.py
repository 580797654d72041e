"""SpEx: the brute-force tree, from labels of any kind."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_digits, make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning

from _support import oracles
from _support.spex_oracle import best_cut, grow_spex, share
from _support.strategies import tiny_data
from pellucid import SpEx
from pellucid._core.data import binning as bins


@pytest.fixture(scope="module", params=[2, 5, 256])
def bins_of_a_column(request):
    """With few bins, most thresholds lie inside them."""
    before, bins.QUANTILES = bins.QUANTILES, request.param
    yield
    bins.QUANTILES = before


@st.composite
def labelled(draw):
    """Labels 0, 1, ..., each of them there, that have nothing to do with the columns."""
    data = draw(tiny_data(max_rows=14))
    n = len(data.X)
    wanted = draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    labels = np.unique(wanted, return_inverse=True)[1]
    lone = draw(st.booleans())
    return data.X, labels, np.ones(n) if lone else data.weight


@pytest.mark.usefixtures("bins_of_a_column")
@given(labelled(), st.integers(1, 8))
@settings(max_examples=80, deadline=None)
def test_it_is_the_brute_force_tree(data, n_leaves):
    X, labels, weight = data
    model = SpEx(reference=labels, n_leaves=n_leaves, threshold_style="data", n_jobs=1)
    expected = grow_spex(X, labels, weight, n_leaves)
    for table in (X, sparse.csc_array(X)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(table, sample_weight=weight)
        assert oracles.as_nested(model.tree_) == expected


@pytest.mark.usefixtures("bins_of_a_column")
@pytest.mark.parametrize("seed", range(4))
def test_every_node_attains_the_optimum_among_many_values(seed):
    """Clusters of very different sizes, and cells large enough to keep their sums."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(500, 3)).round(1)
    labels = np.searchsorted([0.02, 0.1, 0.5], rng.random(500)) + (X[:, 0] > 0.5)
    labels[:2] = [5, 6]
    weight = rng.integers(1, 3, 500).astype(float) if seed % 2 else np.ones(500)
    tree = SpEx(reference=labels, n_leaves=12).fit(X, sample_weight=weight).tree_
    assert tree.n_leaves == 12
    path = tree.decision_path(X).toarray()
    for node in np.flatnonzero(~tree.is_leaf):
        least, _, _ = best_cut(X, labels, weight, np.flatnonzero(path[:, node]))
        left, right = (
            np.flatnonzero(path[:, children[node]])
            for children in (tree.children_left, tree.children_right)
        )
        found = share(labels, weight, left) + share(labels, weight, right)
        assert found == pytest.approx(least, abs=1e-12)


def test_sums_that_are_kept_are_those_of_sparse_data_which_keeps_none():
    X, y = make_blobs(6000, 6, centers=4, cluster_std=5, random_state=0)
    X = np.where(np.abs(X) < 3, 0.0, X)
    dense = SpEx(reference=y, n_leaves=10).fit(X)
    assert dense.tree_ == SpEx(reference=y, n_leaves=10).fit(sparse.csr_array(X)).tree_


def test_shares_never_fall_and_the_last_leaves_are_pure():
    X, y = load_digits(return_X_y=True)
    X, y = X[:300, 16:40], y[:300]
    totals = []
    for n_leaves in (1, 2, 5, 10, 20):
        leaf = SpEx(reference=y, n_leaves=n_leaves).fit(X).apply(X)
        totals.append(sum(share(y, np.ones(len(y)), np.flatnonzero(leaf == i)) for i in set(leaf)))
    assert totals == sorted(totals)
    full = SpEx(reference=y, n_leaves=300).fit(X)
    np.testing.assert_array_equal(full.labels_, y)
    assert full.n_leaves_ < 300


def test_clusters_without_a_meaningful_center_are_explained():
    X, y = make_moons(400, noise=0.05, random_state=0)
    names = np.array(["lower", "upper"])[y]
    model = SpEx(reference=names, n_leaves=8).fit(X)
    assert (model.labels_ == names).mean() > 0.99


def test_a_row_of_its_own_is_cut_off_for_nothing():
    X, _ = make_blobs(60, 2, centers=[[0, 0], [1, 1]], random_state=0)
    X[7] = [50.0, 0.0]
    labels = np.arange(60) % 2
    labels[7] = 2
    model = SpEx(reference=labels, n_leaves=2).fit(X)
    assert model.tree_.feature[0] == 0
    assert np.flatnonzero(model.labels_ == 2).tolist() == [7]


def test_only_the_ratios_of_fractional_weights_matter():
    X, y = make_blobs(200, 3, centers=4, cluster_std=4, random_state=0)
    weight = np.random.default_rng(0).uniform(0.1, 2.0, 200)
    trees = [
        SpEx(reference=y).fit(X, sample_weight=weight * scale).tree_ for scale in (1e-3, 1, 64)
    ]
    for tree in trees[1:]:
        np.testing.assert_array_equal(tree.feature, trees[0].feature)
        np.testing.assert_array_equal(tree.threshold, trees[0].threshold)
