"""Scans for the rows that thresholds separate from their own centers, dense or sparse."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pellucid.cuts.problem import Problem

_CHUNK = 2**16
"""Sums that are added up and judged together: few enough to stay in cache."""


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


class Objective(NamedTuple):
    """What makes an objective of an amount; see `pellucid.kernels.gaps`."""

    terms: tuple[float, float, float, float]
    killers: np.ndarray
    depths: np.ndarray | None = None


def scan_separated(
    problem: Problem, owned: Owned, places: tuple[np.ndarray, np.ndarray], objective: Objective
) -> Callable:
    """How to scan columns: ``scan(features, found, limit)``.

    It fills found[j, g] as `judge_edges` does, and returns amount, fall, below and wanted bins of
    the last feature.
    """
    count = _count_stored if problem.bins.is_sparse else _count_rows
    return _scan(problem, count(problem, owned, places[1]), owned, places, objective)


def scan_counts(
    problem: Problem,
    counts: np.ndarray,
    sums: np.ndarray,
    places: tuple[np.ndarray, np.ndarray],
    objective: Objective,
) -> Callable:
    """The same from counts that are at hand: prices are weights."""
    nothing = np.empty(0, dtype=np.int64)
    owned = Owned(nothing, nothing, nothing, nothing, sums, 0)
    return _scan(problem, lambda few: (few, counts, counts), owned, places, objective)


def _scan(problem, count, owned: Owned, places, objective: Objective) -> Callable:
    from pellucid.kernels.gaps import judge_edges
    from pellucid.kernels.separated import tally_separated

    bins, (center_code, position) = problem.bins, places
    top = int(position[:, -1].max()) + 2
    step = max(1, _CHUNK // (len(owned.sums) * _mean_width(bins, position)))

    def scan(block: np.ndarray, found: np.ndarray, limit: float = -np.inf):
        wanted = np.zeros(bins.edges.shape[1], dtype=bool)
        levels = np.empty((3, min(step, len(block)), top), dtype=np.int64)
        terms, killers, depths = objective
        scratch = None if depths is None else depths.copy()
        for start in range(0, len(block), step):
            few = block[start : start + step]
            levels[0], levels[1:] = owned.base, 0
            tally_separated(few, *count(few), owned.sums, center_code, position, *levels)
            how = (bins.inside, terms, killers, scratch, limit)
            judge_edges(few, position, *levels, *how, found, wanted)
        return *levels[:, len(few) - 1], wanted

    return scan


def _mean_width(bins, position: np.ndarray) -> int:
    """Bins of a column that are looked at."""
    return int(position[:, -1].mean()) + 2 if bins.is_sparse else bins.edges.shape[1]


def _count_rows(problem: Problem, owned: Owned, position: np.ndarray) -> Callable:
    from pellucid.kernels.separated import count_rows

    bins = problem.bins
    rows, own, weight, prices, sums, _ = owned

    def count(few: np.ndarray):
        weights, costs = np.zeros((2, len(few), len(sums), bins.edges.shape[1]), dtype=np.int64)
        count_rows(few, bins.codes, rows, own, weight, prices, weights, costs)
        return np.arange(len(few)), weights, costs

    return count


def _count_stored(problem: Problem, owned: Owned, position: np.ndarray) -> Callable:
    from pellucid.kernels.separated import count_stored

    bins, n = problem.bins, problem.n_samples
    own, prices = np.full(n, -1, dtype=np.int32), problem.weights.units
    own[owned.rows] = owned.own
    is_priced = owned.prices is not owned.weight
    if is_priced:
        prices = np.zeros(n, dtype=np.int64)
        prices[owned.rows] = owned.prices
    entries = (bins.codes[0], bins.indices, bins.indptr, bins.zero_code)
    by_row = (own, problem.weights.units, prices, owned.sums, position)
    top = int(position[:, -1].max()) + 2

    def count(few: np.ndarray):
        weights, *costs = np.empty((1 + is_priced, len(few), len(owned.sums), top), dtype=np.int64)
        count_stored(few, *entries, *by_row, weights, costs[0] if is_priced else weights[:0])
        return np.arange(len(few)), weights, costs[0] if is_priced else weights

    return count
