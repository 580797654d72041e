"""Columns quantised once into a few hundred codes, on which cuts are sought.

The edges of a column are the coordinates of the reference centers, so that every gap between
centers begins and ends at an edge, and quantiles of a sample. The codes say exactly on which side
of any edge a value lies; what happens inside a bin is looked up in the data, where it matters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse

from pellucid._core.data.arrays import row_major
from pellucid._core.data.edges import Slots, choose_edges, codes_of, shortcuts, spread_slots
from pellucid._utils.threads import SERIAL, ThreadPool

QUANTILES = 128
"""Codes of a column of many rows, unless the centers alone would leave too few for quantiles."""

_MANY_ROWS = 2**15
"""Rows below which half the bins do: there is less to look up in each. Eight times as many rows ask
for twice the bins.
"""

_MAX_SAMPLE = 512
_N_SLOTS = 1024
_LEAST_ROWS = 4096
_VALUES_TOGETHER = 2**17
_LEAST_COLUMNS = 32


@dataclass(frozen=True)
class Bins:
    """Codes of all values.

    Attributes
    ----------
    codes : ndarray
        (n_features, n_samples) for dense data, (1, n_stored) for CSC. A code is the number of
        edges strictly below the value.
    indices, indptr : ndarray
        Of CSC data; empty for dense data.
    zero_code : ndarray of shape (n_features,)
        Code of 0.
    edges : ndarray of shape (n_features, width)
        Ascending, filled up with infinity.
    n_edges : ndarray of shape (n_features,)
    inside : ndarray of shape (n_features, width), bool
        Whether two different values may share a bin.
    center_code : ndarray of shape (n_features, n_clusters)
        The edge at which each center lies.
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

    def dense_column(self, feature: int, n_samples: int) -> np.ndarray:
        """Codes of one column for all rows, for dense and CSC data alike."""
        if not self.is_sparse:
            return self.codes[feature]
        column = np.full(n_samples, self.zero_code[feature], dtype=self.codes.dtype)
        entries = slice(self.indptr[feature], self.indptr[feature + 1])
        column[self.indices[entries]] = self.codes[0, entries]
        return column


class Edges(NamedTuple):
    """What is known of the bins before the values are looked at; see `Bins`.

    Attributes
    ----------
    few : ndarray of shape (n_features,), bool
        Columns in which every value of the sample is an edge.
    slots : Slots
    table : ndarray of shape (n_features, n_slots)
        Of codes by slots; empty for CSC data.
    """

    edges: np.ndarray
    n_edges: np.ndarray
    zero_code: np.ndarray
    center_code: np.ndarray
    few: np.ndarray
    slots: Slots
    table: np.ndarray


