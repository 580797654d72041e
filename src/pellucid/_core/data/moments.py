"""Means and costs of groups of rows, dense or CSC, each in one read of the data."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse

from pellucid._core.data.arrays import row_major
from pellucid._utils.threads import SERIAL, ThreadPool

_BLOCK_COLUMNS = 8
"""Columns worth a task of their own: a cache line of a row-major matrix."""

_MOST_GONE = 0.75
"""Share of a group whose moments can be taken away without losing digits that matter."""


def group_means(
    X, labels: np.ndarray, weight: np.ndarray, n_groups: int, pool: ThreadPool = SERIAL
) -> np.ndarray:
    """Weighted mean of each group of rows; NaN for an empty group. Label -1 is in no group.

    Each column is summed in the order of the rows, so dense and sparse data give the same bits.
    """
    from pellucid._core.kernels.dataset import dense_sums, sparse_sums

    sums = np.zeros((n_groups, X.shape[1]))

    def work(block: tuple[int, int]) -> None:
        if sparse.issparse(X):
            sparse_sums(X.data, X.indices, X.indptr, *block, labels, weight, sums)
        else:
            for rows, part in row_major(X, 0, X.shape[0], slice(*block)):
                dense_sums(part, labels[rows], weight[rows], block[0], sums)

    pool.map(work, pool.blocks(X.shape[1], _BLOCK_COLUMNS))
    members = slice(None) if labels.min(initial=0) >= 0 else labels >= 0
    totals = np.bincount(labels[members], weights=weight[members], minlength=n_groups)
    with np.errstate(invalid="ignore", divide="ignore"):
        return sums / totals[:, None]


class Spread(NamedTuple):
    """Moments of groups of rows, each about its origin.

    Attributes
    ----------
    weight, squares : ndarray of shape (n_groups,)
        Weight of the rows, and their weighted squared distances to the origin.
    sums : ndarray of shape (n_groups, n_features)
        Weighted sums of their differences to the origin.
    """

    weight: np.ndarray
    squares: np.ndarray
    sums: np.ndarray

    def plus(self, other: Spread) -> Spread:
        """Of the rows of both."""
        return Spread(*(mine + theirs for mine, theirs in zip(self, other)))

    def minus(self, other: Spread) -> Spread:
        """Without the rows of the other."""
        return Spread(*(mine - theirs for mine, theirs in zip(self, other)))

    def mean_and_cost(self, origins: np.ndarray) -> tuple[np.ndarray, float]:
        """Mean of each group, its origin if it is empty, and the cost of all rows to the means."""
        weight = self.weight[:, None]
        shift = np.divide(self.sums, weight, out=np.zeros_like(self.sums), where=weight > 0)
        cost = self.squares.sum() - self.weight @ (shift**2).sum(axis=1)
        return origins + shift, max(float(cost), 0.0)


class BegunSpread:
    """The spread of rows about the origins of their groups, which other threads begin with.

    Parameters
    ----------
    X, labels, weight, origins, pool
        As of `means_and_costs`.
    """

    def __init__(self, X, labels, weight, origins, pool: ThreadPool) -> None:
        # In few parts: whoever is at something else meanwhile is not to be disturbed.
        self._finish = _begin(X, None, labels, labels, weight, origins, pool, each=1)

    @cached_property
    def result(self) -> Spread:
        """The spread."""
        return self._finish(None)[0]


def cost_to_centers(
    X, labels: np.ndarray, centers: np.ndarray, weight: np.ndarray, pool: ThreadPool = SERIAL
) -> float:
    """Weighted sum of squared distances of the rows to ``centers[labels]``; label -1 is free."""
    return float(BegunSpread(X, labels, weight, centers, pool).result.squares.sum())


def means_and_costs(
    X,
    labels: np.ndarray,
    others: np.ndarray,
    weight: np.ndarray,
    origins: np.ndarray,
    pool: ThreadPool = SERIAL,
    besides: Callable[[], object] | None = None,
    known: Spread | None = None,
) -> list[tuple[np.ndarray, float]]:
    """Mean of each group of rows, and the cost of the rows to those means, in one read.

    For two groupings of the rows, which have most of them in common. Moments are taken about
    `origins`, which should lie near the means; an empty group keeps its origin as its mean.
    Label -1 is in no group. See `ThreadPool.map`. Where the spread of the second grouping
    of dense rows is `known`, only those are read that the first puts elsewhere.
    """
    if known is not None:
        moved = np.flatnonzero(labels != others)
        _, come, gone = _begin(X, moved, labels, others, weight, origins, pool)(besides)
        # What is left of a group has all its digits, unless it is next to nothing.
        if (gone.weight <= _MOST_GONE * known.weight).all():
            spreads = known.minus(gone).plus(come), known
            return [spread.mean_and_cost(origins) for spread in spreads]
        besides = None
    both, first, second = _begin(X, None, labels, others, weight, origins, pool)(besides)
    return [both.plus(spread).mean_and_cost(origins) for spread in (first, second)]


def _begin(
    X, rows: np.ndarray | None, labels, others, weight, origins, pool: ThreadPool, each: int = 4
) -> Callable:
    """Spread of the rows (some of them, if they are dense) that both groupings put into a group, of
    those that only the first does, and of those that only the second does.

    Others begin with it; what is returned takes part, after what is to be done besides.
    """
    from pellucid._core.kernels.dataset import BLOCK_ROWS, dense_spread, sparse_spread

    n_groups, n_features = origins.shape
    if sparse.issparse(X):
        totals, sums = np.zeros((3, n_groups, 2)), np.zeros((3, n_groups, n_features))
        parts = (X.data, X.indices, X.indptr)

        def add_up(s: int) -> None:
            groups = labels if s < 2 else others
            room = np.zeros((n_groups, 3))
            sparse_spread(*parts, groups, weight, origins, totals[s], sums[s], room)

        def finish_sparse(besides: Callable[[], object] | None) -> list[Spread]:
            pool.map(add_up, [0] if others is labels else [1, 2], besides)
            return [Spread(*total.T, mine) for total, mine in zip(totals, sums)]

        return finish_sparse
    labels, others = (one.astype(np.intp, copy=False) for one in (labels, others))
    if rows is not None and not (X.flags.c_contiguous and X.dtype == np.float64):
        X, labels, others, weight = (part[rows] for part in (X, labels, others, weight))
        rows = None
    n = X.shape[0] if rows is None else len(rows)
    n_blocks, n_places = -(-n // BLOCK_ROWS), 3 * n_groups
    heft, squares = np.zeros((2, n_blocks, n_places))
    sums = np.zeros((n_blocks, n_places, n_features))

    def work(blocks: tuple[int, int]) -> None:
        begin, end = (min(block * BLOCK_ROWS, n) for block in blocks)
        if rows is not None:
            b, by_row = slice(*blocks), (labels, others, weight)
            dense_spread(X, rows[begin:end], *by_row, origins, heft[b], squares[b], sums[b])
            return
        for part, lines in row_major(X, begin, end):
            by_row = labels[part], others[part], weight[part]
            b = slice(part.start // BLOCK_ROWS, -(-part.stop // BLOCK_ROWS))
            every = np.arange(len(lines))
            dense_spread(lines, every, *by_row, origins, heft[b], squares[b], sums[b])

    begun = pool.ahead(work, pool.blocks(n_blocks, 1, each))

    def finish(besides: Callable[[], object] | None) -> list[Spread]:
        if besides is not None:
            besides()
        begun.finish()
        added = [part.sum(axis=0) for part in (heft, squares, sums)]
        places = [slice(s * n_groups, (s + 1) * n_groups) for s in range(3)]
        return [Spread(*(part[place] for part in added)) for place in places]

    return finish


def size_about(X, weight: np.ndarray, origin: np.ndarray, pool: ThreadPool = SERIAL) -> float:
    """Weighted sum of squared distances of all rows to one point."""
    return cost_to_centers(X, np.zeros(X.shape[0], dtype=np.intp), origin[None], weight, pool)
