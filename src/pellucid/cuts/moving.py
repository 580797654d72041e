"""The cut of least k-means cost, where the centers are the means of what the cut makes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from pellucid.cuts.problem import Problem
from pellucid.cuts.search import Cut

_WORK = 2**27
"""Rows times columns times columns that are gone through for one cut."""

_LEAST_FEATURES = 4
"""Columns that are looked at however many rows there are."""

_MANY_ROWS = 2**15
"""Rows above which a cut is sought with some of them, and only then judged with all."""

_SOME_ROWS = 2**14
"""How many are some."""


class Moments(NamedTuple):
    """Sums and weights of clusters.

    Attributes
    ----------
    sums : ndarray of shape (n_clusters, n_features)
        Weighted sums of the rows, about some origin.
    weights : ndarray of shape (n_clusters,)
        Their total weights.
    counts : ndarray of shape (n_clusters,), int64
        How many they are.
    """

    sums: np.ndarray
    weights: np.ndarray
    counts: np.ndarray

    def copy(self) -> Moments:
        """Arrays of their own."""
        return Moments(*(array.copy() for array in self))

    def share(self) -> float:
        """Sum of |S|^2 / W: what the cost is less than the squares of all rows."""
        from pellucid.kernels.moving import total_share

        return total_share(*self)


def moving_rows(
    problem: Problem, rows: np.ndarray, near, far, origin: np.ndarray, *, in_one: bool = False
):
    """Rows with their clusters on the left and on the right of a cut, as a `Moving`.

    `in_one` has the rows copied, side by side, which is worth it for few out of many.
    """
    from pellucid.kernels.moving import Moving

    X = problem.data.rows
    weight = problem.weights.values[rows]
    nothing = np.empty(0)
    if sparse.issparse(X):
        parts = (np.empty((0, 0)), X.data, X.indices, X.indptr)
        return Moving(near, far, weight, rows, *parts, origin, True)
    is_ready = X.flags.c_contiguous and X.dtype == np.float64 and not in_one
    lines = X if is_ready else np.ascontiguousarray(X[rows], dtype=np.float64)
    line = rows if is_ready else np.arange(len(rows), dtype=rows.dtype)
    none = np.empty(0, dtype=np.int32)
    return Moving(near, far, weight, line, lines, nothing, none, none, origin, False)


def affordable_features(problem: Problem, rows: np.ndarray) -> int:
    """How many columns to look at, so that many rows do not take too long."""
    n = min(_size(problem, rows), _SOME_ROWS)
    number = max(_LEAST_FEATURES, int(_WORK // (max(n, 1) * problem.n_features)))
    return min(number, problem.n_features)


def _size(problem: Problem, rows: np.ndarray) -> int:
    """Number of rows; one of whole weight is so many, since it must make no difference."""
    return int(problem.weights.total_of(rows)) if problem.weights.are_whole else len(rows)


def _some_rows(problem: Problem, rows: np.ndarray, moving, base: Moments):
    """The same with evenly spaced rows, of more weight, in place of many."""
    from pellucid.kernels.moving import move_rows

    weight = problem.weights.units_of(rows) if problem.weights.are_whole else moving.weight
    ends = np.cumsum(weight)
    marks = (np.arange(_SOME_ROWS) + 0.5) * (ends[-1] / _SOME_ROWS)
    places, hits = np.unique(np.searchsorted(ends, marks, side="right"), return_counts=True)
    some = moving_rows(
        problem, rows[places], moving.near[places], moving.far[places], moving.origin, in_one=True
    )._replace(weight=hits * (moving.weight.sum() / _SOME_ROWS))
    away = Moments(*(np.concatenate([array, np.zeros_like(array[:1])]) for array in base))
    nowhere = np.full(len(rows), len(base.weights))
    move_rows(moving._replace(near=nowhere), np.ones(len(rows), dtype=bool), *away)
    back = some._replace(near=some.far, far=nowhere[places])
    move_rows(back, np.ones(len(places), dtype=bool), *away)
    return problem, rows[places], some, Moments(*(array[:-1] for array in away))


def sum_rows(moving, n_features: int) -> Moments:
    """Of the rows, as one cluster."""
    from pellucid.kernels.moving import move_rows

    moments = Moments(np.zeros((2, n_features)), np.zeros(2), np.zeros(2, dtype=np.int64))
    one = np.zeros(len(moving.line), dtype=np.intp)
    move_rows(moving._replace(near=one, far=one + 1), np.ones(len(one), dtype=bool), *moments)
    return Moments(*(array[:1] for array in moments))


def widest_features(moving, total: Moments, number: int) -> np.ndarray:
    """The columns in which some rows are spread most, ascending."""
    from pellucid.kernels.moving import add_squares

    squares = np.zeros(total.sums.shape[1])
    add_squares(moving, squares)
    spread = squares - total.sums[0] ** 2 / total.weights[0]
    return np.sort(np.argsort(-spread, kind="stable")[:number])


def best_moving_cut(
    problem: Problem,
    rows: np.ndarray,
    moving,
    base: Moments,
    wanted: np.ndarray,
    features: np.ndarray,
    tolerance: float,
) -> tuple[Cut, Moments] | None:
    """Cut of least cost, all centers being means, and the moments then; their share is its gain.

    With very many rows, the best cut for some of them.

    Parameters
    ----------
    problem : Problem
    rows : ndarray of int
    moving : Moving
        Of those rows.
    base : Moments
        Of the clusters when all rows are on the right.
    wanted : ndarray of bool
        Clusters that may not be left without rows.
    features : ndarray of int
        Columns to look at, ascending.
    tolerance : float
        Shares that differ less count as equal: then the lowest feature wins, and in it the
        lowest threshold.
    """
    from pellucid.kernels.moving import move_rows

    if _size(problem, rows) > _MANY_ROWS:
        cut = _best_for(*_some_rows(problem, rows, moving, base), wanted, features, tolerance)
    else:
        cut = _best_for(problem, rows, moving, base, wanted, features, tolerance)
    if cut is None:
        return None
    after = base.copy()
    move_rows(moving, problem.values(cut.feature, rows) <= cut.at, *after)
    is_allowed = (after.counts[wanted] > 0).all()
    return (cut._replace(gain=after.share()), after) if is_allowed else None


def _best_for(problem, rows, moving, base, wanted, features, tolerance) -> Cut | None:
    """The same for all of the rows given; its gain is left out."""
    from pellucid.kernels.moving import sweep_columns, sweep_moving

    found = np.empty((problem.n_features, 2))
    # A cluster of which no row is here cannot be cared for.
    occurs = np.bincount(moving.near, minlength=len(wanted)) > 0
    wanted = wanted & (occurs | (base.counts > 0))

    def look(block: np.ndarray) -> None:
        if not moving.is_sparse:
            columns, here = problem.bins.columns, np.empty((len(block), 2))
            sweep_columns(block, columns, rows, moving, tuple(base), wanted, tolerance, here)
            found[block] = here
            return
        for feature in block.tolist():
            values = problem.values(feature, rows)
            order = np.argsort(values, kind="stable")
            found[feature] = sweep_moving(order, values, moving, *base, wanted, tolerance)

    blocks = problem.feature_blocks(features, len(rows) * problem.n_features)
    problem.team.map(look, blocks)
    best = Cut(np.inf, -1, np.nan)
    for feature in features.tolist():
        share, at = found[feature].tolist()
        if -share < best.objective - tolerance:
            best = Cut(-share, feature, at)
    return None if best.feature < 0 else best
