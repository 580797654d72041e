"""The best cut over all columns, exact at the price of a histogram: count, bound, refine.

A scan gives, for every column, the objective at every edge of its bins and a lower bound for all
thresholds inside them. Only columns whose bound reaches the best edge are opened, most promising
first, and in them only the bins that could hold a better cut.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from pellucid.cuts.problem import Problem
from pellucid.numeric.team import Team

LEAST_ROWS = 2**16
"""Fewest rows that are worth a task of their own, if there is little to do for each."""


class Cut(NamedTuple):
    """A cut of one cell; the better of two cuts is the smaller.

    Attributes
    ----------
    objective : float or int
        What the criterion minimises.
    feature : int
    at : float
        One threshold that makes the cut.
    gain : float or int
        How much better off the cell is after the cut; the order of best-first growth.
    """

    objective: float
    feature: int
    at: float
    gain: float = 0.0


def search_columns(
    problem: Problem,
    features: np.ndarray,
    size: int,
    scan: Callable[[np.ndarray, np.ndarray], object],
    refine: Callable[[int, float], np.ndarray],
    nothing: float,
    n_gaps: int = 1,
    n_best: int = 1,
    goal: float | None = None,
) -> list[Cut]:
    """The best cuts, at most one from each gap of each column, the best first.

    Smallest objective; among equals the lowest feature, then the lowest threshold.

    Parameters
    ----------
    problem : Problem
    features : ndarray of int
        Columns to look at, ascending.
    size : int
        Numbers that the scan looks at for each feature, to share out the work.
    scan : callable
        ``scan(features, found)`` fills, for each feature and gap, the least objective over the
        edges, the edge that has it, and a lower bound for everything that has not been looked at.
    refine : callable
        ``refine(feature, limit)`` looks there, and returns objective and threshold of the best
        cut in each gap, edges included; what lies above `limit` does not matter.
    nothing : float or int
        The objective of no cut at all.
    n_gaps : int
        Ranges of thresholds that each column is divided into.
    n_best : int
        How many cuts to return, if there are as many.
    goal : float or int, optional
        What the objective must be below to matter; `nothing` when left out.
    """
    found = np.full((problem.n_features, n_gaps, 3), nothing)
    blocks = problem.feature_blocks(features, size)
    problem.team.map(lambda block: scan(block, found), blocks)
    values, edge, bound = np.moveaxis(found[features], 2, 0)
    least = bound.min(axis=1)
    opened: dict[int, np.ndarray] = {}

    most = nothing if goal is None else goal

    def limit() -> float:
        return min(most, values.min() if n_best == 1 else _nth_smallest(values, n_best))

    def may_win(i: int, top: float) -> bool:
        """Whether a cut not seen yet could be among the best; of equals the lowest is."""
        if n_best == 1 and least[i] == top == values.min():
            return i <= np.argmin(values.min(axis=1))
        return least[i] <= top

    waiting = np.argsort(least, kind="stable")
    waiting = waiting[(least[waiting] <= limit()) & (least[waiting] < nothing)]
    # The most promising column often decides, so that the whole team turns to it first.
    start, step = 0, 1
    while start < len(waiting):
        top = limit()
        promising = [int(i) for i in waiting[start : start + step] if may_win(i, top)]
        start, step = start + step, problem.team.n_threads
        if not promising:
            break
        looked = problem.team.map(lambda i, top=top: refine(int(features[i]), top), promising)
        for i, cuts in zip(promising, looked):
            opened[i] = cuts[:, 1]
            values[i] = cuts[:, 0]
    places = np.argwhere((values <= limit()) & (values < most))
    if n_best == 1:  # all are equal, so that of the lowest column wins
        places = places[places[:, 0] == places[:1, 0]]
    cuts = [
        Cut(
            values[i, g].item(),
            int(features[i]),
            float(
                opened[i][g] if i in opened else problem.bins.edges[features[i], int(edge[i, g])]
            ),
        )
        for i, g in places.tolist()
    ]
    return sorted(cuts)[:n_best]


def edge_cuts(found: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Objective and threshold of the best edge in each gap of a column."""
    return np.column_stack([found[:, 0], edges[found[:, 1].astype(np.intp)]])


