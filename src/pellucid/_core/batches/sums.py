"""Formulas of sums on the rows of batches; the surrogate cost (ExKMC) is one of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid._core.batches.batch import Batch, PickedRows, costs_at
from pellucid._core.batches.columns import FineColumn
from pellucid._core.batches.criterion import BatchCriterion, BatchNode, Judgement, Search
from pellucid._core.batches.partitions import BatchProblem, ExactTask
from pellucid._core.batches.routing import OverlapRouting, Routing
from pellucid._core.batches.tasks import ColumnRangeTask, NodeRowSums, NodeSizeTask
from pellucid._core.criteria.base import Node
from pellucid._core.criteria.column_search import ColumnSearch, Split
from pellucid._core.criteria.sums import SumFormula
from pellucid._core.criteria.surrogate_cost import SurrogateFormula


@dataclass
class NodeSums:
    """Sums over the rows of a node, int64: `totals` by channel, and `by_bin`.

    `by_bin` has shape (n_features, n_bins, n_channels); it is empty if it is no longer needed.
    """

    totals: np.ndarray
    by_bin: np.ndarray

    def merge(self, other: NodeSums) -> NodeSums:
        return NodeSums(self.totals + other.totals, self.by_bin + other.by_bin)

    def minus(self, other: NodeSums) -> NodeSums:
        """Sums over the rows that another node, a part of this one, does not have."""
        return NodeSums(self.totals - other.totals, self.by_bin - other.by_bin)

    def drop_bins(self) -> None:
        self.by_bin = self.by_bin[:0]


@dataclass(frozen=True)
class FormulaRows(NodeRowSums):
    """What rows add to the sums of a formula; it is sent to the batches."""

    formula: SumFormula
    centers: np.ndarray
    cost_unit: float

    @property
    def needs_costs(self) -> bool:  # type: ignore[override]
        return self.formula.needs_costs

    def n_channels(self, node: int = 0) -> int:
        return self.formula.n_channels(len(self.centers))

    def channels(self, node: int, feature: int, rows: PickedRows) -> np.ndarray:
        if self.needs_costs:
            return self.formula.terms_of_costs(costs_at(rows, self.centers, self.cost_unit))
        terms = np.zeros((rows.n_rows, self.n_channels()), dtype=np.int64)
        terms[np.arange(rows.n_rows), rows.labels] = rows.weights.units
        return terms


@dataclass(frozen=True)
class NodeSumsTask(ExactTask):
    """Sums of some nodes, by column and bin."""

    routing: Routing | OverlapRouting
    rows: FormulaRows
    nodes: list[int]
    n_bins: int

    def over(self, batches: Iterable[Batch]) -> dict[int, NodeSums]:
        from pellucid._core.kernels.surrogate_cost import add_losses

        n_features, n_channels = self.rows.centers.shape[1], self.rows.n_channels()
        shape = n_features, self.n_bins, n_channels
        totals = {node: np.zeros(n_channels, dtype=np.int64) for node in self.nodes}
        by_bin = {node: np.zeros(shape, dtype=np.int64) for node in self.nodes}
        for batch in batches:
            for node, rows in self.routing.members(batch).groups(self.nodes).items():
                picked = batch.pick(rows, 0, for_costs=self.rows.needs_costs)
                terms = self.rows.channels(node, 0, picked)
                add_losses(batch.codes, rows, terms, by_bin[node])
                totals[node] += terms.sum(axis=0)
        return {node: NodeSums(totals[node], by_bin[node]) for node in self.nodes}


class BatchSumCriterion(BatchCriterion[NodeSums]):
    """A formula of sums on batches; see `pellucid._core.criteria.sums`."""

    separates_centers = False

    def __init__(self, problem: BatchProblem, formula: SumFormula) -> None:
        super().__init__(problem)
        self.formula = formula

    def row_sums(self, nodes: Sequence[Node[NodeSums]] = ()) -> FormulaRows:
        return FormulaRows(self.formula, self.problem.centers, self.problem.cost_unit)

    def cluster(self, node: Node[NodeSums]) -> int:
        return self.formula.cluster(node.state.totals)

    def cost(self, node: Node[NodeSums]) -> Any:
        """Objective of the node as a leaf."""
        return self.formula.cost(node.state.totals)

    def gain_bound(self, node: Node[NodeSums]) -> float | None:
        return None if self.formula.is_pure(node.state.totals) else np.inf

    def start_states(self, nodes: Sequence[BatchNode]) -> list[NodeSums]:
        sums = self._sums([node.number for node in nodes])
        totals = np.array([of_leaf.totals for of_leaf in sums.values()]).sum(axis=0)
        self.formula.start(totals, self.problem.weight_units.are_integers)
        return [sums[node.number] for node in nodes]

    def _sums(self, numbers: list[int]) -> dict[int, NodeSums]:
        routing, n_bins = self.grown.routing(numbers), self.problem.n_bins
        return self.problem.map(NodeSumsTask(routing, self.row_sums(), numbers, n_bins))

    def child_states(
        self, nodes: Sequence[Node[NodeSums]], children: Sequence[tuple[BatchNode, BatchNode]]
    ) -> list[tuple[NodeSums, NodeSums]]:
        """Sums of children. One pass sums the smaller child of each node; the other one has what
        remains, unless the sums of a node that is split again have been dropped.
        """
        numbers = [child.number for pair in children for child in pair]
        sizes = self.problem.map(NodeSizeTask(self.grown.routing(numbers), numbers))
        n_rows = dict(zip(numbers, sizes))
        wanted: list[int] = []
        for node, pair in zip(nodes, children):
            both = sorted((child.number for child in pair), key=lambda number: n_rows[number])
            wanted += both[:1] if len(node.state.by_bin) else both
        found = self._sums(wanted)
        for node, (left, right) in zip(nodes, children):
            for child, sibling in ((left.number, right.number), (right.number, left.number)):
                if child not in found:
                    found[child] = node.state.minus(found[sibling])
        for node in nodes:
            node.state.drop_bins()
        return [(found[left.number], found[right.number]) for left, right in children]

    def loss(self, node: Node[NodeSums], split: Split) -> Any:
        return -split.gain

    def search(self, nodes: Sequence[Node[NodeSums]], n: int = 1) -> list[list[Split]]:
        """The best split of each node; where a gain is required, the first one without it."""
        found = super().search(nodes, n)
        without_gain = [
            place
            for place, (node, splits) in enumerate(zip(nodes, found))
            if not splits and self.formula.requires_gain and self.gain_bound(node) is not None
        ]
        if without_gain:  # the first feature with several values, only the lowest left
            numbers = [nodes[place].rows.number for place in without_gain]
            ranges = self.problem.map(ColumnRangeTask(self.grown.routing(numbers), numbers))
            for place, (lowest, highest) in zip(without_gain, ranges):
                cost, varied = self.cost(nodes[place]), (lowest < -highest).nonzero()[0]
                found[place] = [Split(cost, int(j), float(lowest[j]), 0) for j in varied[:1]]
        for node, splits in zip(nodes, found):
            if not splits:
                node.state.drop_bins()
        return found

    def first_sums(self, nodes: Sequence[Node[NodeSums]], routing: Any) -> dict[int, NodeSums]:
        return {node.rows.number: node.state for node in nodes}

    def node_search(self, node: Node[NodeSums], sums: NodeSums, n: int, n_nodes: int) -> Search:
        number = node.rows.number
        bins, formula, totals, by_bin = self.problem.bins, self.formula, sums.totals, sums.by_bin
        features, cost, no_split = np.arange(len(by_bin)), formula.cost(totals), formula.no_split
        found = np.empty((len(by_bin), 1, 3), dtype=type(no_split))
        scan = formula.scan(by_bin, bins.inside, totals)
        found[:, 0] = np.stack([scan.best, scan.edge, scan.bounds.min(axis=1)], axis=1)

        def judge(feature: int, column: FineColumn, limit: Any) -> Judgement:
            best, edge, bounds = formula.scan_one(column.sums, column.inside, totals)
            # Objects, since integers of this size do not fit into floats.
            found = np.array([[best, column.edges[edge]]], dtype=object)
            return Judgement(found, bounds <= min(limit, best), bounds.min())

        goal = cost if formula.requires_gain else None
        search = ColumnSearch(found, features, bins.edges, no_split, n, goal)
        sums_of = by_bin.__getitem__
        splits = yield from self.search_node(number, search, sums_of, judge, n_nodes)
        if number in self.problem.gaps:
            self.problem.gaps[number] *= self.problem.cost_unit if formula.needs_costs else 1.0
        return [split._replace(gain=cost - split.objective) for split in splits]


class BatchSurrogateCost(BatchSumCriterion):
    """Surrogate cost (ExKMC) on batches: all centers are candidates."""

    def __init__(self, problem: BatchProblem) -> None:
        super().__init__(problem, SurrogateFormula())
