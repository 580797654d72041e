"""Columns quantised once into at most a few hundred bins.

The edges of a column are the coordinates of the reference centers, so that every gap between
centers begins and ends at an edge, and quantiles of a sample. The code of a value is the number of
edges strictly below it: codes determine exactly on which side of any edge a value lies.

To find codes fast, the range of a column is divided into equal cells. A larger value never lies in
a lower cell, so that a table over the cells gives the code of most values in one look-up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from pellucid._core import kernels
from pellucid._core.data.arrays import FlatRows, rows_of_task
from pellucid._utils.threads import SERIAL, ThreadPool

N_BINS = 128
"""Bins of a column of many rows; more if there are many centers."""

_MANY_ROWS = 2**15
"""Rows below which half the bins suffice, since each holds few rows. With eight times as many rows,
twice the bins are used.
"""

_N_CELLS = 1024
_MAX_SAMPLE = 512
_MIN_TASK_COLUMNS = 32
_MAX_TASK_VALUES = 2**17
_ENCODED_ROWS = 1024
"""Rows whose codes are found together if values are stored column by column."""

_FEW_ROWS = 2**9
"""Rows below which codes are found by bisection: a table of the cells would take longer."""

_FEW_VALUES = 2**14
"""Values up to which NumPy finds the codes, so that small tables need no compiled loop for them."""

_NEXT_BELOW = 1 - 2.0**-53
"""Factor that gives the next smaller number."""


@dataclass(frozen=True)
class Bins:
    """Codes of all values: a code is the number of edges strictly below the value.

    `codes` is (n_features, n_samples) for dense data, (1, n_stored) for CSC, whose `indices` and
    `indptr` are kept; `zero_code` is the code of 0 by column. `edges`, (n_features, width), are
    ascending, padded with infinity. `inside`, of the same shape, says whether a bin may hold
    different values, so that thresholds inside it matter. `center_code`, (n_features, n_clusters),
    is the edge at which each center lies.
    """

    codes: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray
    zero_code: np.ndarray
    edges: np.ndarray
    n_edges: np.ndarray
    inside: np.ndarray
    center_code: np.ndarray
    is_sparse: bool

    @property
    def entries(self) -> tuple[np.ndarray, ...]:
        """The stored entries of CSC data, as the loops read them."""
        return self.codes[0], self.indices, self.indptr, self.zero_code

    def dense_column(self, feature: int, n_samples: int) -> np.ndarray:
        """Codes of one column for all rows, for dense and CSC data alike."""
        if not self.is_sparse:
            return self.codes[feature]
        column = np.full(n_samples, self.zero_code[feature], dtype=self.codes.dtype)
        entries = slice(self.indptr[feature], self.indptr[feature + 1])
        column[self.indices[entries]] = self.codes[0, entries]
        return column


class CellGrid(NamedTuple):
    """Equal cells of columns: x is in floor((x - low[j]) * scale[j]), clipped to 0 .. _N_CELLS."""

    low: np.ndarray
    scale: np.ndarray

    @classmethod
    def of(cls, samples: np.ndarray, lengths: np.ndarray) -> CellGrid:
        """Cells over the samples without their tails, which would leave few cells for the rest."""
        every = np.arange(len(samples))
        low = samples[every, lengths // 100]
        with np.errstate(over="ignore"):
            span = samples[every, lengths - 1 - lengths // 100] - low
        return cls(low, np.divide(_N_CELLS, span, out=np.zeros_like(low), where=span > 0))

    def cells(self, values: np.ndarray) -> np.ndarray:
        """Cells of values, as floats; one row per column."""
        with np.errstate(over="ignore", invalid="ignore"):
            place = (values - self.low[:, None]) * self.scale[:, None]
        np.fmax(place, 0.0, out=place)  # also 0 instead of NaN
        return np.floor(np.minimum(place, _N_CELLS, out=place), out=place)

    def cell_ends(self, values: np.ndarray) -> np.ndarray:
        """Largest number in the cell of each value, if it is easily found.

        The value itself in the last cell, and if rounding errors hide the end of the cell.
        """
        cell, low, scale = self.cells(values), self.low[:, None], self.scale[:, None]
        with np.errstate(all="ignore"):
            # The largest difference to `low` that is still in the cell, then the largest number
            # that has it: half a unit in the last place of the difference is rounded away.
            difference = (cell + 1) / scale
            is_beyond = difference * scale >= cell + 1
            difference = np.where(is_beyond, difference * _NEXT_BELOW, difference)
            end = (low + difference) + 0.5 * np.spacing(difference)
            reached = self.cells(end)
            too_high = reached > cell
            if too_high.any():
                end[too_high] -= np.abs(end[too_high]) * (1 - _NEXT_BELOW)
                reached = self.cells(end)
            is_found = (cell < _N_CELLS) & (end > values) & (reached == cell)
        return np.where(is_found, end, values)

    def code_table(self, edges: np.ndarray) -> np.ndarray:
        """Code of the values in each cell of each column: (n_features, _N_CELLS + 1), int32.

        A cell with several codes, the lowest of them c, has -1 - 2 c, and 1 less if they are many.
        An edge at the end of a cell divides no values of the cell; only edges further inside mean
        more than one code.
        """
        n_features, n_cells = len(edges), _N_CELLS + 1
        cell = self.cells(edges)
        is_edge = edges < np.inf
        place = (cell.astype(np.int32) + n_cells * np.arange(n_features)[:, None])[is_edge]
        n_edges = np.bincount(place, minlength=n_features * n_cells).astype(np.int32)
        up_to = n_edges.reshape(n_features, n_cells).cumsum(axis=1, dtype=np.int32)
        table = up_to.ravel() - n_edges
        with np.errstate(over="ignore"):
            is_end = (self.cells(np.nextafter(edges, np.inf)) > cell)[is_edge]
        is_last = np.ones(len(place), dtype=bool)
        np.not_equal(place[1:], place[:-1], out=is_last[:-1])
        place = place[is_last]
        n_inner = n_edges[place] - is_end[is_last]
        several = n_inner > 0
        place = place[several]
        table[place] = -1 - 2 * table[place] - (n_inner[several] > 16)
        return table.reshape(n_features, n_cells)


@dataclass(frozen=True)
class Quantizer:
    """Edges of columns, and what is needed to find the codes of dense rows fast.

    ``has_all[j]`` says whether the edges are all values of the sample.
    """

    edges: np.ndarray
    n_edges: np.ndarray
    has_all: np.ndarray
    grid: CellGrid

    @classmethod
    def of_sample(
        cls, X: Any, centers: np.ndarray, width: int, pool: ThreadPool = SERIAL
    ) -> Quantizer:
        """Edges of at most `width` bins per column, from a sample of the rows of a dense or CSC
        matrix; every center is at an edge.
        """
        n_features, has_cells = X.shape[1], X.shape[0] >= _FEW_ROWS
        edges, has_all = np.empty((n_features, width)), np.empty(n_features, dtype=bool)
        low, scale = np.zeros((2, n_features))
        coordinates = np.sort(centers.T, axis=1)
        sample, blocks = _sparse_samples(X) if sparse.issparse(X) else _dense_samples(X, pool)

        def work(columns: slice | np.ndarray) -> None:
            samples, lengths = sample(columns)
            grid = CellGrid.of(samples, lengths)
            low[columns], scale[columns] = grid.low, grid.scale
            edges[columns], has_all[columns] = choose_edges(
                samples, lengths, coordinates[columns], grid if has_cells else None, width
            )

        pool.map(work, blocks)
        return cls(edges, (edges < np.inf).sum(axis=1), has_all, CellGrid(low, scale))

    @cached_property
    def lookup(self) -> tuple[np.ndarray, ...]:
        """The edges and the codes of the cells, as the loops read them."""
        grid = self.grid
        return self.edges, self.n_edges, grid.low, grid.scale, grid.code_table(self.edges)

    def encode(
        self, columns: np.ndarray, order: np.ndarray, is_mixed: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Values of some rows and their codes, both column by column: (n_features, len(order)).

        ``is_mixed[j, b]`` is set to 1 if ``has_all[j]`` and bin b holds a value that is not its
        edge.
        """
        values = np.empty((len(columns), len(order)), dtype=columns.dtype)
        codes = np.empty(values.shape, dtype=self._code_type)
        scratch = np.zeros(_ENCODED_ROWS), np.empty(_ENCODED_ROWS, dtype=np.int32)
        found = codes, self.has_all, is_mixed
        kernels.binning.column_codes(columns, order, self.lookup, *found, *scratch, values)
        return values, codes

    def codes(self, X: Any, is_mixed: np.ndarray, pool: ThreadPool) -> np.ndarray:
        """Codes of all values, as in `Bins`; `is_mixed` as in `encode`."""
        loops, edges, has_all = kernels.binning, self.edges, self.has_all
        if sparse.issparse(X):
            codes = np.empty((1, X.nnz), dtype=self._code_type)
            loops.entry_codes(X.data, X.indptr, edges, self.n_edges, codes[0], is_mixed)
            return codes
        codes = np.empty(X.shape[::-1], dtype=self._code_type)
        if X.size <= _FEW_VALUES:
            for j, values in enumerate(X.T.astype(np.float64)):
                codes[j] = edges[j].searchsorted(values)
                if has_all[j]:
                    is_mixed[j, codes[j][edges[j].take(codes[j]) != values]] = 1
            return codes
        if len(X) < _FEW_ROWS:
            ends = np.arange(X.shape[1] + 1) * len(X)
            loops.entry_codes(X.T.ravel(), ends, edges, self.n_edges, codes.reshape(-1), is_mixed)
            return codes
        lookup, flat = self.lookup, FlatRows.of(X)

        def work(block: tuple[int, int]) -> None:
            columns = np.zeros((loops.BLOCK_COLUMNS, loops.BLOCK_ROWS))
            scratch = columns, np.empty(loops.BLOCK_ROWS, dtype=np.int32)
            loops.dense_codes(flat, *block, lookup, codes, has_all, is_mixed, *scratch)

        pool.map(work, pool.blocks(X.shape[0], rows_of_task(2 * X.shape[1])))
        return codes

    @property
    def _code_type(self) -> type[Any]:
        return np.uint8 if self.edges.shape[1] <= 256 else np.uint16

    def center_code(self, centers: np.ndarray) -> np.ndarray:
        """The edge at which each center lies, by column."""
        columns = zip(self.edges, np.ascontiguousarray(centers.T))
        return np.array([edges.searchsorted(column) for edges, column in columns], dtype=np.int64)

    def inside(self, is_mixed: np.ndarray) -> np.ndarray:
        """Whether each bin may hold different values."""
        inside = np.ones(self.edges.shape, dtype=bool)
        inside[:, 1:] = np.nextafter(self.edges[:, :-1], np.inf) < self.edges[:, 1:]
        return inside & (is_mixed == 1)


