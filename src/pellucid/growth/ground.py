"""Rows to walk on from tree to tree, as compiled loops have them."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from pellucid.cuts.problem import Problem
from pellucid.numeric.fixed_point import Weights

_N_CODES = 64
"""Steps in which columns are looked at first."""

_BITS = 52
"""Sums of lines have at most so many: they are exact in float64."""


class Ground:
    """Rows of a problem, all of them or a sample.

    Parameters
    ----------
    problem : Problem
    rows : ndarray of int
        Row numbers, ascending.
    weight : ndarray of shape (n,)
        How much each of them counts.

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
        What the rows would pay as a single cluster at the origin.
    """

    def __init__(self, problem: Problem, rows: np.ndarray, weight: np.ndarray) -> None:
        self.problem, self.rows, self.weights = problem, rows, Weights.of(weight)
        X = _dense(problem, rows)
        n, n_features = X.shape
        self.rank = np.empty((n, n_features), dtype=np.uint16)
        self.code = np.empty((n, n_features), dtype=np.uint8)
        self.values: list[np.ndarray] = [np.empty(0)] * n_features

        def work(j: int) -> None:
            self.values[j], rank = np.unique(X[:, j], return_inverse=True)
            self.rank[:, j], self.code[:, j] = rank, _codes(rank, weight, len(self.values[j]))

        problem.team.map(work, range(n_features))
        self.lines = self._lines(X - problem.centers.mean(axis=0))
        self.cost = float(self.lines[:, -1].sum())

    def _lines(self, X: np.ndarray) -> np.ndarray:
        """The rows in whole numbers; a row of whole weight is that many rows, to the bit."""
        weights = self.weights
        weight = weights.values[:, None]
        unit = _unit((weight * np.abs(X)).sum(axis=0).max())
        if weights.are_whole:
            X = weight * np.rint(X / unit)
        else:
            X = np.rint(weight * X / unit)
        square = np.einsum("ij,ij->i", X, X) / weights.units
        unit = _unit(square.sum())
        return np.column_stack([X, weights.units, np.rint(square / unit) * unit])

    @property
    def is_sample(self) -> bool:
        """Whether there are other rows as well."""
        return len(self.rows) < self.problem.n_samples


def _unit(total: float) -> float:
    """The power of two of which a sum of so much has few enough."""
    return float(2.0 ** (np.frexp(total)[1] - _BITS)) if total > 0 else 1.0


def _dense(problem: Problem, rows: np.ndarray) -> np.ndarray:
    """Some rows as float64."""
    X = problem.data.rows
    part = X if len(rows) == X.shape[0] else X[rows]
    part = part.toarray() if sparse.issparse(part) else part
    return np.asarray(part, dtype=np.float64)


def _codes(rank: np.ndarray, weight: np.ndarray, n_ranks: int) -> np.ndarray:
    """Ranks in few steps of about the same weight."""
    if n_ranks <= _N_CODES:
        return rank
    ends = np.cumsum(np.bincount(rank, weights=weight))
    return np.minimum(ends * (_N_CODES / ends[-1]), _N_CODES - 1)[rank]
