"""Formulas of sums on the rows of batches; the surrogate cost (ExKMC) is one of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pellucid._core.batches.batch import Batch, PickedRows
from pellucid._core.batches.columns import FineColumn
from pellucid._core.batches.criterion import BatchCriterion, BatchNode
from pellucid._core.batches.node_search import Judgement, Search, search_node
from pellucid._core.batches.partitions import BatchProblem, ExactTask
from pellucid._core.batches.routing import OverlapRouting, Routing
from pellucid._core.batches.tasks import ColumnRangeTask, NodeRowSums, NodeSizeTask
from pellucid._core.criteria.base import Node
from pellucid._core.criteria.column_search import ColumnSearch, Split
from pellucid._core.criteria.sums import SumFormula
from pellucid._core.criteria.surrogate_cost import SurrogateFormula


class NodeSums(NamedTuple):
    """Sums over the rows of a node, int64: `totals` by channel, and `by_bin`.

    `by_bin` has shape (n_features, n_bins, n_channels); it is empty if it is no longer needed.
    """

    totals: np.ndarray
    by_bin: np.ndarray

    def minus(self, other: NodeSums) -> NodeSums:
        """Sums over the rows that another node, a part of this one, does not have."""
        return NodeSums(*(a - b for a, b in zip(self, other)))

    def without_bins(self) -> NodeSums:
        """The totals."""
        return self._replace(by_bin=self.by_bin[:0])


@dataclass(frozen=True)
class FormulaRows(NodeRowSums):
    """What rows add to the sums of a formula; it is sent to the batches."""

    formula: SumFormula
    centers: np.ndarray
    cost_unit: float

    @property
    def needs_costs(self) -> bool:  # type: ignore[override]
        """Whether the terms come from the costs of the rows."""
        return self.formula.needs_costs

    def n_channels(self, node: int = 0) -> int:
        """Number of sums."""
        return self.formula.n_channels(len(self.centers))

    def channels(self, node: int, feature: int, rows: PickedRows) -> np.ndarray:
        """Terms of some rows."""
        if self.needs_costs:
            return self.formula.terms_of_costs(rows.costs(self.centers, self.cost_unit))
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


@dataclass
class NodeState:
    """What is stored about a node: its sums."""

    sums: NodeSums


class BatchSumCriterion(BatchCriterion[NodeState]):
    """A formula of sums on batches; see `pellucid._core.criteria.sums`."""

    separates_centers = False

    def __init__(self, problem: BatchProblem, formula: SumFormula) -> None:
        super().__init__(problem)
        self.formula = formula

    def row_sums(self, nodes: Sequence[Node[NodeState]] = ()) -> FormulaRows:
        return FormulaRows(self.formula, self.problem.centers, self.problem.cost_unit)

    def cluster(self, node: Node[NodeState]) -> int:
        return self.formula.cluster(node.state.sums.totals)

    def cost(self, node: Node[NodeState]) -> Any:
        """Objective of the node as a leaf."""
        return self.formula.cost(node.state.sums.totals)

    def gain_bound(self, node: Node[NodeState]) -> float | None:
        return None if self.formula.is_pure(node.state.sums.totals) else np.inf

    def start_states(self, nodes: Sequence[BatchNode]) -> list[NodeState]:
        """Sums of some leaves."""
        sums = self._sums([node.number for node in nodes])
        totals = np.array([of_leaf.totals for of_leaf in sums.values()]).sum(axis=0)
        self.formula.start(totals, self.problem.weight_units.are_integers)
        return [NodeState(sums[node.number]) for node in nodes]

    def _sums(self, numbers: list[int]) -> dict[int, NodeSums]:
        routing, n_bins = self.grown.routing(numbers), self.problem.n_bins
        return self.problem.map(NodeSumsTask(routing, self.row_sums(), numbers, n_bins))

    def child_states(
        self, nodes: Sequence[Node[NodeState]], children: Sequence[tuple[BatchNode, BatchNode]]
    ) -> list[tuple[NodeState, NodeState]]:
        """Sums of children. One pass sums the smaller child of each node; the other one has what
        remains, unless the sums of a node that is split again have been dropped.
        """
        numbers = [child.number for pair in children for child in pair]
        sizes = self.problem.map(NodeSizeTask(self.grown.routing(numbers), numbers))
        n_rows = dict(zip(numbers, sizes))
        wanted: list[int] = []
        for node, pair in zip(nodes, children):
            both = sorted((child.number for child in pair), key=lambda number: n_rows[number])
            wanted += both[:1] if len(node.state.sums.by_bin) else both
        found = self._sums(wanted)
        for node, (left, right) in zip(nodes, children):
            for child, sibling in ((left.number, right.number), (right.number, left.number)):
                if child not in found:
                    found[child] = node.state.sums.minus(found[sibling])
        for node in nodes:
            node.state.sums = node.state.sums.without_bins()
        return [(NodeState(found[a.number]), NodeState(found[b.number])) for a, b in children]

    def loss(self, node: Node[NodeState], split: Split) -> Any:
        return -split.gain

    def search(self, nodes: Sequence[Node[NodeState]], n: int = 1) -> list[list[Split]]:
        """The best split of each node; where a gain is required, the first one without it."""
        found = super().search(nodes, n)
        without_gain = [
            place
            for place, (node, splits) in enumerate(zip(nodes, found))
            if not splits and self.formula.requires_gain and self.gain_bound(node) is not None
        ]
        if without_gain:
            first_splits = self._first_splits([nodes[place] for place in without_gain])
            for place, splits in zip(without_gain, first_splits):
                found[place] = splits
        for node, splits in zip(nodes, found):
            if not splits:
                node.state.sums = node.state.sums.without_bins()
        return found

    def searches(
        self, nodes: Sequence[Node[NodeState]], routing: Any, n: int = 1
    ) -> dict[int, Search]:
        return {
            node.rows.number: self._search(node.rows.number, node.state.sums, n, len(nodes))
            for node in nodes
        }

    def _search(self, number: int, sums: NodeSums, n: int, n_nodes: int) -> Search:
        bins, formula, totals = self.problem.bins, self.formula, sums.totals
        n_features, cost = len(sums.by_bin), formula.cost(totals)
        found = np.empty((n_features, 1, 3), dtype=type(formula.no_split))
        scan = formula.scan(sums.by_bin, bins.inside, totals)
        found[:, 0] = np.stack([scan.best, scan.edge, scan.bounds.min(axis=1)], axis=1)

        def make_column(feature: int) -> FineColumn:
            return FineColumn(bins.edges[feature], sums.by_bin[feature], bins.inside[feature])

        def judge(feature: int, column: FineColumn, limit: Any) -> Judgement:
            best, edge, bounds = formula.scan_one(column.sums, column.inside, totals)
            # Objects, since integers of this size do not fit into floats.
            found = np.array([[best, column.edges[edge]]], dtype=object)
            return Judgement(found, bounds <= min(limit, best), bounds.min())

        search = ColumnSearch(
            found,
            np.arange(n_features),
            bins.edges,
            formula.no_split,
            n,
            cost if formula.requires_gain else None,
        )
        splits = yield from search_node(number, search, make_column, judge, self.problem, n_nodes)
        if number in self.problem.gaps:
            self.problem.gaps[number] *= self.problem.cost_unit if formula.needs_costs else 1.0
        return [split._replace(gain=cost - split.objective) for split in splits]

    def _first_splits(self, nodes: Sequence[Node[NodeState]]) -> list[list[Split]]:
        """Splits without gain: the first feature with several values, only the lowest left."""
        numbers = [node.rows.number for node in nodes]
        ranges = self.problem.map(ColumnRangeTask(self.grown.routing(numbers), numbers))
        found = []
        for node, (lowest, highest) in zip(nodes, ranges):
            varied = (lowest < -highest).nonzero()[0]
            found.append([Split(self.cost(node), int(j), float(lowest[j]), 0) for j in varied[:1]])
        return found


class BatchSurrogateCost(BatchSumCriterion):
    """Surrogate cost (ExKMC) on batches: all centers are candidates."""

    def __init__(self, problem: BatchProblem) -> None:
        super().__init__(problem, SurrogateFormula())
