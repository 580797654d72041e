"""Induced cost of the splits of many nodes at once (ExGreedy, ExShallow).

The margin of a row, the cost of its second nearest center less that of the nearest, is a lower
bound of its excess. The sums of the margins give lower bounds for all thresholds of all columns.
Exact costs are summed only for edges whose bound is low enough, and so only for the few rows that
such an edge separates from their nearest center.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pellucid._core.batches.batch import Batch, PickedRows, costs_at
from pellucid._core.batches.columns import FineColumn, PartRequest, PartSums
from pellucid._core.batches.criterion import BatchCriterion, BatchNode, Judgement, Search
from pellucid._core.batches.partitions import BatchProblem, ExactTask
from pellucid._core.batches.routing import Routing, rows_by_leaf
from pellucid._core.batches.tasks import NodeRowSums, PartSumsTask
from pellucid._core.criteria.base import Node
from pellucid._core.criteria.center_search import CenterCodes, EdgeSums, edge_sums
from pellucid._core.criteria.column_search import ColumnSearch, best_edges
from pellucid._core.criteria.induced_cost import excess_at_edges, induced_terms

_NEVER = 2**61  # more than any amount
# Guess of excess / margin at the best threshold, which decides how many edges are summed first; and
# the factor from the ratio of one node to the guess for the next one.
_FIRST_RATIO, _MORE = 1.5, 1.1

RIGHT, LEFT, WEIGHT = range(3)
"""Channels: excess of the rows whose nearest center is to the right, to the left; weight."""


@dataclass(frozen=True)
class NodeCenters:
    """Where the centers of a node lie in the columns, by the bins of the quantizer.

    By column, (n_features, n_centers): `rank` of each center, and `order`, the positions of the
    centers in ascending order. `gap_of_bin`, (n_features, n_bins), is the gap between centers in
    which each bin lies; -1 and n_gaps outside.
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


class NearestCenters(NamedTuple):
    """The two nearest centers of each row among those of its node, the nearest first.

    `cost` is that of the nearest, and `margin` is what the second costs more, both in units. Rows
    that are not known have centers of no node.
    """

    nearest: np.ndarray
    second: np.ndarray
    cost: np.ndarray
    margin: np.ndarray

    @classmethod
    def unknown(cls, n_rows: int, n_clusters: int) -> NearestCenters:
        centers = np.full((2, n_rows), n_clusters, dtype=np.min_scalar_type(n_clusters))
        return cls(*centers, *np.zeros((2, n_rows), dtype=np.int64))

    @classmethod
    def of(cls, costs: np.ndarray) -> NearestCenters:
        """Of rows with some costs, (n_rows, n_centers): the positions of the centers."""
        from pellucid._core.batches.kernels import find_two_nearest

        found = cls(*np.empty((2, len(costs)), np.int32), *np.empty((2, len(costs)), np.int64))
        find_two_nearest(costs, *found)
        return found


@dataclass(frozen=True)
class InducedCostRows(NodeRowSums):
    """Excess cost of rows that a threshold separates from their nearest center of the node."""

    infos: dict[int, NodeCenters]
    centers: np.ndarray
    cost_unit: float
    needs_costs = True

    def n_channels(self, node: int) -> int:
        return 3

    def channels(self, node: int, feature: int, rows: PickedRows) -> np.ndarray:
        from pellucid._core.kernels.induced_cost import sum_excess

        costs, info = self.costs(rows, node), self.infos[node]
        every, change = np.arange(rows.n_rows, dtype=np.int32), np.empty(rows.n_rows, np.int64)
        nearest_rank = info.rank[feature].take(NearestCenters.of(costs).nearest)
        known = nearest_rank, info.order[feature], costs, info.gap_of_bin[feature]
        sums = ExcessSums.empty(len(info.centers) - 1, info.gap_of_bin.shape[1])
        sum_excess(rows.codes, every, *known, *sums, change)
        terms = np.zeros((rows.n_rows, 3), dtype=np.int64)
        terms[:, RIGHT], terms[:, LEFT] = np.maximum(change, 0), np.maximum(-change, 0)
        terms[:, WEIGHT] = rows.weights.units
        return terms

    def costs(self, rows: Batch | PickedRows, node: int) -> np.ndarray:
        """Costs of some rows at the centers of a node: (n_rows, n_centers)."""
        return costs_at(rows, self.centers[self.infos[node].centers], self.cost_unit)

    def nearest_centers(self, batch: Batch, routing: Routing) -> NearestCenters:
        """The two nearest centers of all rows of open nodes. The batch stores them.

        Only rows of which one of the two is no longer in their node are computed again.
        """
        from pellucid._core.batches.kernels import rows_to_update

        last, found = batch.nearest
        if last is None or not routing.continues(last):
            found = NearestCenters.unknown(batch.n_rows, len(self.centers))
        leaf, node_of_center = routing.leaves(batch), np.full(len(self.centers) + 1, -1)
        is_open = np.zeros(len(routing.left), dtype=np.uint8)
        for node, info in self.infos.items():
            node_of_center[info.centers], is_open[node] = node, 1
        rows = np.empty(batch.n_rows + 1, dtype=np.int32)
        n = rows_to_update(found.nearest, found.second, leaf, node_of_center, is_open, rows)
        if n:
            found, rows = NearestCenters(*(array.copy() for array in found)), rows[:n]
            for node, places in rows_by_leaf(leaf.take(rows), list(self.infos)).items():
                of_node = rows.take(places)
                is_all = len(of_node) == batch.n_rows
                picked = batch if is_all else batch.pick(of_node, 0, for_costs=True)
                near = NearestCenters.of(self.costs(picked, node))
                centers = self.infos[node].centers
                found.nearest[of_node] = centers.take(near.nearest)
                found.second[of_node] = centers.take(near.second)
                found.cost[of_node], found.margin[of_node] = near.cost, near.margin
            batch.nearest = routing, found
        return found