def _nth_smallest(values: np.ndarray, n: int) -> float:
    flat = values.ravel()
    return np.partition(flat, n - 1)[n - 1] if n <= len(flat) else flat.max()


class BinnedColumn:
    """One column for some rows: codes for all of them, values only where codes do not decide.

    Parameters
    ----------
    problem : Problem
    feature : int
    rows : ndarray of int
    """

    def __init__(self, problem: Problem, feature: int, rows: np.ndarray) -> None:
        self.problem, self.feature, self.rows = problem, feature, rows
        self._edges = problem.bins.edges[feature]
        self._codes = problem.bins.dense_column(feature, problem.n_samples)

    def at_most(self, threshold: float) -> np.ndarray:
        """Which rows go left at the threshold."""
        code = self._edges.searchsorted(threshold)
        table = np.zeros(len(self._edges), dtype=np.uint8)
        table[:code], table[code] = 1, 2
        found = _look_up(self.problem.team, self._codes, self.rows, table)
        left, unsure = found == 1, np.flatnonzero(found == 2)
        left[unsure] = self._values(unsure) <= threshold
        return left

    def around(self, at: float) -> tuple[float, float]:
        """Largest value up to a threshold and the smallest above it, or infinities."""
        if not len(self.rows):
            return -np.inf, np.inf
        code, width = self._edges.searchsorted(at), len(self._edges)
        low, high = self._within([code], at)
        if low == -np.inf or high == np.inf:  # in the next bins that hold any row, then
            is_there = np.bincount(self._codes.take(self.rows), minlength=width) > 0
            near, far = np.flatnonzero(is_there[:code]), np.flatnonzero(is_there[code + 1 :])
            more = self._within([*near[-1:], *(code + 1 + far[:1])], at)
            low, high = max(low, more[0]), min(high, more[1])
        return low, high

    def _within(self, bins: Sequence[int], at: float) -> tuple[float, float]:
        """The same among the rows in some bins."""
        wanted = np.zeros(len(self._edges), dtype=bool)
        wanted[bins] = True
        places = np.flatnonzero(_look_up(self.problem.team, self._codes, self.rows, wanted))
        return values_around(self._values(places), at)

    def _values(self, places: np.ndarray) -> np.ndarray:
        """Values at some places of `rows`."""
        return self.problem.values(self.feature, self.rows[places])


def values_around(values: np.ndarray, at: float) -> tuple[float, float]:
    """Largest of some values up to a threshold and the smallest above it, or infinities."""
    left = values <= at
    low = np.max(values, where=left, initial=-np.inf)
    return float(low), float(np.min(values, where=~left, initial=np.inf))


def open_bins(problem: Problem, feature: int, rows: np.ndarray, wanted: np.ndarray):
    """Places in `rows`, codes and values of the rows in the wanted bins, sorted by value."""
    column = problem.bins.dense_column(feature, problem.n_samples)
    places = np.flatnonzero(_look_up(problem.team, column, rows, wanted))
    inside = rows[places]
    values = problem.values(feature, inside)
    order = np.argsort(values, kind="stable")
    return places[order], column.take(inside[order]), values[order]


def _look_up(team: Team, column: np.ndarray, rows: np.ndarray, table: np.ndarray) -> np.ndarray:
    """What a table says of the code of each row; it holds bytes or truth values."""
    from pellucid.kernels.rows import look_up_codes

    table, found = table.view(np.uint8), np.empty(len(rows), dtype=table.dtype)
    room = found.view(np.uint8)
    team.map(
        lambda block: look_up_codes(column, rows[slice(*block)], table, room[slice(*block)]),
        team.blocks(len(rows), LEAST_ROWS),
    )
    return found
