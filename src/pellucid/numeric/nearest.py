"""The nearest center of each row, the same to the bit for dense and sparse data.

The center of the largest score x . c - |c|^2 / 2 is the nearest, but for rounding; where the second
best comes closer than that, the squares are added up in the order of the columns.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from pellucid.numeric.blocks import row_major
from pellucid.numeric.team import Team

_ROWS = 2048
"""Rows whose scores are found together, at the most."""

_PRODUCTS = 400_000
"""Products that a matrix library leaves to one thread: there are threads enough already."""

_DOUBT = 1e-13
"""More than rounding can add up to, for each column and unit of |x|^2 + |c|^2."""


def nearest_centers(X, centers: np.ndarray, team: Team) -> np.ndarray:
    """Nearest center of each row of a dense or CSR matrix, the lowest of equals."""
    from pellucid.kernels.costs import pick_nearest

    labels = np.empty(X.shape[0], dtype=np.intp)
    with np.errstate(over="ignore", invalid="ignore"):
        half = 0.5 * (centers**2).sum(axis=1)
    unit = _DOUBT * (centers.shape[1] + 8)
    turned = np.ascontiguousarray(centers.T)
    score = _sparse_scores if sparse.issparse(X) else _dense_scores

    def work(block: tuple[int, int]) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            for rows, lines, scores, size in score(X, *block, turned):
                doubt = unit * (size + half.max())
                some = labels[rows]
                if not np.isfinite(doubt):
                    some[:] = _by_squares(lines, centers)
                elif pick_nearest(scores, half, doubt, some):
                    open_ = np.flatnonzero(some < 0)
                    some[open_] = look_closer(lines[open_], scores[open_])

    def look_closer(lines, scores: np.ndarray) -> np.ndarray:
        """The same where a row is not as large as all of its block together."""
        doubts = unit * (_sizes(lines) + half.max())
        values = scores - half
        found, best = values.argmax(axis=1), values.max(axis=1)
        open_ = np.flatnonzero((values >= (best - doubts)[:, None]).sum(axis=1) > 1)
        found[open_] = _by_squares(lines[open_], centers)
        return found

    team.map(work, team.blocks(len(labels), 2 * _ROWS))
    return labels


def _dense_scores(X, begin: int, end: int, turned: np.ndarray) -> Iterator[tuple]:
    """Blocks of rows with x . c for every center, a line a row, and the sum of all |x|^2."""
    step = min(max(_PRODUCTS // turned.size, 8), _ROWS)
    scores = np.empty((step, turned.shape[1]))
    for span, lines in row_major(X, begin, end):
        for first in range(0, len(lines), step):
            few = lines[first : first + step]
            start = span.start + first
            some = np.matmul(few, turned, out=scores[: len(few)])
            yield slice(start, start + len(few)), few, some, np.einsum("ij,ij->", few, few)


def _sparse_scores(X, begin: int, end: int, turned: np.ndarray) -> Iterator[tuple]:
    """The same for CSR rows."""
    step = max(_PRODUCTS // turned.shape[1], 1)
    for start in range(begin, end, step):
        rows = slice(start, min(start + step, end))
        part = X if len(range(start, end)) == X.shape[0] <= step else X[rows]
        part = part.astype(np.float64, copy=False)
        yield rows, part, part @ turned, np.einsum("i,i->", part.data, part.data)


def _sizes(lines) -> np.ndarray:
    """|x|^2 of each row."""
    if sparse.issparse(lines):
        return np.asarray(lines.multiply(lines).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", lines, lines)


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