class NodeMargins(NamedTuple):
    """Sums over the rows of a node: their least costs, and a `histogram` of weight and margin by
    nearest center and bin, (2, n_features, n_centers, n_bins).
    """

    cost: int
    histogram: np.ndarray


@dataclass(frozen=True)
class MarginTask(ExactTask):
    """Margins of the rows of some nodes in all columns."""

    routing: Routing
    rows: InducedCostRows
    n_bins: int

    def over(self, batches: Iterable[Batch]) -> dict[int, NodeMargins]:
        from pellucid._core.kernels.mistakes import hist_dense

        (n_clusters, n_features), infos = self.rows.centers.shape, self.rows.infos
        features, costs = np.arange(n_features), dict.fromkeys(infos, 0)
        histograms = {
            node: np.zeros((2, n_features, len(info.centers), self.n_bins), dtype=np.int64)
            for node, info in infos.items()
        }
        for batch in batches:
            found = self.rows.nearest_centers(batch, self.routing)
            for node, rows in self.routing.members(batch).groups(list(infos)).items():
                place = np.empty(n_clusters, dtype=np.int32)
                place[infos[node].centers] = np.arange(len(infos[node].centers))
                group = place.take(found.nearest.take(rows))
                terms = batch.weights.units_of(rows), found.margin.take(rows)
                for values, out in zip(terms, histograms[node]):
                    hist_dense(features, batch.codes, rows, group, values, out)
                costs[node] += int(found.cost.take(rows).sum())
        return {node: NodeMargins(costs[node], histograms[node]) for node in infos}


class ExcessRequest(NamedTuple):
    """A column of a node whose induced costs are wanted.

    `ranges`, (n_gaps, 2), are the first and the last edge that is wanted in each gap between
    centers; the last one is below the first if there are none.
    """

    node: int
    feature: int
    ranges: np.ndarray

    @property
    def gaps(self) -> np.ndarray:
        """The gaps in which edges are wanted."""
        return (self.ranges[:, 0] <= self.ranges[:, 1]).nonzero()[0]


class ExcessSums(NamedTuple):
    """Excess of the rows of a node in a column by gap and, (2, n_bins), by bin; see
    `sum_excess_in_ranges`.
    """

    by_gap: np.ndarray
    by_bin: np.ndarray

    @classmethod
    def empty(cls, n_gaps: int, n_bins: int) -> ExcessSums:
        return cls(np.zeros(n_gaps, dtype=np.int64), np.zeros((2, n_bins), dtype=np.int64))


