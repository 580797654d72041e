"""The nearest center of each row, the same to the bit for dense and sparse data.

The center of the largest score x . c - |c|^2 / 2 is the nearest, but for rounding; where the second
best comes closer than that, the squares are added up in the order of the columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy import sparse

from pellucid._core.data.arrays import row_major
from pellucid._utils.finite import NotFinite
from pellucid._utils.threads import ThreadPool

_ROWS = 2048
"""Rows that are looked at closely together, and fewest that are worth half a task."""

_PRODUCTS = 400_000
"""Products of sparse rows that are held at a time."""

_DOUBT = 1e-13
"""More than rounding can add up to, for each column and unit of |x|^2 + |c|^2."""


def nearest_centers(
    X, centers: np.ndarray, pool: ThreadPool, besides: Callable[[], object] | None = None
) -> np.ndarray:
    """Nearest center of each row of a dense or CSR matrix, the lowest of equals.

    Raises `NotFinite` where a number is not finite: a row with such a number is always in doubt, so
    that there is no need to have looked before. See `ThreadPool.map` for `besides`.
    """
    labels = np.empty(X.shape[0], dtype=np.intp)
    with np.errstate(over="ignore", invalid="ignore"):
        half = 0.5 * (centers**2).sum(axis=1)
    unit = _DOUBT * (centers.shape[1] + 8)
    score = _sparse_nearest if sparse.issparse(X) else _dense_nearest

    def work(block: tuple[int, int]) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            for rows, lines in score(X, *block, centers, half, unit, labels):
                open_ = np.flatnonzero(labels[rows] < 0)
                if len(open_):
                    doubtful = lines[open_]
                    numbers = doubtful.data if sparse.issparse(doubtful) else doubtful
                    if not np.isfinite(numbers).all():
                        raise NotFinite
                    labels[rows.start + open_] = _by_squares(doubtful, centers)

    pool.map(work, pool.blocks(len(labels), 2 * _ROWS, each=4), besides)
    return labels


def _dense_nearest(X, begin, end, centers, half, unit, labels) -> Iterator[tuple]:
    """Fill blocks of labels, with -1 where scores do not decide; yields them with their rows."""
    from pellucid._core.kernels.dataset import dense_nearest

    top = half.max()
    if len(half) % 2:  # one more that is nearest to nothing
        centers = np.concatenate([centers, np.zeros((1, X.shape[1]))])
        half = np.append(half, np.inf)
    for rows, lines in row_major(X, begin, end):
        dense_nearest(lines, centers, half, top, unit, labels[rows])
        yield rows, lines


def _sparse_nearest(X, begin, end, centers, half, unit, labels) -> Iterator[tuple]:
    """The same for CSR rows."""
    from pellucid._core.kernels.dataset import pick_nearest

    ones, turned = np.ones(X.shape[1]), np.ascontiguousarray(centers.T)
    step = max(_PRODUCTS // len(centers), 1)
    for start in range(begin, end, step):
        rows = slice(start, min(start + step, end))
        part = X if len(range(start, end)) == X.shape[0] <= step else X[rows]
        part = part.astype(np.float64, copy=False)
        squares = sparse.csr_array((part.data**2, part.indices, part.indptr), shape=part.shape)
        pick_nearest(part @ turned, half, unit * (squares @ ones + half.max()), labels[rows])
        yield rows, part


def _by_squares(lines, centers: np.ndarray) -> np.ndarray:
    """Nearest center of some rows, squares added in the order of the columns."""
    nearest = np.empty(lines.shape[0], dtype=np.intp)
    for start in range(0, len(nearest), _ROWS):
        rows = slice(start, start + _ROWS)
        few = lines[rows].toarray() if sparse.issparse(lines) else lines[rows]
        costs = np.zeros((len(few), len(centers)))
        for j in range(centers.shape[1]):
            gap = few[:, j, None] - centers[:, j]
            costs += gap * gap
        nearest[rows] = np.argmin(costs, axis=1)
    return nearest