def find_edges(X, centers: np.ndarray, pool: ThreadPool = SERIAL) -> Edges:
    """The edges of the columns of a dense or CSC matrix, found by a sample."""
    n_samples, n_clusters = X.shape[0], len(centers)
    width = QUANTILES if n_samples >= _MANY_ROWS else -(-QUANTILES // 2)
    width *= 2 if n_samples >= 8 * _MANY_ROWS else 1
    width = max(width, 2 * n_clusters)
    edges, n_edges, few, slots = _choose(X, centers, width, pool)
    return Edges(
        edges=edges,
        n_edges=n_edges,
        zero_code=(edges < 0).sum(axis=1),
        center_code=codes_of(np.ascontiguousarray(centers.T), edges),
        few=few,
        slots=slots,
        table=np.empty((0, 0)) if sparse.issparse(X) else shortcuts(edges, slots),
    )


def make_bins(X, centers: np.ndarray, pool: ThreadPool = SERIAL) -> Bins:
    """Quantise the columns of a dense or CSC matrix."""
    from pellucid._core.kernels import binning as kernels

    found = find_edges(X, centers, pool)
    edges, n_edges, zero_code, few = found.edges, found.n_edges, found.zero_code, found.few
    n_samples, n_features = X.shape
    dtype = np.uint8 if edges.shape[1] <= 256 else np.uint16
    # In a bin whose rows all have the value of its edge there is nothing to look for. In columns of
    # many values hardly any bin is like that, and none is looked at.
    mixed = np.zeros(edges.shape, dtype=np.uint8)
    mixed[~few] = 1
    if sparse.issparse(X):
        codes = np.empty((1, X.nnz), dtype=dtype)
        kernels.entry_codes(X.data, X.indptr, edges, n_edges, codes[0], mixed)
        every = np.arange(n_features)
        mixed[every, zero_code] |= edges[every, zero_code] != 0
        indices, indptr = X.indices, X.indptr
    else:
        codes = np.empty((n_features, n_samples), dtype=dtype)

        def work(block: tuple[int, int]) -> None:
            lines = np.zeros((kernels.COLUMNS_TOGETHER, kernels.ROWS_TOGETHER))
            slot_of_row = np.empty(kernels.ROWS_TOGETHER, dtype=np.int32)
            for rows, part in row_major(X, *block):
                kernels.dense_codes(
                    part,
                    begin=rows.start,
                    edges=edges,
                    n_edges=n_edges,
                    low=found.slots.low,
                    scale=found.slots.scale,
                    table=found.table,
                    codes=codes,
                    few=few,
                    mixed=mixed,
                    lines=lines,
                    slots=slot_of_row,
                )

        pool.map(work, pool.blocks(n_samples, _LEAST_ROWS, per_thread=8))
        indices, indptr = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32)
    inside = np.ones(edges.shape, dtype=bool)
    inside[:, 1:] = np.nextafter(edges[:, :-1], np.inf) < edges[:, 1:]
    inside &= mixed == 1
    return Bins(
        codes=codes,
        indices=indices,
        indptr=indptr,
        zero_code=zero_code,
        edges=edges,
        n_edges=n_edges,
        inside=inside,
        center_code=found.center_code,
        is_sparse=sparse.issparse(X),
    )


def _choose(X, centers: np.ndarray, width: int, pool: ThreadPool):
    """Edges of all columns, filled up with infinity; how many; whether they are all values of the
    sample; the slots.
    """
    n_features = X.shape[1]
    edges = np.empty((n_features, width))
    n_edges, few = np.empty(n_features, dtype=np.int64), np.empty(n_features, dtype=bool)
    low, scale = np.zeros(n_features), np.zeros(n_features)
    coordinates = np.sort(centers.T, axis=1)
    sample, blocks = _sparse_samples(X) if sparse.issparse(X) else _dense_samples(X, pool)

    def work(columns) -> None:
        samples, lengths = sample(columns)
        slots = spread_slots(samples, lengths, _N_SLOTS)
        low[columns], scale[columns] = slots.low, slots.scale
        edges[columns], n_edges[columns], few[columns] = choose_edges(
            samples, lengths, coordinates[columns], slots, width
        )

    pool.map(work, blocks)
    return edges, n_edges, few, Slots(low, scale, _N_SLOTS)


def _dense_samples(X: np.ndarray, pool: ThreadPool):
    """How to sample columns, each sorted, with their lengths; and which to work on together."""
    evenly = slice(None, None, -(-X.shape[0] // _MAX_SAMPLE))

    def sample(columns: slice) -> tuple[np.ndarray, np.ndarray]:
        samples = np.array(X[evenly, columns].T, dtype=np.float64, order="C")
        samples.sort(axis=1)
        return samples, np.full(len(samples), samples.shape[1])

    return sample, [slice(*block) for block in pool.blocks(X.shape[1], _LEAST_COLUMNS)]


def _sparse_samples(X):
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

    # Columns of like lengths together, so that there is little to fill up.
    order = np.argsort(lengths, kind="stable")
    ends = np.cumsum(lengths[order]) // _VALUES_TOGETHER
    return sample, np.split(order, np.flatnonzero(np.diff(ends)) + 1)
