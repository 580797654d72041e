"""The best cut of a node for fixed centers, and for centers that move with the rows.

With fixed centers the cost of each row on either side is known, and the least sum is found. With
moving centers all centers are the means of the clusters after the cut.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse

from pellucid._core.criteria.column_search import FEW_ROWS, Split
from pellucid._core.criteria.partition import split_rows
from pellucid._core.criteria.problem import Problem
from pellucid._core.criteria.sums import ColumnScan, SumFormula, SumSearch
from pellucid._core.data.arrays import stable_argsort
from pellucid._core.kernels import INFINITE_COST
from pellucid._core.refine.tuning import DEFAULT_LIMITS, SweepLimits

_CHUNK = 2**16
"""Numbers that are sorted together."""


class ContestedRows(NamedTuple):
    """Rows of a node whose cost on the left of a cut differs from that on the right."""

    rows: np.ndarray  # int32, row numbers, ascending
    difference: np.ndarray  # int64, cost on the left minus cost on the right; never 0
    negative: int  # sum of the negative differences
    positive: int


def contested_rows(
    rows: np.ndarray, left: np.ndarray, right: np.ndarray, cluster: np.ndarray, costs: np.ndarray
) -> ContestedRows:
    """Those of the rows of a node whose cost depends on the side.

    `left` and `right` have the leaf that each row of the data would reach on either side, `cluster`
    has the cluster of each leaf, and `costs` that of each row in each cluster.
    """
    clusters = cluster[left[rows]], cluster[right[rows]]
    moves = np.flatnonzero(clusters[0] != clusters[1])
    rows, (on_left, on_right) = rows[moves], (side[moves] for side in clusters)
    difference = costs[rows, on_left] - costs[rows, on_right]
    kept = difference.nonzero()[0]
    rows, difference = rows[kept], difference[kept]
    negative = int(difference.sum(where=difference < 0))
    return ContestedRows(rows, difference, negative, int(difference.sum()) - negative)


class SumOfDifferences(SumFormula):
    """Sum of the differences of the rows on the left; negative and positive ones are apart."""

    no_split = INFINITE_COST

    def scan(self, sums: np.ndarray, inside: np.ndarray, totals: np.ndarray) -> ColumnScan:
        """Judge all bins; a bound is that of the rows of negative difference of the bin.

        If all differences of a bin have one sign, the edge on one side is at least as good as the
        inside, unless it is no cut.
        """
        falls, rises = sums[:, :, 0], sums[:, :, 1]
        low, high = falls.cumsum(axis=1), rises.cumsum(axis=1)
        is_first = (low == falls) & (high == rises)
        is_last = (low == totals[0]) & (high == totals[1])
        is_cut = ((low | high) != 0) & ~is_last
        values = np.where(is_cut, low + high, self.no_split)
        is_open = ((falls != 0) | (is_first & (rises != 0))) & ((rises != 0) | is_last)
        bounds = np.where(inside & is_open, low + high - rises, self.no_split)
        edge = values.argmin(axis=1)
        return ColumnScan(values[np.arange(len(edge)), edge], edge, bounds)

    def cost(self, totals: np.ndarray) -> int:
        return int(totals.sum())


class FixedCenterSearch(SumSearch):
    """The search for the cut with the least sum of differences on its left."""

    def __init__(self, problem: Problem, contested: ContestedRows) -> None:
        difference, totals = (
            contested.difference,
            np.array([contested.negative, contested.positive]),
        )
        terms = np.stack([np.minimum(difference, 0), np.maximum(difference, 0)], axis=1)
        super().__init__(problem, SumOfDifferences(), contested.rows, totals, terms)
        self._differences = difference

    def best(self, goal: int) -> Split | None:
        """The best cut below a goal, with contested rows on both sides.

        Its threshold is the value of a contested row, so that the cut of other rows does not depend
        on where edges of bins are.
        """
        cuts = self.best_splits(goal=goal) if len(self.rows) > 1 else []
        if not cuts:
            return None
        rows = split_rows(self.problem, self.rows, cuts[0].feature, cuts[0].threshold)
        return cuts[0]._replace(threshold=rows.low)

    def best_features(self, number: int) -> np.ndarray:
        """The columns with the best cuts, ascending; they do not depend on edges of bins."""
        problem, features = self.problem, np.arange(self.problem.n_features)
        if number >= len(features):
            return features
        found = np.full((len(features), 1, 3), INFINITE_COST)
        blocks = problem.feature_blocks(features, len(self.rows))
        problem.pool.map(lambda block: self.scan(block, found), blocks)
        limit = np.sort(found[:, 0, 0])[number - 1]
        promising = np.flatnonzero(np.minimum(found[:, 0, 0], found[:, 0, 2]) <= limit)
        if len(self.rows) <= FEW_ROWS:
            blocks = problem.feature_blocks(promising, 64 * len(self.rows))
            least = np.concatenate(problem.pool.map(self._least_sums, blocks))
        else:
            refined = problem.pool.map(lambda j: self.refine(j, limit), promising.tolist())
            least = np.array([cuts[0, 0] for cuts in refined])
        return np.sort(promising[np.argsort(least, kind="stable")[:number]])

    def _least_sums(self, features: np.ndarray) -> np.ndarray:
        """Least sum of differences by column, from the values of a few rows."""
        least, step = [], max(1, _CHUNK // len(self.rows))
        difference = self._differences
        for start in range(0, len(features), step):
            few = features[start : start + step].tolist()
            values = np.array([self.problem.values(j, self.rows) for j in few])
            order = values.argsort(axis=1)
            ascending = np.take_along_axis(values, order, axis=1)
            is_cut = ascending[:, 1:] > ascending[:, :-1]
            sums = difference[order].cumsum(axis=1)[:, :-1]
            least.append(sums.min(axis=1, initial=INFINITE_COST, where=is_cut))
        return np.concatenate(least)


class Moments(NamedTuple):
    """Sums and weights of clusters."""

    sums: np.ndarray  # (n_clusters, n_features), weighted sums of the rows, about an origin
    weights: np.ndarray  # (n_clusters,)
    counts: np.ndarray  # (n_clusters,), int64, numbers of rows

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
    """Rows that belong to one cluster on the left of a cut and to another on its right."""

    problem: Problem
    rows: np.ndarray  # int32, row numbers, ascending
    left: np.ndarray  # cluster of each row on the left of the cut
    right: np.ndarray
    origin: np.ndarray  # (n_features,), point that sums are taken about; 0 for sparse data
    sample_weight: np.ndarray | None = None  # if it is not that of the problem
    limits: SweepLimits = DEFAULT_LIMITS

    def move(self, moves: np.ndarray, moments: Moments) -> None:
        """Move the rows with `moves` from their right to their left cluster."""
        from pellucid._core.kernels.moving_center_split import move_dense, move_sparse

        squares = np.zeros(len(moments.weights))
        (move_sparse if self.is_sparse else move_dense)(moves, self._arrays, moments, squares)

    def total(self) -> Moments:
        """Moments of all rows as one cluster."""
        two = Moments(np.zeros((2, len(self.origin))), np.zeros(2), np.zeros(2, dtype=np.int64))
        first = np.zeros(len(self.rows), dtype=np.intp)
        replace(self, left=first, right=first + 1).move(first == 0, two)
        return Moments(*(array[:1] for array in two))

    def widest_features(self, number: int) -> np.ndarray:
        """The columns in which the rows have the largest sum of squares, ascending."""
        total, X = self.total(), self.problem.space.rows[self.rows].astype(np.float64, copy=False)
        if self.is_sparse:
            squares = self.weights @ X.power(2)
        else:  # einsum adds in one order; products of matrices depend on the number of threads
            squares = np.einsum("i,ij->j", self.weights, (X - self.origin) ** 2)
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
        scratch = np.empty((2, len(wanted)))
        for feature in features.tolist():
            values = self.problem.values(feature, self.rows)
            order = stable_argsort(values)
            found[feature] = sweep_column(
                order, values, self._arrays, base.copy(), wanted, n_empty, tolerance, *scratch
            )

    @property
    def is_sparse(self) -> bool:
        """Whether rows are read from a CSR matrix."""
        return sparse.issparse(self.problem.space.rows)

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

        X, rows = self.problem.space.rows, self.rows
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
        limits, n = self.limits, max(min(self.size, self.limits.n_sampled), 1)
        n_features = max(limits.min_features, limits.work // (n * len(self.origin)))
        return min(n_features, self.problem.n_features)


def best_moving_cut(
    moving: MovingRows,
    base: Moments,
    wanted: np.ndarray,
    features: np.ndarray,
    tolerance: float,
) -> tuple[Split, Moments] | None:
    """The cut of largest BSS, which is its gain, and the moments after the cut.

    With very many rows, the best cut of a sample. `base` has the moments if all rows are on the
    right; `wanted` clusters must not lose all rows; `features` are ascending. Values of BSS that
    differ by less than `tolerance` are equal: ties go to the lowest feature, then threshold.
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
