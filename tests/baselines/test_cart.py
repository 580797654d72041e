"""CARTExplainer is scikit-learn's tree: the same leaves, the same labels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_digits, make_blobs
from sklearn.tree import DecisionTreeClassifier

from _support.extended import examples
from _support.fitting import fit
from _support.strategies import tiny_data
from pellucid.baselines import CARTExplainer

N_LEAVES = 14


@pytest.fixture(scope="module")
def blobs():
    X, y = make_blobs(500, 6, centers=8, cluster_std=4, random_state=0)
    return np.where(np.abs(X) < 2, 0.0, X), y


def same_partition(ours, theirs):
    pairs = np.unique(np.stack([ours, theirs]), axis=1)
    return pairs.shape[1] == len(np.unique(ours)) == len(np.unique(theirs))


@pytest.mark.parametrize("style", ["round", "midpoint", "data"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize(
    "as_kind",
    [np.asarray, np.float32, np.asfortranarray, sparse.csc_array, sparse.csr_array],
    ids=["float64", "float32", "fortran", "csc", "csr"],
)
def test_training_rows_reach_the_leaves_of_scikit_learn(blobs, as_kind, weighted, style):
    X, y = as_kind(blobs[0]), blobs[1]
    weight = np.random.default_rng(0).uniform(0.1, 3, len(y)) if weighted else None
    model = CARTExplainer(n_leaves=N_LEAVES, threshold_style=style, random_state=0).fit(
        X, y, sample_weight=weight
    )
    cart = DecisionTreeClassifier(max_leaf_nodes=N_LEAVES, random_state=0)
    cart.fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(model.predict(X), cart.predict(X))
    np.testing.assert_array_equal(model.labels_, cart.predict(X))
    assert same_partition(model.apply(X), cart.apply(X))
    assert model.n_leaves_ == cart.get_n_leaves() == N_LEAVES


def test_values_that_single_precision_cannot_tell_apart_stay_together():
    near = 1 + np.array([0.0, 1e-12, 0.5, 0.5 + 1e-12])
    X = np.repeat(near, 10)[:, None]
    y = np.repeat([0, 1, 2, 2], 10)
    with pytest.warns(match="2 leaves for 3 clusters"):
        model = CARTExplainer(threshold_style="midpoint").fit(X, y)
    cart = DecisionTreeClassifier(max_leaf_nodes=3).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), cart.predict(X))
    assert model.tree_.threshold[0] == np.mean(near[1:3])


@given(tiny_data(), st.integers(1, 8))
@settings(max_examples=examples(50), deadline=None)
def test_ties_and_weights_as_in_scikit_learn(data, n_leaves):
    model = fit(CARTExplainer(n_leaves=n_leaves, random_state=3), data)
    if n_leaves == 1:
        expected = np.full(len(data.X), np.bincount(data.labels, weights=data.weight).argmax())
    else:
        cart = DecisionTreeClassifier(max_leaf_nodes=n_leaves, random_state=3)
        expected = cart.fit(data.X, data.labels, sample_weight=data.weight).predict(data.X)
    np.testing.assert_array_equal(model.predict(data.X), expected)


def test_as_many_leaves_as_clusters_unless_told_otherwise():
    X, y = load_digits(return_X_y=True)
    assert CARTExplainer(random_state=0).fit(X, y).n_leaves_ == 10
    assert CARTExplainer(n_leaves=4, random_state=0).fit(X, y).n_leaves_ == 4


def test_a_perfect_tree_grows_no_further():
    X = np.array([[0.0], [1.0], [5.0], [6.0]])
    model = CARTExplainer(n_leaves=4).fit(X, [0, 0, 1, 1])
    assert model.n_leaves_ == 2
    assert model.tree_.threshold[0] == 3.0


@pytest.mark.parametrize("as_kind", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
def test_numbers_beyond_single_precision_are_named(as_kind):
    X = np.array([[1.0, 0.0, 0.0], [2.0, 1e39, 0.0], [3.0, 0.0, 1.0]])
    with pytest.raises(ValueError, match="column 1 has values beyond 3.4e"):
        CARTExplainer().fit(as_kind(X), [0, 1, 1])


def test_storage_does_not_matter_for_fractional_weights():
    """Equally good splits: scikit-learn adds weights of dense and sparse rows in other orders."""
    for seed in range(40):
        random = np.random.default_rng(seed)
        X = random.integers(-2, 3, size=(30, 5)).astype(float)
        weight, labels = random.random(30) + 0.01, random.integers(0, 2, size=30)
        dense, from_csr = (
            CARTExplainer(n_leaves=7, random_state=0).fit(form(X), labels, sample_weight=weight)
            for form in (np.asarray, sparse.csr_array)
        )
        assert dense.tree_ == from_csr.tree_
