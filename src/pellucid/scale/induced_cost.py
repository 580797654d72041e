"""Induced cost of the splits of many nodes at once (ExGreedy, ExShallow)."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pellucid._core.criteria.column_search import ColumnSearch, best_edges
from pellucid._core.criteria.induced_cost import excess_at_edges
from pellucid._core.criteria.mistake_scans import EdgeSums, ObjectiveTerms
from pellucid.scale.batches import Batch
from pellucid.scale.columns import FineColumn, PartRequest, PartSums
from pellucid.scale.node_search import Judgement, Search, search_node
from pellucid.scale.problem import OpenNode, ScaleProblem
from pellucid.scale.routing import Routing, rows_by_leaf
from pellucid.scale.tasks import PartSumsTask

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
    order : ndarray of shape (n_features, n_centers)
        Positions of the centers in the order of a column.
    gap_of_bin : ndarray of shape (n_features, n_bins)
        The gap between centers in which each bin lies; -1 and n_gaps outside.
    """

    centers: np.ndarray
    rank: np.ndarray
    order: np.ndarray
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
        return cls(centers, rank, order, gap)


class ExcessRequest(NamedTuple):
    """A column of a node whose induced costs are wanted."""

    node: int
    feature: int


class ExcessSums(NamedTuple):
    """Excess of the rows of a node in a column; see `sum_excess`.

    Attributes
    ----------
    by_gap : ndarray of shape (n_gaps,)
    by_bin : ndarray of shape (2, n_bins)
    """

    by_gap: np.ndarray
    by_bin: np.ndarray


@dataclass(frozen=True)
class InducedCostRows:
    """Excess cost of rows that a threshold separates from their nearest center of the node.

    Attributes
    ----------
    infos : dict of int to NodeCenters
        By node.
    centers : ndarray of shape (n_clusters, n_features)
    cost_unit : float
    """

    infos: dict[int, NodeCenters]
    centers: np.ndarray
    cost_unit: float
    leaf_of_center: None = None  # all rows count

    def n_channels(self, node: int) -> int:
        """Excess to the right and to the left, and weight."""
        return 3

    def channels(
        self, batch: Batch, node: int, feature: int, rows: np.ndarray, codes: np.ndarray
    ) -> np.ndarray:
        """The terms of some rows."""
        costs = batch.costs_of(rows, self.centers, self.cost_unit)
        of_rows = self.nearest(costs, np.arange(len(rows)), batch.weights.units_of(rows), node)
        change, _ = excess_by_row(of_rows, codes, self.infos[node], feature)
        terms = np.zeros((len(rows), 3), dtype=np.int64)
        terms[:, _RIGHT], terms[:, _LEFT] = np.maximum(change, 0), np.maximum(-change, 0)
        terms[:, _WEIGHT] = of_rows.weight
        return terms

    def nearest(
        self, costs: np.ndarray, rows: np.ndarray, weight: np.ndarray, node: int
    ) -> CostedRows:
        """Nearest centers of some rows of a node; weight[i] is that of rows[i]."""
        from pellucid._core.kernels.induced_cost import find_nearest

        centers, rows = self.infos[node].centers, rows.astype(np.int32, copy=False)
        nearest, margin = np.empty(len(rows), dtype=np.int32), np.empty(len(rows), dtype=np.int64)
        sums = np.zeros((len(centers), 3), dtype=np.int64)
        find_nearest(rows, weight, centers, costs, nearest, margin, sums)
        return CostedRows(rows, costs, nearest, weight, margin, sums)


class CostedRows(NamedTuple):
    """Some rows of a node.

    Attributes
    ----------
    rows : ndarray of shape (n_rows,)
        Where the rows are in `costs`.
    costs : ndarray of shape (n, n_clusters)
        Cost of these and perhaps other rows at each center.
    nearest : ndarray of shape (n_rows,)
        Position of the nearest center among those of the node.
    weight, margin : ndarray of shape (n_rows,)
        Weight, and cost of the second nearest center less that of the nearest.
    sums : ndarray of shape (n_centers, 3)
        Weight, margin and least cost by nearest center.
    """

    rows: np.ndarray
    costs: np.ndarray
    nearest: np.ndarray
    weight: np.ndarray
    margin: np.ndarray
    sums: np.ndarray


