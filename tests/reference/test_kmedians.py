"""The k-medians clustering that is explained by default."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from _support import oracles
from pellucid._core.data.arrays import Weights
from pellucid._core.data.medians import MedianDataset
from pellucid.metrics import kmedians_cost
from pellucid.reference import kmedians
from pellucid.reference.kmedians import cluster_by_medians, settle


@pytest.fixture(scope="module")
def blobs():
    X, _ = make_blobs(500, 4, centers=5, cluster_std=3.0, random_state=0)
    return np.where(np.abs(X) < 1, 0.0, X).astype(np.float32).astype(float)


def data_of(X, weight=None):
    return MedianDataset(X, Weights.of(np.ones(X.shape[0]) if weight is None else weight))


def test_it_is_settled_rows_at_the_nearest_center_centers_at_the_median(blobs):
    weight = np.arange(500.0) % 4
    centers, labels = cluster_by_medians(data_of(blobs, weight), 6, 0)
    np.testing.assert_array_equal(labels, oracles.nearest(blobs, centers, "kmedians"))
    for c in range(6):
        rows = labels == c
        np.testing.assert_array_equal(centers[c], oracles.medians(blobs[rows], weight[rows]))


def test_rounds_never_raise_the_cost(blobs, monkeypatch):
    data, centers = data_of(blobs), blobs[:6]
    costs = [data.cost(data.nearest(centers), centers)]
    monkeypatch.setattr(kmedians, "_MAX_ROUNDS", 1)  # each call is one round
    for _ in range(30):
        centers = settle(data, centers)
        costs.append(data.cost(data.nearest(centers), centers))
    assert costs[0] > costs[1] > costs[-1] == costs[-2]
    assert (np.diff(costs) <= 1e-9).all()


def test_the_seed_decides_and_storage_does_not(blobs):
    X, weight = blobs[:150], np.linspace(0.1, 2.0, 150)
    centers, labels = cluster_by_medians(data_of(X, weight), 5, 3)
    for other in (X, np.asfortranarray(X), X.astype(np.float32), sparse.csc_array(X)):
        again, same = cluster_by_medians(data_of(other, weight), 5, np.random.RandomState(3))
        np.testing.assert_array_equal(again, centers)
        np.testing.assert_array_equal(same, labels)


def test_outliers_do_not_take_the_centers(blobs):
    """k-means gives far rows centers of their own; the medians of its clusters stay worse."""
    X = blobs.copy()
    X[:8] += np.random.default_rng(0).normal(size=(8, 4)) * 200
    _, labels = cluster_by_medians(data_of(X), 5, 0)
    data = data_of(X)
    from_means = settle(data, KMeans(5, n_init=10, random_state=0).fit(X).cluster_centers_)
    cost = kmedians_cost(X, labels)
    assert cost < 0.95 * data.cost(data.nearest(from_means), from_means)


def test_rows_of_no_weight_are_absent_but_labelled(blobs):
    weight = (np.arange(500) % 3 > 0).astype(float)
    centers, labels = cluster_by_medians(data_of(blobs, weight), 4, 0)
    there = weight > 0
    expected, some = cluster_by_medians(data_of(blobs[there]), 4, 0)
    np.testing.assert_array_equal(centers, expected)
    np.testing.assert_array_equal(labels[there], some)
    assert labels.min() >= 0


def test_many_rows_start_from_a_sample_and_settle_on_all(blobs, monkeypatch):
    monkeypatch.setattr(kmedians, "_SAMPLE", 60)  # 500 rows are many
    monkeypatch.setattr(kmedians, "_SAMPLE_PER_CLUSTER", 10)
    centers, labels = cluster_by_medians(data_of(blobs), 5, 0)
    np.testing.assert_array_equal(settle(data_of(blobs), centers), centers)
    monkeypatch.undo()
    _, on_all = cluster_by_medians(data_of(blobs), 5, 0)
    assert kmedians_cost(blobs, labels) <= 1.05 * kmedians_cost(blobs, on_all)


@pytest.mark.parametrize("convert", [np.array, sparse.csc_array])
def test_a_center_without_rows_moves_to_the_row_farthest_away(convert):
    X = convert([[0.0, 1.0], [1.0, 1.0], [0.0, 2.0], [9.0, 0.0]])
    centers = settle(data_of(X), np.array([[0.0, 1.0], [500.0, 0.0], [600.0, 0.0]]))
    # Center 1 and 2 start without rows: 9, 0 is the farthest from center 0, then 1, 1 or 0, 2.
    assert [9.0, 0.0] in centers.tolist()
    assert len(set(data_of(X).nearest(centers))) == 3


def test_fewer_distinct_rows_than_centers():
    X = np.array([[0.0, 1.0], [0.0, 1.0], [5.0, 1.0]])
    centers, labels = cluster_by_medians(data_of(X), 3, 0)
    assert np.isfinite(centers).all()
    assert labels[0] == labels[1] != labels[2]
