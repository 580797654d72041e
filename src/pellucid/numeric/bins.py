"""Columns quantised once into a few hundred codes, on which cuts are sought.

The edges of a column are the coordinates of the reference centers, so that every gap between
centers begins and ends at an edge, and quantiles of a sample. The codes say exactly on which side
of any edge a value lies; what happens inside a bin is looked up in the data, where it matters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from pellucid.numeric.blocks import row_major
from pellucid.numeric.team import ALONE, Team

QUANTILES = 256
"""Codes of a column, unless the centers alone would leave too few of them for quantiles."""

_MAX_SAMPLE = 1024
_N_SLOTS = 1024
_LEAST_ROWS = 4096


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

    def room(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Three whole numbers and a flag for each code, for compiled loops to fill."""
        width = self.edges.shape[1]
        numbers = np.empty((3, width), dtype=np.int64)
        return numbers[0], numbers[1], numbers[2], np.empty(width, dtype=bool)

    def dense_column(self, feature: int, n_samples: int) -> np.ndarray:
        """Codes of one column for all rows, for dense and CSC data alike."""
        if not self.is_sparse:
            return self.codes[feature]
        column = np.full(n_samples, self.zero_code[feature], dtype=self.codes.dtype)
        entries = slice(self.indptr[feature], self.indptr[feature + 1])
        column[self.indices[entries]] = self.codes[0, entries]
        return column


def make_bins(X, centers: np.ndarray, team: Team = ALONE) -> Bins:
    """Quantise the columns of a dense or CSC matrix."""
    from pellucid.kernels import bins as kernels

    n_samples, n_features = X.shape
    n_clusters = len(centers)
    width = QUANTILES + 2 * n_clusters if n_clusters > QUANTILES // 3 else QUANTILES
    dtype = np.uint8 if width <= 256 else np.uint16
    edges, n_edges, few, low, scale = _find_edges(X, centers, width, team)
    every = np.arange(n_features)
    center_code = np.empty((n_features, n_clusters), dtype=np.int64)
    kernels.center_codes(edges, centers, center_code)
    zero_code = (edges < 0).sum(axis=1)
    # In a bin whose rows all have the value of its edge there is nothing to look for. In columns of
    # many values hardly any bin is like that, and none is looked at.
    mixed = np.zeros((n_features, width), dtype=np.uint8)
    mixed[~few] = 1
    if sparse.issparse(X):
        codes = np.empty((1, X.nnz), dtype=dtype)
        kernels.entry_codes(X.data, X.indptr, edges, n_edges, codes[0], mixed)
        mixed[every, zero_code] |= edges[every, zero_code] != 0
        indices, indptr = X.indices, X.indptr
    else:
        codes = np.empty((n_features, n_samples), dtype=dtype)
        table = np.empty((n_features, _N_SLOTS + 1), dtype=np.int32)
        kernels.shortcuts(edges, n_edges, low, scale, table)

        def work(block: tuple[int, int]) -> None:
            for rows, part in row_major(X, *block):
                kernels.dense_codes(
                    part, rows.start, edges, n_edges, low, scale, table, codes, few, mixed
                )

        team.map(work, team.blocks(n_samples, _LEAST_ROWS))
        indices, indptr = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int32)
    inside = np.ones((n_features, width), dtype=bool)
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
        center_code=center_code,
        is_sparse=sparse.issparse(X),
    )


def _find_edges(X, centers: np.ndarray, width: int, team: Team):
    """Edges of all columns, filled up with infinity; how many; whether they are all values of the
    sample; start and density of the slots.
    """
    from pellucid.kernels.bins import choose_edges

    n_samples, n_features = X.shape
    edges = np.full((n_features, width), np.inf)
    n_edges, few = np.empty(n_features, dtype=np.int64), np.empty(n_features, dtype=bool)
    low, scale = np.zeros(n_features), np.zeros(n_features)
    coordinates = np.sort(centers.T, axis=1)
    evenly = slice(None, None, -(-n_samples // _MAX_SAMPLE))

    def work(block: tuple[int, int]) -> None:
        if not sparse.issparse(X):
            samples = np.array(X[evenly, slice(*block)].T, dtype=np.float64, order="C")
            samples.sort(axis=1)
        for j in range(*block):
            sample = _stored_sample(X, j) if sparse.issparse(X) else samples[j - block[0]]
            # Slots spread over all but the tails, which would leave too few for the rest.
            low[j] = sample[len(sample) // 100]
            reach = sample[-1 - len(sample) // 100] - low[j]
            scale[j] = _N_SLOTS / reach if reach > 0 else 0.0
            n_edges[j], few[j] = choose_edges(
                sample, coordinates[j], width - 1, low[j], scale[j], _N_SLOTS, edges[j]
            )

    team.map(work, team.blocks(n_features, 4))
    return edges, n_edges, few, low, scale


def _stored_sample(X, column: int) -> np.ndarray:
    """Sorted values of evenly spaced stored entries of a CSC column, and 0 for all others."""
    stored = X.data[X.indptr[column] : X.indptr[column + 1]]
    step = -(-max(len(stored), 1) // _MAX_SAMPLE)
    sample = np.zeros(len(range(0, len(stored), step)) + (len(stored) < X.shape[0]))
    sample[: len(range(0, len(stored), step))] = stored[::step]
    sample.sort()
    return sample
