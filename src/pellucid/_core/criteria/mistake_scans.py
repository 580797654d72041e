"""Scans for the rows that thresholds separate from their own centers.

A scan fills ``found[j, g]`` for columns j and gaps g between neighbouring centers: least objective
over the edges of the gap, the lowest edge that has it, and a lower bound for all thresholds
strictly inside bins.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pellucid._core.criteria.problem import Problem
from pellucid._core.data.binning import Bins

_CHUNK = 2**16
"""Sums that are added up and judged together: few enough to stay in cache."""

_SMALL = 2**22
"""Bytes of amounts that are kept to look into columns."""


class LabeledRows(NamedTuple):
    """Rows of a node with their own centers.

    Attributes
    ----------
    rows : ndarray of int32
    own : ndarray
        Center of each row, as a place among those of the node.
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


class ObjectiveTerms(NamedTuple):
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


class HistogramScan:
    """Columns, judged by the weight of the rows that thresholds separate, from a histogram.

    Parameters
    ----------
    bins : Bins
    histogram : ndarray of shape (n_features, n_centers, n_bins), int64
        Weight by column, center and bin.
    center_code, position : ndarray of shape (n_features, n_centers)
        Codes of the centers in their order, and ascending.
    """

    def __init__(self, bins: Bins, histogram, center_code, position) -> None:
        self.position, self.size = position, histogram.shape[1] * histogram.shape[2]
        self._inputs = (histogram, histogram[0].sum(axis=1), center_code, position, bins.inside)
        self._amount, self._bound = np.zeros((2, *bins.edges.shape), dtype=np.int64)
        self._found = np.empty(0)

    def __call__(self, block: np.ndarray, found: np.ndarray) -> None:
        """Scan some columns."""
        from pellucid._core.kernels.mistakes import judge_histogram

        judge_histogram(block, *self._inputs, self._amount, self._bound, found)
        self._found = found

    def look(self, feature: int, limit: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """found[feature]; amounts at its edges; bins that could reach a limit."""
        first, last = self.position.item(feature, 0), self.position.item(feature, -1)
        wanted = self._bound[feature] <= limit
        wanted[: first + 1] = wanted[last + 1 :] = False
        return self._found[feature], self._amount[feature], wanted


def scan_rows(
    problem: Problem,
    labeled: LabeledRows,
    places: tuple[np.ndarray, np.ndarray],
    objective: ObjectiveTerms,
) -> RowScan:
    """How to scan columns, from the rows."""
    count = _count_stored if problem.bins.is_sparse else _count_rows
    return RowScan(problem, count(problem, labeled, places[1]), labeled, places, objective)


class RowScan:
    """Columns, judged by what thresholds separate.

    Parameters
    ----------
    problem : Problem
    count : callable
        ``count(features)`` tells which lines of which arrays hold weights and prices by center and
        bin.
    labeled : LabeledRows
    places : pair of ndarray
        Codes of the centers by feature, as they come and ascending.
    objective : ObjectiveTerms
    """

    def __init__(
        self, problem, count, labeled: LabeledRows, places, objective: ObjectiveTerms
    ) -> None:
        self.problem, self.labeled, self.objective = problem, labeled, objective
        self._count, (self._center_code, self.position) = count, places
        self.size = len(labeled.rows)
        bins, self._top = problem.bins, int(self.position[:, -1].max()) + 2
        width = len(labeled.sums) * _mean_width(bins, self.position)
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
        levels = self.levels(feature)
        found, wanted = self.objective.judge_column(feature, position, levels, inside, limit)
        return found, levels[0], wanted

    def levels(self, feature: int) -> np.ndarray:
        """Amount, fall and below of one column."""
        for few, levels in self._kept:
            if few[0] <= feature <= few[-1]:
                return levels[:, few.searchsorted(feature)]
        return self._tally(np.array([feature]))[:, 0]

    def _tally(self, few: np.ndarray) -> np.ndarray:
        from pellucid._core.kernels.mistakes import tally_separated

        levels = np.zeros((3, len(few), self._top), dtype=np.int64)
        levels[0] = self.labeled.base
        about = (self.labeled.sums, self._center_code, self.position)
        tally_separated(few, *self._count(few), *about, *levels)
        return levels


def _mean_width(bins, position: np.ndarray) -> int:
    """Bins of a column that are looked at."""
    return int(position[:, -1].mean()) + 2 if bins.is_sparse else bins.edges.shape[1]


def _count_rows(problem: Problem, labeled: LabeledRows, position: np.ndarray) -> Callable:
    from pellucid._core.kernels.mistakes import count_rows

    bins = problem.bins
    rows, own, weight, prices, sums, _ = labeled

    def count(few: np.ndarray):
        weights, costs = np.zeros((2, len(few), len(sums), bins.edges.shape[1]), dtype=np.int64)
        count_rows(few, bins.codes, rows, own, weight, prices, weights, costs)
        return np.arange(len(few)), weights, costs

    return count


def _count_stored(problem: Problem, labeled: LabeledRows, position: np.ndarray) -> Callable:
    from pellucid._core.kernels.mistakes import count_stored

    bins, n = problem.bins, problem.n_samples
    own, prices = np.full(n, -1, dtype=np.int32), problem.weights.units
    own[labeled.rows] = labeled.own
    is_priced = labeled.prices is not labeled.weight
    if is_priced:
        prices = np.zeros(n, dtype=np.int64)
        prices[labeled.rows] = labeled.prices
    entries = (bins.codes[0], bins.indices, bins.indptr, bins.zero_code)
    by_row = (own, problem.weights.units, prices, labeled.sums, position)
    top = int(position[:, -1].max()) + 2

    def count(few: np.ndarray):
        weights, *costs = np.empty(
            (1 + is_priced, len(few), len(labeled.sums), top), dtype=np.int64
        )
        count_stored(few, *entries, *by_row, weights, costs[0] if is_priced else weights[:0])
        return np.arange(len(few)), weights, costs[0] if is_priced else weights

    return count
