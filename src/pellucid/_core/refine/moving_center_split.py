"""The cut of least k-means cost if all centers are the means of the clusters after the cut."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse

from pellucid._core.criteria.column_search import Split
from pellucid._core.criteria.problem import Problem
from pellucid._core.data.arrays import stable_argsort


class SweepLimits(NamedTuple):
    """How much of a node is searched for one cut."""

    work: int = 2**27  # rows times columns times columns
    min_features: int = 4  # columns that are searched however many rows there are
    max_rows: int = 2**15  # rows above which a cut is searched on a sample
    n_sampled: int = 2**14  # rows of the sample


DEFAULT_LIMITS = SweepLimits()


class Moments(NamedTuple):
    """Sums and weights of clusters.

    Attributes
    ----------
    sums : ndarray of shape (n_clusters, n_features)
        Weighted sums of the rows, about an origin.
    weights : ndarray of shape (n_clusters,)
        Total weights.
    counts : ndarray of shape (n_clusters,), int64
        Numbers of rows.
    """

    sums: np.ndarray
    weights: np.ndarray
    counts: np.ndarray

    def copy(self) -> Moments:
        """Copies of the arrays."""
        return Moments(*(array.copy() for array in self))

    def between_ss(self) -> float:
        """Between-cluster sum of squares, the sum of |S|^2 / W: total sum of squares minus cost."""
        squares = self.sums * self.sums
        # In the order of the loops: columns one after the other, even and odd ones apart.
        even, odd = squares[:, ::2].cumsum(axis=1), squares[:, 1::2].cumsum(axis=1)
        squares = even[:, -1] + odd[:, -1] if odd.size else even[:, -1]
        parts = np.zeros(len(squares))
        np.divide(squares, self.weights, out=parts, where=self.counts > 0)
        return float(parts.cumsum()[-1])


@dataclass(frozen=True)
class MovingRows:
    """Rows that belong to one cluster on the left of a cut and to another on its right.

    Attributes
    ----------
    problem : Problem
    rows : ndarray of int32
        Row numbers, ascending.
    left, right : ndarray of int
        Cluster of each row on the left and on the right.
    origin : ndarray of shape (n_features,)
        Point that sums are taken about; must be 0 for sparse data.
    sample_weight : ndarray, optional
        Weight of each row if it is not that of the problem.
    limits : SweepLimits
    """

    problem: Problem
    rows: np.ndarray
    left: np.ndarray
    right: np.ndarray
    origin: np.ndarray
    sample_weight: np.ndarray | None = None
    limits: SweepLimits = DEFAULT_LIMITS

    def move(self, moves: np.ndarray, moments: Moments) -> None:
        """Move the rows with `moves` from their right to their left cluster."""
        from pellucid._core.kernels.moving_center_split import move_dense, move_sparse

        (move_sparse if self.is_sparse else move_dense)(moves, self._arrays, moments)

    def total(self) -> Moments:
        """Moments of all rows as one cluster."""
        two = Moments(np.zeros((2, len(self.origin))), np.zeros(2), np.zeros(2, dtype=np.int64))
        first = np.zeros(len(self.rows), dtype=np.intp)
        replace(self, left=first, right=first + 1).move(first == 0, two)
        return Moments(*(array[:1] for array in two))

    def widest_features(self, number: int) -> np.ndarray:
        """The columns in which the rows have the largest sum of squares, ascending."""
        from pellucid._core.kernels.moving_center_split import squares_dense, squares_sparse

        total, squares = self.total(), np.zeros(len(self.origin))
        (squares_sparse if self.is_sparse else squares_dense)(self._arrays, squares)
        spread = squares - total.sums[0] ** 2 / total.weights[0]
        # Equal columns must be equal however their rows are stored and added up.
        if (largest := spread.max()) > 0:
            spread = np.rint(spread / largest * 2.0**30)
        return np.sort(np.argsort(-spread, kind="stable")[:number])

    def sweep(
        self,
        features: np.ndarray,
        base: Moments,
        wanted: np.ndarray,
        tolerance: float,
        found: np.ndarray,
    ) -> None:
        """Fill found[j] with the largest BSS over the thresholds of column j, and its threshold."""
        from pellucid._core.kernels.moving_center_split import sweep_dense, sweep_sparse

        sweep_column = sweep_sparse if self.is_sparse else sweep_dense
        n_empty = np.count_nonzero(wanted & (base.counts == 0))
        scratch = np.empty((2 if self.is_sparse else 1, len(wanted)))
        for feature in features.tolist():
            values = self.problem.values(feature, self.rows)
            order = stable_argsort(values)
            found[feature] = sweep_column(
                order, values, self._arrays, base.copy(), wanted, n_empty, tolerance, *scratch
            )

    @property
    def is_sparse(self) -> bool:
        """Whether rows are read from a CSR matrix."""
        return sparse.issparse(self.problem.data.rows)

    @cached_property
    def weights(self) -> np.ndarray:
        """Weight of each row."""
        if self.sample_weight is not None:
            return self.sample_weight
        weights = self.problem.weights
        return weights.units[self.rows] / weights.units_per_weight

    @cached_property
    def _arrays(self):
        """The rows as compiled loops read them."""
        from pellucid._core.kernels.moving_center_split import DenseRows, SparseRows

        X, rows = self.problem.data.rows, self.rows
        if sparse.issparse(X):
            matrix = X.data, X.indices, X.indptr
            return SparseRows(self.left, self.right, self.weights, rows, *matrix)
        if not (X.flags.c_contiguous and X.dtype == np.float64 and self.sample_weight is None):
            X = np.ascontiguousarray(X[rows], dtype=np.float64)
            rows = np.arange(len(rows), dtype=rows.dtype)
        return DenseRows(self.left, self.right, self.weights, rows, X, self.origin)

    @property
    def size(self) -> int:
        """Number of rows; a row of integer weight w counts as w rows, as if it were repeated."""
        weights = self.problem.weights
        return int(weights.total_of(self.rows)) if weights.are_integers else len(self.rows)

    @property
    def n_affordable(self) -> int:
        """How many columns to search within the limits."""
        limits, n_features = self.limits, len(self.origin)
        n = max(min(self.size, limits.n_sampled), 1)
        return min(max(limits.min_features, limits.work // (n * n_features)), n_features)


def best_moving_cut(
    moving: MovingRows,
    base: Moments,
    wanted: np.ndarray,
    features: np.ndarray,
    tolerance: float,
) -> tuple[Split, Moments] | None:
    """The cut of largest BSS, which is its gain, and the moments after the cut.

    With very many rows, the best cut of a sample.

    Parameters
    ----------
    moving : MovingRows
    base : Moments
        Moments of the clusters if all rows are on the right.
    wanted : ndarray of bool
        Clusters that must not lose all rows.
    features : ndarray of int
        Columns to search, ascending.
    tolerance : float
        Values of BSS that differ by less are equal; ties go to the lowest feature, then to the
        lowest threshold.
    """
    searched, moments = moving, base
    if moving.size > moving.limits.max_rows:
        searched, moments = _sample(moving, base)
    cut = _best_of(searched, moments, wanted, features, tolerance)
    if cut is None:
        return None
    after = base.copy()
    moving.move(moving.problem.values(cut.feature, moving.rows) <= cut.threshold, after)
    is_allowed = (after.counts[wanted] > 0).all()
    return (cut._replace(gain=after.between_ss()), after) if is_allowed else None


def _best_of(
    moving: MovingRows, base: Moments, wanted: np.ndarray, features: np.ndarray, tolerance: float
) -> Split | None:
    """The best cut of all rows given, without its gain."""
    problem = moving.problem
    found = np.empty((problem.n_features, 2))
    # A cluster of which no row is here cannot keep any.
    occurs = np.bincount(moving.left, minlength=len(wanted)) > 0
    wanted = wanted & (occurs | (base.counts > 0))
    blocks = problem.feature_blocks(features, len(moving.rows) * problem.n_features)
    problem.pool.map(lambda block: moving.sweep(block, base, wanted, tolerance, found), blocks)
    best = Split(np.inf, -1, np.nan)
    for feature in features.tolist():
        between_ss, threshold = found[feature].tolist()
        if -between_ss < best.objective - tolerance:
            best = Split(-between_ss, feature, threshold)
    return None if best.feature < 0 else best


def _sample(moving: MovingRows, base: Moments) -> tuple[MovingRows, Moments]:
    """Evenly spaced rows with larger weights in place of all rows, and the moments with them."""
    weights, size = moving.problem.weights, moving.limits.n_sampled
    ends = np.cumsum(weights.units_of(moving.rows) if weights.are_integers else moving.weights)
    marks = (np.arange(size) + 0.5) * (ends[-1] / size)
    places, hits = np.unique(np.searchsorted(ends, marks, side="right"), return_counts=True)
    # Move all rows from their right cluster to an additional one, and the sample back from there.
    extra = np.full(len(moving.rows), len(base.weights))
    moments = Moments(*(np.concatenate([array, np.zeros_like(array[:1])]) for array in base))
    replace(moving, left=extra).move(np.ones(len(extra), dtype=bool), moments)
    sample = replace(
        moving,
        rows=moving.rows[places],
        left=moving.left[places],
        right=moving.right[places],
        sample_weight=hits * (moving.weights.sum() / size),
    )
    back = replace(sample, left=sample.right, right=extra[places])
    back.move(np.ones(len(places), dtype=bool), moments)
    return sample, Moments(*(array[:-1] for array in moments))
