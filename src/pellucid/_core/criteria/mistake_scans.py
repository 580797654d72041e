"""Scans for the rows that thresholds separate from their own centers, dense or sparse."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pellucid._core.criteria.problem import Problem

_CHUNK = 2**16
"""Sums that are added up and judged together: few enough to stay in cache."""

_SMALL = 2**22
"""Bytes of amounts that are kept to look into columns."""


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
    """What makes an objective of an amount; see `pellucid._core.kernels.gap_objectives`."""

    terms: tuple[float, float, float, float]
    killers: np.ndarray
    depths: np.ndarray | None = None

    def judge(self, features, position, levels, inside, limit, found, wanted):
        """See `judge_edges`, which can be used side by side like this."""
        from pellucid._core.kernels.gap_objectives import judge_edges

        scratch = None if self.depths is None else self.depths.copy()
        how = (inside, self.terms, self.killers, scratch, limit)
        judge_edges(features, position, *levels, *how, found, wanted)

    def judge_column(self, feature: int, position, levels, inside, limit: float):
        """The best edge and a bound for each gap of one column; bins that could reach a limit."""
        found = np.empty((1, len(position) - 1, 3))
        wanted, only = np.zeros(len(inside), dtype=bool), np.zeros(1, dtype=np.intp)
        killers = np.ascontiguousarray(self.killers[:, feature : feature + 1])
        lines = [level[None] for level in levels]
        mine = self._replace(killers=killers)
        mine.judge(only, position[None], lines, inside[None], limit, found, wanted)
        return found[0], wanted


def scan_separated(
    problem: Problem, owned: Owned, places: tuple[np.ndarray, np.ndarray], objective: Objective
) -> SeparatedScan:
    """How to scan columns, from the rows."""
    count = _count_stored if problem.bins.is_sparse else _count_rows
    return SeparatedScan(problem, count(problem, owned, places[1]), owned, places, objective)


class SeparatedScan:
    """Columns, judged by what thresholds separate.

    Parameters
    ----------
    problem : Problem
    count : callable
        ``count(features)`` tells which lines of which arrays hold weights and prices by center and
        bin.
    owned : Owned
    places : pair of ndarray
        Codes of the centers by feature, as they come and ascending.
    objective : Objective
    """

    def __init__(self, problem, count, owned: Owned, places, objective: Objective) -> None:
        self.problem, self.owned, self.objective = problem, owned, objective
        self._count, (self._center_code, self.position) = count, places
        bins, self._top = problem.bins, int(self.position[:, -1].max()) + 2
        width = len(owned.sums) * _mean_width(bins, self.position)
        self._step = max(1, _CHUNK // width)
        self._keeps = 24 * problem.n_features * self._top <= _SMALL
        self._kept: list[tuple[np.ndarray, np.ndarray]] = []

    def __call__(self, block: np.ndarray, found: np.ndarray) -> None:
        """Fill found[j, g] as `judge_edges` does."""
        inside = self.problem.bins.inside
        wanted = np.zeros(inside.shape[1], dtype=bool)
        for start in range(0, len(block), self._step):
            few = block[start : start + self._step]
            levels = self._tally(few)
            self.objective.judge(few, self.position, levels, inside, -np.inf, found, wanted)
            if self._keeps:
                self._kept.append((few, levels))

    def look(self, feature: int, limit: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """found[feature]; amounts at its edges; bins that could reach a limit."""
        position, inside = self.position[feature], self.problem.bins.inside[feature]
        levels = self._known(feature)
        found, wanted = self.objective.judge_column(feature, position, levels, inside, limit)
        return found, levels[0], wanted

    def _known(self, feature: int) -> np.ndarray:
        """Amount, fall and below of one column."""
        for few, levels in self._kept:
            if few[0] <= feature <= few[-1]:
                return levels[:, few.searchsorted(feature)]
        return self._tally(np.array([feature]))[:, 0]

    def _tally(self, few: np.ndarray) -> np.ndarray:
        from pellucid._core.kernels.mistakes import tally_separated

        levels = np.zeros((3, len(few), self._top), dtype=np.int64)
        levels[0] = self.owned.base
        about = (self.owned.sums, self._center_code, self.position)
        tally_separated(few, *self._count(few), *about, *levels)
        return levels


def _mean_width(bins, position: np.ndarray) -> int:
    """Bins of a column that are looked at."""
    return int(position[:, -1].mean()) + 2 if bins.is_sparse else bins.edges.shape[1]


def _count_rows(problem: Problem, owned: Owned, position: np.ndarray) -> Callable:
    from pellucid._core.kernels.mistakes import count_rows

    bins = problem.bins
    rows, own, weight, prices, sums, _ = owned

    def count(few: np.ndarray):
        weights, costs = np.zeros((2, len(few), len(sums), bins.edges.shape[1]), dtype=np.int64)
        count_rows(few, bins.codes, rows, own, weight, prices, weights, costs)
        return np.arange(len(few)), weights, costs

    return count


def _count_stored(problem: Problem, owned: Owned, position: np.ndarray) -> Callable:
    from pellucid._core.kernels.mistakes import count_stored

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
