"""Moments and costs of groups of rows, and the nearest center of each row, dense or sparse.

The nearest center has the largest score x . c - |c|^2 / 2. If the two largest scores differ by no
more than rounding errors can, the squared differences are summed in the order of the columns.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from pellucid._core import kernels
from pellucid._core.data.arrays import EVERY_ROW, FlatRows, loaded_rows, rows_of_task
from pellucid._utils.arrays import filled, places_where
from pellucid._utils.numeric_domain import MAX_VALUE, OutOfDomain, are_in_domain
from pellucid._utils.threads import SERIAL, ThreadPool

_MAX_REMOVED = 0.75
"""Largest fraction of a group's weight and squares that is subtracted from its moments. What
remains then has nearly all its digits.
"""

_MIN_WITHIN = 2.0**-16
"""Least share of the squares about the origin that the squares about the mean may have."""

_MAX_PASSES = 32
"""Passes that bring origins to the means. Each leaves less than 2**-32 of the distance, and the
numeric domain has less than 2**1000.
"""


class GroupMoments(NamedTuple):
    """Weight of groups of rows, their weighted squared distances to the origin of each group, and,
    (n_groups, n_features), weighted sums of their differences to it.
    """

    weight: np.ndarray
    squares: np.ndarray
    sums: np.ndarray

    def plus(self, other: GroupMoments) -> GroupMoments:
        return GroupMoments(*(a + b for a, b in zip(self, other)))

    def minus(self, other: GroupMoments) -> GroupMoments:
        return GroupMoments(*(a - b for a, b in zip(self, other)))

    def allows_removal(self, other: GroupMoments) -> bool:
        """Whether `minus` leaves enough of every group to keep its digits."""
        shares = (self.weight, other.weight), (self.squares, other.squares)
        return all((part <= _MAX_REMOVED * whole).all() for whole, part in shares)

    def shifts_and_costs(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean of each group less its origin, 0 if it is empty, and the cost to the mean.

        With m = sums / weight, the cost is squares - weight |m|^2.
        """
        weight = self.weight[:, None]
        shift = np.divide(self.sums, weight, out=np.zeros_like(self.sums), where=weight > 0)
        costs = self.squares - self.weight * (shift**2).sum(axis=1)
        return shift, np.maximum(costs, 0.0)


def bring_to_means(
    moments: GroupMoments, origins: np.ndarray, take: Callable[[np.ndarray], GroupMoments]
) -> tuple[GroupMoments, np.ndarray]:
    """Moments about origins so near the means that costs keep their digits, and these origins.

    The cost of a group does not depend on its origin, but its rounding errors do. ``take(origins)``
    gives the moments of the same rows about other origins, by a pass over the data.
    """
    for _ in range(_MAX_PASSES):
        shifts, costs = moments.shifts_and_costs()
        if not (costs < _MIN_WITHIN * moments.squares).any():
            break
        origins = origins + shifts
        moments = take(origins)
    return moments, origins


def group_moments(
    X: Any,
    labels: np.ndarray,
    weight: np.ndarray,
    origins: np.ndarray,
    pool: ThreadPool = SERIAL,
    rows: np.ndarray | None = None,
) -> GroupMoments:
    """Moments of groups of rows, of all or of some `rows` of dense data; -1 is in no group."""
    if labels.dtype != np.intp:
        narrow = labels
        labels = filled(len(narrow), np.intp, pool, lambda part: narrow[part])
    if sparse.issparse(X):
        return _sparse_moments(X, labels, weight, origins)
    return _dense_moments(X, labels, weight, origins, pool, rows)


def cost_to_centers(
    X: Any, labels: np.ndarray, centers: np.ndarray, weight: np.ndarray, pool: ThreadPool = SERIAL
) -> float:
    """Weighted sum of squared distances of the rows to ``centers[labels]``; label -1 costs 0."""
    return float(group_moments(X, labels, weight, centers, pool).squares.sum())


