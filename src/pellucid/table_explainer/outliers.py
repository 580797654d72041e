"""Rows that are far from all others.

k-means gives such rows a cluster of their own, because each of them contributes much to the cost.
They are set apart before clustering instead.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from pellucid.table_explainer import tuning

_SEED = 0


def smallest_size(n_rows: int) -> int:
    """Number of rows that a cluster needs."""
    return max(2, int(np.ceil(tuning.SMALLEST_CLUSTER * n_rows)))


def find_outliers(Z: np.ndarray) -> np.ndarray:
    """Positions of rows that form a very small cluster although there are only few clusters.

    k-means with two, three and four clusters is applied. If it gives a cluster of less than 2%
    of the rows, the rows of this cluster are outliers, and the search is repeated without them.
    At most 3% of the rows become outliers. Tables of less than 20 rows have no outliers, and
    three or four clusters require 60 or 80 rows.

    Of large data, only the rows that are farthest from the mean and a random sample of the others
    are used. The sampled rows have a larger weight instead.
    """
    n_rows = len(Z)
    if n_rows < tuning.ROWS_PER_CLUSTER:
        return np.empty(0, dtype=np.intp)
    most = max(2, n_rows // tuning.ROWS_PER_CLUSTER)
    numbers = [k for k in tuning.OUTLIER_CLUSTERS if k <= most]
    positions, weight = _sample(Z)
    limit = max(1.0, tuning.MOST_OUTLIERS * n_rows)
    n_set_apart = 0.0
    found: list[np.ndarray] = []
    while len(positions) > max(tuning.OUTLIER_CLUSTERS):
        # The sample is small: more than one thread would only add overhead.
        with threadpool_limits(1):
            is_small = _in_small_cluster(Z[positions], weight, smallest_size(n_rows), numbers)
        n_set_apart += weight[is_small].sum()
        if not is_small.any() or n_set_apart > limit:
            break
        found.append(positions[is_small])
        positions, weight = positions[~is_small], weight[~is_small]
    return np.sort(np.concatenate(found)) if found else np.empty(0, dtype=np.intp)


def _sample(Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Positions of the rows that are used, and their weights."""
    n_rows, size = len(Z), tuning.OUTLIER_SAMPLE
    if n_rows <= size:
        return np.arange(n_rows), np.ones(n_rows)
    distance = ((Z - Z.mean(axis=0)) ** 2).sum(axis=1)
    order = np.argsort(-distance, kind="stable")
    n_far = size // 2
    far, others = order[:n_far], order[n_far:]
    drawn = np.random.default_rng(_SEED).choice(others, size - n_far, replace=False)
    positions = np.sort(np.concatenate([far, drawn]))
    weight = np.where(np.isin(positions, far), 1.0, len(others) / len(drawn))
    return positions, weight


def _in_small_cluster(
    Z: np.ndarray, weight: np.ndarray, smallest: int, numbers: Sequence[int]
) -> np.ndarray:
    for k in numbers:
        kmeans = KMeans(k, n_init=tuning.OUTLIER_STARTS, random_state=_SEED)
        with warnings.catch_warnings():
            # There may be fewer different rows than clusters.
            warnings.simplefilter("ignore", ConvergenceWarning)
            labels = kmeans.fit(Z, sample_weight=weight).labels_
        sizes = np.bincount(labels, weights=weight, minlength=k)
        small = np.flatnonzero((sizes > 0) & (sizes < smallest))
        if len(small):
            return np.isin(labels, small)
    return np.zeros(len(Z), dtype=bool)
