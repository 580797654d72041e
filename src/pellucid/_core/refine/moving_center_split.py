"""The cut of least k-means cost, where the centers are the means of what the cut makes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse

from pellucid._core.criteria.column_search import Split
from pellucid._core.criteria.problem import Problem

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
        from pellucid._core.kernels.moving_center_split import total_share

        return total_share(*self)


@dataclass(frozen=True)
class MovingRows:
    """Rows that go to one cluster on the left of a cut and to another on its right.

    Attributes
    ----------
    problem : Problem
    rows : ndarray of int32
        Row numbers, ascending.
    near, far : ndarray of int
        Cluster of each row on the left and on the right.
    origin : ndarray of shape (n_features,)
        Point that sums are taken about; must be 0 for sparse data.
    weight : ndarray, optional
        Of each row, where it is not that of the problem.
    """

    problem: Problem
    rows: np.ndarray
    near: np.ndarray
    far: np.ndarray
    origin: np.ndarray
    weight: np.ndarray | None = None

    def move(self, goes: np.ndarray, moments: Moments) -> None:
        """Take some of the rows from their far to their near cluster."""
        from pellucid._core.kernels.moving_center_split import move_dense, move_sparse

        run = move_sparse if self.is_sparse else move_dense
        run(goes, self.near, self.far, self.weights, *self._parts, *moments)

    def total(self) -> Moments:
        """Of all rows as one cluster."""
        two = Moments(np.zeros((2, len(self.origin))), np.zeros(2), np.zeros(2, dtype=np.int64))
        one = np.zeros(len(self.rows), dtype=np.intp)
        replace(self, near=one, far=one + 1).move(one == 0, two)
        return Moments(*(array[:1] for array in two))

    def widest_features(self, number: int) -> np.ndarray:
        """The columns in which the rows are spread most, ascending."""
        from pellucid._core.kernels.moving_center_split import squares_dense, squares_sparse

        total, squares = self.total(), np.zeros(len(self.origin))
        (squares_sparse if self.is_sparse else squares_dense)(self.weights, *self._parts, squares)
        spread = squares - total.sums[0] ** 2 / total.weights[0]
        # Equal columns must be equal however their rows are stored and added up.
        if (largest := spread.max()) > 0:
            spread = np.rint(spread / largest * 2.0**30)
        return np.sort(np.argsort(-spread, kind="stable")[:number])

    def sweep(self, features: np.ndarray, base: Moments, wanted, tolerance, found) -> None:
        """found[j] = the largest share over the thresholds of a column, and its threshold."""
        from pellucid._core.kernels.moving_center_split import sweep_dense, sweep_sparse

        rows = (self.near, self.far, self.weights, *self._parts)
        if not self.is_sparse:
            bins = self.problem.bins
            columns = (bins.codes, bins.n_edges, bins.inside, self.rows)
            sweep_dense(features, *columns, *rows, *base, wanted, tolerance, found)
            return
        for feature in features.tolist():
            values = self.problem.values(feature, self.rows)
            order = np.argsort(values, kind="stable")
            found[feature] = sweep_sparse(order, values, *rows, *base, wanted, tolerance)

    @property
    def is_sparse(self) -> bool:
        """Whether rows are read from a CSR matrix."""
        return sparse.issparse(self.problem.data.rows)

    @cached_property
    def weights(self) -> np.ndarray:
        """Weight of each row."""
        return self.problem.weights.values[self.rows] if self.weight is None else self.weight

    @cached_property
    def _parts(self) -> tuple[np.ndarray, ...]:
        """Where to find the rows, as compiled loops take them."""
        X = self.problem.data.rows
        if sparse.issparse(X):
            return self.rows, X.data, X.indices, X.indptr
        if X.flags.c_contiguous and X.dtype == np.float64 and self.weight is None:
            return self.rows, X, self.origin
        line = np.arange(len(self.rows), dtype=self.rows.dtype)
        return line, np.ascontiguousarray(X[self.rows], dtype=np.float64), self.origin

    @property
    def size(self) -> int:
        """Number of rows; one of whole weight is so many, since it must make no difference."""
        weights = self.problem.weights
        return int(weights.total_of(self.rows)) if weights.are_integers else len(self.rows)

    @property
    def n_affordable(self) -> int:
        """How many columns to look at, so that many rows do not take too long."""
        n, n_features = min(self.size, _SOME_ROWS), len(self.origin)
        number = max(_LEAST_FEATURES, int(_WORK // (max(n, 1) * n_features)))
        return min(number, n_features)


def best_moving_cut(
    moving: MovingRows,
    base: Moments,
    wanted: np.ndarray,
    features: np.ndarray,
    tolerance: float,
) -> tuple[Split, Moments] | None:
    """Cut of least cost, all centers being means, and the moments then; their share is its gain.

    With very many rows, the best cut for some of them.

    Parameters
    ----------
    moving : MovingRows
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
    some = _some_rows(moving, base) if moving.size > _MANY_ROWS else (moving, base)
    cut = _best_for(*some, wanted, features, tolerance)
    if cut is None:
        return None
    after = base.copy()
    moving.move(moving.problem.values(cut.feature, moving.rows) <= cut.threshold, after)
    is_allowed = (after.counts[wanted] > 0).all()
    return (cut._replace(gain=after.share()), after) if is_allowed else None


def _best_for(moving: MovingRows, base: Moments, wanted, features, tolerance) -> Split | None:
    """The same for all of the rows given; its gain is left out."""
    problem = moving.problem
    found = np.empty((problem.n_features, 2))
    # A cluster of which no row is here cannot be cared for.
    occurs = np.bincount(moving.near, minlength=len(wanted)) > 0
    wanted = wanted & (occurs | (base.counts > 0))
    blocks = problem.feature_blocks(features, len(moving.rows) * problem.n_features)
    problem.pool.map(lambda block: moving.sweep(block, base, wanted, tolerance, found), blocks)
    best = Split(np.inf, -1, np.nan)
    for feature in features.tolist():
        share, at = found[feature].tolist()
        if -share < best.objective - tolerance:
            best = Split(-share, feature, at)
    return None if best.feature < 0 else best


def _some_rows(moving: MovingRows, base: Moments) -> tuple[MovingRows, Moments]:
    """The same with evenly spaced rows, of more weight, in place of many."""
    weights = moving.problem.weights
    ends = np.cumsum(weights.units_of(moving.rows) if weights.are_integers else moving.weights)
    marks = (np.arange(_SOME_ROWS) + 0.5) * (ends[-1] / _SOME_ROWS)
    places, hits = np.unique(np.searchsorted(ends, marks, side="right"), return_counts=True)
    nowhere = np.full(len(moving.rows), len(base.weights))
    away = Moments(*(np.concatenate([array, np.zeros_like(array[:1])]) for array in base))
    replace(moving, near=nowhere).move(np.ones(len(nowhere), dtype=bool), away)
    some = MovingRows(
        moving.problem,
        moving.rows[places],
        moving.near[places],
        moving.far[places],
        moving.origin,
        hits * (moving.weights.sum() / _SOME_ROWS),
    )
    back = replace(some, near=some.far, far=nowhere[places])
    back.move(np.ones(len(places), dtype=bool), away)
    return some, Moments(*(array[:-1] for array in away))
