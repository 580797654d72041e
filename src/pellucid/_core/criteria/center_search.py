"""The search for the best splits of a node that separate reference centers.

A row that a threshold separates from its center costs at least its *margin* more. The weights and
margins by column, center and bin give an amount at every edge, and a bound inside every bin: exact
for mistakes, whose margins are the weights, and lower bounds for the induced cost.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pellucid._core import kernels
from pellucid._core.criteria.column_search import NodeSearch, Split, best_edges, map_bins
from pellucid._core.criteria.problem import Problem

CHUNK = 2**16
"""Numbers of a histogram that are counted and scanned together: few enough to stay in cache."""

FIRST = np.zeros(1, dtype=np.intp)


class CenterCodes(NamedTuple):
    """Codes of the centers of a node, (n_features, n_centers), in their order and ascending."""

    by_center: np.ndarray
    ascending: np.ndarray

    @classmethod
    def of(cls, center_code: np.ndarray, centers: np.ndarray) -> CenterCodes:
        by_center = center_code.take(centers, axis=1)
        return cls(by_center, np.sort(by_center, axis=1))


class EdgeSums(NamedTuple):
    """Sums at the edges of columns; see `pellucid._core.kernels.mistakes`."""

    amount: np.ndarray
    decrease: np.ndarray
    weight_left: np.ndarray


def edge_sums(
    features: np.ndarray,
    weights: np.ndarray,
    margins: np.ndarray,
    totals: np.ndarray,
    codes: CenterCodes,
    base: int = 0,
) -> EdgeSums:
    """Sums at the edges of columns if every separated row costs its margin; see the kernel.

    `weights` and `margins` are histograms by place in `features`, center and bin, `totals` the
    margins of all rows by center, and `base` is the amount if no row is separated.
    """
    n_edges = int(codes.ascending[:, -1].max()) + 2
    amount, decrease, weight_left = np.zeros((3, len(features), n_edges), dtype=np.int64)
    amount.fill(base)
    of_centers = totals, codes.by_center, codes.ascending
    sums = EdgeSums(amount, decrease, weight_left)
    kernels.mistakes.separation_sums(features, weights, margins, *of_centers, *sums)
    return sums


class ObjectiveTerms(NamedTuple):
    """Terms of an objective; see `pellucid._core.kernels.mistakes`.

    `is_amount` says that the objective is the amount alone, and the amount is exact.
    """

    divisor: np.ndarray
    penalty: float
    total: float
    min_weight: float
    killer_left: np.ndarray
    killer_right: np.ndarray
    is_amount: bool = False

    def judge(
        self,
        features: np.ndarray,
        sorted_code: np.ndarray,
        sums: EdgeSums,
        inside: np.ndarray,
        limit: float,
        found: np.ndarray,
    ) -> np.ndarray:
        """Fill ``found[j, g]`` for some columns; returns the bins that could reach a limit."""
        candidates, depths = np.zeros(inside.shape[1], bool), np.zeros(sorted_code.shape[1] + 1)
        out = depths, found, candidates
        kernels.mistakes.judge_edges(features, sorted_code, sums, inside, self, limit, *out)
        return candidates

    def judge_column(
        self,
        feature: int,
        sorted_code: np.ndarray,
        sums: EdgeSums,
        inside: np.ndarray,
        limit: float,
    ) -> tuple[np.ndarray, np.ndarray]:
        """The best edge and a bound for each gap of one column; bins that could reach a limit."""
        found, one = np.empty((1, len(sorted_code) - 1, 3)), slice(feature, feature + 1)
        left, right = self.killer_left[one], self.killer_right[one]
        terms = self._replace(killer_left=left, killer_right=right)
        column = EdgeSums(*(line[None] for line in sums))
        candidates = terms.judge(FIRST, sorted_code[None], column, inside[None], limit, found)
        return found[0], candidates


class CenterSearch(NodeSearch):
    """The search for the n best splits of a node; a subclass knows the amounts.

    `rows` are those of the node, and `weight` their weights. `step` is the number of columns that
    are scanned together, and `cost_per_column` that of the numbers read for each.
    """

    cost_per_column: int
    step: int

    def __init__(
        self,
        problem: Problem,
        rows: np.ndarray,
        weight: np.ndarray,
        codes: CenterCodes,
        terms: ObjectiveTerms,
        n: int,
    ) -> None:
        self.problem, self.rows, self.weight = problem, rows, weight
        self.codes, self.terms, self.n = codes, terms, n

    def best_splits(self, features: np.ndarray) -> list[Split]:
        n_gaps = self.codes.ascending.shape[1] - 1
        return self.search_columns(features, self.cost_per_column, n_gaps, self.n)

    def scan(self, features: np.ndarray, found: np.ndarray) -> None:
        inside, codes = self.problem.bins.inside, self.codes.ascending
        for start in range(0, len(features), self.step):
            few = features[start : start + self.step]
            self.terms.judge(few, codes, self.separation_sums(few), inside, -np.inf, found)

    @abstractmethod
    def separation_sums(self, features: np.ndarray) -> EdgeSums:
        """Sums at the edges of some columns if every separated row costs its margin."""

    @abstractmethod
    def exact_sums(self, feature: int) -> tuple[EdgeSums, Callable[..., np.ndarray]]:
        """Exact sums at the edges of a column, and ``change(places, codes)``: what the amount
        changes when rows, by their places in the node, go to the left inside their bins.
        """

    def refine(self, feature: int, limit: float) -> np.ndarray:
        bins, position, terms = self.problem.bins, self.codes.ascending[feature], self.terms
        edges, inside = bins.edges[feature], bins.inside[feature]
        levels, change = self.exact_sums(feature)
        found, wanted = terms.judge_column(feature, position, levels, inside, limit)
        if self.n == 1 and (best := found[:, 0].min()) < limit:
            found, wanted = terms.judge_column(feature, position, levels, inside, best)
        cuts = best_edges(found, edges)

        def best_inside(places: np.ndarray, codes: np.ndarray, values: np.ndarray) -> np.ndarray:
            # The amount at the edge below a bin is known; each row of the bin changes it when it
            # goes to the left. So the values of the rows are judged as if they were edges.
            inner = InnerThresholds(values, codes, position, edges)
            # One column more than thresholds, because the bin above the last edge is read too.
            amount, fall, below = np.zeros((3, len(inner.thresholds) + 1), dtype=np.int64)
            amount[:-1] = inner.sums(change(places, codes), levels.amount)
            below[:-1] = inner.sums(self.weight.take(places), levels.weight_left)
            sums, nothing_inside = EdgeSums(amount, fall, below), np.zeros(len(amount), dtype=bool)
            found, _ = terms.judge_column(feature, inner.starts, sums, nothing_inside, -np.inf)
            return best_edges(found, np.append(inner.thresholds, np.inf))

        for of_bins in map_bins(self.problem, feature, self.rows, wanted, best_inside):
            for g, cut in enumerate(of_bins.tolist()):
                cuts[g] = min(tuple(cuts[g]), tuple(cut))
        return cuts


class InnerThresholds:
    """Thresholds strictly inside bins: the values of the rows in these bins.

    `values` and `codes` are those of at least one row, sorted by value; `sorted_code` are the codes
    of the node's centers, ascending: the gaps lie between them. `edges` are those of the column.
    `thresholds` are ascending; those of gap g are ``thresholds[starts[g]:starts[g + 1]]``.
    """

    def __init__(
        self, values: np.ndarray, codes: np.ndarray, sorted_code: np.ndarray, edges: np.ndarray
    ) -> None:
        new_bin = (codes[1:] != codes[:-1]).nonzero()[0]
        self._first, last = np.append(0, new_bin + 1), np.append(new_bin, len(codes) - 1)
        self._bins, self._sizes = codes[self._first].astype(np.intp), last - self._first + 1
        gap = sorted_code.searchsorted(self._bins) - 1
        is_threshold = np.empty(len(values), dtype=bool)
        is_threshold[:-1] = values[1:] != values[:-1]
        # After the last value of a bin comes its upper edge. A center on that edge belongs to the
        # next gap, so thresholds between the value and the edge differ from the edge.
        on_center = self._bins == sorted_code[gap + 1]
        is_threshold[last] = on_center & (values[last] < edges[self._bins])
        self._places = is_threshold.nonzero()[0]
        self.thresholds = values[self._places]
        gap_starts = gap.searchsorted(np.arange(len(sorted_code)))
        self.starts = self._places.searchsorted(np.append(self._first, len(values))[gap_starts])

    def sums(self, change: np.ndarray, at_edges: np.ndarray) -> np.ndarray:
        """A quantity at the thresholds: its value at the edge below the bin, plus the changes by
        the rows of the bin up to the threshold.
        """
        sums, first = change.cumsum(), self._first
        start = at_edges[self._bins - 1] - sums[first] + change[first]
        return (sums + np.repeat(start, self._sizes))[self._places]
