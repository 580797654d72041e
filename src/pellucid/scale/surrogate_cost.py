"""Surrogate cost of the splits of many leaves at once (ExKMC)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pellucid._core.criteria.base import Node
from pellucid._core.criteria.column_search import ColumnSearch, Split
from pellucid._core.criteria.surrogate_search import scan_sums
from pellucid.scale.batches import Batch, PickedRows
from pellucid.scale.columns import FineColumn, PartRequest
from pellucid.scale.criterion import BatchCriterion, BatchNode
from pellucid.scale.node_search import Judgement, Search, search_node
from pellucid.scale.partitions import ExactTask
from pellucid.scale.routing import Routing, rows_by_leaf
from pellucid.scale.tasks import ColumnRangeTask, CountTask, rows_in_bins


class LeafSums(NamedTuple):
    """Sums over the rows of a leaf.

    Attributes
    ----------
    costs : ndarray of shape (n_clusters,), int64
        Cost of all rows at each center.
    floor : ndarray of shape (1,), int64
        Sum of the least costs of all rows.
    losses : ndarray of shape (n_features, n_bins, n_clusters), int64
        Sums of the losses by column and bin; empty if they are no longer needed.
    """

    costs: np.ndarray
    floor: np.ndarray
    losses: np.ndarray

    @classmethod
    def empty(cls, n_features: int, n_bins: int, n_clusters: int) -> LeafSums:
        """Sums over no rows."""
        costs, floor = np.zeros(n_clusters, dtype=np.int64), np.zeros(1, dtype=np.int64)
        return cls(costs, floor, np.zeros((n_features, n_bins, n_clusters), dtype=np.int64))

    def minus(self, other: LeafSums) -> LeafSums:
        """Sums over the rows that another leaf, a part of this one, does not have."""
        return LeafSums(*(a - b for a, b in zip(self, other)))

    def without_losses(self) -> LeafSums:
        """The sums that do not depend on columns."""
        return self._replace(losses=self.losses[:0])

    @property
    def cost(self) -> int:
        """Surrogate cost of the leaf."""
        return int(self.costs.min())

    @property
    def cluster(self) -> int:
        """The center with the least cost; ties go to the lowest."""
        return int(self.costs.argmin())

    @property
    def is_pure(self) -> bool:
        """Whether the same center has the least cost for each row, so that no split gains."""
        return int(self.floor[0]) == self.cost


@dataclass(frozen=True)
class LossRows:
    """Losses of rows: cost at a center less the least cost at any center."""

    centers: np.ndarray
    cost_unit: float
    centers_of_node: None = None  # all rows count
    needs_costs: bool = True

    def select(self, batch: Batch, request: PartRequest, members: Any) -> np.ndarray:
        """All rows of the node of a request in its bins."""
        return rows_in_bins(batch, request, members)

    def n_channels(self, node: int) -> int:
        """One sum per center."""
        return len(self.centers)

    def channels(self, node: int, feature: int, rows: PickedRows) -> np.ndarray:
        """Losses of some rows."""
        return row_losses_of(rows.costs(self.centers, self.cost_unit))[0]


def row_losses_of(costs: np.ndarray, rows: np.ndarray | None = None) -> tuple[np.ndarray, int]:
    """Losses of rows (of all by default) at all centers, and the sum of their least costs."""
    from pellucid._core.kernels.surrogate_cost import row_losses

    if rows is None:
        rows = np.arange(len(costs), dtype=np.int32)
    losses = np.empty((len(rows), costs.shape[1]), dtype=np.int64)
    return losses, row_losses(rows, costs, np.arange(costs.shape[1]), losses)


@dataclass(frozen=True)
class LossTask(ExactTask):
    """Costs of some leaves, and their losses by column and bin."""

    routing: Routing
    criterion: LossRows
    leaves: list[int]
    n_bins: int

    def __call__(self, batch: Batch) -> dict[int, LeafSums]:
        """Sums of one batch, by leaf."""
        return self.over([batch])

    def over(self, batches: Iterable[Batch]) -> dict[int, LeafSums]:
        """Sums of several batches, by leaf."""
        n_features, k = self.criterion.centers.shape[1], len(self.criterion.centers)
        found = {leaf: LeafSums.empty(n_features, self.n_bins, k) for leaf in self.leaves}
        for batch in batches:
            self._add(batch, found)
        return found

    def _add(self, batch: Batch, found: dict[int, LeafSums]) -> None:
        from pellucid._core.kernels.surrogate_cost import add_losses

        centers, unit = self.criterion.centers, self.criterion.cost_unit
        groups = rows_by_leaf(self.routing.leaves(batch), self.leaves)
        takes_most = 2 * sum(map(len, groups.values())) > batch.n_rows
        of_batch = batch.costs(centers, unit) if takes_most else None
        for leaf, rows in groups.items():
            if of_batch is None:
                losses, floor = row_losses_of(batch.costs_of(rows, centers, unit))
            else:
                losses, floor = row_losses_of(of_batch, rows)
            sums = found[leaf]
            add_losses(batch.codes, rows, losses, sums.losses)
            sums.costs[:] += losses.sum(axis=0) + floor
            sums.floor[0] += floor

    def merge(self, first: dict[int, LeafSums], second: dict[int, LeafSums]) -> dict[int, LeafSums]:
        """Sums of two batches."""
        return {n: LeafSums(*(a + b for a, b in zip(first[n], second[n]))) for n in first}


@dataclass
class LeafState:
    """What is stored about a node: its sums."""

    sums: LeafSums


class PartitionedSurrogateCost(BatchCriterion[LeafState]):
    """Best splits by surrogate cost; see `pellucid._core.criteria.surrogate_cost`.

    Parameters
    ----------
    problem : ScaleProblem
    """

    separates_centers = False

    def row_sums(self, nodes: Sequence[Node[LeafState]] = ()) -> LossRows:
        """Losses of all rows."""
        return LossRows(self.problem.centers, self.problem.cost_unit)

    def cluster(self, node: Node[LeafState]) -> int:
        """The center with the least cost for the rows of the node; ties go to the lowest."""
        return node.state.sums.cluster

    def cost(self, node: Node[LeafState]) -> int:
        """Surrogate cost of the node, in units of `ScaleProblem.cost_unit`."""
        return node.state.sums.cost

    def gain_bound(self, node: Node[LeafState]) -> float | None:
        """None if no split gains anything."""
        return None if node.state.sums.is_pure else np.inf

    def start_states(self, nodes: Sequence[BatchNode]) -> list[LeafState]:
        """Sums of some leaves."""
        sums = self._sums([node.number for node in nodes])
        return [LeafState(sums[node.number]) for node in nodes]

    def _sums(self, leaves: list[int]) -> dict[int, LeafSums]:
        routing, n_bins = self.grown.leaf_routing(), self.problem.n_bins
        return self.problem.map(LossTask(routing, self.row_sums(), leaves, n_bins))

    def child_states(
        self, nodes: Sequence[Node[LeafState]], children: Sequence[tuple[BatchNode, BatchNode]]
    ) -> list[tuple[LeafState, LeafState]]:
        """Sums of children. One pass sums the smaller child of each node; the other one has what
        remains.
        """
        count = CountTask(self.grown.leaf_routing(), self.problem.n_clusters)
        n_rows = self.problem.map(count)[0].sum(axis=1)
        smaller = [int(n_rows[right.number] < n_rows[left.number]) for left, right in children]
        found = self._sums([pair[small].number for pair, small in zip(children, smaller)])
        states = []
        for node, pair, small in zip(nodes, children, smaller):
            of_small = found[pair[small].number]
            both = LeafState(of_small), LeafState(node.state.sums.minus(of_small))
            states.append(both if small == 0 else both[::-1])
            node.state.sums = node.state.sums.without_losses()
        return states

    def search(self, nodes: Sequence[Node[LeafState]], n: int = 1) -> list[list[Split]]:
        """The best split of each node; without gain, the first one that there is."""
        found = super().search(nodes, n)
        without_gain = [
            place
            for place, (node, splits) in enumerate(zip(nodes, found))
            if not splits and self.gain_bound(node) is not None
        ]
        if without_gain:
            first_splits = self._first_splits([nodes[place] for place in without_gain])
            for place, splits in zip(without_gain, first_splits):
                found[place] = splits
        for node, splits in zip(nodes, found):
            if not splits:
                node.state.sums = node.state.sums.without_losses()
        return found

    def searches(
        self, nodes: Sequence[Node[LeafState]], routing: Any, n: int = 1
    ) -> dict[int, Search]:
        """Searches for the best split of nodes that are not pure."""
        return {node.rows.number: self._search(node.rows.number, node.state.sums) for node in nodes}

    def _search(self, number: int, sums: LeafSums) -> Search:
        """The split of least cost of a leaf that is not pure; none if no split gains anything."""
        from pellucid._core.kernels.surrogate_cost import INFINITE

        bins, floor = self.problem.bins, int(sums.floor[0])
        n_features, totals = len(sums.losses), sums.costs - floor
        found = np.empty((n_features, 1, 3), dtype=np.int64)
        for feature in range(n_features):
            found[feature], _ = scan_sums(bins.inside[feature], totals, sums.losses[feature].copy())

        def make_column(feature: int) -> FineColumn:
            return FineColumn(bins.edges[feature], sums.losses[feature], bins.inside[feature])

        def judge(feature: int, column: FineColumn, limit: int) -> Judgement:
            found, bounds = scan_sums(column.inside, totals, column.sums.copy())
            loss, edge, _ = found[0].tolist()
            # Objects, since integers of this size do not fit into floats.
            best = np.array([[loss, column.edges[edge]]], dtype=object)
            return Judgement(best, bounds <= min(limit, loss), int(bounds.min()))

        goal = sums.cost - floor + 1
        features = np.arange(n_features)
        search = ColumnSearch(found, features, bins.edges, INFINITE, goal=goal)
        splits = yield from search_node(number, search, make_column, judge, self.problem)
        if number in self.problem.gaps:
            self.problem.gaps[number] *= self.problem.cost_unit
        return [
            split._replace(objective=floor + loss, gain=sums.cost - floor - loss)
            for split in splits
            if floor + (loss := split.objective) < sums.cost
        ]

    def _first_splits(self, nodes: Sequence[Node[LeafState]]) -> list[list[Split]]:
        """Splits without gain: the first feature with several values, only the lowest left."""
        numbers = [node.rows.number for node in nodes]
        ranges = self.problem.map(ColumnRangeTask(self.grown.leaf_routing(), numbers))
        found = []
        for node, (lowest, highest) in zip(nodes, ranges):
            varied = (lowest < -highest).nonzero()[0]
            found.append([Split(self.cost(node), int(j), float(lowest[j]), 0) for j in varied[:1]])
        return found