class InducedCostTask(PartSumsTask):
    """Induced costs of columns, and sums over parts of columns."""

    def empty(self, request: ExcessRequest | PartRequest) -> ExcessSums | PartSums:
        if isinstance(request, PartRequest):
            return super().empty(request)
        n_bins = self.criterion.infos[request.node].gap_of_bin.shape[1]
        return ExcessSums.empty(len(request.ranges), n_bins)

    def members(self, batch: Batch) -> Any:
        """The rows by node, and their nearest centers."""
        return super().members(batch), self.criterion.nearest_centers(batch, self.routing)

    def rows(
        self, batch: Batch, request: ExcessRequest | PartRequest, found: Any, members: Any
    ) -> np.ndarray:
        """Rows whose costs are needed: those between their nearest center and an edge of the ranges
        whose excess is not the margin. The excess of the others is added.
        """
        from pellucid._core.batches.kernels import add_margins

        members, near = members
        if isinstance(request, PartRequest):
            return super().rows(batch, request, found, members)
        (node, feature, ranges), gaps = request, request.gaps
        info, rows = self.criterion.infos[node], members.rows(node)
        (first, last), bins = ranges[gaps].T, np.arange(info.gap_of_bin.shape[1])
        is_right = np.arange(len(info.centers))[:, None] > gaps  # (n_centers, len(gaps))
        below = np.where(is_right, last, -1).max(axis=1, initial=-1)
        above = np.where(is_right, len(bins), first).min(axis=1, initial=len(bins))
        is_wanted = (bins <= below[:, None]) | (bins > above[:, None])
        rank = np.zeros(len(self.criterion.centers), dtype=np.intp)
        rank[info.centers] = info.rank[feature]
        rows, codes = rows.copy(), batch.codes[feature]
        n = add_margins(rows, tuple(near), rank, codes, is_wanted, gaps, ranges, *found)
        return rows[:n]

    def add(self, request: ExcessRequest | PartRequest, rows: PickedRows, found: Any) -> None:
        from pellucid._core.batches.kernels import sum_excess_in_ranges

        if isinstance(request, PartRequest):
            super().add(request, rows, found)
            return
        node, feature, ranges = request
        costs, info = self.criterion.costs(rows, node), self.criterion.infos[node]
        nearest_rank = info.rank[feature].take(NearestCenters.of(costs).nearest)
        known = nearest_rank, info.order[feature], costs
        sum_excess_in_ranges(rows.codes, *known, request.gaps, ranges, *found)


class BatchInducedCost(BatchCriterion[None]):
    """Best splits by induced cost and expected depth; see `InducedCost`."""

    task = InducedCostTask

    def __init__(self, problem: BatchProblem, depth_penalty: float = 0.0) -> None:
        super().__init__(problem)
        self.depth_penalty = float(depth_penalty)
        self.ratio = _FIRST_RATIO

    def row_sums(self, nodes: Sequence[Node[None]]) -> InducedCostRows:
        problem, codes = self.problem, self.problem.bins.center_code
        infos = {
            node.rows.number: NodeCenters.of(node.rows.centers, codes, problem.n_bins)
            for node in nodes
        }
        return InducedCostRows(infos, problem.centers, problem.cost_unit)

    def first_sums(self, nodes: Sequence[Node[None]], routing: Any) -> dict[int, NodeMargins]:
        return self.problem.map(MarginTask(routing, self.row_sums(nodes), self.problem.n_bins))

    def node_search(self, node: Node[None], sums: NodeMargins, n: int, n_nodes: int) -> Search:
        assert n == 1
        coordinates = self.problem.centers[node.rows.centers]
        features = (coordinates != coordinates[0]).any(axis=0).nonzero()[0]
        if len(features):
            for min_weight in (self.problem.units_per_row, 0.0):
                known = node.rows, sums, features, min_weight, n_nodes
                search = _InducedCostSearch(self, *known)
                if splits := (yield from search.run()):
                    return splits
        return []


