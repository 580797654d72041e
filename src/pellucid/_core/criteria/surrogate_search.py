"""The best split of a node by surrogate cost when its children belong to given centers.

See `surrogate_cost` for the losses and their histograms. Of a sparse column only the bins that hold
entries are stored, and the bin of 0, which gets the losses that the entries leave of the totals:
those of the rows without an entry. So the time is proportional to the entries.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse

from pellucid._core.criteria.column_search import Split, rows_in_bins, search_columns
from pellucid._core.criteria.problem import Problem
from pellucid._core.data.arrays import stable_argsort

_MIN_TASK_ROWS = 2**13
"""Rows whose losses are worth a task of their own."""

_MAX_SUMS = 2**19
"""Sums of dense columns that are in memory at once (4 MB)."""

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


class BinLayout(NamedTuple):
    """The bins of a histogram, column after column: column j has ``ends[j] <= b < ends[j + 1]``.

    `codes` ascend in a column; `inside` says whether two different values may share a bin.
    """

    ends: np.ndarray
    codes: np.ndarray
    inside: np.ndarray

    @classmethod
    def dense(cls, problem: Problem) -> BinLayout:
        """All bins of dense columns."""
        n_features, width = problem.bins.edges.shape
        codes = np.tile(np.arange(width), n_features)
        return cls(width * np.arange(n_features + 1), codes, problem.bins.inside.ravel())


class ScannedColumns(NamedTuple):
    """What a scan of the columns first, first + 1, .. finds.

    `sums`, (n_bins, n_centers), are those of the losses in each bin and those below it; `bounds`
    are lower bounds for the losses of all thresholds inside each bin. `found`, (n_columns, 3), has
    the least loss over the edges of each column, the code of its bin, and the least bound.
    """

    first: int
    sums: np.ndarray
    bounds: np.ndarray
    found: np.ndarray


class OpenRows(NamedTuple):
    """All rows in some bins of a column, sorted by value, with the numbers of their bins."""

    values: np.ndarray
    bins: np.ndarray
    losses: np.ndarray


class Histogram(ABC):
    """Sums of the losses of a node's rows at the candidate centers, by column and bin."""

    sums_at_once: int
    """Sums that are computed and scanned at once."""

    def __init__(
        self, problem: Problem, centers: np.ndarray, losses: RowLosses, layout: BinLayout
    ) -> None:
        self.problem, self.centers, self.losses, self.layout = problem, centers, losses, layout
        self._scanned: dict[int, ScannedColumns] = {}

    @abstractmethod
    def column_sums(self, first: int, last: int) -> np.ndarray:
        """The sums of the columns first .. last - 1: a new array of shape (n_bins, n_centers)."""

    @abstractmethod
    def open_rows(self, feature: int, is_open: np.ndarray) -> OpenRows:
        """The rows in some bins of a column."""

    def best_split(self, best: Split) -> Split:
        """The best split of the node, or `best` if none is better."""
        from pellucid._core.kernels.surrogate_cost import INFINITE

        problem, floor = self.problem, self.losses.floor
        splits = search_columns(
            problem,
            np.arange(problem.n_features),
            len(self.losses.values),
            self._scan,
            self._refine,
            no_split=INFINITE,
            goal=best.objective - floor + 1,
        )
        self._scanned.clear()
        return min([best, *(split._replace(objective=floor + split.objective) for split in splits)])

    def _scan(self, features: np.ndarray, found: np.ndarray) -> None:
        """Least loss over the edges of neighbouring columns; see `search_columns`."""
        n_sums = max(1, int(self.layout.ends[-1]) * len(self.centers))
        step = max(1, self.sums_at_once * self.problem.n_features // n_sums)
        end = int(features[-1]) + 1
        for first in range(int(features[0]), end, step):
            last = min(first + step, end)
            columns = self._scan_columns(first, last)
            found[first:last, 0] = columns.found
            if n_sums <= _MAX_SUMS:
                self._scanned.update(dict.fromkeys(range(first, last), columns))

    def _scan_columns(self, first: int, last: int) -> ScannedColumns:
        ends = self.layout.ends[first : last + 1]
        inside, sums = self.layout.inside[ends[0] : ends[-1]], self.column_sums(first, last)
        found, bounds = scan_sums(ends - ends[0], inside, self.losses.totals, sums)
        found[:, 1] = self.layout.codes[ends[:-1] + found[:, 1]]
        return ScannedColumns(first, sums, bounds, found)

    def _refine(self, feature: int, limit: float) -> np.ndarray:
        """Least loss and threshold of a column, exact up to `limit`; see `search_columns`."""
        columns = self._scanned.get(feature)
        if columns is None:
            columns = self._scan_columns(feature, feature + 1)
        first, start, end = self.layout.ends[[columns.first, feature, feature + 1]]
        part = slice(start - first, end - first)
        loss, code, _ = columns.found[feature - columns.first].tolist()
        at_edge = loss, self.problem.bins.edges[feature, code]
        rows = self.open_rows(feature, columns.bounds[part] <= limit)
        best = min(at_edge, _best_inside(rows, columns.sums[part], self.losses.totals))
        # Objects, since integers of this size do not fit into floats.
        return np.array([best], dtype=object)


class DenseHistogram(Histogram):
    """Histogram of dense columns; losses are in the order of `rows`, those of the node."""

    sums_at_once = _MAX_SUMS

    def __init__(
        self,
        problem: Problem,
        rows: np.ndarray,
        centers: np.ndarray,
        losses: RowLosses,
        layout: BinLayout,
    ) -> None:
        super().__init__(problem, centers, losses, layout)
        self._rows = rows

    def column_sums(self, first: int, last: int) -> np.ndarray:
        from pellucid._core.kernels.surrogate_cost import add_losses

        bins, n_centers = self.problem.bins, len(self.centers)
        sums = np.zeros((last - first, bins.edges.shape[1], n_centers), dtype=np.int64)
        add_losses(bins.codes[first:last], self._rows, self.losses.values, sums)
        return sums.reshape(-1, n_centers)

    def open_rows(self, feature: int, is_open: np.ndarray) -> OpenRows:
        places, codes, values = rows_in_bins(self.problem, feature, self._rows, is_open)
        return OpenRows(values, codes, self.losses.values.take(places, axis=0))


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


class SparseHistogram(Histogram):
    """Histogram of CSC columns, computed as it is read; losses are in the order of `rows`."""

    sums_at_once = _SUMS_AT_ONCE

    def __init__(
        self, problem: Problem, centers: np.ndarray, entries: Entries, losses: RowLosses
    ) -> None:
        super().__init__(problem, centers, losses, entries.layout)
        self.entries = entries

    def column_sums(self, first: int, last: int) -> np.ndarray:
        """The sums of the columns first .. last - 1, rows without an entry included."""
        from pellucid._core.kernels.surrogate_cost import add_entries

        entries, losses = self.entries, self.losses
        ends = self.layout.ends[first : last + 1]
        sums = np.zeros((ends[-1] - ends[0], losses.values.shape[1]), dtype=np.int64)
        part = slice(*entries.indptr[[first, last]])
        add_entries(entries.indices[part], entries.bins[part], ends[0], losses.values, sums)
        rest = losses.totals - np.add.reduceat(sums, ends[:-1] - ends[0])
        sums[entries.zero_bin[first:last] - ends[0]] += rest
        return sums

    def open_rows(self, feature: int, is_open: np.ndarray) -> OpenRows:
        """The rows in some bins of a column; one row stands for all that have no entry."""
        entries, start = self.entries, self.layout.ends[feature]
        column = slice(*entries.indptr[feature : feature + 2])
        bins, zero_bin = entries.bins[column] - start, entries.zero_bin[feature] - start
        is_chosen, losses = is_open[bins], self.losses.values[entries.indices[column]]
        values = entries.values(self.problem.X, feature, is_chosen)
        rows = OpenRows(values, bins[is_chosen], losses[is_chosen])
        if is_open[zero_bin]:
            rest = self.losses.totals - losses.sum(axis=0)
            parts = zip(rows, ([0.0], [zero_bin], [rest]))
            rows = OpenRows(*map(np.concatenate, parts))
        order = stable_argsort(rows.values)
        return OpenRows(*(part.take(order, axis=0) for part in rows))


class SparseHistograms:
    """Makes histograms of CSC columns."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    def of(self, rows: np.ndarray, centers: np.ndarray, costs: np.ndarray) -> SparseHistogram:
        """Histogram of some rows."""
        losses = RowLosses.of(self.problem, rows, centers, costs)
        return SparseHistogram(self.problem, centers, self._entries_of(rows), losses)

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


def scan_sums(
    ends: np.ndarray, inside: np.ndarray, totals: np.ndarray, sums: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Make the sums of each column cumulative; what the scan finds, and the bounds of the bins."""
    from pellucid._core.kernels.surrogate_cost import scan_bins

    found, bounds = np.empty((len(ends) - 1, 3), np.int64), np.empty(len(sums), np.int64)
    scan_bins(ends, inside, totals, sums, found, bounds)
    return found, bounds


def _best_inside(rows: OpenRows, sums: np.ndarray, totals: np.ndarray) -> tuple[int, float]:
    """Least loss of the thresholds at the values of rows, and the lowest that has it.

    `sums` are the cumulative sums of all bins of the column. Each value is scanned as if it were a
    bin. The first value of a bin also gets the losses of the closed bins below it. `rows.losses`
    may be overwritten.
    """
    is_new, by_value = rows.values[1:] != rows.values[:-1], rows.losses
    starts = np.append(0, is_new.nonzero()[0] + 1)
    if len(starts) < len(rows.values):
        by_value = np.add.reduceat(by_value, starts)
    bins = rows.bins.take(starts).astype(np.intp)
    first = np.append(0, (bins[1:] != bins[:-1]).nonzero()[0] + 1)
    sums = np.concatenate([np.zeros_like(sums[:1]), sums])
    by_value[first] += sums[bins[first]]
    by_value[first[1:]] -= sums[bins[first[:-1]] + 1]
    n = len(starts)
    found, _ = scan_sums(np.array([0, n]), np.zeros(n, dtype=bool), totals, by_value)
    loss, place, _ = found[0].tolist()
    return loss, float(rows.values[starts[place]])
