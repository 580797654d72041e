"""The best split of a node by surrogate cost when its children belong to given centers.

See `surrogate_cost` for the losses and their histograms. Dense columns are searched by one compiled
loop. Of a sparse column only the bins that hold entries are stored, and the bin of 0, which gets
the losses that the entries leave of the totals: those of the rows without an entry. So the time is
proportional to the entries.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse

from pellucid._core.criteria.base import InheritedHistogram
from pellucid._core.criteria.column_search import Split, search_columns
from pellucid._core.criteria.problem import Problem

_MIN_TASK_ROWS = 2**13
"""Rows whose losses are worth a task of their own."""

_MAX_SUMS = 2**19
"""Sums of dense columns that are in memory at once (4 MB)."""

_SUMS_AT_ONCE = 2**16
"""Sums of sparse columns that are computed and scanned at once, so that they stay in the cache."""

_SMALL_HISTOGRAM = 2**24
"""Bytes of a histogram of sparse columns that is stored whatever the size of the data."""


class RowLosses(NamedTuple):
    """Losses of rows at candidate centers.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_centers), int64
        Cost of each row at each center minus its least cost at any of the centers.
    totals : ndarray of shape (n_centers,), int64
        Sums over all rows.
    floor : int
        Sum of the least costs of all rows.
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


