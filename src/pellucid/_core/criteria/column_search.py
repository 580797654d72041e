"""The best splits over all columns, exact at the cost of a histogram: count, bound, refine.

A scan gives, for every column, the objective at every edge of its bins and a lower bound for all
thresholds inside them. Only columns whose bound reaches the best edge are refined, the most
promising first, and in them only the bins that could hold a better split.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple, TypeVar

import numpy as np

from pellucid._core import kernels
from pellucid._core.criteria.problem import Problem
from pellucid._core.data.arrays import sorted_together

_Result = TypeVar("_Result")

_MIN_SORTED = 2**13
"""Fewest rows that are judged by a thread of their own."""

_MIN_ROWS = 2**15
"""Rows that are worth a task of their own, if there is little to do for each."""

_MANY_ROWS = 2**18
"""Rows of a node from which on all threads refine one column together."""

FEW_ROWS, _MANY_COLUMNS, _FIRST_COLUMNS = 2**12, 64, 8
"""Rows of a node up to which columns are refined together, if at least so many are waiting; and how
many at first, since the most promising ones may decide.
"""


class Split(NamedTuple):
    """A split of one node; the better of two splits is the smaller.

    The criterion minimises `objective`. `threshold` is one of those that make the split, and `gain`
    is what the split improves: the order of best-first growth.
    """

    objective: float
    feature: int
    threshold: float
    gain: float = 0.0


class NodeSearch(ABC):
    """The search for the best splits of a node. A gap is a range of thresholds of a column.

    `rows` are those of the node, and `no_split` is the objective of no split at all.
    """

    problem: Problem
    rows: np.ndarray
    no_split: Any = np.inf
    refine_many: Callable[[np.ndarray], np.ndarray] | None = None
    """``refine_many(features)`` is `refine` for many columns of few rows, of which each alone is
    little work, if there is a loop for them.
    """

    @abstractmethod
    def scan(self, features: np.ndarray, found: np.ndarray) -> None:
        """Fill ``found[j, g]`` for each of some columns and each gap: the least objective over the
        edges, the edge that has it, and a lower bound for all other thresholds.
        """

    @abstractmethod
    def refine(self, feature: int, limit: Any) -> np.ndarray:
        """Objective and threshold of the best split in each gap of a column, edges included, as
        rows of an array; they need not be exact above `limit`.
        """

    def search_columns(
        self, features: np.ndarray, scan_cost: int, n_gaps: int = 1, n: int = 1, goal: Any = None
    ) -> list[Split]:
        """The n best splits in some columns, at most one from each gap of each, the best first.

        Smallest objective; ties go to the lowest feature, then to the lowest threshold. `features`
        are ascending. `scan_cost`, the numbers that the scan reads per column, and the number of
        rows decide whether threads share the columns, or whether `scan` and `refine` share the
        rows. Objectives are lower than `goal`, or than `no_split`.
        """
        problem, n_rows, no_split = self.problem, len(self.rows), self.no_split
        found = np.full((problem.n_features, n_gaps, 3), no_split, dtype=type(no_split))
        shares_rows = problem.shares_rows(n_rows, len(features))
        blocks = [features] if shares_rows else problem.feature_blocks(features, scan_cost)
        problem.pool.map(lambda block: self.scan(block, found), blocks)
        search = ColumnSearch(found[features], features, problem.bins.edges, no_split, n, goal)
        # The most promising column often decides, so all threads work on that one first.
        n_columns, n_together = 1, _FIRST_COLUMNS
        while columns := search.next_columns(n_columns):
            n_left = len(columns) + search.n_waiting
            if self.refine_many and n_rows <= FEW_ROWS and n_left >= _MANY_COLUMNS:
                blocks = problem.feature_blocks(np.array(columns), 64 * n_rows)
                search.store(columns, [*chain(*problem.pool.map(self.refine_many, blocks))])
                n_columns, n_together = n_together, 2 * n_together
                continue
            n_columns = 1 if n_rows >= _MANY_ROWS else problem.pool.n_threads
            refine_column = partial(self.refine, limit=search.limit)
            search.store(columns, problem.pool.map(refine_column, columns))
        return search.best_splits()


class ColumnSearch:
    """Columns of a node after a scan: which are refined next, and the best splits in the end.

    `found`, (n_columns, n_gaps, 3), is that of `NodeSearch.scan`; it is modified. `features` are
    ascending, and `edges` has shape (n_features, width).
    """

    def __init__(
        self,
        found: np.ndarray,
        features: np.ndarray,
        edges: np.ndarray,
        no_split: Any,
        n_best: int = 1,
        goal: Any = None,
    ) -> None:
        self.features, self._edges, self._n_best = features, edges, n_best
        self._values, self._edge = found[:, :, 0], found[:, :, 1]
        self._bound, self._least = found[:, :, 2].min(axis=1), found[:, :, 0].min(axis=1)
        self._goal = no_split if goal is None else goal
        self._refined: dict[int, np.ndarray] = {}
        bound, limit = self._bound, self.limit
        waiting = (bound <= limit if limit < no_split else bound < no_split).nonzero()[0]
        self._waiting = waiting[bound[waiting].argsort(kind="stable")]
        self._next = 0  # in `_waiting`

    @property
    def limit(self) -> Any:
        """Splits with a larger objective are not among the best."""
        if self._n_best == 1:
            return min(self._goal, self._least.min())
        n = min(self._n_best, self._values.size)
        return min(self._goal, np.partition(self._values, n - 1, axis=None)[n - 1])

    @property
    def n_waiting(self) -> int:
        """How many columns have to be refined if the limit stays."""
        waiting = self._bound[self._waiting[self._next :]]
        return int(waiting.searchsorted(self.limit, side="right"))

    def next_columns(self, n: int) -> list[int]:
        """Of the next n columns, those that must be refined; none if the search is finished."""
        limit, least = self.limit, self._least.min()
        some = self._waiting[self._next : self._next + n]
        bound = self._bound[some]
        may_win = bound <= limit
        if self._n_best == 1 and limit == least:  # of ties, the first column is the best
            may_win &= (bound < limit) | (some <= self._least.argmin())
        chosen = some[may_win]
        self._next = self._next + n if len(chosen) else len(self._waiting)
        return self.features[chosen].tolist()

    def store(self, columns: list[int], refined: Sequence[np.ndarray]) -> None:
        """Store objective and threshold of the best split in each gap of refined columns."""
        for i, of_column in zip(np.searchsorted(self.features, columns).tolist(), refined):
            self._values[i], self._refined[i] = of_column[:, 0], of_column[:, 1]
            self._least[i] = self._values[i].min()

    def best_splits(self) -> list[Split]:
        values, n_gaps = self._values, self._values.shape[1]
        # Of equal ones, the lowest column comes first, then the lowest gap.
        if self._n_best == 1:
            places = [int(values.argmin())]
        else:
            likely = (values.ravel() <= self.limit).nonzero()[0]
            order = values.ravel()[likely].argsort(kind="stable")
            places = likely[order[: self._n_best]].tolist()
        return [
            Split(values[i, g].item(), int(self.features[i]), self._threshold(i, g))
            for i, g in (divmod(place, n_gaps) for place in places)
            if values[i, g] < self._goal
        ]

    def _threshold(self, i: int, g: int) -> float:
        if i in self._refined:
            return float(self._refined[i][g])
        return float(self._edges[self.features[i], int(self._edge[i, g])])


def best_edges(found: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Objective and threshold of the best edge in each gap of a column."""
    return np.stack([found[:, 0], edges[found[:, 1].astype(np.intp)]], axis=1)


