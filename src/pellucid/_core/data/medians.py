"""Absolute distances and medians: a data set for the k-medians objective."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from pellucid._core import kernels
from pellucid._core.data.arrays import order_by
from pellucid._core.data.dataset import MIN_TASK_ROWS, Dataset
from pellucid._core.data.moments import GroupMoments
from pellucid._utils.threads import SERIAL, ThreadPool

_BLOCK_ROWS = 16384
"""Rows summed together; fixed, so that sums do not depend on the number of threads."""

_COPIED_ROWS = 2048
"""Rows per block if they must be copied: few enough to stay in cache."""

_BLOCK_COLUMNS = 8
"""Least number of columns per task; columns that are copied together."""


def _row_major(X: np.ndarray, begin: int, end: int) -> Iterator[tuple[slice, np.ndarray]]:
    """Rows begin .. end in row-major float64 blocks, each with its row range.

    Rows that must be copied come in blocks that stay in cache, others in a single block.
    """
    is_ready = X.flags.c_contiguous and X.dtype == np.float64
    for start in range(begin, end, max(end - begin, 1) if is_ready else _COPIED_ROWS):
        rows = slice(start, end if is_ready else min(start + _COPIED_ROWS, end))
        yield rows, np.ascontiguousarray(X[rows], dtype=np.float64)


class MedianDataset(Dataset):
    """A data set with absolute differences as costs and medians as centers.

    Every difference is rounded to units by itself, so that dense and sparse rows cost the same to
    the bit. Medians are values of the data, and are not rounded at all.
    """

    objective = "kmedians"

    def nearest(self, centers: np.ndarray) -> np.ndarray:
        self.require_domain()
        labels = np.empty(self.X.shape[0], dtype=np.intp)
        X, coordinates = self.rows, np.ascontiguousarray(centers.T)

        def work(block: tuple[int, int]) -> None:
            if sparse.issparse(X):
                indptr = X.indptr[block[0] : block[1] + 1]
                terms = indptr, coordinates, labels[slice(*block)]
                kernels.medians.sparse_nearest(X.data, X.indices, *terms)
            else:
                for rows, values in _row_major(X, *block):
                    kernels.medians.dense_nearest(values, coordinates, labels[rows])

        self.pool.map(work, self.pool.blocks(len(labels), MIN_TASK_ROWS))
        return labels

    def group_centers(self, labels: np.ndarray, n_groups: int) -> np.ndarray:
        return group_medians(self.X, labels, self.weights.units, n_groups, self.pool)

    def cost(self, labels: np.ndarray, centers: np.ndarray) -> float:
        return absolute_cost(self.X, labels, centers, self.weights.values, self.pool)

    def moments(self, labels: np.ndarray, centers: np.ndarray) -> None:
        """None: medians cannot be computed from moments."""

    def centers_and_costs(
        self,
        labels: np.ndarray,
        reference_labels: np.ndarray,
        centers: np.ndarray,
        moments: GroupMoments | None = None,
    ) -> list[tuple[np.ndarray, float]]:
        found = []
        for groups in (labels, reference_labels):
            medians = self.group_centers(groups, len(centers))
            medians = np.where(np.isnan(medians), centers, medians)
            found.append((medians, self.cost(groups, medians)))
        return found

    def cost_bound(self, centers: np.ndarray, origin: np.ndarray) -> float:
        """An upper bound of the sum of all costs at any center: |x - c| <= |x - o| + |c - o|."""
        apart = np.abs(centers - origin).sum(axis=1).max()
        one_group = np.zeros(self.X.shape[0], dtype=np.intp)
        return self.cost(one_group, origin[None]) + self.weights.values.sum() * apart


def group_medians(
    X: Any, labels: np.ndarray, units: np.ndarray, n_groups: int, pool: ThreadPool = SERIAL
) -> np.ndarray:
    """Lower median of each group of rows, column by column; NaN for a group without weight.

    The lower median is the least value with at least half of the group's weight at or below it.
    Label -1 is in no group. `X` is dense or CSC, and `units` are the weights.
    """
    medians = np.empty((n_groups, X.shape[1]))
    members = np.flatnonzero((labels >= 0) & (units > 0))
    groups = labels[members]
    if sparse.issparse(X):
        group_units = np.zeros(n_groups, dtype=np.int64)
        np.add.at(group_units, groups, units[members])

        def work(block: tuple[int, int]) -> None:
            of_rows = labels, units, group_units
            kernels.medians.sparse_medians(X.data, X.indices, X.indptr, *block, *of_rows, medians)

        pool.map(work, pool.blocks(X.shape[1], _BLOCK_COLUMNS))
    else:
        order = members[order_by(groups, n_groups)]
        starts = np.concatenate([[0], np.cumsum(np.bincount(groups, minlength=n_groups))])
        sorted_units = units[order]

        def work_dense(first: int) -> None:
            block = slice(first, first + _BLOCK_COLUMNS)
            columns = np.array(X[:, block].take(order, axis=0).T, dtype=np.float64, order="C")
            kernels.medians.dense_medians(columns, sorted_units, starts, first, medians)

        pool.map(work_dense, range(0, X.shape[1], _BLOCK_COLUMNS))
    return medians + 0.0  # the same bits whether -0 or 0 is stored


def absolute_cost(
    X: Any, labels: np.ndarray, centers: np.ndarray, weight: np.ndarray, pool: ThreadPool = SERIAL
) -> float:
    """Weighted sum of absolute distances of the rows to ``centers[labels]``; label -1 costs 0."""
    if sparse.issparse(X):
        return _sparse_cost(X, labels, centers, weight)

    def work(start: int) -> float:
        total = 0.0
        for rows, values in _row_major(X, start, min(start + _BLOCK_ROWS, X.shape[0])):
            costs = weight[rows] * np.abs(values - centers[labels[rows]]).sum(axis=1)
            costs = np.append(total, costs[labels[rows] >= 0])
            total = float(costs.cumsum()[-1])  # one after the other, whatever the blocks are
        return total

    return sum(pool.map(work, range(0, X.shape[0], _BLOCK_ROWS)), 0.0)


def _sparse_cost(X: Any, labels: np.ndarray, centers: np.ndarray, weight: np.ndarray) -> float:
    """The same for a CSC matrix, in time proportional to its entries.

    Entries that are not stored are 0. Their weight is that of the group less that of stored ones.
    Where this is a small difference of large numbers, the weights are added up instead.
    """
    n_groups, n_features = centers.shape
    columns = np.repeat(np.arange(n_features), np.diff(X.indptr))
    kept = labels[X.indices] >= 0
    rows, columns, values = X.indices[kept], columns[kept], X.data[kept].astype(np.float64)
    of_entry = labels[rows]
    stored_cost = float((np.abs(values - centers[of_entry, columns]) * weight[rows]).sum())
    place, shape = of_entry * n_features + columns, (n_groups, n_features)
    in_group = labels >= 0
    total = np.bincount(labels[in_group], weight[in_group], n_groups)[:, None]
    rest = total - np.bincount(place, weight[rows], n_groups * n_features).reshape(shape)
    n_rest = np.bincount(labels[in_group], minlength=n_groups)[:, None]
    n_rest = n_rest - np.bincount(place, minlength=n_groups * n_features).reshape(shape)
    is_inexact = (n_rest > 0) & (rest < total / 1024) & (centers != 0)
    for j in np.flatnonzero(is_inexact.any(axis=0)):
        absent = labels.copy()
        absent[X.indices[X.indptr[j] : X.indptr[j + 1]]] = -1
        rest[:, j] = np.bincount(absent[absent >= 0], weight[absent >= 0], n_groups)
    return stored_cost + float((rest * np.abs(centers))[n_rest > 0].sum())


OBJECTIVES: dict[str, type[Dataset]] = {data.objective: data for data in (Dataset, MedianDataset)}
"""Class of the data set by objective: squared distances to means ("kmeans"), absolute
distances to medians ("kmedians").
"""