class _InducedCostSearch:
    """The search for the best split of a node, given its margins."""

    def __init__(
        self,
        criterion: BatchInducedCost,
        node: BatchNode,
        sums: NodeMargins,
        features: np.ndarray,
        min_weight: float,
        n_nodes: int,
    ) -> None:
        problem = criterion.problem
        self.criterion, self.problem, self.node, self.features = criterion, problem, node, features
        self.n_nodes = n_nodes
        self.weight, self.base = sums.histogram[0].sum(axis=1), sums.cost
        weight = float(self.weight[0].sum())
        self.terms = induced_terms(
            problem.n_features, node, self.base, weight, criterion.depth_penalty, min_weight
        )
        codes = CenterCodes.of(problem.bins.center_code, node.centers)
        self.codes, self.position = codes
        weights, margins = sums.histogram.take(features, axis=1)
        totals = sums.histogram[1, 0].sum(axis=1)
        self.lower = edge_sums(features, weights, margins, totals, codes, self.base)
        self.known: dict[int, tuple[ExcessRequest, ExcessSums]] = {}
        self.best = np.inf

    def run(self) -> Search:
        bins, (found, bound, excess) = self.problem.bins, self._bounds()
        search = ColumnSearch(found[self.features], self.features, bins.edges, np.inf)
        guess = bound + (self.criterion.ratio - 1) * excess

        def prepare(columns: list[int]) -> Generator[Any, Any, None]:
            # One column after the other: the best split so far makes the next request smaller.
            is_costly = self.problem.partitions.passes_are_costly
            groups = [columns] if is_costly else [[j] for j in columns]
            limit, best = search.limit if search.limit < np.inf else guess, search.limit
            while True:
                for group in groups:
                    requests = [self._request(j, min(limit, best)) for j in group]
                    if any(len(request.gaps) for request in requests):
                        answers = yield requests
                    else:
                        shape = requests[0].ranges.shape[0], self.weight.shape[1]
                        answers = [ExcessSums.empty(*shape) for _ in requests]
                    self.known.update(zip(group, zip(requests, answers)))
                    for j in group:
                        column = FineColumn.of(bins.edges[j], self._sums_of(j), bins.inside[j])
                        best = min(best, self._judge(j, column, np.inf).best[:, 0].min())
                if search.limit == np.inf and excess > 0 and best < np.inf:
                    self.criterion.ratio = _MORE * (1 + (best - bound) / excess)
                if best <= limit:
                    self.best = best
                    return
                limit = best

        known = self.node.number, search, self._sums_of, self._judge, self.n_nodes
        return (yield from self.criterion.search_node(*known, prepare))

    def _bounds(self) -> tuple[np.ndarray, float, float]:
        """Lower bounds of the objective by column and gap, no splits yet; the least one of an edge,
        and the excess in it, relative to the cost.
        """
        n_gaps, inside, excess = self.position.shape[1] - 1, self.problem.bins.inside, 0.0
        found = np.full((len(self.codes), n_gaps, 3), np.inf)
        self.terms.judge(self.features, self.position, self.lower, inside, -np.inf, found)
        place, gap = divmod(int(found[self.features, :, 0].argmin()), n_gaps)
        bound, edge, _ = found[self.features[place], gap].tolist()
        if bound < np.inf and self.base:
            excess = float(self.lower.amount[place, int(edge)] - self.base) / self.base
        found[:, :, 2] = np.minimum(found[:, :, 0], found[:, :, 2])
        found[:, :, 0] = np.inf
        return found, bound, excess

    def _request(self, feature: int, limit: float) -> ExcessRequest:
        """The edges of a column whose lower bound is at most a limit, and those of such bins."""
        position, place = self.position[feature], int(np.searchsorted(self.features, feature))
        lower = EdgeSums(*(lines[place] for lines in self.lower))
        # The bound of a bin is one of its edges, too, unless there are no rows.
        everywhere = np.ones(len(lower.amount), dtype=bool)
        found, wanted = self.terms.judge_column(feature, position, lower, everywhere, limit)
        ranges = np.tile([len(self.weight[feature]), -1], (len(position) - 1, 1))
        for g, (first, last) in enumerate(zip(position, position[1:])):
            edges = [int(found[g, 1])] if found[g, 0] <= limit else []
            if (some := wanted[first + 1 : last + 1].nonzero()[0]).size:
                edges += [first + some[0], first + some[-1] + 1]
            if edges:
                # Of edges without rows between them, the lowest one is judged.
                with_rows = self.weight[feature][first + 1 : min(edges) + 1].nonzero()[0]
                lowest = first + 1 + with_rows[-1] if with_rows.size else first
                ranges[g] = lowest, max(edges)
        return ExcessRequest(self.node.number, feature, ranges)

    def _sums_of(self, feature: int) -> np.ndarray:
        _, excess = self.known[feature]
        return np.column_stack([*excess.by_bin, self.weight[feature]])

    def _judge(self, feature: int, column: FineColumn, limit: float) -> Judgement:
        (_, _, ranges), excess = self.known[feature]
        terms, channels = self.terms, column.sums
        coordinates = self.problem.centers[self.node.centers, feature]
        position = np.sort(np.searchsorted(column.edges, coordinates))
        amount = self.base + excess_at_edges(excess.by_gap, channels[:, :2].T, position)
        is_known = np.zeros(len(amount), dtype=bool)
        for ends, gap_end in zip(ranges, position[1:]):
            if ends[0] <= ends[1]:
                values = self.problem.bins.edges[feature, ends]
                first, last = np.searchsorted(column.edges, values)
                # The edge at the end of a gap belongs to the next one.
                is_known[first : min(last + 1, gap_end)] = True
        amount[~is_known] = _NEVER
        at_edges = EdgeSums(amount, channels[:, LEFT], channels[:, WEIGHT].cumsum())
        limit = min(limit, self.best)
        found, wanted = terms.judge_column(feature, position, at_edges, column.inside, limit)
        if (best := found[:, 0].min()) < limit:
            _, wanted = terms.judge_column(feature, position, at_edges, column.inside, best)
        return Judgement(best_edges(found, column.edges), wanted & column.inside, found[:, 2].min())
