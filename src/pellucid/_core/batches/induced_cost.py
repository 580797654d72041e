"""Induced cost of the splits of many nodes at once (ExGreedy, ExShallow).

The margin of a row, the cost of its second nearest center less that of the nearest, is a lower
bound of its excess. The sums of the margins give lower bounds for all thresholds of all columns.
Exact costs are summed only for edges whose bound is low enough, and so only for the few rows that
such an edge separates from their nearest center.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

import numpy as np

from pellucid._core.batches.columns import FineColumn
from pellucid._core.batches.criterion import BatchCriterion, BatchNode
from pellucid._core.batches.induced_rows import (
    LEFT,
    WEIGHT,
    ExcessRequest,
    ExcessSums,
    InducedCostRows,
    InducedCostTask,
    MarginTask,
    NodeCenters,
    NodeMargins,
)
from pellucid._core.batches.node_search import Judgement, Search, search_node
from pellucid._core.batches.partitions import BatchProblem
from pellucid._core.criteria.base import Node
from pellucid._core.criteria.center_search import CenterCodes, EdgeSums, edge_sums
from pellucid._core.criteria.column_search import ColumnSearch, best_edges
from pellucid._core.criteria.induced_cost import excess_at_edges, induced_terms

_NEVER = 2**61
"""More than any amount."""

_FIRST_RATIO, _MORE = 1.5, 1.1
"""Guess of excess / margin at the best threshold, which decides how many edges are summed first;
and the factor from the ratio of one node to the guess for the next one.
"""


class BatchInducedCost(BatchCriterion[None]):
    """Best splits by induced cost and expected depth; see `InducedCost`."""

    task = InducedCostTask

    def __init__(self, problem: BatchProblem, depth_penalty: float = 0.0) -> None:
        super().__init__(problem)
        self.depth_penalty = float(depth_penalty)
        self.ratio = _FIRST_RATIO

    def row_sums(self, nodes: Sequence[Node[None]]) -> InducedCostRows:
        problem = self.problem
        infos = {
            node.rows.number: NodeCenters.of(
                node.rows.centers, problem.bins.center_code, problem.n_bins
            )
            for node in nodes
        }
        return InducedCostRows(infos, problem.centers, problem.cost_unit)

    def searches(self, nodes: Sequence[Node[None]], routing: Any, n: int = 1) -> dict[int, Search]:
        """Searches for the best split of nodes with several centers, after one pass."""
        assert n == 1
        found = self.problem.map(MarginTask(routing, self.row_sums(nodes), self.problem.n_bins))
        return {
            node.rows.number: self._search(node.rows, found[node.rows.number], len(nodes))
            for node in nodes
        }

    def _search(self, node: BatchNode, sums: NodeMargins, n_nodes: int) -> Search:
        coordinates = self.problem.centers[node.centers]
        features = (coordinates != coordinates[0]).any(axis=0).nonzero()[0]
        if len(features):
            for weight_per_center in (self.problem.units_per_row, 0.0):
                search = _InducedCostSearch(self, node, sums, features, weight_per_center, n_nodes)
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
        """The best split."""
        bins, (found, bound, excess) = self.problem.bins, self._bounds()
        search = ColumnSearch(found[self.features], self.features, bins.edges, np.inf)
        guess = bound + (self.criterion.ratio - 1) * excess

        def prepare(
            columns: list[int],
        ) -> Generator[list[ExcessRequest], list[ExcessSums], None]:
            # One column after the other: the best split so far makes the next request smaller.
            groups = [[j] for j in columns]
            if self.problem.partitions.passes_are_costly:
                groups = [columns]
            limit, best = search.limit if search.limit < np.inf else guess, search.limit
            while True:
                for group in groups:
                    requests = [self._request(j, min(limit, best)) for j in group]
                    if any(request.has_edges for request in requests):
                        answers = yield requests
                    else:
                        shape = requests[0].ranges.shape[0], self.weight.shape[1]
                        answers = [ExcessSums.empty(*shape) for _ in requests]
                    self.known.update(zip(group, zip(requests, answers)))
                    judged = [self._judge(j, self._column(j), np.inf) for j in group]
                    best = min(best, *(found.best[:, 0].min() for found in judged))
                if search.limit == np.inf and excess > 0 and best < np.inf:
                    self.criterion.ratio = _MORE * (1 + (best - bound) / excess)
                if best <= limit:
                    self.best = best
                    return
                limit = best

        number = self.node.number
        return (
            yield from search_node(
                number, search, self._column, self._judge, self.problem, self.n_nodes, prepare
            )
        )

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

    def _column(self, feature: int) -> FineColumn:
        bins, (_, excess) = self.problem.bins, self.known[feature]
        channels = np.column_stack([*excess.by_bin, self.weight[feature]])
        return FineColumn(bins.edges[feature], channels, bins.inside[feature])

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
