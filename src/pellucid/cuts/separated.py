"""Scans for the rows that thresholds separate from their own centers, dense or sparse."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pellucid.cuts.problem import Problem


class Owned(NamedTuple):
    """The rows of a cell with their own centers.

    Attributes
    ----------
    rows : ndarray of int32
    own : ndarray
        Center of each row, as a place among those of the cell.
    weight, prices : ndarray of int64
        Weight of each row, and what it costs to separate it.
    sums : ndarray of shape (n_centers, 2), int64
        Weight and price of all rows of each center.
    base : int
        Amount when nothing is separated.
    """

    rows: np.ndarray
    own: np.ndarray
    weight: np.ndarray
    prices: np.ndarray
    sums: np.ndarray
    base: int


def scan_separated(
    problem: Problem,
    owned: Owned,
    places: tuple[np.ndarray, np.ndarray],
    terms: tuple[float, float, float, float],
    killers: np.ndarray,
    depths: np.ndarray | None = None,
) -> Callable:
    """How to scan columns: ``scan(features, found, limit)``, see `pellucid.kernels.separated`."""
    from pellucid.kernels.separated import scan_rows, scan_stored

    bins = problem.bins
    rows, own, weight, prices, sums, base = owned
    table_shape = (2, len(sums), bins.edges.shape[1])
    if bins.is_sparse:
        own, prices = _by_row(problem.n_samples, rows, own, prices)
        weight = problem.weights.units

    def scan(block: np.ndarray, found: np.ndarray, limit: float = -np.inf):
        room = bins.room()
        scratch = None if depths is None else depths.copy()
        what = (own, weight, prices, sums, base, *places, bins.inside, terms, killers, scratch)
        out = (limit, found, *room, np.empty(table_shape, dtype=np.int64))
        if bins.is_sparse:
            entries = (bins.codes[0], bins.indices, bins.indptr, bins.zero_code)
            scan_stored(block, *entries, *what, *out)
        else:
            scan_rows(block, bins.codes, rows, *what, *out)
        return room

    return scan


def _by_row(n: int, rows: np.ndarray, own: np.ndarray, prices: np.ndarray):
    """Own center and price of each row of the data, -1 and 0 for the rows of other cells."""
    owns, price = np.full(n, -1, dtype=np.int32), np.zeros(n, dtype=np.int64)
    owns[rows], price[rows] = own, prices
    return owns, price
