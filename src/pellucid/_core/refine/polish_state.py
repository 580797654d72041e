"""State of polishing: the tree, the means of its clusters, and the costs of its rows.

Also the best cut of a node for centers that move with the rows: all centers are the means of the
clusters after the cut.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from pellucid._core.criteria.column_search import Split
from pellucid._core.criteria.problem import Problem
from pellucid._core.criteria.space_cost import SpaceCost
from pellucid._core.criteria.sums import SumCriterion
from pellucid._core.data.arrays import stable_argsort
from pellucid._core.data.group_sums import group_means
from pellucid._core.refine import tuning
from pellucid._core.refine.mutable_tree import MutableTree
from pellucid._core.refine.tuning import DEFAULT_LIMITS, SweepLimits


class Moments(NamedTuple):
    """Sums and weights of clusters."""

    sums: np.ndarray  # (n_clusters, n_features), weighted sums of the rows, about an origin
    weights: np.ndarray  # (n_clusters,)
    counts: np.ndarray  # (n_clusters,), int64, numbers of rows

    def copy(self) -> Moments:
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
        return sparse.issparse(self.problem.space.rows)

    @cached_property
    def weights(self) -> np.ndarray:
        if self.sample_weight is not None:
            return self.sample_weight
        weights = self.problem.weights
        return weights.units[self.rows] / weights.units_per_weight

    @cached_property
    def _arrays(self):
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
    moving: MovingRows, base: Moments, wanted: np.ndarray, features: np.ndarray, tolerance: float
) -> tuple[Split, Moments] | None:
    """The cut of largest BSS, which is its gain, and the moments after the cut.

    With very many rows, the best cut of a sample. `base` has the moments if all rows are on the
    right; `wanted` clusters must not lose all rows; `features` are ascending. Values of BSS that
    differ by less than `tolerance` are equal: ties go to the lowest feature, then threshold.
    """
    problem, searched, moments = moving.problem, moving, base
    if moving.size > moving.limits.max_rows:
        searched, moments = _sample(moving, base)
    # A cluster of which no row is here cannot keep any.
    occurs = np.bincount(searched.left, minlength=len(wanted)) > 0
    kept, found = wanted & (occurs | (moments.counts > 0)), np.empty((problem.n_features, 2))
    blocks = problem.feature_blocks(features, len(searched.rows) * problem.n_features)
    problem.pool.map(lambda block: searched.sweep(block, moments, kept, tolerance, found), blocks)
    cut = Split(np.inf, -1, np.nan)
    for feature in features.tolist():
        between_ss, threshold = found[feature].tolist()
        if -between_ss < cut.objective - tolerance:
            cut = Split(-between_ss, feature, threshold)
    if cut.feature < 0:
        return None
    after = base.copy()
    moving.move(problem.values(cut.feature, moving.rows) <= cut.threshold, after)
    is_allowed = (after.counts[wanted] > 0).all()
    return (cut._replace(gain=after.between_ss()), after) if is_allowed else None


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


class PolishState:
    """A tree that is polished, with at most `n_leaves` leaves.

    Sums of dense rows are taken about the mean if `is_about_mean`, all others about 0. `centers`
    are the means of the clusters as of the latest `update_centers`, `costs` those of all rows there
    in units of `cost_unit`, and `cost` is the k-means cost as of then, an exact fraction.
    """

    def __init__(
        self,
        tree: MutableTree,
        problem: Problem,
        n_leaves: int,
        limits: tuning.SweepLimits,
        *,
        is_about_mean: bool,
    ) -> None:
        self.tree, self.problem, self.n_leaves, self.limits = tree, problem, n_leaves, limits
        self.centers = self._means(problem.space_centers)
        if not tree.has_rows().all():
            # Reference centers without rows may be so far away that costs would lose all digits.
            ends = (
                ends.toarray()[0] if sparse.issparse(ends) else ends
                for ends in (problem.space.X.min(axis=0), problem.space.X.max(axis=0))
            )
            self.centers = np.clip(self.centers, *ends)
        self._cost_origin = self.centers.mean(axis=0)
        self.cost_unit = self._least_unit(self.centers)
        self.costs = self._costs_at(np.arange(problem.n_clusters))
        self.cost = self._total_cost()
        self.origin = np.zeros(self.centers.shape[1])
        if is_about_mean and not sparse.issparse(problem.space.X):
            self.origin = np.average(self.centers, axis=0, weights=self.moments().weights)
        # The sum of squares about the origin is the same for all clusterings.
        self._rounding = tuning.ROUNDING * (float(self.cost) + self.moments().between_ss())
        # Results of searches by `fingerprint` of their rows, shared by all copies.
        self.cache: dict[bytes, Any] = {}

    def copy(self) -> PolishState:
        other = object.__new__(PolishState)
        other.__dict__.update(self.__dict__)
        other.tree, other.costs = self.tree.copy(), self.costs.copy()
        return other

    def restore(self, other: PolishState) -> None:
        """Return to another state, which must not be used any more."""
        self.__dict__.update(other.__dict__)

    @cached_property
    def space_cost(self) -> SumCriterion:
        """The cost of splits of leaves in another space."""
        return SumCriterion(self.problem, SpaceCost(self.problem))

    @property
    def min_gain(self) -> float:
        """The least gain of a change that is made."""
        return max(tuning.MIN_GAIN * float(self.cost), 4 * self._rounding)

    @property
    def tie(self) -> float:
        """Gains that differ by less are equal."""
        return max(tuning.GAIN_TIE * float(self.cost), self._rounding)

    def by_gain(self, gains: list[float], *nodes: list[int]) -> list[int]:
        """Positions of gains from the largest to the least; ties go to the lowest nodes.

        Gains that differ by less than `tie`, as by rounding, from the next larger one are tied.
        """
        gain = np.array(gains)
        order = np.argsort(-gain, kind="stable")
        falling, ranks = gain[order], np.empty(len(gain), dtype=np.intp)
        ranks[order] = np.cumsum(np.append(False, falling[1:] < falling[:-1] - self.tie))
        return np.lexsort([*nodes[::-1], ranks.tolist()]).tolist()

    def update_centers(self) -> None:
        """Move the centers to the means of the clusters; recompute costs of those that move."""
        before, self.centers = self.centers, self._means(self.centers)
        moved = np.flatnonzero((self.centers != before).any(axis=1))
        least = self._least_unit(self.centers)
        if least > self.cost_unit or 16 * least < self.cost_unit:
            self.cost_unit, moved = least, np.arange(len(before))
        if len(moved):
            self.costs[:, moved] = self._costs_at(moved)
        self.cost = self._total_cost()

    def _costs_at(self, clusters: np.ndarray) -> np.ndarray:
        costs, _ = self.problem.space.costs(self.centers[clusters], unit=self.cost_unit)
        self.problem.add_mistakes(costs, clusters, self.cost_unit)
        return costs

    def _least_unit(self, centers: np.ndarray) -> float:
        # Twice the least possible unit, so that it remains valid if the centers move a little.
        unit = self.problem.space.cost_unit(centers, self._cost_origin)
        return 2 * self.problem.unit_with_mistakes(unit)

    def is_cheaper_than(self, other: PolishState) -> bool:
        """Whether the cost is lower by more than rounding can cause."""
        return self.cost < other.cost * (1 - tuning.MIN_FALL)

    def moving_rows(self, rows: np.ndarray, left: np.ndarray, right: np.ndarray) -> MovingRows:
        """Rows with a cluster on either side of a cut."""
        return MovingRows(self.problem, rows, left, right, self.origin, limits=self.limits)

    def moments(self) -> Moments:
        """Moments of the clusters; the centers must be their means."""
        return self._moments(self.centers, self.tree.labels(), self.problem.n_clusters)

    def leaf_moments(self) -> Moments:
        """Moments of the leaves, from left to right."""
        p, leaves = self.problem, self.tree.leaves()
        place = np.empty(len(self.tree.left), dtype=np.intp)
        place[leaves] = np.arange(len(leaves))
        labels = place[self.tree.leaf]
        means = group_means(p.space.X, labels, p.weights.values, len(leaves), p.pool)
        return self._moments(np.nan_to_num(means), labels, len(leaves))

    def _moments(self, means: np.ndarray, labels: np.ndarray, n_groups: int) -> Moments:
        # Sums of units are exact, and so do not depend on the order of the rows.
        given = self.problem.weights
        units = np.bincount(labels, weights=given.units, minlength=n_groups)
        weights, counts = units / given.units_per_weight, np.bincount(labels, minlength=n_groups)
        return Moments((means - self.origin) * weights[:, None], weights, counts)

    def _total_cost(self) -> Fraction:
        own = self.costs[np.arange(len(self.costs)), self.tree.labels()]
        return int(own.sum()) * Fraction(self.cost_unit)

    def _means(self, default: np.ndarray) -> np.ndarray:
        """Means of the clusters; `default` for clusters without rows."""
        p = self.problem
        means = group_means(p.space.X, self.tree.labels(), p.weights.values, p.n_clusters, p.pool)
        return np.where(np.isnan(means), default, means)


def fingerprint(*arrays: np.ndarray) -> bytes:
    """A hash of the contents of arrays."""
    digest = blake2b(digest_size=16)
    for array in arrays:
        digest.update(np.ascontiguousarray(array).view(np.uint8).data)
        digest.update(b"|")
    return digest.digest()
