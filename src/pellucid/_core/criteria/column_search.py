"""The best cut over all columns, exact at the price of a histogram: count, bound, refine.

A scan gives, for every column, the objective at every edge of its bins and a lower bound for all
thresholds inside them. Only columns whose bound reaches the best edge are opened, most promising
first, and in them only the bins that could hold a better cut.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pellucid._core.criteria.problem import Problem

LEAST_ROWS = 2**16
"""Fewest rows that are worth a task of their own, if there is little to do for each."""

_MANY_VALUES = 512
"""Values that are quicker to sort in two steps."""


class Split(NamedTuple):
    """A split of one node; the better of two splits is the smaller.

    Attributes
    ----------
    objective : float or int
        What the criterion minimises.
    feature : int
    threshold : float
        One of the thresholds that make the split.
    gain : float or int
        What the split improves; the order of best-first growth.
    """

    objective: float
    feature: int
    threshold: float
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
) -> list[Split]:
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
    found = np.empty((problem.n_features, n_gaps, 3), dtype=type(nothing))
    found.fill(nothing)
    blocks = problem.feature_blocks(features, size)
    problem.pool.map(lambda block: scan(block, found), blocks)
    if len(features) < len(found):
        found = found[features]
    values, edge, least = found[:, :, 0], found[:, :, 1], found[:, :, 2].min(axis=1)
    opened: dict[int, np.ndarray] = {}

    most = nothing if goal is None else goal

    def limit() -> float:
        return min(most, values.min() if n_best == 1 else _nth_smallest(values, n_best))

    def may_win(i: int, top: float) -> bool:
        """Whether a cut not seen yet could be among the best; of equals the lowest is."""
        if n_best == 1 and least[i] == top == values.min():
            return i <= np.argmin(values.min(axis=1))
        return least[i] <= top

    top = limit()
    waiting = (least <= top if top < nothing else least < nothing).nonzero()[0]
    waiting = waiting[least[waiting].argsort(kind="stable")].tolist()
    # The most promising column often decides, so that the whole pool turns to it first.
    start, step = 0, 1
    while start < len(waiting):
        promising = [i for i in waiting[start : start + step] if may_win(i, top)]
        start, step = start + step, problem.pool.n_threads
        if not promising:
            break
        looked = problem.pool.map(lambda i, top=top: refine(int(features[i]), top), promising)
        for i, cuts in zip(promising, looked):
            opened[i] = cuts[:, 1]
            values[i] = cuts[:, 0]
        top = limit()
    if n_best == 1:  # of equals the first, which is the lowest column and threshold
        places = [divmod(int(values.argmin()), n_gaps)]
    else:
        places = np.argwhere(values <= top).tolist()
    cuts = [
        Split(
            values[i, g].item(),
            int(features[i]),
            float(
                opened[i][g] if i in opened else problem.bins.edges[features[i], int(edge[i, g])]
            ),
        )
        for i, g in places
        if values[i, g] < most
    ]
    return sorted(cuts)[:n_best]


def edge_cuts(found: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Objective and threshold of the best edge in each gap of a column."""
    cuts = np.empty((len(found), 2))
    cuts[:, 0] = found[:, 0]
    cuts[:, 1] = edges[found[:, 1].astype(np.intp)]
    return cuts


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
        self._split: tuple[np.ndarray, float, float] | None = None

    def at_most(self, threshold: float) -> np.ndarray:
        """Which rows go left at the threshold."""
        return self._look(threshold)[0]

    def around(self, at: float) -> tuple[float, float]:
        """Largest value up to a threshold and the smallest above it, or infinities."""
        return self._look(at)[1:]

    def _look(self, at: float) -> tuple[np.ndarray, float, float]:
        """Both; all thresholds between two neighbouring values have the same answers."""
        if self._split is None or not self._split[1] <= at < self._split[2]:
            self._split = self._look_again(at)
        return self._split

    def _look_again(self, at: float) -> tuple[np.ndarray, float, float]:
        from pellucid._core.kernels.rows import split_rows

        problem, rows, pool = self.problem, self.rows, self.problem.pool
        left = np.empty(len(rows), dtype=bool)
        codes = problem.bins.dense_column(self.feature, problem.n_samples)
        values = problem.column(self.feature)
        code = problem.bins.edges[self.feature].searchsorted(at)
        ends = pool.map(
            lambda part: split_rows(codes, values, rows[part], code, at, left[part]),
            [slice(*block) for block in pool.blocks(len(rows), LEAST_ROWS)],
        )
        return left, max(low for low, _ in ends), min(high for _, high in ends)


def open_bins(problem: Problem, feature: int, rows: np.ndarray, wanted: np.ndarray):
    """Places in `rows`, codes and values of the rows in the wanted bins, sorted by value."""
    from pellucid._core.kernels.partition import rows_in_bins

    column, pool = problem.bins.dense_column(feature, problem.n_samples), problem.pool
    all_values = problem.column(feature)

    def look(block: tuple[int, int]) -> tuple[np.ndarray, ...]:
        some = rows[slice(*block)]
        places, values = np.empty(len(some) + 1, dtype=np.intp), np.empty(len(some))
        codes = np.empty(len(some), dtype=column.dtype)
        n = rows_in_bins(column, all_values, some, wanted, places, codes, values)
        return places[:n] + block[0], codes[:n], values[:n]

    parts = pool.map(look, pool.blocks(len(rows), LEAST_ROWS))
    opened = parts[0] if len(parts) == 1 else list(map(np.concatenate, zip(*parts)))
    order = order_of(opened[-1])
    return tuple(part.take(order) for part in opened)


def order_of(values: np.ndarray) -> np.ndarray:
    """Places of some values from small to large, equal ones in their order.

    NumPy sorts numbers of 16 bits, and what is all but sorted, in time of their number: values are
    brought near to their places by the former, and into them by the latter.
    """
    if len(values) >= _MANY_VALUES:
        low = float(values.min())
        span = float(values.max()) - low
        scale = 65535 / span if span > 0 else 0.0
        if 0 < scale < np.inf:
            near = ((values - low) * scale).astype(np.uint16).argsort(kind="stable")
            return near.take(values.take(near).argsort(kind="stable"))
    return values.argsort(kind="stable")
