"""Rows that stand center by center, looked into and cut in place."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pellucid.cuts.problem import Problem
from pellucid.cuts.search import order_of


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
        return int((self.ends[members] - self.begins[members]).sum())

    def look_into(
        self, problem: Problem, members: np.ndarray, feature: int, least: np.ndarray, limit: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Values, codes and changes of the rows in bins whose bound reaches a limit, by value."""
        from pellucid.kernels.owned import open_owned

        bins, n = problem.bins, self.number_of(members) + 1
        codes, values, change = np.empty(n, np.int32), np.empty(n), np.empty(n, np.int64)
        about = (bins.codes[feature], problem.column(feature), bins.center_code[feature])
        how = (problem.weights.units, least, limit, codes, values, change)
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
        """Cut a cell; what its centers lose is theirs no longer. `places` has their coordinates."""
        from pellucid.kernels.owned import divide_owned

        bins, n = problem.bins, self.number_of(members) + len(passive) + 1
        column = bins.dense_column(feature, problem.n_samples), problem.column(feature)
        off, sizes = np.empty((2, n), dtype=self.rows.dtype), np.empty(4, dtype=np.intp)
        how = (passive, *column, bins.edges[feature], at, places, off, sizes)
        low, high = divide_owned(members, *self, *how)
        n_near, n_far, *n_passive = sizes.tolist()
        passive = off[0, : n_passive[0]], off[1, : n_passive[1]]
        return Halves(low, high, (off[0, :n_near], off[1, :n_far]), passive)
