"""Where polishing stands: the tree, the means of its clusters, and what its rows pay."""

from __future__ import annotations

from fractions import Fraction
from hashlib import blake2b

import numpy as np
from scipy import sparse

from pellucid._core.criteria.problem import Problem
from pellucid._core.data.moments import group_means
from pellucid._core.refine.incremental_costs import MovingCosts
from pellucid._core.refine.moving_center_split import Moments
from pellucid._core.refine.mutable_tree import Routes

_LEAST_FALL = Fraction(1, 2**40)
"""Share by which the cost must fall for a change to count: more than rounding could make up."""

_LEAST_GAIN = 1e-9
"""The same where gains are floating-point numbers, and only a hint."""

_TIE = 1e-11
"""Share of the cost by which two such gains must differ to be told apart."""


class PolishState:
    """A tree under the hands of the steps that improve it.

    Parameters
    ----------
    routes : Routes
    problem : Problem
    n_leaves : int
        Most leaves that the tree may come to have.

    Attributes
    ----------
    costs : MovingCosts
        What each row pays at the mean of each cluster, as of the latest `settle`.
    cost : Fraction
        The k-means cost of the tree as of then.
    known : dict
        What has been found out about some rows, by `fingerprint`; copies share it.
    """

    def __init__(self, routes: Routes, problem: Problem, n_leaves: int) -> None:
        self.routes, self.problem, self.n_leaves = routes, problem, n_leaves
        self.costs = MovingCosts(problem.data, self._means(problem.centers))
        self.cost = self._price()
        self.origin = np.zeros(problem.n_features)
        if not sparse.issparse(problem.X):
            self.origin = np.average(self.centers, axis=0, weights=self.moments().weights)
        self.known: dict[bytes, object] = {}

    def copy(self) -> PolishState:
        """A state that can be changed without changing this one."""
        other = object.__new__(PolishState)
        other.__dict__.update(self.__dict__)
        other.routes, other.costs = self.routes.copy(), self.costs.copy()
        return other

    def become(self, other: PolishState) -> None:
        """Be as another state is, which must not be used any more."""
        self.__dict__.update(other.__dict__)

    @property
    def centers(self) -> np.ndarray:
        """Means of the clusters as of the latest `settle`."""
        return self.costs.centers

    @property
    def least_gain(self) -> float:
        """What a change must gain to be worth it."""
        return _LEAST_GAIN * float(self.cost)

    @property
    def tie(self) -> float:
        """Gains that differ less are equal."""
        return _TIE * float(self.cost)

    def rank(self, gain: np.ndarray | float) -> np.ndarray:
        """Gains without their last digits, so that rounding does not decide between equals."""
        return np.rint(gain / self.least_gain)

    def settle(self) -> None:
        """Put the centers at the means of the clusters."""
        self.costs.move(self._means(self.centers))
        self.cost = self._price()

    def is_cheaper_than(self, other: PolishState) -> bool:
        """Whether the cost is lower, beyond all doubt."""
        return self.cost < other.cost * (1 - _LEAST_FALL)

    def moments(self) -> Moments:
        """Of the clusters of the tree, as long as the centers are their means."""
        return self._moments_about(self.centers, self.routes.labels(), self.problem.n_clusters)

    def leaf_moments(self) -> Moments:
        """Of the leaves, from left to right."""
        p, leaves = self.problem, self.routes.leaves()
        place = np.empty(len(self.routes.left), dtype=np.intp)
        place[leaves] = np.arange(len(leaves))
        labels = place[self.routes.leaf]
        means = group_means(p.X, labels, p.weights.values, len(leaves), p.pool)
        return self._moments_about(np.nan_to_num(means), labels, len(leaves))

    def _moments_about(self, means: np.ndarray, labels: np.ndarray, n_groups: int) -> Moments:
        weights = np.bincount(labels, weights=self.problem.weights.values, minlength=n_groups)
        counts = np.bincount(labels, minlength=n_groups)
        return Moments((means - self.origin) * weights[:, None], weights, counts)

    def _price(self) -> Fraction:
        from pellucid._core.kernels.fixed_center_split import total_cost

        routes = self.routes
        return self.costs.worth(total_cost(routes.leaf, routes.cluster, self.costs.units))

    def _means(self, otherwise: np.ndarray) -> np.ndarray:
        """Means of the clusters; what to take for one without rows."""
        p = self.problem
        means = group_means(p.X, self.routes.labels(), p.weights.values, p.n_clusters, p.pool)
        return np.where(np.isnan(means), otherwise, means)


def fingerprint(*arrays: np.ndarray) -> bytes:
    """A short name for the contents of some arrays, the same for the same contents only."""
    name = blake2b(digest_size=16)
    for array in arrays:
        name.update(np.ascontiguousarray(array).view(np.uint8).data)
        name.update(b"|")
    return name.digest()
