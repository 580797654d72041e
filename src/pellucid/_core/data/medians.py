"""Absolute distances in place of squared ones: what k-medians asks of the data."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from pellucid._core.data.arrays import row_major
from pellucid._core.data.dataset import LEAST_ROWS, Dataset
from pellucid._utils.threads import SERIAL, ThreadPool

_BLOCK_ROWS = 16384
"""Rows summed together; fixed, so that sums do not depend on the number of threads."""

_BLOCK_COLUMNS = 8
"""Columns worth a task of their own, and copied together."""


class MedianDataset(Dataset):
    """Data whose rows pay absolute differences to a center, and whose centers are medians.

    Every difference is rounded to whole units by itself, so that dense and sparse rows cost the
    same to the bit. Medians are values of the data, and are not rounded at all.
    """

    objective = "kmedians"
    too_wide_to = "add up"

    def cost_loops(self):
        """The compiled loops over dense and over CSR rows."""
        from pellucid._core.kernels.medians import dense_costs, sparse_costs

        return dense_costs, sparse_costs

    def _quick_loop(self, centers: np.ndarray, unit: float, place: np.ndarray | None) -> None:
        return None

    def nearest(self, centers: np.ndarray) -> np.ndarray:
        """Nearest center of each row, whatever its weight; the lowest of equals."""
        from pellucid._core.kernels.medians import dense_nearest, sparse_nearest

        self.require_finite()
        labels = np.empty(self.X.shape[0], dtype=np.intp)
        X, places = self.rows, np.ascontiguousarray(centers.T)

        def work(block: tuple[int, int]) -> None:
            if sparse.issparse(X):
                indptr = X.indptr[block[0] : block[1] + 1]
                sparse_nearest(X.data, X.indices, indptr, places, labels[slice(*block)])
            else:
                for rows, lines in row_major(X, *block):
                    dense_nearest(lines, places, labels[rows])

        self.pool.map(work, self.pool.blocks(len(labels), LEAST_ROWS))
        return labels

    def group_centers(self, labels: np.ndarray, n_groups: int) -> np.ndarray:
        """Weighted lower median of each group of rows; NaN for an empty group."""
        return group_medians(self.X, labels, self.weights.units, n_groups, self.pool)

    def cost(self, labels: np.ndarray, centers: np.ndarray) -> float:
        """Weighted sum of absolute distances of the rows to ``centers[labels]``; -1 is free."""
        return absolute_cost(self.X, labels, centers, self.weights.values, self.pool)

    def centers_and_costs(
        self,
        labels: np.ndarray,
        others: np.ndarray,
        origins: np.ndarray,
        besides: Callable[[], object] | None = None,
    ) -> list[tuple[np.ndarray, float]]:
        """For two groupings, the medians and what the rows pay; an empty group keeps its origin."""
        found = []
        for groups in (labels, others):
            medians = self.group_centers(groups, len(origins))
            medians = np.where(np.isnan(medians), origins, medians)
            found.append((medians, self.cost(groups, medians)))
        if besides is not None:
            besides()
        return found

    def beside_reference(
        self, labels: np.ndarray, besides: Callable[[], object] | None = None
    ) -> list[tuple[np.ndarray, float]]:
        """The same for a grouping and for the clustering that the data refer to."""
        return self.centers_and_costs(labels, *self._reference, besides)

    def most_to_pay(self, centers: np.ndarray, origin: np.ndarray | None = None) -> float:
        """A bound by the triangle: |x - c| <= |x - o| + |c - o|."""
        origin = centers.mean(axis=0) if origin is None else origin
        weight = self.weights.values
        apart = np.abs(centers - origin).sum(axis=1).max()
        everywhere = np.zeros(self.X.shape[0], dtype=np.intp)
        return self.cost(everywhere, origin[None]) + weight.sum() * apart


def group_medians(
    X, labels: np.ndarray, units: np.ndarray, n_groups: int, pool: ThreadPool = SERIAL
) -> np.ndarray:
    """Lower median of each group of rows, column by column; NaN for a group without weight.

    That is the least value with half of the group's weight at or below it, or more. Label -1 is
    in no group.

    Parameters
    ----------
    X : ndarray or CSC matrix of shape (n_samples, n_features)
    labels : ndarray of shape (n_samples,), intp
    units : ndarray of shape (n_samples,), int64
        Weights in whole units.
    n_groups : int
    pool : ThreadPool
    """
    from pellucid._core.kernels.medians import dense_medians, sparse_medians

    medians = np.empty((n_groups, X.shape[1]))
    members = np.flatnonzero((labels >= 0) & (units > 0))
    groups = labels[members]
    if sparse.issparse(X):
        heft = np.zeros(n_groups, dtype=np.int64)
        np.add.at(heft, groups, units[members])

        def work(block: tuple[int, int]) -> None:
            sparse_medians(X.data, X.indices, X.indptr, *block, labels, units, heft, medians)

        pool.map(work, pool.blocks(X.shape[1], _BLOCK_COLUMNS))
    else:
        # Small numbers are sorted in time of their number.
        small = groups.astype(np.uint16 if n_groups <= 2**16 else np.intp)
        order = members[np.argsort(small, kind="stable")]
        starts = np.concatenate([[0], np.cumsum(np.bincount(groups, minlength=n_groups))])
        carried = units[order]

        def work(first: int) -> None:
            some = slice(first, first + _BLOCK_COLUMNS)
            columns = np.array(X[:, some].take(order, axis=0).T, dtype=np.float64, order="C")
            dense_medians(columns, carried, starts, first, medians)

        pool.map(work, range(0, X.shape[1], _BLOCK_COLUMNS))
    return medians + 0.0  # -0 and 0 are one value, whichever of them is stored


def absolute_cost(
    X, labels: np.ndarray, centers: np.ndarray, weight: np.ndarray, pool: ThreadPool = SERIAL
) -> float:
    """Weighted sum of absolute distances of the rows to ``centers[labels]``; label -1 is free."""
    from pellucid._core.kernels.medians import dense_total, sparse_total

    if sparse.issparse(X):
        members = labels >= 0
        heft = np.bincount(labels[members], weights=weight[members], minlength=len(centers))
        places, total = np.ascontiguousarray(centers.T), np.empty(X.shape[1])

        def work_columns(block: tuple[int, int]) -> None:
            parts = (X.data, X.indices, X.indptr)
            sparse_total(*parts, *block, labels, weight, places, heft, total)

        pool.map(work_columns, pool.blocks(X.shape[1], _BLOCK_COLUMNS))
        return float(total.sum())

    def work_rows(start: int) -> float:
        total = np.zeros(1)
        for rows, lines in row_major(X, start, min(start + _BLOCK_ROWS, X.shape[0])):
            dense_total(lines, labels[rows], weight[rows], centers, total)
        return float(total[0])

    return float(sum(pool.map(work_rows, range(0, X.shape[0], _BLOCK_ROWS))))


OBJECTIVES: dict[str, type[Dataset]] = {data.objective: data for data in (Dataset, MedianDataset)}
"""Class of the data set by objective: squared distances to means ("kmeans"), absolute
distances to medians ("kmedians").
"""