def excess_by_row(
    rows: CostedRows, codes: np.ndarray, info: NodeCenters, feature: int
) -> tuple[np.ndarray, ExcessSums]:
    """Change of the excess by each row that goes to the left; sums by gap and by bin.

    `codes` are those of all rows that have costs.
    """
    from pellucid._core.kernels.induced_cost import sum_excess

    n_gaps, n_bins = len(info.centers) - 1, info.gap_of_bin.shape[1]
    by_gap, by_bin = np.zeros(n_gaps, np.int64), np.zeros((2, n_bins), np.int64)
    change = np.empty(len(rows.rows), dtype=np.int64)
    sum_excess(
        codes=codes,
        rows=rows.rows,
        nearest_rank=info.rank[feature].take(rows.nearest),
        ordered=info.centers[info.order[feature]],
        costs=rows.costs,
        gap_of_bin=info.gap_of_bin[feature],
        by_gap=by_gap,
        by_bin=by_bin,
        change=change,
    )
    return change, ExcessSums(by_gap, by_bin)


class NodeMargins(NamedTuple):
    """Sums over the rows of a node.

    Attributes
    ----------
    totals : ndarray of shape (n_centers, 3)
        Weight, margin and least cost by nearest center.
    histogram : ndarray of shape (n_features, n_centers, n_bins, 2)
        Weight and margin by column, nearest center and bin.
    """

    totals: np.ndarray
    histogram: np.ndarray


@dataclass(frozen=True)
class MarginTask:
    """Margins of the rows of some nodes in all columns."""

    routing: Routing
    criterion: InducedCostRows

    def __call__(self, batch: Batch) -> dict[int, NodeMargins]:
        """Sums of one batch, by node."""
        from pellucid.scale.kernels import margin_histograms

        found, infos, criterion = {}, self.criterion.infos, self.criterion
        costs = batch.costs(criterion.centers, criterion.cost_unit)
        for number, rows in rows_by_leaf(self.routing.leaves(batch), list(infos)).items():
            weight, info = batch.weights.units_of(rows), infos[number]
            of_rows = criterion.nearest(costs, rows, weight, number)
            n_features, n_bins = info.gap_of_bin.shape
            out = np.zeros((n_features, len(info.centers), n_bins, 2), dtype=np.int64)
            margin_histograms(
                batch.codes, rows, of_rows.nearest, of_rows.weight, of_rows.margin, out
            )
            found[number] = NodeMargins(of_rows.sums, out)
        return found

    def merge(self, first: dict[int, NodeMargins], second: dict[int, NodeMargins]):
        """Sums of two batches."""
        return {n: NodeMargins(*(a + b for a, b in zip(first[n], second[n]))) for n in first}


@dataclass(frozen=True)
class InducedCostTask:
    """Induced costs of columns, and sums over parts of columns."""

    routing: Routing
    criterion: InducedCostRows
    requests: Sequence[ExcessRequest | PartRequest]

    def __call__(self, batch: Batch) -> list[ExcessSums | PartSums]:
        """Sums of one batch."""
        found: list[Any] = [None] * len(self.requests)
        is_excess = [isinstance(request, ExcessRequest) for request in self.requests]
        wanted = {r.node for r, chosen in zip(self.requests, is_excess) if chosen}
        for node, rows in rows_by_leaf(self.routing.leaves(batch), sorted(wanted)).items():
            costs = batch.costs(self.criterion.centers, self.criterion.cost_unit)
            weight = batch.weights.units_of(rows)
            of_rows = self.criterion.nearest(costs, rows, weight, node)
            for place, request in enumerate(self.requests):
                if is_excess[place] and request.node == node:
                    codes = batch.column_codes(np.array([request.feature]))[0]
                    info = self.criterion.infos[node]
                    found[place] = excess_by_row(of_rows, codes, info, request.feature)[1]
        parts = [r for r, chosen in zip(self.requests, is_excess) if not chosen]
        if parts:
            sums = iter(PartSumsTask(self.routing, self.criterion, parts)(batch))
            found = [next(sums) if result is None else result for result in found]
        return found

    def merge(self, first: list[Any], second: list[Any]) -> list[Any]:
        """Sums of two batches."""
        return [
            ExcessSums(*(x + y for x, y in zip(a, b))) if isinstance(a, ExcessSums) else a.merge(b)
            for a, b in zip(first, second)
        ]