def map_bins(
    problem: Problem,
    feature: int,
    rows: np.ndarray,
    is_wanted: np.ndarray,
    work: Callable[[np.ndarray, np.ndarray, np.ndarray], _Result],
    max_rows: int = 2**62,
) -> list[_Result]:
    """``work(places, codes, values)`` for the rows in the wanted bins, by all threads: places in
    `rows`, codes and values of all rows of some bins, sorted by value.

    Several bins have at most `max_rows` rows together.
    """
    column, pool = problem.bins.dense_column(feature, problem.n_samples), problem.pool
    column_values = problem.column(feature)

    def select(block: tuple[int, int]) -> tuple[np.ndarray, ...]:
        some, n = rows[slice(*block)], block[1] - block[0]
        places, codes, values = np.empty(n + 1, np.intp), np.empty(n, column.dtype), np.empty(n)
        found = places, codes, values
        n = kernels.partition.select_bins(column, column_values, some, is_wanted, *found)
        return places[:n] + block[0], codes[:n], values[:n]

    parts = pool.map(select, pool.blocks(len(rows), _MIN_ROWS, per_thread=1))
    selected = parts[0] if len(parts) == 1 else list(map(np.concatenate, zip(*parts)))
    if not len(selected[0]):
        return []

    places, codes, values = sorted_together(selected, pool)
    least = _MIN_SORTED if pool.is_parallel else len(codes)
    size = min(max(len(codes) // pool.n_threads, least), max_rows)
    first = np.append(0, (codes[1:] != codes[:-1]).nonzero()[0] + 1)  # of each bin
    part = first // size
    starts = first[np.append(True, part[1:] != part[:-1])].tolist()
    pieces = [slice(*ends) for ends in zip(starts, [*starts[1:], len(codes)])]
    return pool.map(lambda piece: work(places[piece], codes[piece], values[piece]), pieces)
