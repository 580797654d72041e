"""Criteria that are a formula of sums over the rows of the two sides of a split.

A `SumFormula` is all that has to be written for such a criterion. It says what is added per row,
and what the sums of the two sides are worth. `SumCriterion` applies it to rows in memory, dense or
sparse; `BatchSumCriterion` to rows in batches. Sums are integers, so that all of them agree.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pellucid._core.criteria.base import MemoryCriterion, Node
from pellucid._core.criteria.column_search import Split, rows_in_bins, search_columns
from pellucid._core.criteria.problem import Problem

_CHUNK = 2**16
"""Numbers of a histogram that are filled and evaluated together, so that they stay in cache."""

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
        """Number of sums."""
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

    @abstractmethod
    def objective(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """What is minimised, for several splits: sums of their sides, (n_splits, n_channels)."""

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
        self._n_channels = formula.n_channels(problem.n_clusters)
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
        """None for a node that needs no split."""
        return None if self.formula.is_pure(self._totals(node)) else np.inf

    def loss(self, node: Node[SumState], split: Split) -> Any:
        """The rise of the objective."""
        return -split.gain

    def best_splits(self, node: Node[SumState], n: int = 1) -> list[Split]:
        """The best splits, at most one per column; the gain is the fall of the objective."""
        problem, formula, rows = self.problem, self.formula, node.rows.active
        totals = self._totals(node)
        if formula.is_pure(totals):
            return []
        bins, cost = problem.bins, formula.cost(totals)
        histograms = self._histograms(rows, totals)
        step = max(1, _CHUNK // (bins.edges.shape[1] * self._n_channels))

        def scan_block(block: np.ndarray, found: np.ndarray) -> None:
            for start in range(0, len(block), step):
                features = block[start : start + step]
                scan = formula.scan(histograms(features), bins.inside[features], totals)
                found[features, 0] = np.stack([scan.best, scan.edge, scan.bounds.min(axis=1)], 1)

        def refine(feature: int, limit: Any) -> np.ndarray:
            sums = histograms(np.array([feature]))[0]
            best, edge, bounds = formula.scan_one(sums, bins.inside[feature], totals)
            wanted = bounds <= min(limit, best)
            places, codes, values = rows_in_bins(problem, feature, rows, wanted)
            found = [(best, bins.edges[feature, edge])]
            for part in self._parts(codes):
                is_open = np.zeros(len(wanted), dtype=bool)
                is_open[codes[part]] = True
                given = rows[places[part]], codes[part], values[part]
                edges, by_value = self._by_value(*given, is_open, feature, sums)
                best, edge, _ = formula.scan_one(
                    by_value, np.zeros(len(by_value), dtype=bool), totals
                )
                found.append((best, edges[edge]))
            return np.array([min(found)], dtype=object)

        splits = search_columns(
            problem,
            np.arange(problem.n_features),
            len(rows),
            scan_block,
            refine,
            formula.no_split,
            n_best=n,
            goal=cost if formula.requires_gain else None,
        )
        if not splits and formula.requires_gain:
            return self.first_split(node, cost)
        return [split._replace(gain=cost - split.objective) for split in splits]

    def _parts(self, codes: np.ndarray) -> list[slice]:
        """Ascending codes in parts of whole bins, so that the sums of a part need little memory."""
        first = np.flatnonzero(np.append(True, codes[1:] != codes[:-1]))[: len(codes)]
        part_of_bin = first // max(_REFINED // self._n_channels, 1)
        starts = first[np.append(True, part_of_bin[1:] != part_of_bin[:-1])[: len(first)]]
        return [slice(*pair) for pair in zip(starts, [*starts[1:], len(codes)])]

    def _by_value(
        self,
        rows: np.ndarray,
        codes: np.ndarray,
        values: np.ndarray,
        wanted: np.ndarray,
        feature: int,
        sums: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Edges and sums of a column in which each value of the wanted bins is a bin."""
        is_new = np.append(True, values[1:] != values[:-1])
        starts, n_channels = is_new.nonzero()[0], self._n_channels
        if self.formula.needs_costs:
            by_value = np.add.reduceat(self._terms(rows), starts)
        else:
            place = (is_new.cumsum() - 1) * n_channels + self.problem.labels[rows]
            units = self.problem.weights.units_of(rows)
            by_value = np.bincount(place, units, minlength=len(starts) * n_channels)
            by_value = by_value.astype(np.int64).reshape(-1, n_channels)
        closed = (~wanted).nonzero()[0]
        edges = np.append(self.problem.bins.edges[feature, closed], values[starts])
        bins = np.append(closed, codes[starts])
        order = np.lexsort((edges, bins))
        return edges[order], np.concatenate([sums[closed], by_value])[order]

    def _terms(self, rows: np.ndarray) -> np.ndarray:
        """What some rows add if it is not their weight by cluster: (n_rows, n_channels)."""
        return self.formula.terms(self.problem, rows)

    def _count(self, rows: np.ndarray) -> np.ndarray:
        """Sums of some rows."""
        if not self.formula.needs_costs:
            labels, weights = self.problem.labels[rows], self.problem.weights
            # Sums of units are below 2**52, so that those of floats are exact.
            units = None if weights.are_ones else weights.units[rows]
            return np.bincount(labels, units, minlength=self._n_channels).astype(np.int64)
        starts = range(0, len(rows), _MIN_ROWS)
        parts = [self._terms(rows[start : start + _MIN_ROWS]).sum(axis=0) for start in starts]
        return np.array(parts).sum(axis=0, dtype=np.int64)

    def _totals(self, node: Node[SumState]) -> np.ndarray:
        if node.state.totals is None:
            node.state.totals = self._count(node.rows.active)
        return node.state.totals

    def _histograms(self, rows: np.ndarray, totals: np.ndarray) -> Any:
        """A function of columns: the sums of the rows by column, bin and channel."""
        from pellucid._core.kernels.mistakes import hist_csc, hist_dense
        from pellucid._core.kernels.surrogate_cost import add_losses

        problem, bins = self.problem, self.problem.bins
        shape = bins.edges.shape[1], self._n_channels
        if self.formula.needs_costs:
            terms = self._terms(rows)
        else:
            labels, units = problem.labels[rows], problem.weights.units_of(rows)
            if bins.is_sparse:
                group = np.full(problem.n_samples, -1, dtype=np.int32)
                group[rows] = labels
                last = np.full(problem.n_features, shape[0] - 2)

        def histograms(features: np.ndarray) -> np.ndarray:
            sums = np.zeros((len(features), *shape), dtype=np.int64)
            if self.formula.needs_costs:
                for j, out in zip(features, sums):
                    codes = bins.dense_column(int(j), problem.n_samples)
                    add_losses(codes[None], rows, terms, out[None])
            elif bins.is_sparse:
                entries = (bins.codes[0], bins.indices, bins.indptr, bins.zero_code, group)
                by_group = problem.weights.units, totals, last, sums.transpose(0, 2, 1)
                hist_csc(features, *entries, *by_group)
            else:
                hist_dense(features, bins.codes, rows, labels, units, sums.transpose(0, 2, 1))
            return sums

        return histograms


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
        """Cut ratio of a node."""
        return float(self._ratios(totals[None])[0])

    def objective(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Sum of the cut ratios of both sides."""
        return self._ratios(left) + self._ratios(right)

    def _ratios(self, sums: np.ndarray) -> np.ndarray:
        cut = (sums * (self._whole - sums)).sum(axis=1)
        degree = (sums * (self._whole - self._self_weight)).sum(axis=1)
        return np.divide(cut, degree, out=np.zeros(len(sums)), where=degree > 0)

    def scan(self, sums: np.ndarray, inside: np.ndarray, totals: np.ndarray) -> ColumnScan:
        """Judge all bins of some columns by a compiled loop, with bounds inside the bins."""
        from pellucid._core.kernels.normalized_cut import (
            LabelGraph,
            NormalizedCutWorkspace,
            scan_columns,
        )

        n_columns, n_bins, k = sums.shape
        found = ColumnScan(
            np.empty(n_columns), np.empty(n_columns, dtype=np.intp), np.empty((n_columns, n_bins))
        )
        graph = LabelGraph(totals, self._whole, self._self_weight)
        workspace = NormalizedCutWorkspace(
            np.empty(k), np.empty(k), np.empty(n_bins), np.empty((n_bins + 1, 4))
        )
        scan_columns(sums, inside, graph, found.bounds, found.best, found.edge, workspace)
        return found