class PartitionedInducedCost:
    """Best splits by induced cost and expected depth; see `InducedCost`.

    Parameters
    ----------
    problem : ScaleProblem
    depth_penalty : float
        λ of the ExShallow paper.
    """

    has_passive_rows = False
    task = InducedCostTask

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
        found = self.problem.map(MarginTask(routing, self.row_sums(nodes)))
        return {node.number: self._search(node, found[node.number], n) for node in nodes}

    def _search(self, node: OpenNode, sums: NodeMargins, n: int) -> Search:
        coordinates = self.problem.centers[node.centers]
        features = (coordinates != coordinates[0]).any(axis=0).nonzero()[0]
        if len(features):
            excess: dict[int, ExcessSums] = {}
            for weight_per_center in (self.problem.units_per_row, 0.0):
                search = self._search_columns(node, sums, excess, features, weight_per_center, n)
                if splits := (yield from search):
                    return splits
        return []

    def _search_columns(
        self,
        node: OpenNode,
        sums: NodeMargins,
        excess: dict[int, ExcessSums],
        features: np.ndarray,
        min_weight: float,
        n: int,
    ) -> Search:
        """Search the columns whose margins allow a better split, the most promising first.

        `excess` holds the columns whose induced costs are known.
        """
        problem, bins = self.problem, self.problem.bins
        coordinates = problem.centers[node.centers]
        base = int(sums.totals[:, 2].sum())
        killers = np.zeros((2, problem.n_features))
        killers[0, list(node.cut_left)] = 1.0
        killers[1, list(node.cut_right)] = 1.0
        terms = ObjectiveTerms(
            divisor=float(base),
            penalty=self.depth_penalty,
            total=float(sums.totals[:, 0].sum()),
            min_weight=min_weight,
            killer_left=killers[0],
            killer_right=killers[1],
        )

        def prepare(columns: list[int]) -> Generator:
            missing = [j for j in columns if j not in excess]
            if missing:
                answers = yield [ExcessRequest(node.number, j) for j in missing]
                excess.update(zip(missing, answers))

        def make_column(feature: int) -> FineColumn:
            weight = sums.histogram[feature, :, :, 0].sum(axis=0)
            channels = np.column_stack([*excess[feature].by_bin, weight])
            return FineColumn(bins.edges[feature], channels, bins.inside[feature])

        def judge(feature: int, column: FineColumn, limit: float):
            position = np.sort(np.searchsorted(column.edges, coordinates[:, feature]))
            channels = column.sums
            amount = excess_at_edges(excess[feature].by_gap, channels[:, :2].T, position)
            at_edges = EdgeSums(base + amount, channels[:, _LEFT], channels[:, _WEIGHT].cumsum())
            found, wanted = terms.judge_column(feature, position, at_edges, column.inside, limit)
            if n == 1 and (best := found[:, 0].min()) < limit:
                _, wanted = terms.judge_column(feature, position, at_edges, column.inside, best)
            best = best_edges(found, column.edges)
            return Judgement(best, wanted & column.inside, found[:, 2].min())

        found = self._bounds(node, sums, features, base, terms)
        search = ColumnSearch(found[features], features, bins.edges, np.inf, n)
        return (yield from search_node(node.number, search, make_column, judge, problem, prepare))

    def _bounds(
        self, node: OpenNode, sums: NodeMargins, features: np.ndarray, base: int, terms
    ) -> np.ndarray:
        """Lower bounds of the objective by column and gap, from the margins; no splits yet."""
        from pellucid._core.kernels.mistakes import separation_sums

        bins = self.problem.bins
        codes = bins.center_code.take(node.centers, axis=1)
        ascending = np.sort(codes, axis=1)
        weights, margins = np.moveaxis(sums.histogram.take(features, axis=0), 3, 0).copy()
        n_edges = int(ascending[:, -1].max()) + 2
        amount, decrease, weight_left = np.zeros((3, len(features), n_edges), dtype=np.int64)
        amount.fill(base)
        totals = sums.totals[:, 1].copy()
        separation_sums(
            features=features,
            weights=weights,
            margins=margins,
            totals=totals,
            center_code=codes,
            sorted_code=ascending,
            amount=amount,
            decrease=decrease,
            weight_left=weight_left,
        )
        found = np.full((len(codes), len(node.centers) - 1, 3), np.inf)
        edge_sums = EdgeSums(amount, decrease, weight_left)
        terms.judge(features, ascending, edge_sums, bins.inside, -np.inf, found)
        found[:, :, 2] = np.minimum(found[:, :, 0], found[:, :, 2])
        found[:, :, 0] = np.inf
        return found
