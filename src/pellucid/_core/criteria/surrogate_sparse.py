"""Lines of rows added up by bin, for CSC data, in time of the stored entries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse

from pellucid._core.criteria.problem import Problem
from pellucid._core.criteria.surrogate_bounds import Rivals

_CHUNK = 2**16
"""Sums that are added up and judged together: few enough to stay in cache."""


class Entries(NamedTuple):
    """Stored entries of CSC columns, and the bins that hold rows, column after column.

    Attributes
    ----------
    indices, indptr : ndarray
        Of the columns.
    begins, which : ndarray
        Those of column j are which[begins[j]] .. which[begins[j + 1] - 1], ascending.
    zero_at : ndarray
        Where the bin of 0 of each column stands.
    entry : ndarray
        Where the bin of each stored entry stands.
    """

    indices: np.ndarray
    indptr: np.ndarray
    begins: np.ndarray
    which: np.ndarray
    zero_at: np.ndarray
    entry: np.ndarray


@dataclass(frozen=True)
class PriceSums:
    """Sums by bin of the lines of a cell's rows.

    Attributes
    ----------
    entries : Entries
    rivals : Rivals
    lines : ndarray of shape (n_rows, n_sums), int64
        By the row numbers of the entries; 0 for rows that are not in the cell.
    places : ndarray of int
        Where in `lines` the rows of the cell are.
    totals : ndarray of shape (n_sums,), int64
        Sums over all rows of the cell.
    kept : ndarray of shape (n_bins, n_sums), int64, or None
        The sums, where they are kept for the cells that this one is divided into.
    """

    entries: Entries
    rivals: Rivals
    lines: np.ndarray
    places: np.ndarray
    totals: np.ndarray
    kept: np.ndarray | None

    @property
    def is_kept(self) -> bool:
        """Whether the sums are kept."""
        return self.kept is not None

    @property
    def nbytes(self) -> int:
        """Bytes that the sums need."""
        return 8 * int(self.entries.begins[-1]) * self.rivals.n_sums

    def add_up(self, features: np.ndarray):
        """Of some neighbouring columns: where the bins of each begin, their codes and sums."""
        from pellucid._core.kernels.surrogate_cost import add_stored

        indices, indptr, begins, which, zero_at, entry = self.entries
        first, last = features[0], features[-1] + 1
        begins = begins[first : last + 1]
        start, end = begins[0], begins[-1]
        if self.kept is None:
            sums = np.zeros((end - start, self.rivals.n_sums), dtype=np.int64)
            add_stored(first, last, indices, indptr, entry, start, self.lines, sums)
        else:
            sums = self.kept[start:end]
        begins = begins - start
        # Into the bin of 0 goes what the others leave of the totals.
        sums[zero_at[first:last] - start] += self.totals - np.add.reduceat(sums, begins[:-1])
        return begins, which[start:end].astype(np.intp), sums

    def column(self, feature: int):
        """The same of one column."""
        return self.add_up(np.array([feature]))

    def probe(self, features: np.ndarray):
        """Some columns, in any order, and the same of each."""
        for j in features:
            yield np.array([j]), self.column(j)

    def blocks(self, features: np.ndarray) -> list[np.ndarray]:
        """The features in blocks to be worked on one after the other."""
        n_sums = self.entries.begins[-1] * self.rivals.n_sums
        step = max(1, _CHUNK * len(self.entries.zero_at) // max(n_sums, 1))
        return [features[i : i + step] for i in range(0, len(features), step)]

    def lines_at(self, places: np.ndarray) -> np.ndarray:
        """Lines of the rows at some places of the cell."""
        return self.lines[self.places[places]]


class StoredPrices:
    """All stored entries, and sums of the lines of their rows.

    Parameters
    ----------
    problem : Problem
        Of CSC data.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    def sums_of(self, rows: np.ndarray, rivals: Rivals, state, *, keep: bool) -> PriceSums:
        """Sums of some rows; kept, if at all, of most of the rows and where there is the memory.

        The entries of the rows are stored in the state of the node, for other rivals.
        """
        mine = rivals.lines_of(rows)
        totals = mine.sum(axis=0)
        if 2 * len(rows) <= self.problem.n_samples:
            if state.entries is None:
                state.entries = self._entries_of(rows)
            return PriceSums(state.entries, rivals, mine, np.arange(len(rows)), totals, None)
        lines = np.zeros((self.problem.n_samples, rivals.n_sums), dtype=np.int64)
        lines[rows] = mine
        sums = PriceSums(self._all, rivals, lines, rows, totals, None)
        if not keep or sums.nbytes > max(2**24, self.problem.X.data.nbytes // 4):
            return sums
        return replace(sums, kept=self._add_up(lines))

    def without(self, sums: PriceSums, gone: np.ndarray, rows: np.ndarray) -> PriceSums:
        """Kept sums less those of some rows, in place; `rows` remain."""
        from pellucid._core.kernels.surrogate_cost import take_rows

        by_row = self._by_row
        take_rows(gone, by_row.indptr, by_row.data, sums.lines, sums.kept)
        return replace(sums, places=rows, totals=sums.totals - sums.lines[gone].sum(axis=0))

    def _add_up(self, lines: np.ndarray) -> np.ndarray:
        from pellucid._core.kernels.surrogate_cost import add_stored

        indices, indptr, begins, _, _, entry = self._all
        kept = np.zeros((begins[-1], lines.shape[1]), dtype=np.int64)
        pool = self.problem.pool

        def work(block: tuple[int, int]) -> None:
            start, end = begins[block[0]], begins[block[1]]
            add_stored(*block, indices, indptr, entry, start, lines, kept[start:end])

        pool.map(work, pool.blocks(len(begins) - 1, 16))
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
        bins = self.problem.bins
        n_features, width = bins.edges.shape
        first = width * np.arange(n_features, dtype=np.int32 if bins.edges.size < 2**31 else None)
        at, zero = np.repeat(first, np.diff(indptr)) + codes, first + bins.zero_code
        is_there = np.zeros(bins.edges.size, dtype=bool)
        is_there[at] = is_there[zero] = True
        place = np.cumsum(is_there, dtype=np.int32) - 1
        begins = np.concatenate([[0], place[width - 1 :: width] + 1], dtype=np.int64)
        which = (np.flatnonzero(is_there) % width).astype(bins.codes.dtype)
        return Entries(indices, indptr, begins, which, place[zero], place[at])
