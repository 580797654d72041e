"""The best split of a node by surrogate cost when its children belong to given centers.

See `surrogate_cost` for the losses and their histograms. Of a sparse column only the bins that hold
entries are stored, and the bin of 0, which gets the losses that the entries leave of the totals:
those of the rows without an entry. So the time is proportional to the entries.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from pellucid._core.criteria.column_search import Split
from pellucid._core.criteria.problem import Problem
from pellucid._core.criteria.sums import ColumnScan, OpenRows, SumFormula, SumSearch
from pellucid._core.data.arrays import stable_argsort
from pellucid._core.kernels import INFINITE_COST

_MIN_TASK_ROWS = 2**13
"""Rows whose losses are worth a task of their own."""

_SUMS_AT_ONCE = 2**16
"""Sums of sparse columns that are computed and scanned at once, so that they stay in the cache."""


class RowLosses(NamedTuple):
    """Losses of rows at candidate centers, (n_rows, n_centers), and their sums over all rows.

    A loss is the cost at the center minus the least cost at any of the centers; `floor` is the sum
    of these least costs.
    """

    values: np.ndarray
    totals: np.ndarray
    floor: int

    @classmethod
    def of(
        cls, problem: Problem, rows: np.ndarray, centers: np.ndarray, costs: np.ndarray
    ) -> RowLosses:
        """Losses of some rows, whose total cost at each center of the reference is `costs`."""
        from pellucid._core.kernels.surrogate_cost import row_losses

        values = np.empty((len(rows), len(centers)), dtype=np.int64)

        def compute(block: tuple[int, int]) -> int:
            part = slice(*block)
            return row_losses(rows[part], problem.costs, centers, values[part])

        floor = sum(problem.pool.map(compute, problem.pool.blocks(len(rows), _MIN_TASK_ROWS)))
        return cls(values, costs[centers] - floor, floor)


def best_split_of_few(problem: Problem, rows: np.ndarray, losses: RowLosses, best: Split) -> Split:
    """The best split of a node of few rows of dense data, or `best`; every value is scanned."""
    from pellucid._core.kernels.surrogate_cost import scan_rows

    columns = np.ascontiguousarray(problem.X[rows].T, dtype=np.float64)
    order = np.argsort(columns, axis=1, kind="stable")
    values = np.take_along_axis(columns, order, axis=1)
    found, left = np.empty(3, dtype=np.int64), np.empty_like(losses.totals)
    is_threshold = values[:, 1:] > values[:, :-1]
    scan_rows(order, is_threshold, losses.values, losses.totals, left, found)
    loss, feature, place = found.tolist()
    return min(best, Split(losses.floor + loss, feature, float(values[feature, place])))


class CandidateLosses(SumFormula):
    """The loss of a split, by the sums of the losses at some centers."""

    no_split = INFINITE_COST

    def cost(self, totals: np.ndarray) -> int:
        """Loss of a leaf."""
        return int(totals.min())

    def scan(self, sums: np.ndarray, inside: np.ndarray, totals: np.ndarray) -> ColumnScan:
        """Judge all bins of some columns by a compiled loop, with bounds inside the bins."""
        n_columns, n_bins, n_centers = sums.shape
        losses = sums.reshape(n_columns * n_bins, n_centers).copy()
        ends = n_bins * np.arange(n_columns + 1)
        found, bounds = scan_bins(ends, inside.ravel(), totals, losses)
        return ColumnScan(found[:, 0], found[:, 1], bounds.reshape(inside.shape))


class LossSearch(SumSearch):
    """The search for the split of least loss."""

    def __init__(self, problem: Problem, rows: np.ndarray, losses: RowLosses) -> None:
        super().__init__(problem, CandidateLosses(), rows, losses.totals, losses.values)
        self._floor = losses.floor

    def best_split(self, best: Split) -> Split:
        """The best split of the node, or `best` if none is better."""
        splits = self.best_splits(goal=best.objective - self._floor + 1)
        return min([best, *(s._replace(objective=self._floor + s.objective) for s in splits)])


class BinLayout(NamedTuple):
    """The bins of a histogram, column after column: column j has ``ends[j] <= b < ends[j + 1]``.

    `codes` ascend in a column; `inside` says whether two different values may share a bin.
    """

    ends: np.ndarray
    codes: np.ndarray
    inside: np.ndarray


class Entries(NamedTuple):
    """Stored entries of CSC columns.

    `indices` and `indptr` are as in a CSC matrix, of places. `bins` are numbered over all columns,
    and `zero_bin` is that of 0 in each column; `layout` has the bins of 0 and those that hold
    entries. `rows` has the row of the data at each place.
    """

    indices: np.ndarray
    indptr: np.ndarray
    bins: np.ndarray
    zero_bin: np.ndarray
    layout: BinLayout
    rows: np.ndarray

    def values(self, X: sparse.csc_array, feature: int, chosen: np.ndarray) -> np.ndarray:
        """Values of the chosen entries of a column of the data, as float64."""
        column = slice(*X.indptr[feature : feature + 2])
        part = slice(*self.indptr[feature : feature + 2])
        rows = self.rows.take(self.indices[part][chosen])
        places = X.indices[column].searchsorted(rows)
        return X.data[column][places].astype(np.float64, copy=False)


class SparseHistogram(LossSearch):
    """The same on CSC columns, with a histogram of the bins that hold entries."""

    def __init__(
        self, problem: Problem, rows: np.ndarray, losses: RowLosses, entries: Entries
    ) -> None:
        self.problem, self.formula, self.rows = problem, CandidateLosses(), rows
        self.totals, self._floor = losses.totals, losses.floor
        self.entries, self.losses, self.layout = entries, losses.values, entries.layout

    def scan(self, features: np.ndarray, found: np.ndarray) -> None:
        n_sums = max(1, int(self.layout.ends[-1]) * len(self.totals))
        step, end = max(1, _SUMS_AT_ONCE * self.problem.n_features // n_sums), features[-1] + 1
        for first in range(features[0], end, step):
            last = min(first + step, end)
            ends = self.layout.ends[first : last + 1]
            inside, sums = self.layout.inside[ends[0] : ends[-1]], self.sums(first, last)
            of_columns, _ = scan_bins(ends - ends[0], inside, self.totals, sums)
            of_columns[:, 1] = self.layout.codes[ends[:-1] + of_columns[:, 1]]
            found[first:last, 0] = of_columns

    def column(self, feature: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        bins = slice(*self.layout.ends[feature : feature + 2])
        edges = self.problem.bins.edges[feature, self.layout.codes[bins]]
        return self.sums(feature, feature + 1), self.layout.inside[bins], edges

    def sums(self, first: int, last: int) -> np.ndarray:
        """Sums of the columns first .. last - 1, rows without an entry included, by bin."""
        from pellucid._core.kernels.surrogate_cost import add_entries

        entries, ends = self.entries, self.layout.ends[first : last + 1]
        sums = np.zeros((ends[-1] - ends[0], len(self.totals)), dtype=np.int64)
        part = slice(*entries.indptr[[first, last]])
        add_entries(entries.indices[part], entries.bins[part], ends[0], self.losses, sums)
        rest = self.totals - np.add.reduceat(sums, ends[:-1] - ends[0])
        sums[entries.zero_bin[first:last] - ends[0]] += rest
        return sums

    def best_values(
        self, feature: int, is_open: np.ndarray, below: np.ndarray
    ) -> list[tuple[Any, float]]:
        """The best threshold in some bins of a column; one row stands for all without an entry."""
        entries, start = self.entries, self.layout.ends[feature]
        column = slice(*entries.indptr[feature : feature + 2])
        bins, zero_bin = entries.bins[column] - start, entries.zero_bin[feature] - start
        is_chosen, losses = is_open[bins], self.losses[entries.indices[column]]
        values = entries.values(self.problem.X, feature, is_chosen)
        rows = OpenRows(values, bins[is_chosen], losses[is_chosen])
        if is_open[zero_bin]:
            rest = self.totals - losses.sum(axis=0)
            rows = OpenRows(*map(np.concatenate, zip(rows, ([0.0], [zero_bin], [rest]))))
        if not len(rows.values):
            return []
        order = stable_argsort(rows.values)
        return [self._best_value(OpenRows(*(part.take(order, axis=0) for part in rows)), below)]


class SparseHistograms:
    """Makes histograms of CSC columns."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    def of(self, rows: np.ndarray, centers: np.ndarray, costs: np.ndarray) -> SparseHistogram:
        """Histogram of some rows."""
        losses = RowLosses.of(self.problem, rows, centers, costs)
        return SparseHistogram(self.problem, rows, losses, self._entries_of(rows))

    @cached_property
    def _codes_by_row(self) -> sparse.csr_array:
        """The codes of the entries, row by row."""
        bins, rows = self.problem.bins, self.problem.data.rows
        by_column = (bins.codes[0], bins.indices, bins.indptr)
        codes = sparse.csc_array(by_column, shape=rows.shape).tocsr().data
        return sparse.csr_array((codes, rows.indices, rows.indptr), shape=rows.shape)

    def _entries_of(self, rows: np.ndarray) -> Entries:
        """Entries of some rows, whose indices are places in `rows`."""
        from pellucid._core.kernels.surrogate_cost import number_bins

        part = self._codes_by_row[rows].tocsc()
        codes, indices, indptr = part.data, part.indices, part.indptr
        bins = self.problem.bins
        n_features, width = bins.edges.shape
        max_bins = len(codes) + n_features
        index = np.int32 if max_bins < 2**31 else np.int64
        bin_of_entry, zero_bin = np.empty(len(codes), index), np.empty(n_features, index)
        layout = BinLayout(
            np.zeros(n_features + 1, np.int64),
            np.empty(max_bins, codes.dtype),
            np.empty(max_bins, bool),
        )
        number_bins(
            indptr=indptr,
            codes=codes,
            zero_code=bins.zero_code,
            inside=bins.inside,
            counts=np.zeros(width, index),
            bins=bin_of_entry,
            zero_bin=zero_bin,
            layout=layout,
        )
        n_bins = layout.ends[-1]
        layout = BinLayout(layout.ends, layout.codes[:n_bins].copy(), layout.inside[:n_bins].copy())
        return Entries(indices, indptr, bin_of_entry, zero_bin, layout, rows)


def scan_bins(
    ends: np.ndarray, inside: np.ndarray, totals: np.ndarray, sums: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Make the sums of each column cumulative; what the scan finds, and the bounds of the bins."""
    from pellucid._core.kernels.surrogate_cost import scan_bins

    found, bounds = np.empty((len(ends) - 1, 3), np.int64), np.empty(len(sums), np.int64)
    scan_bins(ends, inside, totals, sums, found, bounds)
    return found, bounds
