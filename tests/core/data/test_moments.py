"""Means and costs of two groupings, against sums written out."""

import numpy as np
import pytest
from scipy import sparse

from pellucid._core.data.moments import cost_to_centers, group_moments, means_and_costs
from pellucid._utils.threads import SERIAL, ThreadPool

N_SAMPLES, N_FEATURES = 40, 3


def by_hand(X, labels, weight, origins):
    centers, cost = origins.copy(), 0.0
    for g in range(len(origins)):
        rows = labels == g
        if rows.any():
            centers[g] = np.average(X[rows], axis=0, weights=weight[rows])
            cost += (weight[rows, None] * (X[rows] - centers[g]) ** 2).sum()
    return centers, cost


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sparse.csc_array])
@pytest.mark.parametrize(
    ("n_groups", "label_type", "least"),
    [(4, np.intp, 0), (4, np.intp, -1), (4, np.uint8, 0), (120, np.uint8, 0), (4, np.int32, -1)],
)
def test_labels_of_any_width(form, n_groups, label_type, least):
    """Labels are stored as small integers; comparing two groupings must not overflow."""
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(N_SAMPLES, N_FEATURES)), rng.random(N_SAMPLES) + 0.1
    labels, others = rng.integers(least, n_groups, size=(2, N_SAMPLES))
    others[::2] = labels[::2]
    origins = rng.normal(size=(n_groups, N_FEATURES))
    for first, second in [(label_type, np.intp), (np.intp, label_type)]:
        found = means_and_costs(
            form(X), labels.astype(first), others.astype(second), weight, origins
        )
        for (centers, cost), group in zip(found, (labels, others)):
            expected, expected_cost = by_hand(X, group, weight, origins)
            np.testing.assert_allclose(centers, expected, atol=1e-12)
            assert cost == pytest.approx(expected_cost)
    distances = (weight * ((X - origins[labels]) ** 2).sum(axis=1))[labels >= 0]
    cost = cost_to_centers(form(X), labels.astype(label_type), origins, weight)
    assert cost == pytest.approx(distances.sum())


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, np.float32])
@pytest.mark.parametrize("moved", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("least", [0, -1])
def test_only_moved_rows_are_read_again(form, moved, least):
    """Whether few rows have other labels or all of them, with any number of threads."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(9000, N_FEATURES)), 3).astype(np.float32).astype(float)
    weight, origins = rng.random(9000) + 0.1, rng.normal(size=(4, N_FEATURES))
    others = rng.integers(least, 4, size=9000)
    labels = np.where(rng.random(9000) < moved, rng.integers(least, 4, size=9000), others)
    found = []
    with ThreadPool(2) as pool:
        for threads in (SERIAL, pool):
            moments = group_moments(form(X), others, weight, origins, threads)
            found.append(
                means_and_costs(form(X), labels, others, weight, origins, threads, moments)
            )
    for (centers, cost), (same, same_cost), group in zip(*found, (labels, others)):
        expected, expected_cost = by_hand(X, group, weight, origins)
        np.testing.assert_allclose(centers, expected, atol=1e-12)
        assert cost == pytest.approx(expected_cost)
        np.testing.assert_array_equal(centers, same)
        assert cost == same_cost


def test_a_group_that_nearly_all_rows_leave_keeps_its_digits():
    X = np.concatenate([np.full((1000, 1), 1e8), [[1.0], [1.0 + 1e-7]]])
    others, labels = np.zeros(1002, dtype=np.intp), np.repeat([1, 0], [1000, 2])
    origins, weight = np.zeros((2, 1)), np.ones(1002)
    moments = group_moments(X, others, weight, origins)
    (centers, _), _ = means_and_costs(X, labels, others, weight, origins, moments=moments)
    assert centers[0, 0] == pytest.approx(1.0 + 5e-8, rel=1e-14)


def test_a_group_that_its_outlier_leaves_keeps_its_digits():
    X = np.array([[0.0], [1.0], [0.0], [1.0], [1e50]])
    others, labels = np.zeros(5, dtype=np.intp), np.array([0, 0, 0, 0, 1])
    origins, weight = np.array([[0.25], [1e50]]), np.ones(5)
    moments = group_moments(X, others, weight, origins)
    (centers, cost), _ = means_and_costs(X, labels, others, weight, origins, moments=moments)
    np.testing.assert_array_equal(centers, [[0.5], [1e50]])
    assert cost == 1.0


@pytest.mark.parametrize("weight", [np.ones(500), np.random.default_rng(1).random(500)])
def test_sparse_columns_far_from_zero_keep_their_digits(weight):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3)) + np.array([1e9, 0.0, 1e9])
    X[:, 1] *= rng.random(500) < 0.3
    labels, origins = rng.integers(0, 3, size=500), np.zeros((3, 3))
    origins[:] = X.mean(axis=0)
    (centers, cost), _ = means_and_costs(sparse.csc_array(X), labels, labels, weight, origins)
    expected, expected_cost = by_hand(X, labels, weight, origins)
    np.testing.assert_allclose(centers - origins, expected - origins, atol=1e-6)
    assert cost == pytest.approx(expected_cost, rel=1e-6)