def make_bins(X: Any, centers: np.ndarray, pool: ThreadPool = SERIAL) -> Bins:
    """Quantise the columns of a dense or CSC matrix."""
    n_samples, n_clusters = X.shape[0], len(centers)
    width = N_BINS if n_samples >= _MANY_ROWS else -(-N_BINS // 2)
    width *= 2 if n_samples >= 8 * _MANY_ROWS else 1
    width = max(width, 2 * n_clusters)
    quantizer = Quantizer.of_sample(X, centers, width, pool)
    edges, is_sparse = quantizer.edges, sparse.issparse(X)
    # There is no threshold inside a bin whose values all equal its edge. This is only checked in
    # columns of few values: in the others hardly any bin is like that.
    is_mixed = np.zeros(edges.shape, dtype=np.uint8)
    is_mixed[~quantizer.has_all] = 1
    codes, zero_code = quantizer.codes(X, is_mixed, pool), (edges < 0).sum(axis=1)
    indices = indptr = np.empty(0, dtype=np.int32)
    if is_sparse:
        every, indices, indptr = np.arange(X.shape[1]), X.indices, X.indptr
        is_mixed[every, zero_code] |= edges[every, zero_code] != 0
    return Bins(
        codes=codes,
        indices=indices,
        indptr=indptr,
        zero_code=zero_code,
        edges=edges,
        n_edges=quantizer.n_edges,
        inside=quantizer.inside(is_mixed),
        center_code=quantizer.center_code(centers),
        is_sparse=is_sparse,
    )


def _dense_samples(X: np.ndarray, pool: ThreadPool) -> tuple[Callable[..., Any], Sequence[Any]]:
    """A function that samples columns, each sorted, with their lengths; and blocks of columns."""
    evenly = slice(None, None, -(-X.shape[0] // _MAX_SAMPLE))

    def sample(columns: slice) -> tuple[np.ndarray, np.ndarray]:
        samples = np.array(X[evenly, columns].T, dtype=np.float64, order="C")
        samples.sort(axis=1)
        return samples, np.full(len(samples), samples.shape[1])

    return sample, [slice(*block) for block in pool.blocks(X.shape[1], _MIN_TASK_COLUMNS)]


def _sparse_samples(X: Any) -> tuple[Callable[..., Any], Sequence[Any]]:
    """The same for a CSC matrix: evenly spaced stored entries, and 0 for all others."""
    stored = np.diff(X.indptr)
    steps = -(-np.maximum(stored, 1) // _MAX_SAMPLE)
    taken = -(-stored // steps)
    has_zero = stored < X.shape[0]
    lengths = taken + has_zero
    stored_values = X.data.astype(np.float64, copy=False) if X.nnz else np.zeros(1)

    def sample(columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        turn = np.arange(lengths[columns].max())
        places = X.indptr[columns, None] + steps[columns, None] * turn
        is_stored = turn < taken[columns, None]
        samples = np.where(is_stored, stored_values.take(places, mode="clip"), np.inf)
        samples[has_zero[columns], taken[columns][has_zero[columns]]] = 0.0
        samples.sort(axis=1)
        return samples, lengths[columns]

    # Columns of similar lengths together, so that there is little padding.
    order = np.argsort(lengths, kind="stable")
    ends = np.cumsum(lengths[order]) // _MAX_TASK_VALUES
    return sample, np.split(order, np.flatnonzero(np.diff(ends)) + 1)


def choose_edges(
    samples: np.ndarray,
    lengths: np.ndarray,
    coordinates: np.ndarray,
    grid: CellGrid | None,
    width: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Edges of columns: center coordinates and quantiles of samples.

    All values of a sample if there are few enough. Otherwise evenly spaced ones; with a grid, they
    are moved up to the end of their cell, so that in most cells one look-up gives the code. A value
    that fills two quantiles gets a bin of its own, so that its many rows do not weaken the bound of
    a bin.

    `samples`, (n_columns, n_values), are ascending, padded with infinity, and `lengths` their
    lengths. `coordinates`, (n_columns, n_clusters), are those of the centers, ascending. Returns
    edges, (n_columns, width), ascending, at least one, padded with infinity; and by column whether
    all values of the sample are among them.
    """
    n_free = width - 1 - _is_new(coordinates).sum(axis=1)
    is_new = _is_new(samples)
    n_distinct = is_new.sum(axis=1)
    has_all = n_distinct <= n_free
    wanted = np.full((len(samples), min(n_distinct.max(), width - 1)), np.inf)
    if has_all.any():
        values = _compact(samples[has_all], is_new[has_all])[:, : wanted.shape[1]]
        wanted[has_all, : values.shape[1]] = values
    if not has_all.all():
        many = slice(None) if not has_all.any() else ~has_all
        n = n_free[many].max() - 1
        cells = grid and CellGrid(grid.low[many], grid.scale[many])
        wanted[many, :n] = _quantiles(samples[many], lengths[many], n_free[many], cells, n)
    candidates = np.concatenate([coordinates, wanted], axis=1)
    candidates.sort(axis=1)
    candidates = _compact(candidates, _is_new(candidates))
    edges = np.full((len(samples), width), np.inf)
    n = min(width, candidates.shape[1])
    edges[:, :n] = candidates[:, :n]
    return edges, has_all


def _is_new(values: np.ndarray) -> np.ndarray:
    """Which finite values of each row differ from the one before them."""
    is_new = values < np.inf
    is_new[:, 1:] &= values[:, 1:] != values[:, :-1]
    return is_new


def _compact(values: np.ndarray, is_kept: np.ndarray) -> np.ndarray:
    """The kept values of each row, which are ascending, and infinity after them."""
    if not (values[~is_kept] < np.inf).any():
        return values
    values = np.where(is_kept, values, np.inf)
    values.sort(axis=1)
    return values


def _quantiles(
    samples: np.ndarray, lengths: np.ndarray, n_free: np.ndarray, grid: CellGrid | None, n: int
) -> np.ndarray:
    """Edges at n quantiles of the columns; infinity for those that are not needed."""
    turn = np.arange(1, n + 1)
    is_spare = turn >= n_free[:, None]
    places = turn * lengths[:, None] // n_free[:, None]
    places[is_spare] = 0
    places += samples.shape[1] * np.arange(len(samples))[:, None]
    values = samples.ravel().take(places)
    values[is_spare] = np.inf
    edges = values.copy() if grid is None else grid.cell_ends(values)
    edges[is_spare] = np.inf
    is_repeated = np.zeros(values.shape, dtype=bool)
    np.equal(values[:, 1:], values[:, :-1], out=is_repeated[:, 1:])
    is_repeated[is_spare] = False
    if is_repeated.any():
        is_first = np.zeros_like(is_repeated)
        is_first[:, :-1] = is_repeated[:, 1:] & ~is_repeated[:, :-1]
        edges[is_repeated] = values[is_repeated]
        edges[is_first] = np.nextafter(values[is_first], -np.inf)
        edges[:, 1:][is_repeated[:, 1:] & is_repeated[:, :-1]] = np.inf
    return edges