def means_and_costs(
    X: Any,
    labels: np.ndarray,
    others: np.ndarray,
    weight: np.ndarray,
    origins: np.ndarray,
    pool: ThreadPool = SERIAL,
    moments: GroupMoments | None = None,
) -> list[tuple[np.ndarray, float]]:
    """(means, cost to the means) of two groupings of rows that have most rows in common.

    `X` is dense or CSC. Label -1 is in no group. Moments are taken about `origins`, points near the
    means; the mean of an empty group is its origin. If `moments` of the second grouping of dense
    rows are given, usually only the rows with different labels are read.
    """
    labels, others = labels.astype(np.intp, copy=False), others.astype(np.intp, copy=False)

    def moments_of(groups: np.ndarray, rows: np.ndarray | None = None) -> GroupMoments:
        return group_moments(X, groups, weight, origins, pool, rows)

    def results(both: list[GroupMoments]) -> list[tuple[np.ndarray, float]]:
        found = []
        for grouping, groups in zip(both, (labels, others)):
            take = partial(group_moments, X, groups, weight, pool=pool)
            near, about = bring_to_means(grouping, origins, take)
            shifts, costs = near.shifts_and_costs()
            found.append((about + shifts, float(costs.sum())))
        return found

    if sparse.issparse(X):
        return results(pool.map(moments_of, [labels, others]))
    if moments is not None:
        moved = places_where(len(labels), pool, lambda part: labels[part] != others[part])
        removed = moments_of(others, moved)
        if moments.allows_removal(removed):
            return results([moments.minus(removed).plus(moments_of(labels, moved)), moments])
    differ = labels != others
    common = moments_of(np.where(differ, -1, labels))
    parts = [np.where(differ, groups, -1) for groups in (labels, others)]
    return results([common.plus(moments_of(part)) for part in parts])


def _sparse_moments(
    X: Any, labels: np.ndarray, weight: np.ndarray, origins: np.ndarray
) -> GroupMoments:
    """Moments of the groups of rows of a CSC matrix."""
    totals, sums = np.zeros((len(origins), 2)), np.zeros(origins.shape)
    storage, out = (X.data, X.indices, X.indptr), (totals, sums, np.zeros((len(origins), 5)))
    kernels.dataset.sparse_moments(*storage, labels, weight, origins, *out)
    weights, squares = np.ascontiguousarray(totals.T)
    return GroupMoments(weights, squares, sums)


