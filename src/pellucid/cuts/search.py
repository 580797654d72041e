"""The best cut over all columns, exact at the price of a histogram: count, bound, refine.

A scan gives, for every column, the objective at every edge of its bins and a lower bound for all
thresholds inside them. Only columns whose bound reaches the best edge are opened, most promising
first, and in them only the bins that could hold a better cut.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pellucid.cuts.problem import Problem


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
    scan: Callable[[np.ndarray, np.ndarray], None],
    refine: Callable[[int, float], Cut],
    nothing: float,
    goal: float | None = None,
) -> Cut | None:
    """Smallest objective; among equals the lowest feature, then the lowest threshold.

    Parameters
    ----------
    problem : Problem
    features : ndarray of int
        Columns to look at, ascending.
    size : int
        Numbers that the scan looks at for each feature, to share out the work.
    scan : callable
        ``scan(features, found)`` fills, for each feature, the least objective over the edges, the
        edge that has it, and a lower bound for everything that has not been looked at.
    refine : callable
        ``refine(feature, limit)`` looks there; what it finds above `limit` does not matter.
    nothing : float or int
        The objective of no cut at all.
    goal : float or int, optional
        What the objective must be below to matter; `nothing` when left out.
    """
    found = np.full((problem.n_features, 3), nothing)
    blocks = problem.feature_blocks(features, size)
    problem.team.map(lambda block: scan(block, found), blocks)
    least = nothing if goal is None else goal
    best = Cut(least, -1, np.nan)
    values, edge, bound = found.T
    if values[features].min() < least:
        least = values[features].min()
        j = features[np.argmax(values[features] == least)]
        best = Cut(least.item(), int(j), problem.bins.edges[j, int(edge[j])])
    waiting = features[(bound[features] <= best.objective) & (bound[features] < nothing)]
    waiting = waiting[np.argsort(bound[waiting], kind="stable")]
    step = problem.team.n_threads
    for start in range(0, len(waiting), step):
        limit = best.objective
        promising = [int(j) for j in waiting[start : start + step] if bound[j] <= limit]
        if not promising:
            break
        looked = problem.team.map(lambda j, limit=limit: refine(j, limit), promising)
        best = min([best, *looked])
    return None if best.feature < 0 else best


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
        column = problem.bins.dense_column(feature, problem.n_samples)
        self.codes = column if len(rows) == problem.n_samples else column.take(rows)

    def values(self, places: np.ndarray) -> np.ndarray:
        """Values at some places of `rows`."""
        return self.problem.values(self.feature, self.rows[places])

    def at_most(self, threshold: float) -> np.ndarray:
        """Which rows go left at the threshold."""
        code, on_edge = self._locate(threshold)
        if on_edge:
            return self.codes <= code
        left = self.codes < code
        unsure = np.flatnonzero(self.codes == code)
        left[unsure] = self.values(unsure) <= threshold
        return left

    def largest(self, at_most: float) -> float:
        """Largest value up to a threshold; minus infinity if there is none."""
        code, on_edge = self._locate(at_most)
        if not on_edge:
            values = self._in_bin(code)
            found = np.max(values, where=values <= at_most, initial=-np.inf)
            if found > -np.inf:
                return float(found)
        last = code if on_edge else code - 1
        if last < 0:
            return -np.inf
        top, _ = self._code_range(last)
        return float(np.max(self._in_bin(top), initial=-np.inf))

    def smallest(self, above: float) -> float:
        """Smallest value above a threshold; infinity if there is none."""
        code, on_edge = self._locate(above)
        if not on_edge:
            values = self._in_bin(code)
            found = np.min(values, where=values > above, initial=np.inf)
            if found < np.inf:
                return float(found)
        _, bottom = self._code_range(code)
        if bottom <= code:
            return np.inf
        return float(np.min(self._in_bin(bottom), initial=np.inf))

    def _in_bin(self, code: int) -> np.ndarray:
        """Values of the rows in a bin."""
        return self.values(np.flatnonzero(self.codes == code))

    def _code_range(self, code: int) -> tuple[int, int]:
        from pellucid.kernels.rows import code_range

        whole = self.codes.dtype.type
        return code_range(self.codes, whole(code), whole(0), whole(np.iinfo(whole).max))

    def _locate(self, threshold: float) -> tuple[int, bool]:
        """Code of a threshold, and whether it is an edge, so that codes decide for all rows."""
        edges = self.problem.bins.edges[self.feature]
        code = int(np.searchsorted(edges, threshold))
        return code, bool(edges[code] == threshold)


def open_bins(problem: Problem, feature: int, rows: np.ndarray, wanted: np.ndarray):
    """Places in `rows`, codes and values of the rows in the wanted bins, sorted by value."""
    from pellucid.kernels.rows import find_wanted

    column = problem.bins.dense_column(feature, problem.n_samples)
    places = find_wanted(column, rows, wanted)
    inside = rows[places]
    values = problem.values(feature, inside)
    order = np.argsort(values, kind="stable")
    return places[order], column.take(inside[order]), values[order]
