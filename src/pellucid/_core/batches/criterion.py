"""Criteria on batches of rows: one pass per step serves all nodes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np

from pellucid._core.batches.batch import ACTIVE, ALL, PASSIVE
from pellucid._core.batches.node_search import Search, run_searches
from pellucid._core.batches.partitions import BatchProblem
from pellucid._core.batches.routing import GrownNodes, OverlapRouting, Routing
from pellucid._core.batches.tasks import NodeRowSums, PartSumsTask, SideRequest, find_sides
from pellucid._core.criteria.base import Criterion, DividedNode, Node, StartTree
from pellucid._core.criteria.column_search import Split
from pellucid.tree.rounding import ThresholdStyle, choose_threshold

State = TypeVar("State")


@dataclass(frozen=True, eq=False)
class BatchNode:
    """Where a node of a growing tree is; the rows are in the batches.

    `number` is that in `GrownNodes`. `centers` are the reference centers of the node, ascending.
    `cut_left` (`cut_right`) are the features of which a split above sent this node to the left
    (right), and `depth` is the number of splits above it.
    """

    number: int
    centers: np.ndarray
    cut_left: frozenset[int] = frozenset()
    cut_right: frozenset[int] = frozenset()
    depth: int = 0

    def children(
        self, numbers: tuple[int, int], split: Split, centers: np.ndarray
    ) -> tuple[BatchNode, BatchNode]:
        """The children of a split, given the coordinates of all centers."""
        is_left, cut = centers[self.centers, split.feature] <= split.threshold, {split.feature}
        left, right, below = self.cut_left, self.cut_right, self.depth + 1
        return (
            BatchNode(numbers[0], self.centers[is_left], left | cut, right, below),
            BatchNode(numbers[1], self.centers[~is_left], left, right | cut, below),
        )


class BatchCriterion(Criterion[State], Generic[State]):
    """A criterion on batches of rows."""

    problem: BatchProblem
    searches_ahead = True
    separates_centers = True
    """Whether splits separate reference centers; a node with one center is then a leaf."""
    has_passive_rows = False
    """Whether nodes have rows that do not count in the search."""
    task: Callable[..., Any] = PartSumsTask
    """``task(routing, row_sums, requests)`` answers the requests of searches in one pass."""

    def __init__(self, problem: BatchProblem) -> None:
        self.problem, self.grown = problem, GrownNodes()

    @abstractmethod
    def row_sums(self, nodes: Sequence[Node[State]]) -> NodeRowSums:
        """What is summed over the rows of some nodes."""

    @abstractmethod
    def searches(self, nodes: Sequence[Node[State]], routing: Any, n: int = 1) -> dict[int, Search]:
        """Searches for the n best splits of nodes that need one, by number."""

    def start_states(self, nodes: Sequence[BatchNode]) -> list[Any]:
        """States of nodes without a parent."""
        return [None] * len(nodes)

    def child_states(
        self, nodes: Sequence[Node[State]], children: Sequence[tuple[BatchNode, BatchNode]]
    ) -> list[tuple[Any, Any]]:
        """States of the children of some nodes."""
        return [(None, None)] * len(nodes)

    def root(self) -> Node[State]:
        root = BatchNode(0, np.arange(self.problem.n_clusters))
        return Node(root, self.start_states([root])[0])

    def start_nodes(self, start: StartTree) -> dict[int, Node[State]]:
        self.grown, tree = GrownNodes(start.tree), start.tree
        centers = np.arange(self.problem.n_clusters)
        places = [BatchNode(n, centers, depth=int(tree.depth[n])) for n in tree.leaves.tolist()]
        return {p.number: Node(p, state) for p, state in zip(places, self.start_states(places))}

    def routing(self, nodes: Sequence[Node[State]]) -> Routing | OverlapRouting:
        """Where the rows of some nodes are."""
        return self.grown.routing([node.rows.number for node in nodes])

    def gain_bound(self, node: Node[State]) -> float | None:
        """None for a node that needs no split; a bound would take a pass."""
        return np.inf if not self.separates_centers or len(node.rows.centers) > 1 else None

    def search(self, nodes: Sequence[Node[State]], n: int = 1) -> list[list[Split]]:
        """The n best splits of each node, by as few passes as possible."""
        wanted = [node for node in nodes if self.gain_bound(node) is not None]
        found: dict[int, list[Split]] = {}
        for group in self.groups(wanted) if wanted else []:
            routing = self.routing(group)
            task = partial(self.task, routing, self.row_sums(group))
            found |= run_searches(self.searches(group, routing, n), task, self.problem.map)
        return [found.get(node.rows.number, []) for node in nodes]

    def groups(self, nodes: Sequence[Node[State]]) -> Iterator[Sequence[Node[State]]]:
        """Nodes whose sums are in memory together."""
        yield nodes

    def searched_together(self, first: Node[State], others: Sequence[Node[State]]) -> list[int]:
        """All of them: one pass serves all."""
        return list(range(len(others)))

    def divide(
        self, nodes: Sequence[Node[State]], splits: Sequence[Split], style: ThresholdStyle
    ) -> list[DividedNode]:
        thresholds, children = [], []
        for node, split, interval in zip(nodes, splits, self._intervals(nodes, splits)):
            thresholds.append(choose_threshold(*interval, style))
            pair = self.grown.divide(node.rows.number, split.feature, thresholds[-1])
            children.append(node.rows.children(pair, split, self.problem.centers))
        return [
            DividedNode(split, threshold, *map(Node, pair, states))
            for split, threshold, pair, states in zip(
                splits, thresholds, children, self.child_states(nodes, children)
            )
        ]

    def _intervals(
        self, nodes: Sequence[Node[State]], splits: Sequence[Split]
    ) -> list[tuple[float, float]]:
        """For each split, all thresholds that split the rows and the centers alike."""
        problem, edges = self.problem, self.problem.bins.edges
        routing, row_sums = self.routing(nodes), self.row_sums(nodes)
        requests, coordinates = [], []
        for node, split in zip(nodes, splits):
            requests.append(SideRequest(node.rows.number, split.feature, split.threshold))
            of_node = problem.centers[node.rows.centers, split.feature]
            coordinates.append(of_node if self.separates_centers else of_node[:0])
        # A threshold that is no edge of the quantizer is the value of a row.
        are_values = all(
            t in of_node or t not in edges[feature]
            for (_, feature, t), of_node in zip(requests, coordinates)
        )
        counts_all = not self.has_passive_rows or are_values
        found = find_sides(problem, routing, row_sums, requests, ALL if counts_all else ACTIVE)
        intervals = []
        for (_, _, threshold), of_node, (below, above) in zip(
            requests, coordinates, found.tolist()
        ):
            is_left = of_node <= threshold
            low = max(-below, of_node.max(initial=-np.inf, where=is_left))
            high = min(above, of_node.min(initial=np.inf, where=~is_left))
            intervals.append((float(low), float(high)))
        if counts_all:
            return intervals
        # Passive rows are on the side of the lowest threshold, and bound the highest.
        requests = [r._replace(threshold=low) for r, (low, _) in zip(requests, intervals)]
        found = find_sides(problem, routing, row_sums, requests, PASSIVE)
        return [
            (low, min(high, above)) for (low, high), above in zip(intervals, found[:, 1].tolist())
        ]

    def cluster(self, node: Node[State]) -> int:
        """The node's center; -1 for several, of which the one with most weight is found later."""
        return int(node.rows.centers[0]) if len(node.rows.centers) == 1 else -1

    def count(self, node: Node[State]) -> tuple[int, float]:
        """Nothing: rows are counted at the end of a fit."""
        return 0, 0.0
