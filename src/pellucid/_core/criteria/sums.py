"""Criteria that are a formula of sums over the rows of the two sides of a split.

A `SumFormula` is all that has to be written for such a criterion. It says what is added per row,
and what the sums of the two sides are worth. `SumCriterion` applies it to rows in memory, dense or
sparse; `BatchSumCriterion` to rows in batches. Sums are integers, so that all of them agree.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from pellucid._core import kernels
from pellucid._core.criteria.base import MemoryCriterion, Node
from pellucid._core.criteria.column_search import NodeSearch, Split, map_bins
from pellucid._core.criteria.problem import Problem
from pellucid._utils.arrays import filled

_CHUNK = 2**16
"""Numbers of a histogram that are filled and evaluated together, so that they stay in cache."""

_MAX_KEPT = 2**19
"""Numbers of the histograms of all columns up to which they are kept until columns are refined."""

_REFINED = 2**20
"""Numbers that the values of a column are refined to at a time, about 8 MiB."""

_MIN_ROWS = 2**13
"""Rows whose terms are computed together."""


class ColumnScan(NamedTuple):
    """What is known about the thresholds of some columns.

    `best` is the least objective at an edge of the bins, and `edge` the lowest that has it.
    `bounds`, (n_columns, n_bins), are lower bounds at all thresholds inside each bin;
    `SumFormula.no_split` for bins without such thresholds.
    """

    best: np.ndarray
    edge: np.ndarray
    bounds: np.ndarray


class SumFormula(ABC):
    """A criterion by the sums over the rows on either side of a split.

    By default, the sums are the weight of the rows by cluster of the reference, in units, and a
    leaf belongs to the cluster of most weight. With `needs_costs`, they are the costs of the rows
    at the centers. With `requires_gain`, only a split of a lower objective than `cost` counts; if a
    node has none, the first split that there is has a gain of 0. `no_split` is more than any
    objective.
    """

    needs_costs = False
    requires_gain = True
    no_split: Any = np.inf

    def n_channels(self, n_clusters: int) -> int:
        return n_clusters

    def terms_of_costs(self, costs: np.ndarray) -> np.ndarray:
        """What rows add, given their costs at the centers: (n_rows, n_channels), int64."""
        raise NotImplementedError

    def terms(self, problem: Problem, rows: np.ndarray) -> np.ndarray:
        """What some rows in memory add, if it is not their weight by cluster."""
        return self.terms_of_costs(problem.costs[rows])

    def start(self, totals: np.ndarray, weights_are_integers: bool) -> None:
        """Called before the search with the sums of all rows."""
        return

    def objective(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """What is minimised, by the sums of the sides of several splits, (n_splits, n_channels);
        needed unless `scan` has another form.
        """
        raise NotImplementedError

    def bound(self, below: np.ndarray, above: np.ndarray, totals: np.ndarray) -> np.ndarray:
        """Lower bounds of the objective inside bins, given the sums left of their lower and right
        of their upper edges. By default there are none, and all values are searched.
        """
        return np.full(len(below), -np.inf)

    @abstractmethod
    def cost(self, totals: np.ndarray) -> Any:
        """Objective of a leaf. The gain of a split is the difference."""

    def cluster(self, totals: np.ndarray) -> int:
        """Cluster of a leaf; ties go to the lowest."""
        return int(totals.argmax())

    def is_pure(self, totals: np.ndarray) -> bool:
        """Whether a node needs no split; by default, if all rows are of one cluster."""
        return bool(np.count_nonzero(totals) < 2)

    def scan(self, sums: np.ndarray, inside: np.ndarray, totals: np.ndarray) -> ColumnScan:
        """Judge all bins of some columns, given their sums: (n_columns, n_bins, n_channels)."""
        shape, n_channels = sums.shape[:2], sums.shape[2]
        left = sums.cumsum(axis=1)
        right, below = totals - left, left - sums
        values = self.objective(left.reshape(-1, n_channels), right.reshape(-1, n_channels))
        # Every row adds to some sum: a side without sums has no rows.
        is_split = left.any(axis=2) & right.any(axis=2)
        values = np.where(is_split, values.reshape(shape), self.no_split)
        has_rows, bounds = inside & sums.any(axis=2), np.full(shape, self.no_split)
        bounds[has_rows] = self.bound(below[has_rows], right[has_rows], totals)
        edge = values.argmin(axis=1)
        return ColumnScan(values[np.arange(len(edge)), edge], edge, bounds)

    def scan_one(self, sums: np.ndarray, inside: np.ndarray, totals: np.ndarray) -> Any:
        """Least objective, its edge and the bounds of one column."""
        best, edge, bounds = self.scan(sums[None], inside[None], totals)
        return best[0], int(edge[0]), bounds[0]


class OpenRows(NamedTuple):
    """Rows in some bins of a column, sorted by value: values, codes, and what each row adds."""

    values: np.ndarray
    codes: np.ndarray
    terms: np.ndarray


class SumSearch(NodeSearch):
    """The search for the best splits of some rows by a formula.

    `terms`, (n_rows, n_channels), is what each row adds; None for its weight by cluster. `totals`
    are the sums of all rows.
    """

    def __init__(
        self,
        problem: Problem,
        formula: SumFormula,
        rows: np.ndarray,
        totals: np.ndarray,
        terms: np.ndarray | None = None,
    ) -> None:
        self.problem, self.formula, self.rows, self.totals = problem, formula, rows, totals
        self.no_split = formula.no_split
        _ = problem.bins  # computed by all threads, before columns are scanned
        self._terms, self._kept = terms, dict[int, np.ndarray]()
        if terms is None:
            self._labels, self._units = problem.labels[rows], problem.weights.units_of(rows)

    @cached_property
    def _place(self) -> np.ndarray:
        """By row of the data, its cluster, or its place in `rows` and so in the terms; else -1."""
        place = np.full(self.problem.n_samples, -1, dtype=np.int32)
        place[self.rows] = self._labels if self._terms is None else np.arange(len(self.rows))
        return place

    def best_splits(self, n: int = 1, goal: Any = None) -> list[Split]:
        """The n best splits, at most one per column, with an objective below the goal."""
        features = np.arange(self.problem.n_features)
        return self.search_columns(features, len(self.rows), n=n, goal=goal)

    def scan(self, features: np.ndarray, found: np.ndarray) -> None:
        """Best edges and bounds of neighbouring columns."""
        bins, end = self.problem.bins, int(features[-1]) + 1
        n_sums = int(bins.n_edges.sum()) * len(self.totals)
        step = max(1, _CHUNK * len(bins.n_edges) // max(n_sums, 1))
        for first in range(int(features[0]), end, step):
            last = min(first + step, end)
            sums = self.sums(first, last)
            inside = bins.inside[first:last, : sums.shape[1]]
            scan = self.formula.scan(sums, inside, self.totals)
            found[first:last, 0] = np.stack([scan.best, scan.edge, scan.bounds.min(axis=1)], axis=1)
            if n_sums <= _MAX_KEPT:
                self._kept.update(zip(range(first, last), sums))

    def refine(self, feature: int, limit: Any) -> np.ndarray:
        sums, inside, edges = self.column(feature)
        best, edge, bounds = self.formula.scan_one(sums, inside, self.totals)
        found, below = [(best, edges[edge])], np.zeros((len(sums) + 1, len(self.totals)), np.int64)
        np.cumsum(sums, axis=0, out=below[1:])
        found += self.best_values(feature, bounds <= min(limit, best), below)
        # Objects, since integers of this size do not fit into floats.
        return np.array([min(found)], dtype=object)

    def column(self, feature: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Sums of a column by bin, whether bins may hold several values, and their edges."""
        bins, sums = self.problem.bins, self._kept.get(feature)
        sums = self.sums(feature, feature + 1)[0] if sums is None else sums
        return sums, bins.inside[feature, : len(sums)], bins.edges[feature]

    def best_values(
        self, feature: int, is_open: np.ndarray, below: np.ndarray
    ) -> list[tuple[Any, float]]:
        """The best threshold in some bins of a column, for parts of the bins that need little
        memory; `below` are the sums below each bin.
        """

        def judge(places: np.ndarray, codes: np.ndarray, values: np.ndarray) -> tuple[Any, float]:
            return self._best_value(OpenRows(values, codes, self._terms_at(places)), below)

        most = max(_REFINED // len(self.totals), 1)
        return map_bins(self.problem, feature, self.rows, is_open, judge, most)

    def _terms_at(self, places: np.ndarray) -> np.ndarray:
        """What some of the rows add."""
        if self._terms is not None:
            terms, shape = self._terms, (len(places), len(self.totals))
            pool = self.problem.pool
            return filled(shape, np.int64, pool, lambda rows: terms.take(places[rows], axis=0))
        terms = np.zeros((len(places), len(self.totals)), dtype=np.int64)
        terms[np.arange(len(places)), self._labels[places]] = self._units[places]
        return terms

    def _best_value(self, rows: OpenRows, below: np.ndarray) -> tuple[Any, float]:
        """Least objective of the thresholds at the values of rows, and the lowest that has it.

        Each value is judged as if it were a bin. The first value of a bin also gets the sums of the
        closed bins below it; `below` are the sums below each bin of the column, by code.
        """
        starts = np.flatnonzero(np.append(True, rows.values[1:] != rows.values[:-1]))
        by_value = rows.terms
        if len(starts) < len(by_value):
            by_value = np.add.reduceat(by_value, starts)
        codes = rows.codes.take(starts).astype(np.intp)
        first = np.flatnonzero(np.append(True, codes[1:] != codes[:-1]))
        by_value[first] += below[codes[first]]
        by_value[first[1:]] -= below[codes[first[:-1]] + 1]
        nothing_inside = np.zeros(len(starts), dtype=bool)
        best, place, _ = self.formula.scan_one(by_value, nothing_inside, self.totals)
        return best, float(rows.values[starts[place]])

    def sums(self, first: int, last: int) -> np.ndarray:
        """Sums of the columns first .. last - 1: (n_columns, n_bins, n_channels)."""
        problem, bins, features = self.problem, self.problem.bins, np.arange(first, last)
        width = min(int(bins.n_edges[first:last].max()) + 1, bins.edges.shape[1])
        shape = len(features), width, len(self.totals)
        if not bins.is_sparse:

            def add(rows: slice, columns: slice, sums: np.ndarray) -> None:
                codes, some = bins.codes[first:last][columns], self.rows[rows]
                if self._terms is not None:
                    kernels.surrogate_cost.add_losses(codes, some, self._terms[rows], sums)
                    return
                groups = self._labels[rows], self._units[rows], sums.transpose(0, 2, 1)
                kernels.mistakes.hist_dense(np.arange(len(codes)), codes, some, *groups)

            return problem.add_up(len(self.rows), shape, add)
        sums = np.zeros(shape, dtype=np.int64)
        entries = features, *bins.entries, self._place
        if self._terms is not None:
            kernels.surrogate_cost.add_csc_losses(*entries, self._terms, self.totals, sums)
        else:
            last_bin, units = np.full(problem.n_features, width - 2), problem.weights.units
            by_label = sums.transpose(0, 2, 1)
            kernels.mistakes.hist_csc(*entries, units, self.totals, last_bin, by_label)
        return sums


@dataclass(slots=True)
class SumState:
    """Sums of the rows of a node; None until needed."""

    totals: np.ndarray | None = None


class SumCriterion(MemoryCriterion[SumState]):
    """A formula of sums on rows in memory."""

    nodes_are_independent = True

    def __init__(self, problem: Problem, formula: SumFormula) -> None:
        super().__init__(problem)
        self.formula = formula
        if formula.needs_costs:
            _ = problem.costs, problem.bins  # computed by all threads, before nodes are
        everything = np.arange(problem.n_samples, dtype=np.int32)
        formula.start(self._count(everything), problem.weights.are_integers)

    def start_state(self, cluster: int | None = None) -> SumState:
        return SumState()

    def cluster(self, node: Node[SumState]) -> int:
        return self.formula.cluster(self._totals(node))

    def cost(self, node: Node[SumState]) -> Any:
        """Objective of the node as a leaf."""
        return self.formula.cost(self._totals(node))

    def gain_bound(self, node: Node[SumState]) -> float | None:
        return None if self.formula.is_pure(self._totals(node)) else np.inf

    def loss(self, node: Node[SumState], split: Split) -> Any:
        return -split.gain

    def best_splits(self, node: Node[SumState], n: int = 1) -> list[Split]:
        """The best splits, at most one per column; the gain is the fall of the objective."""
        formula, rows, totals = self.formula, node.rows.active, self._totals(node)
        if formula.is_pure(totals):
            return []
        terms = formula.terms(self.problem, rows) if formula.needs_costs else None
        cost, search = formula.cost(totals), SumSearch(self.problem, formula, rows, totals, terms)
        splits = search.best_splits(n, cost if formula.requires_gain else None)
        if not splits and formula.requires_gain:
            return self.first_split(node, cost)
        return [split._replace(gain=cost - split.objective) for split in splits]

    def _count(self, rows: np.ndarray) -> np.ndarray:
        if not self.formula.needs_costs:
            return self.problem.weight_by_cluster(rows)
        starts = range(0, len(rows), _MIN_ROWS)
        parts = [self.formula.terms(self.problem, rows[s : s + _MIN_ROWS]) for s in starts]
        return np.array([part.sum(axis=0) for part in parts]).sum(axis=0, dtype=np.int64)

    def _totals(self, node: Node[SumState]) -> np.ndarray:
        if node.state.totals is None:
            node.state.totals = self._count(node.rows.active)
        return node.state.totals


class NormalizedCut(SumFormula):
    """Least sum of the cut ratios of the two sides.

    In the label graph, every two rows of one cluster are joined. With N_c the weight of cluster c
    in all of the data and S_c that on one side, the cut ratio of the side is

        sum over c of S_c (N_c - S_c) / sum over c of S_c (N_c - 1),

    cut over degree, and 0 for a side without joined rows. Weights that are not integers do not
    stand for copies of a row; the degree is then the sum of S_c N_c, as if each row were joined to
    itself, so that only the ratios of the weights matter.

    No split has a positive gain: a split can only raise the sum of the cut ratios of all leaves,
    and the best split raises it least. A node with rows of one cluster only is not split.
    """

    requires_gain = False

    def start(self, totals: np.ndarray, weights_are_integers: bool) -> None:
        """Store N, and whether a row is joined to itself."""
        self._whole = totals.astype(np.float64)
        self._self_weight = 1.0 if weights_are_integers else 0.0

    def cost(self, totals: np.ndarray) -> float:
        cut = (totals * (self._whole - totals)).sum()
        degree = (totals * (self._whole - self._self_weight)).sum()
        return float(cut / degree) if degree > 0 else 0.0

    def scan(self, sums: np.ndarray, inside: np.ndarray, totals: np.ndarray) -> ColumnScan:
        n_columns, n_bins, k = sums.shape
        best, edge = np.empty(n_columns), np.empty(n_columns, dtype=np.intp)
        bounds, sides = np.empty((n_columns, n_bins)), np.empty((n_bins + 1, 4))
        graph = totals.astype(np.float64), self._whole, self._self_weight
        out = np.empty((4, k)), sides, best, edge, bounds
        kernels.normalized_cut.scan_columns(sums, inside, *graph, *out)
        return ColumnScan(best, edge, bounds)