class DenseSearch:
    """Searches dense columns.

    Parameters
    ----------
    problem : Problem
    """

    def __init__(self, problem: Problem) -> None:
        from pellucid._core.kernels.surrogate_cost import DenseColumns

        bins, self.problem = problem.bins, problem
        n_bins = np.minimum(bins.n_edges + 1, bins.edges.shape[1])
        self._columns = DenseColumns(
            bins.codes, n_bins, bins.inside, bins.edges, *problem.flat_values
        )

    def best_split(self, rows: np.ndarray, losses: RowLosses, best: Split) -> Split:
        """The best split of a node, or `best` if none is better."""
        from pellucid._core.kernels.surrogate_cost import search_dense

        problem, columns = self.problem, self._columns
        step = max(1, _MAX_SUMS // (columns.edges.shape[1] * len(losses.totals)))

        def search(features: np.ndarray) -> tuple[int, int, float]:
            found = best.objective - losses.floor, best.feature, best.threshold
            for start in range(0, len(features), step):
                found = search_dense(
                    features=features[start : start + step],
                    columns=columns,
                    rows=rows.view(np.uint32),
                    losses=losses.values,
                    totals=losses.totals,
                    best=found,
                )
            return found

        blocks = problem.feature_blocks(np.arange(problem.n_features), len(rows))
        loss, feature, threshold = min(problem.pool.map(search, blocks))
        return Split(losses.floor + loss, feature, threshold)


class Entries(NamedTuple):
    """Stored entries of CSC columns and the bins that hold them, column after column.

    Attributes
    ----------
    indices, indptr, values : ndarray
        The entries, as in a CSC matrix.
    bins : ndarray
        Bin of each entry, numbered over all columns.
    ends : ndarray of shape (n_features + 1,)
        Column j has the bins ``ends[j] <= b < ends[j + 1]``.
    codes : ndarray
        Code of each bin, ascending in a column.
    inside : ndarray of bool
        Whether two different values may share each bin.
    zero_bin : ndarray of shape (n_features,)
        Bin of 0 in each column.
    """

    indices: np.ndarray
    indptr: np.ndarray
    values: np.ndarray
    bins: np.ndarray
    ends: np.ndarray
    codes: np.ndarray
    inside: np.ndarray
    zero_bin: np.ndarray


@dataclass(frozen=True)
class SparseHistogram:
    """Sums of the losses of a node's rows by column and bin.

    Attributes
    ----------
    centers : ndarray of int
    entries : Entries
    losses : RowLosses
        ``losses.values`` is indexed by ``entries.indices``; 0 for rows that are not in the node.
    sums : ndarray of shape (n_bins, n_centers), int64, or None
        The histogram without the rows that have no entry, if it is stored; otherwise it is
        computed as it is read.
    """

    centers: np.ndarray
    entries: Entries
    losses: RowLosses
    sums: np.ndarray | None = None

    def column_sums(self, first: int, last: int) -> np.ndarray:
        """The sums of the columns first .. last - 1, rows without an entry included."""
        entries, totals = self.entries, self.losses.totals
        ends = entries.ends[first : last + 1]
        if self.sums is None:
            sums = sum_entries(entries, self.losses.values, first, last)
        else:
            sums = self.sums[ends[0] : ends[-1]].copy()
        rest = totals - np.add.reduceat(sums, ends[:-1] - ends[0])
        sums[entries.zero_bin[first:last] - ends[0]] += rest
        return sums

    def scan(self, features: np.ndarray, found: np.ndarray) -> None:
        """Least cost over the edges of neighbouring columns; see `search_columns`."""
        from pellucid._core.kernels.surrogate_cost import scan_sparse

        entries, losses = self.entries, self.losses
        n_sums = max(1, int(entries.ends[-1]) * len(losses.totals))
        step = max(1, _SUMS_AT_ONCE * len(entries.zero_bin) // n_sums)
        for first in range(features[0], features[-1] + 1, step):
            last = min(first + step, features[-1] + 1)
            ends = entries.ends[first : last + 1]
            scan_sparse(
                features=np.arange(first, last),
                ends=ends - ends[0],
                codes=entries.codes[ends[0] : ends[-1]],
                inside=entries.inside[ends[0] : ends[-1]],
                sums=self.column_sums(first, last),
                totals=losses.totals,
                floor=losses.floor,
                found=found,
            )

    def refine(self, feature: int, limit: int, edges: np.ndarray) -> np.ndarray:
        """Least cost and threshold of a column, exact up to `limit`; see `search_columns`."""
        from pellucid._core.kernels.surrogate_cost import refine_sparse

        entries, floor = self.entries, self.losses.floor
        start, end = entries.ends[feature : feature + 2]
        column = slice(*entries.indptr[feature : feature + 2])
        loss, edge, loss_inside, threshold = refine_sparse(
            rows=entries.indices[column],
            bins=entries.bins[column] - start,
            values=entries.values[column],
            zero_bin=entries.zero_bin[feature] - start,
            losses=self.losses.values,
            sums=self.column_sums(feature, feature + 1),
            totals=self.losses.totals,
            inside=entries.inside[start:end],
            limit=limit - floor,
        )
        at_edge = edges[feature, entries.codes[start + edge]]
        loss, threshold = min((loss, at_edge), (loss_inside, threshold))
        # Objects, since integers of this size do not fit into floats.
        return np.array([(floor + loss, threshold)], dtype=object)


class SparseSearch:
    """Searches CSC columns.

    Parameters
    ----------
    problem : Problem
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    def best_split(self, histogram: SparseHistogram, best: Split) -> Split:
        """The best split of a node, or `best` if none is better."""
        from pellucid._core.kernels.surrogate_cost import INFINITE

        problem, edges = self.problem, self.problem.bins.edges
        splits = search_columns(
            problem,
            np.arange(problem.n_features),
            len(histogram.losses.values),
            histogram.scan,
            lambda feature, limit: histogram.refine(feature, limit, edges),
            no_split=INFINITE,
            goal=best.objective + 1,
        )
        return min([best, *splits])

    def histogram(
        self, rows: np.ndarray, centers: np.ndarray, costs: np.ndarray
    ) -> SparseHistogram:
        """Histogram of some rows; stored if they are more than half of all rows and it is small."""
        problem = self.problem
        losses = RowLosses.of(problem, rows, centers, costs)
        n_bytes = 8 * int(self._all_entries.ends[-1]) * len(centers)
        is_small = n_bytes <= max(_SMALL_HISTOGRAM, problem.X.data.nbytes // 4)
        if 2 * len(rows) <= problem.n_samples or not is_small:
            return SparseHistogram(centers, self._entries_of(rows), losses)
        values = np.zeros((problem.n_samples, len(centers)), dtype=np.int64)
        values[rows] = losses.values
        blocks = problem.pool.blocks(problem.n_features, 16)
        sums = problem.pool.map(
            lambda block: sum_entries(self._all_entries, values, *block), blocks
        )
        losses = losses._replace(values=values)
        return SparseHistogram(centers, self._all_entries, losses, np.concatenate(sums))

    def subtract(self, inherited: InheritedHistogram, costs: np.ndarray) -> SparseHistogram:
        """The histogram of a child, whose total costs are `costs`; overwrites the parent's."""
        from pellucid._core.kernels.surrogate_cost import subtract_rows

        parent, removed, by_row = inherited.parent, inherited.removed_rows, self._by_row
        values, totals = parent.losses.values, parent.losses.totals
        subtract_rows(
            rows=removed,
            indptr=by_row.indptr,
            places=by_row.data,
            bins=parent.entries.bins,
            losses=values,
            sums=parent.sums,
        )
        totals = totals - values[removed].sum(axis=0)
        values[removed] = 0
        floor = int(costs[parent.centers[0]] - totals[0])
        return replace(parent, losses=RowLosses(values, totals, floor))

    @cached_property
    def _all_entries(self) -> Entries:
        bins = self.problem.bins
        return self._list_entries(np.arange(bins.codes.size), bins.indices, bins.indptr)

    @cached_property
    def _by_row(self) -> sparse.csr_array:
        """The place of each entry in the CSC data, row by row."""
        bins = self.problem.bins
        parts = (np.arange(bins.codes.size), bins.indices, bins.indptr)
        return sparse.csc_array(parts, shape=self.problem.X.shape).tocsr()

    def _entries_of(self, rows: np.ndarray) -> Entries:
        """Entries of some rows, whose indices are places in `rows`."""
        part = self._by_row[rows].tocsc()
        return self._list_entries(part.data, part.indices, part.indptr)

    def _list_entries(self, places: np.ndarray, indices: np.ndarray, indptr: np.ndarray) -> Entries:
        """Entries given by their places in the CSC data."""
        bins = self.problem.bins
        n_features, width = bins.edges.shape
        first = width * np.arange(n_features)
        bin_of_entry = np.repeat(first, np.diff(indptr)) + bins.codes[0].take(places)
        zero_bin = first + bins.zero_code
        is_used = np.zeros(bins.edges.size, dtype=bool)
        is_used[bin_of_entry] = is_used[zero_bin] = True
        number = np.cumsum(is_used) - 1
        bin_of_entry, zero_bin = number.take(bin_of_entry), number.take(zero_bin)
        n_values = np.bincount(bin_of_entry, minlength=number[-1] + 1)
        n_values[zero_bin] += 1
        return Entries(
            indices=indices,
            indptr=indptr,
            values=self.problem.X.data.take(places),
            bins=bin_of_entry,
            ends=np.append(0, number[width - 1 :: width] + 1),
            codes=np.flatnonzero(is_used) % width,
            inside=bins.inside.ravel()[is_used] & (n_values > 1),
            zero_bin=zero_bin,
        )


def sum_entries(entries: Entries, losses: np.ndarray, first: int, last: int) -> np.ndarray:
    """Sums of the losses of the entries by bin, for the columns first .. last - 1."""
    from pellucid._core.kernels.surrogate_cost import add_entries

    start, end = entries.ends[[first, last]]
    sums = np.zeros((end - start, losses.shape[1]), dtype=np.int64)
    part = slice(*entries.indptr[[first, last]])
    add_entries(entries.indices[part], entries.bins[part], start, losses, sums)
    return sums