def _dense_moments(
    X: np.ndarray,
    labels: np.ndarray,
    weight: np.ndarray,
    origins: np.ndarray,
    pool: ThreadPool,
    rows: np.ndarray | None,
) -> GroupMoments:
    """Sums over blocks of a fixed number of rows, so that they do not depend on the threads."""
    n, block_rows = X.shape[0] if rows is None else len(rows), kernels.dataset.BLOCK_ROWS
    n_blocks, (n_groups, n_features) = -(-n // block_rows), origins.shape
    weights, squares = np.zeros((2, n_blocks, n_groups))
    sums, flat = np.zeros((n_blocks, n_groups, n_features)), FlatRows.of(X)
    chosen = EVERY_ROW if rows is None else rows

    def work(blocks: tuple[int, int]) -> None:
        b = slice(*blocks)
        terms, out = (labels, weight, origins, blocks[0]), (weights[b], squares[b], sums[b])
        kernels.dataset.dense_moments(flat, chosen, n, *terms, loaded_rows(X), *out)

    least = -(-rows_of_task(n_features) // block_rows)
    pool.map(work, pool.blocks(n_blocks, least, per_thread=4))
    return GroupMoments(*(array.sum(axis=0) for array in (weights, squares, sums)))


_BLOCK_ROWS = 2048
"""Rows whose squared differences are computed together; half the least number of rows per task."""

FEW_DIFFERENCES = 2**14
"""Differences of values and centers up to which a loop is not worth its compilation."""

_MAX_PRODUCTS = 400_000
"""Scores of sparse rows that are stored at a time."""

RELATIVE_ERROR = 1e-13
"""Exceeds the rounding error of a score, per column and unit of |x|^2 + |c|^2."""


def nearest_centers(X: Any, centers: np.ndarray, pool: ThreadPool) -> np.ndarray:
    """Nearest center of each row of a dense or CSR matrix; ties go to the lowest.

    Raises `OutOfDomain` if a value is not finite or too large: the scores of such a row never
    decide, so that no separate check is needed.
    """
    if not sparse.issparse(X) and X.shape[0] * centers.size <= FEW_DIFFERENCES:
        if not are_in_domain(X):
            raise OutOfDomain
        with np.errstate(over="ignore", invalid="ignore"):
            return nearest_by_squares(X, centers)
    labels = np.empty(X.shape[0], dtype=np.intp)
    with np.errstate(over="ignore", invalid="ignore"):
        half_squares = 0.5 * (centers**2).sum(axis=1)
    terms = centers, half_squares, RELATIVE_ERROR * (centers.shape[1] + 8)
    find = partial(_sparse_nearest if sparse.issparse(X) else _dense_nearest, X, terms, labels)

    def work(block: tuple[int, int]) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            if find(*block):
                undecided = block[0] + np.flatnonzero(labels[slice(*block)] < 0)
                values = X[undecided]
                if not are_in_domain(values.data if sparse.issparse(values) else values):
                    raise OutOfDomain
                labels[undecided] = nearest_by_squares(values, centers)

    pool.map(work, pool.blocks(len(labels), rows_of_task(2 * X.shape[1])))
    return labels


_ScoreTerms = tuple[np.ndarray, np.ndarray, float]
"""Centers, half of |c|^2, and the relative error of scores."""


def _dense_nearest(
    X: np.ndarray, terms: _ScoreTerms, labels: np.ndarray, begin: int, end: int
) -> int:
    """Set the labels of some rows, -1 where scores do not decide; returns how many those are."""
    (centers, half_squares, error), loops = terms, kernels.dataset
    flat, limits = FlatRows.of(X), (half_squares.max(), error, MAX_VALUE**2)
    if X.shape[1] <= loops.NARROW:
        n_rows = loops.NEAREST_ROWS
        scores, columns = np.empty((len(centers) + 2, n_rows)), np.zeros((X.shape[1], n_rows))
        scratch = columns, scores[2:], scores[0], scores[1], np.empty(n_rows, dtype=np.intp)
        return loops.narrow_nearest(
            flat, begin, end, centers, half_squares, *limits, *scratch, labels
        )
    if len(half_squares) % 2:  # the loop reads pairs: one more center that is never the nearest
        centers = np.concatenate([centers, np.zeros((1, X.shape[1]))])
        half_squares = np.append(half_squares, np.inf)
    rows = flat, EVERY_ROW, begin, end
    return loops.wide_nearest(*rows, centers, half_squares, *limits, loaded_rows(X), labels)


def _sparse_nearest(X: Any, terms: _ScoreTerms, labels: np.ndarray, begin: int, end: int) -> int:
    """The same for CSR rows."""
    centers, half_squares, error = terms
    ones, transposed = np.ones(X.shape[1]), np.ascontiguousarray(centers.T)
    step, n_undecided = max(_MAX_PRODUCTS // len(centers), 1), 0
    for start in range(begin, end, step):
        rows = slice(start, min(start + step, end))
        part = X if len(range(start, end)) == X.shape[0] <= step else X[rows]
        part = part.astype(np.float64, copy=False)
        squares = sparse.csr_array((part.data**2, part.indices, part.indptr), shape=part.shape)
        sizes = squares @ ones + half_squares.max()
        errors = np.where(sizes <= MAX_VALUE**2, error * sizes, np.inf)
        scores, every = part @ transposed - half_squares, np.arange(len(sizes))
        labels[rows] = at = scores.argmax(axis=1)
        best, scores[every, at] = scores[every, at], -np.inf
        is_clear = best - scores.max(axis=1) > errors
        labels[rows][~is_clear] = -1
        n_undecided += len(is_clear) - int(is_clear.sum())
    return n_undecided


def nearest_by_squares(X: Any, centers: np.ndarray) -> np.ndarray:
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
