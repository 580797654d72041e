"""Cost in another space: thresholds on the columns of the data, means of leaves in the space.

With z the rows of the space Z, S and W the sum and the weight of a node's rows and Q the sum of
their squares, the cost of a leaf is its within-node sum of squares

    SS = sum of w |z - S / W|² = Q - |S|² / W,

and a split gains SS - SS_L - SS_R. It is the criterion of a multi-output regression tree of Z; for
one-hot labels, SS is the Gini impurity times W.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy import sparse

from pellucid._core.criteria.problem import Problem
from pellucid._core.criteria.sums import SumFormula
from pellucid._core.data.dataset import Dataset

_BITS = 52
"""Sums of row statistics have at most this many bits, so they are exact in float64."""

_ROUNDING = 2.0**-48
"""Part of the sum of squares of all rows that rounding may change in a sum of squares."""


class SpaceStatistics(NamedTuple):
    """Values times weight, weight, weighted square and cluster of each row, about an origin.

    `values`, (n_samples, n_columns + 3), has the first in multiples of `unit`, and squares in those
    of `unit` squared. All are multiples of a power of two whose sums are exact; for squares it is
    `square_unit`. A row of integer weight w has w times the statistics of a row of weight 1, to the
    bit.
    """

    values: np.ndarray
    origin: np.ndarray
    unit: float
    square_unit: float

    @classmethod
    def of(cls, problem: Problem) -> SpaceStatistics:
        """Those of the space of a problem."""
        weights, X = problem.weights, dense_rows(problem.space)
        # A mean of the rows would depend on their order, and on rows being repeated or weighted.
        # Centers may be far from the rows, so that sums about them would lose digits.
        origin = np.clip(problem.space_centers.mean(axis=0), X.min(axis=0), X.max(axis=0))
        X, weight = X - origin, weights.values[:, None]
        copies = weights.values if weights.are_integers else np.ones(len(X))
        X *= weight / copies[:, None]
        unit = _unit(_largest_sum(np.abs(X), copies))
        X /= unit
        np.rint(X, out=X)
        square = np.einsum("ij,ij->i", X, X) * copies / weights.values
        square_unit = _unit(_largest_sum(square[:, None].copy(), copies))
        values = np.empty((X.shape[0], X.shape[1] + 3))
        np.multiply(copies[:, None], X, out=values[:, :-3])
        values[:, -3] = weights.units / weights.units_per_weight
        values[:, -2] = copies * np.rint(square / square_unit) * square_unit
        values[:, -1] = problem.labels
        return cls(values, origin, unit, square_unit)


class SpaceCost(SumFormula):
    """Least within-node sum of squares in the space of a problem."""

    needs_costs = True

    def __init__(self, problem: Problem) -> None:
        found, weights = SpaceStatistics.of(problem), problem.weights
        self._weight_unit, self._square_unit = 1 / weights.units_per_weight, found.square_unit
        self._terms: np.ndarray = np.empty((len(found.values), len(found.origin) + 2), np.int64)
        self._terms[:, :-2] = found.values[:, :-3]
        self._terms[:, -2] = weights.units
        self._terms[:, -1] = found.values[:, -2] / found.square_unit
        self._centers = (problem.space_centers - found.origin) / found.unit
        self._rounding = _ROUNDING * float(found.values[:, -2].sum())

    def n_channels(self, n_clusters: int) -> int:
        return self._terms.shape[1]

    def terms(self, problem: Problem, rows: np.ndarray) -> np.ndarray:
        return self._terms[rows]

    def objective(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return self._within(left) + self._within(right)

    def bound(self, below: np.ndarray, above: np.ndarray, totals: np.ndarray) -> np.ndarray:
        """A side has at least the sum of squares of some of its rows."""
        return self._within(below) + self._within(above) - self._rounding

    def cost(self, totals: np.ndarray) -> float:
        return float(self._within(totals[None])[0])

    def cluster(self, totals: np.ndarray) -> int:
        """The nearest center to the mean; ties go to the lowest."""
        mean = totals[:-2] / (totals[-2] * self._weight_unit)
        return int(((self._centers - mean) ** 2).sum(axis=1).argmin())

    def is_pure(self, totals: np.ndarray) -> bool:
        """Whether all rows are at one point."""
        return self.cost(totals) <= self._rounding

    def _within(self, sums: np.ndarray) -> np.ndarray:
        total, weight = sums[:, :-2].astype(np.float64), sums[:, -2] * self._weight_unit
        square, between = np.einsum("ij,ij->i", total, total), np.zeros(len(sums))
        np.divide(square, weight, out=between, where=weight > 0)
        return sums[:, -1] * self._square_unit - between


def dense_rows(data: Dataset) -> np.ndarray:
    """The rows of a data set as a dense float64 matrix."""
    rows = data.rows
    return np.asarray(rows.toarray() if sparse.issparse(rows) else rows, dtype=np.float64)


def _largest_sum(sizes: np.ndarray, copies: np.ndarray) -> float:
    """A bound just above the largest sum of a column in `copies` of the rows; changes `sizes`.

    Sums are those of whole numbers, since rounded ones depend on the order of the rows. Near a
    power of two, that would give another unit.
    """
    largest = float(sizes.max(initial=0.0))
    if largest == 0:
        return 0.0
    shift = 52 - math.frexp(float(copies.sum()))[1] - math.frexp(largest)[1]
    np.ceil(np.ldexp(sizes, shift, out=sizes), out=sizes)
    return math.ldexp(float((copies @ sizes).max()), -shift)


def _unit(total: float) -> float:
    """The least power of two of which a total has at most 2**`_BITS`."""
    return float(2.0 ** (np.frexp(total)[1] - _BITS)) if total > 0 else 1.0
