"""A data set with weights: nearest centers, group means, and costs as integers.

Sums of floating-point numbers depend on the order of their terms, and so on threads, blocks,
storage and on whether a row is weighted or repeated. Sums of integers do not. Sample weights and
costs are therefore rounded once, to multiples of a power of two (the *unit*) that is so small that
the sum of all costs just fits into 62 bits. Everything after that is integer arithmetic: the same
data give the same tree, bit for bit.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from pellucid._core import kernels
from pellucid._core.data.arrays import EVERY_ROW, FlatRows, Weights, loaded_rows, rows_of_task
from pellucid._core.data.group_sums import group_means
from pellucid._core.data.moments import (
    GroupMoments,
    cost_to_centers,
    group_moments,
    means_and_costs,
    nearest_centers,
)
from pellucid._utils.numeric_domain import OutOfDomain, are_in_domain
from pellucid._utils.threads import SERIAL, ThreadPool

if TYPE_CHECKING:
    from typing import Self

MIN_TASK_ROWS = 4096
"""Least number of rows per task."""


class Dataset:
    """The rows of a data set and their weights, for the k-means objective.

    The cost of a row at a center is its squared distance, and the center of a group is its mean.
    Subclasses define other costs and centers. No result depends on the number of threads of `pool`.

    `X` is dense or CSC. Unless `is_checked`, `nearest` or `require_domain` must be called first:
    both raise `OutOfDomain`. `rows`, in CSR, are made from sparse `X` when needed, if not given.
    """

    objective = "kmeans"

    def __init__(
        self,
        X: Any,
        weights: Weights,
        pool: ThreadPool = SERIAL,
        *,
        is_checked: bool = True,
        rows: Any = None,
    ) -> None:
        self.weights: Weights = weights
        self.pool: ThreadPool = pool
        self.X, self._is_checked = X, is_checked
        if rows is not None:
            self.rows = rows
        self._last_origin: tuple[np.ndarray, float] | None = None

    @cached_property
    def rows(self) -> Any:
        """The data with fast access to rows: CSR instead of CSC."""
        return self.X.tocsr() if sparse.issparse(self.X) else self.X

    def require_domain(self) -> None:
        """Raise `OutOfDomain` if a value is NaN, infinite or too large."""
        values = self.X.data if sparse.issparse(self.X) else self.X
        if not (self._is_checked or are_in_domain(values)):
            raise OutOfDomain
        self._is_checked = True

    def take(self, rows: np.ndarray) -> Self:
        """The data set of some of the rows."""
        X = self.rows[rows]
        X = X.tocsc() if sparse.issparse(X) else X
        return type(self)(X, Weights.of(self.weights.values[rows]), self.pool)

    def part(self, rows: np.ndarray) -> Self:
        """Some of the rows with the weights that they have here, for `costs` in the same units."""
        weights = self.weights
        units, values = weights.units[rows], weights.values[rows]
        return type(self)(self.rows[rows], replace(weights, units=units, values=values), self.pool)

    def nearest(self, centers: np.ndarray) -> np.ndarray:
        """Nearest center of each row, regardless of its weight; ties go to the lowest.

        Raises `OutOfDomain` if a value is NaN, infinite or too large.
        """
        labels = nearest_centers(self.rows, centers, self.pool)
        self._is_checked = True
        return labels

    def group_centers(self, labels: np.ndarray, n_groups: int) -> np.ndarray:
        """Center of each group of rows; NaN for an empty group. Label -1 is in no group."""
        return group_means(self.X, labels, self.weights.values, n_groups, self.pool)

    def cost(self, labels: np.ndarray, centers: np.ndarray) -> float:
        """Sum of the weighted costs of the rows at ``centers[labels]``; label -1 costs 0."""
        return cost_to_centers(self.X, labels, centers, self.weights.values, self.pool)

    def moments(self, labels: np.ndarray, centers: np.ndarray) -> GroupMoments | None:
        """Moments of the rows about ``centers[labels]``; None if the objective needs none."""
        return group_moments(self.X, labels, self.weights.values, centers, self.pool)

    def centers_and_costs(
        self,
        labels: np.ndarray,
        reference_labels: np.ndarray,
        centers: np.ndarray,
        moments: GroupMoments | None = None,
    ) -> list[tuple[np.ndarray, float]]:
        """(centers, cost) of a grouping of the rows, and of the reference; -1 is in no group.

        `centers` are those of the reference, and also those of empty groups. `moments` are
        ``self.moments(reference_labels, centers)``, if they have been computed before.
        """
        if sparse.issparse(self.X):
            moments = None
        elif moments is None:
            moments = self.moments(reference_labels, centers)
        groupings, weight = (labels, reference_labels), self.weights.values
        return means_and_costs(self.X, *groupings, weight, centers, self.pool, moments)

    def costs(self, centers: np.ndarray, unit: float | None = None) -> tuple[np.ndarray, float]:
        """Cost of every row at every center in units, (n_samples, n_clusters), and the unit.

        The unit is a power of two, at least ``cost_unit(centers)``, which is the default.
        """
        dense_costs, sparse_costs = kernels.dataset.COST_LOOPS[self.objective]
        X, weights = self.rows, self.weights
        unit = self.cost_unit(centers) if unit is None else unit
        costs = np.empty((X.shape[0], len(centers)), dtype=np.int64)
        # Integer weights multiply the rounded cost, exactly as repeated rows would add it.
        are_copies = weights.are_integers and not weights.are_ones
        scale = np.ones(len(costs)) if are_copies else weights.values
        coordinates = np.ascontiguousarray(centers.T)
        flat = None if sparse.issparse(X) else FlatRows.of(X)

        def work(block: tuple[int, int]) -> None:
            rows = slice(*block)
            if flat is None:
                terms = coordinates, scale[rows], 1 / unit
                storage = X.data, X.indices, X.indptr[block[0] : block[1] + 1]
                scratch = np.empty((len(coordinates) + 1, len(centers)), dtype=np.int64)
                sparse_costs(*storage, *terms, scratch, costs[rows])
            else:
                terms = centers, scale, 1 / unit
                dense_costs(flat, EVERY_ROW, *block, *terms, loaded_rows(X), costs)
            if are_copies:
                costs[rows] *= weights.units[rows, None]

        self.pool.map(work, self.pool.blocks(len(costs), rows_of_task(centers.size)))
        return costs, unit

    def cost_unit(
        self,
        centers: np.ndarray,
        origin: np.ndarray | None = None,
        moments: GroupMoments | None = None,
    ) -> float:
        """Smallest power of two that keeps the sum of all costs at any center below 2**61.

        The sum is bounded by `cost_bound`, about `origin` or the mean of the centers. `moments` of
        the rows about their own centers, if there are any, give a tighter bound.
        """
        if moments is not None:
            return unit_of_moments(centers, moments)
        return _unit(self.cost_bound(centers, centers.mean(axis=0) if origin is None else origin))

    def cost_bound(self, centers: np.ndarray, origin: np.ndarray) -> float:
        """An upper bound of the sum of all costs at any one of the centers.

        For any point o, |x - c|^2 <= 2 |x - o|^2 + 2 |c - o|^2: the sum over all rows is bounded by
        their distances to one point, however far outliers lie.
        """
        if self._last_origin is None or not np.array_equal(self._last_origin[0], origin):
            one_group = np.zeros(self.X.shape[0], dtype=np.intp)
            self._last_origin = origin, self.cost(one_group, origin[None])
        apart = ((centers - origin) ** 2).sum(axis=1).max()
        return 2 * self._last_origin[1] + 2 * self.weights.values.sum() * apart


def _unit(bound: float) -> float:
    """The unit for costs whose sum is at most `bound`."""
    # The margin keeps rounding errors of the bound from reaching the next power of two.
    bound *= 1 + 2.0**-20
    return 1.0 if bound == 0 else float(2.0 ** max(np.frexp(bound)[1] - 61, -960))


def unit_of_moments(centers: np.ndarray, moments: GroupMoments) -> float:
    """The unit of costs from the moments of the rows about their own centers, a tighter bound.

    Let o be the own center of row x. From |x - c|^2 <= 2 |x - o|^2 + 2 |c - o|^2, the sum over all
    rows is at most 2 sum of squares + 2 sum over the groups of weight |c - o|^2.
    """
    apart = ((centers[:, None] - centers) ** 2).sum(axis=2)
    return _unit(float(2 * moments.squares.sum() + 2 * (apart @ moments.weight).max()))
