"""Rows that stand center by center, looked into and cut in place."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pellucid._core.criteria.column_search import order_of
from pellucid._core.criteria.problem import Problem


class CutRows(NamedTuple):
    """Rows on either side of a threshold.

    Attributes
    ----------
    low, high : float
        Largest value on the left and smallest on the right.
    left, right : ndarray of int32
    """

    low: float
    high: float
    left: np.ndarray
    right: np.ndarray


class Halves(NamedTuple):
    """A cell, cut by any threshold from `low` up to, not including, `high`.

    Attributes
    ----------
    cut_off : pair of ndarray
        Rows that go left and right without their own center.
    passive : pair of ndarray
        The same, and those that had been cut off before.
    """

    low: float
    high: float
    cut_off: tuple[np.ndarray, np.ndarray]
    passive: tuple[np.ndarray, np.ndarray]


class OwnedRows(NamedTuple):
    """The rows of centers: those of the c-th are ``rows[begins[c]:ends[c]]``."""

    rows: np.ndarray
    begins: np.ndarray
    ends: np.ndarray

    def of(self, members: np.ndarray) -> np.ndarray:
        """The rows of some centers, one center after the other."""
        parts = [self.rows[self.begins[c] : self.ends[c]] for c in members.tolist()]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def number_of(self, members: np.ndarray) -> int:
        """How many that are."""
        return int(self.ends.take(members).sum() - self.begins.take(members).sum())

    def look_into(
        self, problem: Problem, members: np.ndarray, feature: int, wanted: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Values, codes and changes of the rows in the wanted bins, by value.

        The change is what a row adds to the mistakes as it goes left.
        """
        from pellucid._core.kernels.partition import open_owned

        bins, n = problem.bins, self.number_of(members) + 1
        codes, values, change = np.empty(n, np.int32), np.empty(n), np.empty(n, np.int64)
        about = (bins.codes[feature], problem.column(feature), bins.center_code[feature])
        how = (problem.weights.units, wanted, codes, values, change)
        n = open_owned(members, *self, *about, *how)
        order = order_of(values[:n])
        return values.take(order), codes.take(order), change.take(order)

    def divide(
        self,
        problem: Problem,
        members: np.ndarray,
        passive: np.ndarray,
        feature: int,
        at: float,
        places: np.ndarray,
    ) -> Halves:
        """Cut a cell; what its centers lose is theirs no longer. `places` has their coordinates.

        Passive rows are cut by the lowest threshold of the interval, and bound it from above.
        """
        low, high, cut_off = self._cut(problem, members, feature, at, places)
        mine = places[members]
        low = max([low, *mine[mine <= at].tolist()])
        high = min([high, *mine[mine > at].tolist()])
        if not len(passive):
            return Halves(low, high, cut_off, cut_off)
        _, next_one, *halves = cut_rows(problem, passive, feature, low)
        both = tuple(np.concatenate(pair) for pair in zip(cut_off, halves))
        return Halves(low, min(high, next_one), cut_off, both)

    def _cut(self, problem: Problem, members, feature: int, at: float, places):
        """Largest value on the left, smallest on the right, and who goes where without a center."""
        n, dtype = self.number_of(members) + 1, self.rows.dtype
        off, sizes = np.empty((2, n), dtype=dtype), np.empty(2, dtype=np.intp)
        low, high = _divide(problem, feature, at, (members, *self), places, off, sizes)
        return low, high, (off[0, : sizes[0]], off[1, : sizes[1]])


def cut_rows(problem: Problem, rows: np.ndarray, feature: int, at: float) -> CutRows:
    """Rows cut by a threshold, as if they had one center, far to the left."""
    kept, ends = rows.copy(), np.array([len(rows)])
    off, sizes = np.empty((2, len(rows) + 1), dtype=rows.dtype), np.empty(2, dtype=np.intp)
    low, high = _divide(problem, feature, at, (_ONLY, kept, _ONLY, ends), _FAR_LEFT, off, sizes)
    return CutRows(low, high, kept[: ends[0]], off[1, : sizes[1]])


_ONLY, _FAR_LEFT = np.zeros(1, dtype=np.intp), np.array([-np.inf])


def _divide(problem: Problem, feature: int, at: float, owned: tuple, *room) -> tuple[float, float]:
    """Cut rows in place; see `divide_owned`."""
    from pellucid._core.kernels.partition import divide_owned

    bins = problem.bins
    column = bins.dense_column(feature, problem.n_samples), problem.column(feature)
    return divide_owned(*owned, *column, bins.edges[feature].searchsorted(at), at, *room)
