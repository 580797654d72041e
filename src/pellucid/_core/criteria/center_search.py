"""The search for the best splits of a node that separate reference centers.

A row that a threshold separates from its center costs at least its *margin* more. The weights and
margins by column, center and bin give an amount at every edge, and a bound inside every bin: exact
for mistakes, whose margins are the weights, and lower bounds for the induced cost.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from pellucid._core.criteria.column_search import (
    Split,
    best_edges,
    rows_in_bins,
    search_columns,
)
from pellucid._core.criteria.problem import Problem

_CHUNK = 2**16
"""Numbers of a histogram that are counted and scanned together: few enough to stay in cache."""

FIRST = np.zeros(1, dtype=np.intp)


class CenterCodes(NamedTuple):
    """Where the centers of a node lie in the columns, (n_features, n_centers).

    Codes in the order of the centers, and ascending.
    """

    by_center: np.ndarray
    ascending: np.ndarray

    @classmethod
    def of(cls, center_code: np.ndarray, centers: np.ndarray) -> CenterCodes:
        """Those of some centers, given the codes of all."""
        by_center = center_code.take(centers, axis=1)
        return cls(by_center, np.sort(by_center, axis=1))


class RowHistogram:
    """Histograms that are counted from rows, some columns at a time.

    `group` is the center of each row, as a place among the centers of the node; `totals` is the
    weight of all rows of each center. ``last[j]`` is the last bin of column j that matters; those
    above may be pooled. `counted` is the histogram of all columns, if it is known.
    """

    def __init__(
        self,
        problem: Problem,
        rows: np.ndarray,
        group: np.ndarray,
        weights: np.ndarray,
        totals: np.ndarray,
        last: np.ndarray,
        counted: np.ndarray | None = None,
    ) -> None:
        self.problem, self.totals, self._last, self._counted = problem, totals, last, counted
        self._rows, self._group, self._weights = rows, group, weights
        if problem.bins.is_sparse:
            self._n_bins, width = int(last.max()) + 2, int(last.mean()) + 2
            self._group = np.full(problem.n_samples, -1, dtype=np.int32)
            self._weights = np.zeros(problem.n_samples, dtype=np.int64)
            self._group[rows], self._weights[rows] = group, weights
        else:
            self._n_bins = width = problem.bins.edges.shape[1]
        size = len(totals) * width
        self._step = max(1, _CHUNK // size)
        self.cost_per_column = len(rows) if counted is None else size

    def chunks(self, features: np.ndarray) -> Iterator[np.ndarray]:
        """Parts of the features whose histograms are counted together."""
        step = self._step if self._counted is None else len(features)
        for start in range(0, len(features), step):
            yield features[start : start + step]

    def count(self, features: np.ndarray) -> np.ndarray:
        """Histogram of some columns, of shape (len(features), n_centers, n_bins)."""
        from pellucid._core.kernels.mistakes import hist_csc, hist_dense

        if self._counted is not None:
            has_all = len(features) == len(self._counted)
            return self._counted if has_all else self._counted.take(features, axis=0)
        bins, shape = self.problem.bins, (len(features), len(self.totals), self._n_bins)
        if not bins.is_sparse:
            out = np.zeros(shape, dtype=np.int64)
            hist_dense(features, bins.codes, self._rows, self._group, self._weights, out)
            return out
        out = np.empty(shape, dtype=np.int64)
        hist_csc(
            features=features,
            codes=bins.codes[0],
            indices=bins.indices,
            indptr=bins.indptr,
            zero_code=bins.zero_code,
            group=self._group,
            weights=self._weights,
            totals=self.totals,
            last=self._last,
            out=out,
        )
        return out


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
    from pellucid._core.kernels.mistakes import separation_sums

    n_edges = int(codes.ascending[:, -1].max()) + 2
    amount, decrease, weight_left = np.zeros((3, len(features), n_edges), dtype=np.int64)
    amount.fill(base)
    separation_sums(
        features=features,
        weights=weights,
        margins=margins,
        totals=totals,
        center_code=codes.by_center,
        sorted_code=codes.ascending,
        amount=amount,
        decrease=decrease,
        weight_left=weight_left,
    )
    return EdgeSums(amount, decrease, weight_left)


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
        from pellucid._core.kernels.mistakes import judge_edges

        candidates = np.zeros(inside.shape[1], dtype=bool)
        judge_edges(
            features=features,
            sorted_code=sorted_code,
            sums=sums,
            inside=inside,
            terms=self,
            limit=limit,
            depths=np.zeros(sorted_code.shape[1] + 1),
            found=found,
            candidates=candidates,
        )
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
        terms = self._replace(
            killer_left=self.killer_left[one], killer_right=self.killer_right[one]
        )
        column = EdgeSums(*(line[None] for line in sums))
        candidates = terms.judge(FIRST, sorted_code[None], column, inside[None], limit, found)
        return found[0], candidates


class LabeledRows(NamedTuple):
    """Rows of a node, each with a center and what separating it from that center costs at least.

    `center` is a place among the centers of the node. `sums`, (n_centers, 2), are weight and margin
    of all rows of each center, and `base` is the amount if no row is separated.
    """

    rows: np.ndarray
    center: np.ndarray
    weight: np.ndarray
    margin: np.ndarray
    sums: np.ndarray
    base: int


class CenterSearch(ABC):
    """The search for the n best splits of a node; a subclass knows the exact amounts of a column.

    `counted` is the histogram of the weights, if it is known.
    """

    def __init__(
        self,
        problem: Problem,
        labeled: LabeledRows,
        codes: CenterCodes,
        terms: ObjectiveTerms,
        n: int,
        counted: np.ndarray | None = None,
    ) -> None:
        self.problem, self.labeled, self.codes = problem, labeled, codes
        self.terms, self.n = terms, n
        last, totals = codes.ascending[:, -1], labeled.sums.T.copy()
        rows = problem, labeled.rows, labeled.center
        self.weights = RowHistogram(*rows, labeled.weight, totals[0], last, counted)
        self.margins = self.weights
        if labeled.margin is not labeled.weight:
            self.margins = RowHistogram(*rows, labeled.margin, totals[1], last)

    def best_splits(self, features: np.ndarray) -> list[Split]:
        """The n best splits in some columns."""
        n_gaps = self.codes.ascending.shape[1] - 1
        cost = self.weights.cost_per_column
        return search_columns(
            self.problem, features, cost, self.scan, self.refine, np.inf, n_gaps, self.n
        )

    def scan(self, features: np.ndarray, found: np.ndarray) -> None:
        """Judge the amounts of separated rows in some columns; see `search_columns`."""
        inside = self.problem.bins.inside
        for few in self.weights.chunks(features):
            self.terms.judge(
                few, self.codes.ascending, self.separation_sums(few), inside, -np.inf, found
            )

    def separation_sums(self, features: np.ndarray) -> EdgeSums:
        """Sums at the edges of some columns if every separated row costs its margin."""
        weights = self.weights.count(features)
        margins = weights if self.margins is self.weights else self.margins.count(features)
        totals, base = self.margins.totals, self.labeled.base
        return edge_sums(features, weights, margins, totals, self.codes, base)

    @abstractmethod
    def exact_sums(self, feature: int) -> tuple[EdgeSums, Callable[..., np.ndarray]]:
        """Exact sums at the edges of a column, and ``change(places, codes)``: what the amount
        changes when rows, by their places in the node, go to the left inside their bins.
        """

    def refine(self, feature: int, limit: float) -> np.ndarray:
        """Least objective and threshold in each gap of a column; see `search_columns`."""
        bins, rows, terms = self.problem.bins, self.labeled.rows, self.terms
        position, edges, inside = (
            of_column[feature] for of_column in (self.codes.ascending, bins.edges, bins.inside)
        )
        levels, change = self.exact_sums(feature)
        found, wanted = terms.judge_column(feature, position, levels, inside, limit)
        if self.n == 1 and (best := found[:, 0].min()) < limit:
            found, wanted = terms.judge_column(feature, position, levels, inside, best)
        cuts = best_edges(found, edges)
        places, codes, values = rows_in_bins(self.problem, feature, rows, wanted)
        weight = self.labeled.weight[places]
        inner = BinRows(values, codes, change(places, codes), weight)
        refine_within_bins(inner, feature, position, edges, levels, terms, cuts)
        return cuts


class BinRows(NamedTuple):
    """Rows of some bins, sorted by value.

    `change` is what the amount changes when the row goes to the left.
    """

    values: np.ndarray
    codes: np.ndarray
    change: np.ndarray
    weight: np.ndarray


def refine_within_bins(
    rows: BinRows,
    feature: int,
    position: np.ndarray,
    edges: np.ndarray,
    levels: EdgeSums,
    objective: ObjectiveTerms,
    cuts: np.ndarray,
) -> None:
    """Replace thresholds by better ones strictly inside bins.

    The amount at the edge below a bin is known; each row of the bin changes it when it goes to the
    left. So the values of the rows are evaluated as if they were edges. `cuts`, (n_gaps, 2), are
    the least objective so far in each gap between centers, and its threshold.
    """
    values, codes, change, weight = rows
    if not len(values):
        return
    inner = InnerThresholds(values, codes, position, edges)
    # One column more than thresholds, because the bin above the last edge is read too.
    amount, fall, below = np.zeros((3, len(inner.thresholds) + 1), dtype=np.int64)
    amount[:-1] = inner.sums(change, levels.amount)
    below[:-1] = inner.sums(weight, levels.weight_left)
    nothing_inside = np.zeros(len(amount), dtype=bool)
    found, _ = objective.judge_column(
        feature, inner.starts, EdgeSums(amount, fall, below), nothing_inside, -np.inf
    )
    for g in (found[:, 0] <= cuts[:, 0]).nonzero()[0].tolist():
        if found[g, 0] < np.inf:
            best = found[g, 0], inner.thresholds[int(found[g, 1])]
            cuts[g] = min(best, tuple(cuts[g]))


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
