"""Measures against their definitions."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine

from _support.oracles import medians
from pellucid import ExShallow
from pellucid.metrics import (
    kmeans_cost,
    kmedians_cost,
    normalized_partition_cost,
    reference_agreement,
    surrogate_cost,
    weighted_average_depth,
    weighted_average_explanation_size,
)
from pellucid.tree import TreeBuilder


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4)) * (rng.random((200, 4)) < 0.4)
    return X, rng.integers(0, 3, 200), rng.integers(0, 4, 200).astype(float)


def plain_cost(X, labels, weight):
    cost = 0.0
    for label in set(labels):
        rows = labels == label
        if weight[rows].sum() > 0:
            mean = np.average(X[rows], axis=0, weights=weight[rows])
            cost += weight[rows] @ ((X[rows] - mean) ** 2).sum(axis=1)
    return cost


def test_kmeans_cost_is_its_definition(data):
    X, labels, weight = data
    for matrix in (X, sparse.csr_array(X), sparse.csc_array(X), X.astype(np.float32)):
        assert kmeans_cost(matrix, labels, sample_weight=weight) == pytest.approx(
            plain_cost(X, labels, weight), rel=1e-5 if matrix is not X else 1e-12
        )
    assert kmeans_cost(X, labels) == pytest.approx(plain_cost(X, labels, np.ones(200)))
    names = np.array(["a", "b", "c"])[labels]
    assert kmeans_cost(X, names) == kmeans_cost(X, labels)
    assert kmeans_cost(X + 1e8, labels) == pytest.approx(kmeans_cost(X, labels), rel=1e-6)


def plain_medians_cost(X, labels, weight):
    cost = 0.0
    for label in set(labels):
        rows = labels == label
        if weight[rows].sum() > 0:
            away = np.abs(X[rows] - medians(X[rows], weight[rows]))
            cost += weight[rows] @ away.sum(axis=1)
    return cost


@pytest.mark.slow
def test_kmedians_cost_is_its_definition(data):
    X, labels, weight = data
    expected = plain_medians_cost(X, labels, weight)
    for matrix in (X, sparse.csr_array(X), sparse.csc_array(X), X.astype(np.float32)):
        assert kmedians_cost(matrix, labels, sample_weight=weight) == pytest.approx(expected)
    one = np.zeros(200)
    ratio = plain_medians_cost(X, one, weight) / expected
    assert normalized_partition_cost(
        X, one, labels, sample_weight=weight, objective="kmedians"
    ) == pytest.approx(ratio)
    with pytest.raises(ValueError, match="objective is 'kmodes'; it must be one of 'kmeans', 'kme"):
        normalized_partition_cost(X, one, labels, objective="kmodes")


def test_kmeans_cost_is_scikit_learns_inertia():
    X = load_wine().data
    fitted = KMeans(3, n_init=3, random_state=0).fit(X)
    assert kmeans_cost(X, fitted.labels_) == pytest.approx(fitted.inertia_)
    assert surrogate_cost(X, fitted.labels_, fitted.cluster_centers_) == pytest.approx(
        fitted.inertia_
    )


def test_surrogate_cost_is_its_definition(data):
    X, labels, weight = data
    centers = X[:3]
    expected = (weight * ((X - centers[labels]) ** 2).sum(axis=1)).sum()
    for matrix in (X, sparse.csr_array(X)):
        assert surrogate_cost(matrix, labels, centers, sample_weight=weight) == pytest.approx(
            expected
        )
        absolute = (weight * np.abs(X - centers[labels]).sum(axis=1)).sum()
        assert surrogate_cost(
            matrix, labels, centers, sample_weight=weight, objective="kmedians"
        ) == pytest.approx(absolute)
    with pytest.raises(ValueError, match="centers has shape"):
        surrogate_cost(X, labels, centers[:, :2])
    with pytest.raises(ValueError, match=r"labels must be positions in centers, 0 \.\. 2"):
        surrogate_cost(X, labels + 1, centers)
    with pytest.raises(ValueError, match="X has 200 rows"):
        surrogate_cost(X, labels[:5], centers)


def test_normalized_partition_cost(data):
    X, labels, weight = data
    assert normalized_partition_cost(X, labels, labels) == 1.0
    ratio = plain_cost(X, np.zeros(200), weight) / plain_cost(X, labels, weight)
    assert normalized_partition_cost(
        X, np.zeros(200), labels, sample_weight=weight
    ) == pytest.approx(ratio)
    same = np.zeros((3, 2))
    assert normalized_partition_cost(same, [0, 0, 1], [0, 1, 1]) == 1.0
    assert normalized_partition_cost([[0.0], [1.0]], [0, 0], [0, 1]) == np.inf


def two_sided_tree():
    """x0 <= 5, then x0 <= 3 on the left: the leaf at x0 <= 3 has a redundant condition."""
    builder = TreeBuilder(1)
    left, right = builder.split(0, feature=0, threshold=5.0)
    low, high = builder.split(left, feature=0, threshold=3.0)
    for node, count in ((0, 10), (left, 4), (right, 6), (low, 3), (high, 1)):
        builder.set_counts(node, count, float(count))
    return builder.build()


def test_depth_and_explanation_size_from_the_counts_or_from_rows():
    tree = two_sided_tree()
    assert weighted_average_depth(tree) == pytest.approx((3 * 2 + 1 * 2 + 6 * 1) / 10)
    assert weighted_average_explanation_size(tree) == pytest.approx((3 * 1 + 1 * 2 + 6 * 1) / 10)
    rows = [[0.0], [4.0], [9.0], [9.0]]
    assert weighted_average_depth(tree, rows) == pytest.approx(6 / 4)
    weighted = weighted_average_explanation_size(tree, rows, sample_weight=[1, 3, 0, 0])
    assert weighted == pytest.approx(7 / 4)
    with pytest.raises(ValueError, match="sample_weight needs X"):
        weighted_average_depth(tree, sample_weight=[1.0])


@pytest.mark.slow
def test_stored_counts_are_those_of_the_training_rows():
    X = load_wine().data
    weight = np.arange(len(X), dtype=float)
    tree = ExShallow(5, random_state=0).fit(X, sample_weight=weight).tree_
    assert weighted_average_depth(tree) == pytest.approx(
        weighted_average_depth(tree, X, sample_weight=weight)
    )
    assert weighted_average_explanation_size(tree) == pytest.approx(
        weighted_average_explanation_size(tree, X, sample_weight=weight)
    )


def test_agreement_is_accuracy_after_the_best_matching():
    assert reference_agreement([0, 0, 1, 1], [1, 1, 0, 0]) == 1.0
    assert reference_agreement([0, 0, 0, 0], [0, 0, 1, 2]) == 0.5
    assert reference_agreement([0, 0, 1], ["a", "b", "b"], sample_weight=[1, 2, 1]) == 0.5
    with pytest.raises(ValueError, match="both must be 1-D and of the same length"):
        reference_agreement([0, 1], [0])
