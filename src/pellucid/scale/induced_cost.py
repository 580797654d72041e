"""Induced cost of the splits of many nodes at once (ExGreedy, ExShallow)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pellucid._core.criteria.column_search import ColumnSearch, best_edges
from pellucid._core.criteria.induced_cost import excess_at_edges
from pellucid._core.criteria.mistake_scans import EdgeSums, ObjectiveTerms
from pellucid.scale.batches import Batch
from pellucid.scale.columns import FineColumn
from pellucid.scale.node_search import Search, search_node
from pellucid.scale.problem import OpenNode, ScaleProblem
from pellucid.scale.routing import Routing, rows_by_leaf

_RIGHT, _LEFT, _WEIGHT = range(3)
"""Channels: excess of the rows whose nearest center is to the right, to the left; weight."""


@dataclass(frozen=True)
class NodeCenters:
    """Where the centers of a node lie in the columns, by the bins of the quantizer.

    Attributes
    ----------
    centers : ndarray of int
    rank : ndarray of shape (n_features, n_centers)
        Rank of each center in a column.
    ordered : ndarray of shape (n_features, n_centers)
        The centers in the order of a column.
    gap_of_bin : ndarray of shape (n_features, n_bins)
        The gap between centers in which each bin lies; -1 and n_gaps outside.
    """

    centers: np.ndarray
    rank: np.ndarray
    ordered: np.ndarray
    gap_of_bin: np.ndarray

    @classmethod
    def of(cls, centers: np.ndarray, center_code: np.ndarray, n_bins: int) -> NodeCenters:
        """From the codes of all centers: (n_features, n_clusters)."""
        codes = center_code.take(centers, axis=1)
        order = codes.argsort(axis=1)
        rank = np.empty_like(order)
        np.put_along_axis(rank, order, np.arange(len(centers))[None], axis=1)
        ascending, bins = np.sort(codes, axis=1), np.arange(n_bins)
        gap = np.array([np.searchsorted(line, bins) - 1 for line in ascending])
        return cls(centers, rank, centers[order], gap)


@dataclass(frozen=True)
class InducedCostRows:
    """Excess cost of rows that a threshold separates from their nearest center of the node."""

    nodes: dict[int, NodeCenters]
    centers: np.ndarray
    cost_unit: float

    def rows(self, batch: Batch, leaf: np.ndarray, numbers: list[int]) -> dict[int, np.ndarray]:
        """All rows of some nodes."""
        return rows_by_leaf(leaf, numbers)

    def n_channels(self, node: int) -> int:
        """Excess to the right and to the left, and weight."""
        return 3

    def channels(self, batch: Batch, node: int, feature: int, rows: np.ndarray) -> np.ndarray:
        """The terms of some rows."""
        info = self.nodes[node]
        costs = batch.costs(self.centers, self.cost_unit, rows)
        weight = batch.weights.units_of(rows)
        nearest = find_nearest_centers(costs, weight, info.centers)[0]
        codes = batch.column_codes(feature)[rows]
        change, _ = excess_by_row(costs, codes, nearest, info, feature)
        terms = np.zeros((len(rows), 3), dtype=np.int64)
        terms[:, _RIGHT], terms[:, _LEFT] = np.maximum(change, 0), np.maximum(-change, 0)
        terms[:, _WEIGHT] = weight
        return terms


def find_nearest_centers(costs: np.ndarray, weight: np.ndarray, centers: np.ndarray):
    """Position of each row's nearest center among some; weight, margin and cost by center."""
    from pellucid._core.kernels.induced_cost import find_nearest

    nearest, margin = np.empty(len(costs), dtype=np.intp), np.empty(len(costs), dtype=np.int64)
    sums = np.zeros((len(centers), 3), dtype=np.int64)
    rows = np.arange(len(costs), dtype=np.int32)
    find_nearest(rows, weight, centers, costs, nearest, margin, sums)
    return nearest, sums


