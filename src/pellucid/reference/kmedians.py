"""k-medians clustering, the default reference for ``objective="kmedians"``.

It uses the loops of the trees. Seeding is that of k-means++ with absolute distances; k-means would
place centers on outliers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from pellucid._core.data.arrays import Weights
from pellucid._core.data.medians import MedianDataset
from pellucid._utils.arrays import draw_weighted

_STARTS = 10  # number of seedings, as in scikit-learn's ``n_init=10``
_MAX_ROUNDS = 300  # maximum number of iterations, as in scikit-learn's KMeans

_SAMPLE, _SAMPLE_PER_CLUSTER = 5_000, 100
"""Minimum size of the sample on which seedings are compared; the best is fitted to all rows."""


def cluster_by_medians(
    data: MedianDataset, n_clusters: int, random_state: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Centers, the lower medians of their rows, and labels; the best of several seedings.

    Rows of weight 0 only get a label. Some centers have no rows if distinct rows are too few.
    """
    random = check_random_state(random_state)
    counted = np.flatnonzero(data.weights.values > 0)
    counted_data = data if len(counted) == data.X.shape[0] else data.take(counted)
    enough = max(_SAMPLE, _SAMPLE_PER_CLUSTER * n_clusters)
    some = counted_data
    if len(counted) > enough:
        some = counted_data.take(np.sort(random.choice(len(counted), enough, replace=False)))
    distances = _Distances(some)

    def cost(centers: np.ndarray) -> float:
        return float((distances.to(centers).min(axis=1) * some.weights.values).sum())

    seeds = (seed(distances, n_clusters, random) for _ in range(_STARTS))
    best = min((settle(some, centers) for centers in seeds), key=cost)
    if some is not counted_data:
        best = settle(counted_data, best)
    return best, data.nearest(best)


def settle(data: MedianDataset, centers: np.ndarray) -> np.ndarray:
    """Lloyd's algorithm with medians, until no row changes its center."""
    labels = data.nearest(centers)
    for _ in range(_MAX_ROUNDS):
        centers = _move(data, centers, labels)
        before, labels = labels, data.nearest(centers)
        if np.array_equal(before, labels):
            break
    return centers


def _move(data: MedianDataset, centers: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The medians; centers without rows move to the rows with the largest distances."""
    medians = data.group_centers(labels, len(centers))
    idle = np.flatnonzero(np.isnan(medians).any(axis=1))
    if len(idle):
        medians[idle] = centers[idle]
        distances = _Distances(data)
        away = distances.to(medians)[np.arange(len(labels)), labels]
        farthest = np.argsort(-away, kind="stable")[: len(idle)]
        moves = away[farthest] > 0
        medians[idle[moves]] = distances.rows(farthest[moves])
    return medians


def seed(distances: _Distances, n_clusters: int, random: np.random.RandomState) -> np.ndarray:
    """Seeding of k-means++ with absolute instead of squared distances."""
    weight = distances.data.weights.values
    n_tries = 2 + int(np.log(n_clusters))
    chosen = [draw_weighted(weight, 1, random)[0]]
    away = distances.to(distances.rows(chosen))[:, 0]
    while len(chosen) < n_clusters:
        tries = draw_weighted(weight * away, n_tries, random)
        after = np.minimum(away[:, None], distances.to(distances.rows(tries)))
        best = int(np.argmin((weight[:, None] * after).sum(axis=0)))
        chosen.append(tries[best])
        away = after[:, best]
    return distances.rows(chosen)


class _Distances:
    """Unweighted distances of rows, identical for dense and sparse storage."""

    def __init__(self, data: MedianDataset) -> None:
        self.data = data
        self._plain = MedianDataset(data.X, Weights.equal(data.X.shape[0]), data.pool)

    def to(self, centers: np.ndarray) -> np.ndarray:
        costs, unit = self._plain.costs(centers)
        return costs * unit

    def rows(self, rows: Any) -> np.ndarray:
        lines = self._plain.rows[rows]
        lines = lines.toarray() if sparse.issparse(lines) else lines
        return lines.astype(np.float64, order="C")
