"""State of polishing: the tree, the means of its clusters, and the costs of its rows."""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from hashlib import blake2b
from typing import Any

import numpy as np
from scipy import sparse

from pellucid._core.criteria.problem import Problem
from pellucid._core.criteria.space_cost import SpaceCost
from pellucid._core.criteria.sums import SumCriterion
from pellucid._core.data.group_sums import group_means
from pellucid._core.refine import tuning
from pellucid._core.refine.mutable_tree import MutableTree
from pellucid._core.refine.node_cuts import Moments, MovingRows


class PolishState:
    """A tree that is polished, with at most `n_leaves` leaves.

    Sums of dense rows are taken about the mean if `is_about_mean`, all others about 0.

    Attributes
    ----------
    centers : ndarray of shape (n_clusters, n_features)
        Means of the clusters as of the latest `update_centers`.
    costs : ndarray of shape (n_samples, n_clusters), int64
        Cost of each row at each center, in units of `cost_unit`.
    cost : Fraction
        The k-means cost of the tree as of then, exact.
    cache : dict
        Results of searches by `fingerprint` of their rows, shared by all copies.
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
        if not self.has_rows().all():
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
        self.cache: dict[bytes, Any] = {}

    def copy(self) -> PolishState:
        """A state that can be changed without changing this one."""
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

    def ranks(self, gains: np.ndarray) -> np.ndarray:
        """Rank of each gain, 0 for the largest; ties, in which rounding errors differ, share one.

        Gains that differ by less than `tie` from the next larger one have its rank.
        """
        order = np.argsort(-gains, kind="stable")
        falling, ranks = gains[order], np.empty(len(gains), dtype=np.intp)
        ranks[order] = np.cumsum(np.append(False, falling[1:] < falling[:-1] - self.tie))
        return ranks

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

    def has_rows(self) -> np.ndarray:
        """Whether each cluster has rows."""
        return self.tree.has_rows(self.problem.n_clusters)

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
