"""Rows to walk on from tree to tree, as compiled loops have them."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from pellucid._core.criteria.problem import Problem
from pellucid._core.kernels.local_search_layout import N_STEPS

_BITS = 52
"""Sums of lines have at most so many: they are exact in float64."""


class Ground:
    """The rows of a problem. They take about ten bytes a value, sparse data as well.

    Parameters
    ----------
    problem : Problem

    Attributes
    ----------
    lines : ndarray of shape (n, n_features + 2)
        Values about an origin times weight, the weight and the weighted square, all as whole
        numbers of some unit.
    rank : ndarray of shape (n, n_features), uint16
        Number of different values of a column that are smaller.
    code : ndarray of shape (n, n_features), uint8
        The same in at most 64 steps.
    values : list of ndarray
        The different values of each column.
    cost : float
        What the rows would pay as a single cluster at the origin, in squared units.
    unit : float
        Of the values.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        X = problem.data.rows
        X = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
        self.rank = np.empty(X.shape, dtype=np.uint16)
        self.code = np.empty(X.shape, dtype=np.uint8)
        self.values: list[np.ndarray] = [np.empty(0)] * X.shape[1]

        def work(j: int) -> None:
            self.values[j], rank = np.unique(X[:, j], return_inverse=True)
            self.rank[:, j] = rank
            self.code[:, j] = _codes(rank, problem.weights.values, len(self.values[j]))

        problem.pool.map(work, range(X.shape[1]))
        # A mean of the rows would depend on their order, and on rows being repeated or weighted.
        self._origin = problem.centers.mean(axis=0)
        weights, X = problem.weights, X - self._origin
        weight = weights.values[:, None]
        self.unit = _unit((weight * np.abs(X)).sum(axis=0).max())
        # A row of whole weight is that many rows, to the bit.
        if weights.are_integers:
            X = weight * np.rint(X / self.unit)
        else:
            X = np.rint(weight * X / self.unit)
        square = np.einsum("ij,ij->i", X, X) / weights.values
        fine = _unit(square.sum())
        self.lines = np.empty((X.shape[0], X.shape[1] + 2))
        self.lines[:, :-2] = X
        self.lines[:, -2] = weights.units / weights.units_per_weight
        self.lines[:, -1] = np.rint(square / fine) * fine
        self.cost = float(self.lines[:, -1].sum())

    def explain(self, sums: np.ndarray) -> Problem:
        """The problem of explaining other centers, given as sums of lines."""
        centers, data = self._origin + self.unit * sums[:, :-2] / sums[:, -2:-1], self.problem.data
        return Problem(data, centers, data.nearest(centers))


def _unit(total: float) -> float:
    """The power of two of which a sum of so much has few enough."""
    return float(2.0 ** (np.frexp(total)[1] - _BITS)) if total > 0 else 1.0


def _codes(rank: np.ndarray, weight: np.ndarray, n_ranks: int) -> np.ndarray:
    """Ranks in few steps of about the same weight."""
    if n_ranks <= N_STEPS:
        return rank
    ends = np.cumsum(np.bincount(rank, weights=weight))
    return np.minimum(ends * (N_STEPS / ends[-1]), N_STEPS - 1)[rank]
