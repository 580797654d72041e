"""Prices of rows added up by bin, for CSC data, in time of the stored entries."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse

from pellucid.cuts.problem import Problem

_CHUNK = 2**16
"""Sums that are added up and judged together: few enough to stay in cache."""


class Entries(NamedTuple):
    """Stored entries of CSC columns, and the bins that hold rows; see `list_bins`."""

    indices: np.ndarray
    indptr: np.ndarray
    begins: np.ndarray
    which: np.ndarray
    zero_at: np.ndarray
    entry: np.ndarray


@dataclass(frozen=True)
class PriceSums:
    """Sums by bin of some columns of the prices, for the rows of a cell.

    Attributes
    ----------
    entries : Entries
    columns : ndarray of int
        Which of the prices: centers that cannot be the cheapest are left out.
    prices : ndarray of shape (n_rows, n_columns), int64
        By the row numbers of the entries; 0 for rows that are not in the cell.
    is_local : bool
        Whether rows are numbered by their places in the cell.
    kept : ndarray of shape (n_bins, n_columns), int64, or None
        The sums, where they are kept for the cells that this one is divided into.
    """

    entries: Entries
    columns: np.ndarray
    prices: np.ndarray
    is_local: bool
    kept: np.ndarray | None

    def columns_between(self, first: int, last: int, totals: np.ndarray):
        """Of columns first .. last: where the bins of each begin, their codes and their sums."""
        from pellucid.kernels.surrogate import add_stored, add_zeros

        indices, indptr, begins, which, zero_at, entry = self.entries
        begins = begins[first : last + 1]
        start, end = begins[0], begins[-1]
        if self.kept is None:
            sums = np.empty((end - start, len(self.columns)), dtype=np.int64)
            add_stored(first, last, indices, indptr, entry, start, self.prices, sums)
        else:
            sums = self.kept[start:end]
        begins = begins - start
        add_zeros(begins, zero_at[first:last] - start, totals, sums)
        return begins, which[start:end], sums

    def blocks(self, features: np.ndarray) -> list[tuple[int, int]]:
        """Ranges of neighbouring features, to be worked on one after the other."""
        n_sums = self.entries.begins[-1] * len(self.columns)
        step = max(1, _CHUNK * len(self.entries.zero_at) // max(n_sums, 1))
        first, last = features[0], features[-1] + 1
        return [(i, min(i + step, last)) for i in range(first, last, step)]


class StoredPrices:
    """All stored entries with the prices of their rows.

    Parameters
    ----------
    problem : Problem
        Of CSC data.
    prices : ndarray of shape (n_samples, n_prices), int64
        Costs of each row, the least of them, and 1.
    """

    def __init__(self, problem: Problem, prices: np.ndarray) -> None:
        self.problem, self.prices = problem, prices

    def sums_of(self, rows: np.ndarray, totals: np.ndarray) -> PriceSums:
        """Sums of some rows; kept if these are most of the rows and there is the memory."""
        if 2 * len(rows) <= self.problem.n_samples:
            entries = self._entries_of(rows)
            prices = self.prices[rows]
            columns = _rivals(prices, totals)
            few = np.ascontiguousarray(prices[:, columns])
            return PriceSums(entries, columns, few, True, None)
        columns = _rivals(self.prices[rows], totals)
        prices = np.zeros((len(self.prices), len(columns)), dtype=np.int64)
        prices[rows] = self.prices[rows[:, None], columns]
        shape = (self._all.begins[-1], len(columns))
        if 8 * np.prod(shape) > max(2**24, self.problem.X.data.nbytes // 4):
            return PriceSums(self._all, columns, prices, False, None)
        return PriceSums(self._all, columns, prices, False, self._add_up(prices, shape))

    def without(self, sums: PriceSums, rows: np.ndarray) -> PriceSums:
        """Kept sums less those of some rows, in place.

        Centers that cannot be the cheapest for any of the rows cannot be it for some of them.
        """
        from pellucid.kernels.surrogate import take_rows

        by_row = self._by_row
        take_rows(rows, by_row.indptr, by_row.data, sums.prices, sums.kept)
        return sums

    def _add_up(self, prices: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
        from pellucid.kernels.surrogate import add_stored

        indices, indptr, begins, _, _, entry = self._all
        kept, team = np.empty(shape, dtype=np.int64), self.problem.team

        def work(block: tuple[int, int]) -> None:
            start, end = begins[block[0]], begins[block[1]]
            add_stored(*block, indices, indptr, entry, start, prices, kept[start:end])

        team.map(work, team.blocks(len(begins) - 1, 16))
        return kept

    @cached_property
    def _all(self) -> Entries:
        bins = self.problem.bins
        return self._list(bins.codes[0], bins.indices, bins.indptr)

    @cached_property
    def _by_row(self):
        """The bin of each entry, row by row."""
        everything = self._all
        parts = (everything.entry, everything.indices, everything.indptr)
        return sparse.csc_array(parts, shape=self.problem.X.shape).tocsr()

    def _entries_of(self, rows: np.ndarray) -> Entries:
        columns = self._by_row[rows].tocsc()
        return self._list(self._all.which[columns.data], columns.indices, columns.indptr)

    def _list(self, codes: np.ndarray, indices: np.ndarray, indptr: np.ndarray) -> Entries:
        from pellucid.kernels.surrogate import list_bins

        bins = self.problem.bins
        n_features, width = bins.edges.shape
        begins = np.empty(n_features + 1, dtype=np.int64)
        which = np.empty(min(len(codes) + n_features, width * n_features), dtype=bins.codes.dtype)
        zero_at, entry = np.empty(n_features, dtype=np.int64), np.empty(len(codes), dtype=np.int32)
        place = np.full(width, -1)
        list_bins(codes, indptr, bins.zero_code, place, begins, which, zero_at, entry)
        return Entries(indices, indptr, begins, which, zero_at, entry)


def _rivals(prices: np.ndarray, totals: np.ndarray) -> np.ndarray:
    """Columns of the prices that matter: centers that no row prefers to the cheapest do not."""
    costs = prices[:, :-2]
    cheapest = np.argmin(totals[:-2])
    matters = (costs < costs[:, [cheapest]]).any(axis=0)
    matters[cheapest] = True
    return np.append(np.flatnonzero(matters), [len(totals) - 2, len(totals) - 1])
