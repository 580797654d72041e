"""The nearest center of each row, the same to the bit for dense and sparse data.

The nearest center has the largest score x . c - |c|^2 / 2. If the two largest scores differ by no
more than rounding errors can, the squared differences are summed in the order of the columns.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from pellucid._core.data.arrays import row_major
from pellucid._utils.finite import NotFinite
from pellucid._utils.threads import ThreadPool

_BLOCK_ROWS = 2048
"""Rows whose squared differences are computed together; half the least number of rows per task."""

_MAX_PRODUCTS = 400_000
"""Scores of sparse rows that are stored at a time."""

_RELATIVE_ERROR = 1e-13
"""Exceeds the rounding error of a score, per column and unit of |x|^2 + |c|^2."""


def nearest_centers(X, centers: np.ndarray, pool: ThreadPool) -> np.ndarray:
    """Nearest center of each row of a dense or CSR matrix; ties go to the lowest.

    Raises `NotFinite` if a value is not finite: the scores of such a row never decide, so that no
    separate check is needed.
    """
    labels = np.empty(X.shape[0], dtype=np.intp)
    with np.errstate(over="ignore", invalid="ignore"):
        half_squares = 0.5 * (centers**2).sum(axis=1)
    error = _RELATIVE_ERROR * (centers.shape[1] + 8)
    find = _sparse_nearest if sparse.issparse(X) else _dense_nearest

    def work(block: tuple[int, int]) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            for rows, part in find(X, *block, centers, half_squares, error, labels):
                undecided = np.flatnonzero(labels[rows] < 0)
                if len(undecided):
                    values = part[undecided]
                    stored = values.data if sparse.issparse(values) else values
                    if not np.isfinite(stored).all():
                        raise NotFinite
                    labels[rows.start + undecided] = _nearest_by_squares(values, centers)

    pool.map(work, pool.blocks(len(labels), 2 * _BLOCK_ROWS, per_thread=4))
    return labels


def _dense_nearest(X, begin, end, centers, half_squares, error, labels) -> Iterator[tuple]:
    """Set the labels of blocks of rows, -1 if the scores do not decide; yields rows and values."""
    from pellucid._core.kernels.dataset import dense_nearest

    largest = half_squares.max()
    if len(half_squares) % 2:  # the kernel reads pairs: one more center that is never the nearest
        centers = np.concatenate([centers, np.zeros((1, X.shape[1]))])
        half_squares = np.append(half_squares, np.inf)
    for rows, part in row_major(X, begin, end):
        dense_nearest(part, centers, half_squares, largest, error, labels[rows])
        yield rows, part


def _sparse_nearest(X, begin, end, centers, half_squares, error, labels) -> Iterator[tuple]:
    """The same for CSR rows."""
    from pellucid._core.kernels.dataset import pick_nearest

    ones, transposed = np.ones(X.shape[1]), np.ascontiguousarray(centers.T)
    step = max(_MAX_PRODUCTS // len(centers), 1)
    for start in range(begin, end, step):
        rows = slice(start, min(start + step, end))
        part = X if len(range(start, end)) == X.shape[0] <= step else X[rows]
        part = part.astype(np.float64, copy=False)
        squares = sparse.csr_array((part.data**2, part.indices, part.indptr), shape=part.shape)
        errors = error * (squares @ ones + half_squares.max())
        pick_nearest(part @ transposed, half_squares, errors, labels[rows])
        yield rows, part


def _nearest_by_squares(X, centers: np.ndarray) -> np.ndarray:
    """Nearest center of some rows, squares summed in the order of the columns."""
    nearest = np.empty(X.shape[0], dtype=np.intp)
    for start in range(0, len(nearest), _BLOCK_ROWS):
        rows = slice(start, start + _BLOCK_ROWS)
        values = X[rows].toarray() if sparse.issparse(X) else X[rows]
        costs = np.zeros((len(values), len(centers)))
        for j in range(centers.shape[1]):
            difference = values[:, j, None] - centers[:, j]
            costs += difference * difference
        nearest[rows] = np.argmin(costs, axis=1)
    return nearest
