"""The look-ahead cuts of CLTree, in all columns of a region at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

_NO_GAIN = 1e-12
"""Information gain per point up to which a cut gains nothing but rounding errors."""


class Intervals(NamedTuple):
    """A part of each column of a region, as arrays with one entry per column.

    Attributes
    ----------
    start, stop : ndarray of int
        Positions of its rows in the order of the column.
    low, high : ndarray
        Its ends.
    n : ndarray
        Number of virtual points.
    """

    start: np.ndarray
    stop: np.ndarray
    low: np.ndarray
    high: np.ndarray
    n: np.ndarray

    def divide(self, cuts: Cuts) -> tuple[Intervals, Intervals]:
        """The parts on the left and on the right of a cut."""
        with np.errstate(divide="ignore", invalid="ignore"):
            share = (cuts.at - self.low) / (self.high - self.low)
        return (
            Intervals(self.start, cuts.position, self.low, cuts.at, self.n * share),
            Intervals(cuts.position, self.stop, cuts.at, self.high, self.n * (1 - share)),
        )

    def where(self, condition: np.ndarray, other: Intervals) -> Intervals:
        """These where the condition holds, and the others elsewhere."""
        return Intervals(*(np.where(condition, a, b) for a, b in zip(self, other)))


class Cuts(NamedTuple):
    """A cut per column: its place, the number of rows below it, and whether there is one."""

    at: np.ndarray
    position: np.ndarray
    exists: np.ndarray

    def where(self, condition: np.ndarray, other: Cuts) -> Cuts:
        """These where the condition holds, and the others elsewhere."""
        return Cuts(*(np.where(condition, a, b) for a, b in zip(self, other)))


def entropy(y: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Entropy of the two classes, times the number of points, in bits."""
    total = y + n
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = [np.where(part > 0, part * np.log2(part / total), 0.0) for part in (y, n)]
    return -(terms[0] + terms[1])


class SortedColumns:
    """The rows of a region, sorted by each column.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    weight : ndarray of shape (n_rows,)
    """

    def __init__(self, X: np.ndarray, weight: np.ndarray) -> None:
        columns = np.ascontiguousarray(X.T)
        self.order = np.argsort(columns, axis=1, kind="stable")
        """Rows of each column, by value."""
        self._values = np.take_along_axis(columns, self.order, axis=1)
        self._below = np.zeros((X.shape[1], len(X) + 1))
        np.cumsum(weight[self.order], axis=1, out=self._below[:, 1:])
        new = np.ones((X.shape[1], len(X) + 1), dtype=bool)
        new[:, 1:-1] = self._values[:, 1:] > self._values[:, :-1]
        # Of rows of equal values, cuts lie below the first and above the last. Place 2 i is below
        # row i, and place 2 i + 1 is above it.
        may_cut = np.stack([new[:, :-1], new[:, 1:]], axis=2).reshape(X.shape[1], -1)
        self._places = [np.flatnonzero(column) for column in may_cut]

    def y(self, part: Intervals) -> np.ndarray:
        """Weight of the rows."""
        return self._at(part.stop) - self._at(part.start)

    def density(self, part: Intervals) -> np.ndarray:
        """Rows per virtual point; infinite where there are rows and no virtual points."""
        y = self.y(part)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(part.n > 0, y / part.n, np.where(y > 0, np.inf, 0.0))

    def best_gains(self, part: Intervals) -> Cuts:
        """The cut of the largest information gain in each column; ties go to the lowest."""
        total, width = self.y(part), part.high - part.low
        all_together, rounding = entropy(total, part.n), _NO_GAIN * (total + part.n)
        best, exists = np.zeros(len(width), dtype=np.intp), np.zeros(len(width), dtype=bool)
        for j in np.flatnonzero(width > 0):
            ends = np.searchsorted(self._places[j], (2 * part.start[j], 2 * part.stop[j]))
            places = self._places[j][slice(*ends)]
            if not len(places):
                continue
            y = self._below[j, (places + 1) // 2] - self._below[j, part.start[j]]
            n = part.n[j] * ((self._values[j, places // 2] - part.low[j]) / width[j])
            gain = all_together[j] - (entropy(y, n) + entropy(total[j] - y, part.n[j] - n))
            largest = gain.max()
            best[j] = places[np.argmax(gain >= largest - rounding[j])]
            exists[j] = largest > rounding[j]
        at = self._values[np.arange(len(width)), best // 2]
        return Cuts(at, best // 2 + best % 2, exists)

    def look_ahead(self, whole: Intervals) -> tuple[np.ndarray, np.ndarray, Cuts]:
        """Density and virtual points of the sparse region of each column, and the cut beside it."""
        first = self.best_gains(whole)
        left, right = whole.divide(first)
        is_right = self.density(right) < self.density(left)
        sparse = right.where(is_right, left)
        second = self.best_gains(sparse)
        left, right = sparse.divide(second)
        near, far = left.where(is_right, right), right.where(is_right, left)
        third = self.best_gains(near)
        left, right = near.divide(third)
        rest = left.where(self.density(left) <= self.density(right), right)
        is_beyond = self.density(near) > self.density(far)
        found = rest.where(third.exists, near).where(~is_beyond, far).where(second.exists, sparse)
        last = third.where(third.exists, second).where(~is_beyond, second)
        last = last.where(second.exists, first)
        return self.density(found), found.n, last._replace(exists=first.exists)

    def _at(self, position: np.ndarray) -> np.ndarray:
        return self._below[np.arange(len(self._below)), position]