def excess_by_row(
    costs: np.ndarray, codes: np.ndarray, nearest: np.ndarray, info: NodeCenters, feature: int
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Change of the excess by each row that goes to the left; sums by gap and by bin."""
    from pellucid._core.kernels.induced_cost import sum_excess

    n_gaps, n_bins = len(info.centers) - 1, info.gap_of_bin.shape[1]
    by_gap, by_bin = np.zeros(n_gaps, np.int64), np.zeros((2, n_bins), np.int64)
    change = np.empty(len(codes), dtype=np.int64)
    sum_excess(
        codes=codes,
        rows=np.arange(len(codes), dtype=np.int32),
        nearest_rank=info.rank[feature].take(nearest),
        ordered=info.ordered[feature],
        costs=costs,
        gap_of_bin=info.gap_of_bin[feature],
        by_gap=by_gap,
        by_bin=by_bin,
        change=change,
    )
    return change, (by_gap, by_bin)


class NodeSums(NamedTuple):
    """Sums over the rows of a node.

    Attributes
    ----------
    totals : ndarray of shape (2,)
        Weight, and cost at the nearest centers.
    by_gap : ndarray of shape (n_features, n_gaps)
    by_bin : ndarray of shape (n_features, n_bins, 3)
        The channels.
    """

    totals: np.ndarray
    by_gap: np.ndarray
    by_bin: np.ndarray


@dataclass(frozen=True)
class InducedCostTask:
    """Sums of all columns of some nodes."""

    routing: Routing
    criterion: InducedCostRows

    def __call__(self, batch: Batch) -> dict[int, NodeSums]:
        """Sums of one batch, by node."""
        nodes = self.criterion.nodes
        rows_of = rows_by_leaf(self.routing.leaves(batch), list(nodes))
        return {number: self._node(batch, rows_of[number], nodes[number]) for number in nodes}

    def _node(self, batch: Batch, rows: np.ndarray, info: NodeCenters) -> NodeSums:
        n_features, n_bins = info.gap_of_bin.shape
        by_gap = np.zeros((n_features, len(info.centers) - 1), dtype=np.int64)
        by_bin = np.zeros((n_features, n_bins, 3), dtype=np.int64)
        criterion, weight = self.criterion, batch.weights.units_of(rows)
        costs = batch.costs(criterion.centers, criterion.cost_unit, rows)
        nearest, sums = find_nearest_centers(costs, weight, info.centers)
        for feature in range(n_features):
            codes = batch.column_codes(feature)[rows]
            _, (gaps, excess) = excess_by_row(costs, codes, nearest, info, feature)
            by_gap[feature], by_bin[feature, :, :2] = gaps, excess.T
            units = np.bincount(codes, weights=weight, minlength=n_bins)
            by_bin[feature, :, _WEIGHT] = units.astype(np.int64)
        return NodeSums(sums[:, [0, 2]].sum(axis=0), by_gap, by_bin)

    def merge(self, first: dict[int, NodeSums], second: dict[int, NodeSums]):
        """Sums of two batches."""
        return {n: NodeSums(*(a + b for a, b in zip(first[n], second[n]))) for n in first}


class PartitionedInducedCost:
    """Best splits by induced cost and expected depth; see `InducedCost`.

    Parameters
    ----------
    problem : ScaleProblem
    depth_penalty : float
        λ of the ExShallow paper.
    """

    has_passive_rows = False

    def __init__(self, problem: ScaleProblem, depth_penalty: float = 0.0) -> None:
        self.problem, self.depth_penalty = problem, float(depth_penalty)

    def row_sums(self, nodes: Sequence[OpenNode]) -> InducedCostRows:
        """What is summed over the rows of some nodes."""
        problem = self.problem
        infos = {
            node.number: NodeCenters.of(node.centers, problem.bins.center_code, problem.n_bins)
            for node in nodes
        }
        return InducedCostRows(infos, problem.centers, problem.cost_unit)

    def searches(
        self, nodes: Sequence[OpenNode], routing: Routing, n: int = 1
    ) -> dict[int, Search]:
        """Searches for the n best splits of nodes with several centers, after one pass."""
        found = self.problem.map(InducedCostTask(routing, self.row_sums(nodes)))
        return {node.number: self._search(node, found[node.number], n) for node in nodes}

    def _search(self, node: OpenNode, sums: NodeSums, n: int) -> Search:
        coordinates = self.problem.centers[node.centers]
        features = (coordinates != coordinates[0]).any(axis=0).nonzero()[0]
        if len(features):
            for weight_per_center in (self.problem.units_per_row, 0.0):
                search = self._search_columns(node, sums, features, weight_per_center, n)
                if splits := (yield from search):
                    return splits
        return []

    def _search_columns(
        self, node: OpenNode, sums: NodeSums, features: np.ndarray, min_weight: float, n: int
    ) -> Search:
        problem, bins = self.problem, self.problem.bins
        coordinates = problem.centers[node.centers]
        base = int(sums.totals[1])
        killers = np.zeros((2, problem.n_features))
        killers[0, list(node.cut_left)] = 1.0
        killers[1, list(node.cut_right)] = 1.0
        terms = ObjectiveTerms(
            divisor=float(base),
            penalty=self.depth_penalty,
            total=float(sums.totals[0]),
            min_weight=min_weight,
            killer_left=killers[0],
            killer_right=killers[1],
        )

        def edge_sums(feature: int, position: np.ndarray, channels: np.ndarray) -> EdgeSums:
            excess = excess_at_edges(sums.by_gap[feature], channels[:, :2].T, position)
            return EdgeSums(base + excess, channels[:, _LEFT], channels[:, _WEIGHT].cumsum())

        def judge(feature: int, column: FineColumn, limit: float):
            position = np.sort(np.searchsorted(column.edges, coordinates[:, feature]))
            at_edges = edge_sums(feature, position, column.sums)
            found, wanted = terms.judge_column(feature, position, at_edges, column.inside, limit)
            if n == 1 and (best := found[:, 0].min()) < limit:
                _, wanted = terms.judge_column(feature, position, at_edges, column.inside, best)
            return best_edges(found, column.edges), wanted & column.inside

        def make_column(feature: int) -> FineColumn:
            return FineColumn(bins.edges[feature], sums.by_bin[feature], bins.inside[feature])

        ascending = np.sort(bins.center_code.take(node.centers, axis=1), axis=1)
        found = np.full((problem.n_features, len(node.centers) - 1, 3), np.inf)
        for feature in features.tolist():
            at_edges = edge_sums(feature, ascending[feature], sums.by_bin[feature])
            found[feature], _ = terms.judge_column(
                feature, ascending[feature], at_edges, bins.inside[feature], -np.inf
            )
        search = ColumnSearch(found[features], features, bins.edges, np.inf, n)
        return (yield from search_node(node.number, search, make_column, judge, problem.n_bins))
