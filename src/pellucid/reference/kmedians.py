"""A k-medians clustering, to be explained when the user has none of his own.

By hand, because scikit-learn has no k-medians and the packages that have one would each be a
dependency for these few lines: the loops are those that the trees need anyway. It does not start
from k-means, which spends centers on outliers that k-medians would rather leave alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from pellucid._core.data.arrays import Weights
from pellucid._core.data.medians import MedianDataset
from pellucid._utils.sampling import draw_weighted

_STARTS = 10
"""Seedings that are tried; as many as scikit-learn's ``n_init=10``."""

_MAX_ROUNDS = 300
"""As many as scikit-learn's k-means allows itself."""

_SAMPLE, _SAMPLE_PER_CLUSTER = 5_000, 100
"""Rows, at the least, on which the seedings compete; only the winner sees all rows."""


def cluster_by_medians(
    data: MedianDataset, n_clusters: int, random_state: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Centers and labels of a k-medians clustering: the best of several starts, settled.

    Parameters
    ----------
    data : MedianDataset
        Rows of weight 0 are absent, but get a label.
    n_clusters : int
    random_state : int, RandomState instance or None

    Returns
    -------
    centers : ndarray of shape (n_clusters, n_features)
        Lower medians of their rows; only where there are fewer distinct rows than centers are
        some without rows.
    labels : ndarray of shape (n_samples,), intp
    """
    random = check_random_state(random_state)
    counted = np.flatnonzero(data.weights.values > 0)
    there = data if len(counted) == data.X.shape[0] else data.take(counted)
    enough = max(_SAMPLE, _SAMPLE_PER_CLUSTER * n_clusters)
    some = there
    if len(counted) > enough:
        some = there.take(np.sort(random.choice(len(counted), enough, replace=False)))
    distances = _Distances(some)
    best, least = None, np.inf
    for _ in range(_STARTS):
        centers = settle(some, seed(distances, n_clusters, random))
        cost = float((distances.to(centers).min(axis=1) * some.weights.values).sum())
        if best is None or cost < least:
            best, least = centers, cost
    if some is not there:
        best = settle(there, best)
    return best, data.nearest(best)


def settle(data: MedianDataset, centers: np.ndarray) -> np.ndarray:
    """Assign rows to the nearest center, move centers to medians, and so on while rows move.

    Neither step can raise the cost, and where no row moves it can fall no further. Labels and
    medians are the same to the bit however the data are stored, and so is the end.
    """
    labels = data.nearest(centers)
    for _ in range(_MAX_ROUNDS):
        centers = _move(data, centers, labels)
        before, labels = labels, data.nearest(centers)
        if np.array_equal(before, labels):
            break
    return centers


def _move(data: MedianDataset, centers: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The medians; centers without rows go to the rows that are farthest from theirs."""
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
    """Rows to start from: each the best of a few drawn by how far they are from those before.

    As k-means++ does it, with absolute distances for squared ones.
    """
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
    """Distances of rows whatever their weight, the same to the bit however they are stored."""

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
