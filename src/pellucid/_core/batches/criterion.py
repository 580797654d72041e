"""Criteria on batches of rows: one pass per step serves all nodes.

The search of a node is a generator that yields requests for sums over parts of columns. The
requests of all nodes are answered together, in one pass.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from pellucid._core.batches.batch import ACTIVE, ALL, PASSIVE
from pellucid._core.batches.columns import FineColumn, PartRequest, PartSums
from pellucid._core.batches.partitions import BatchProblem
from pellucid._core.batches.routing import GrownNodes, OverlapRouting, Routing
from pellucid._core.batches.tasks import NeighbourTask, NodeRowSums, PartSumsTask, SideRequest
from pellucid._core.criteria.base import Criterion, DividedNode, Node, StartTree
from pellucid._core.criteria.column_search import ColumnSearch, Split
from pellucid.tree.rounding import ThresholdStyle, choose_threshold

State = TypeVar("State")

Search = Generator[list[PartRequest], list[PartSums], list[Split]]
"""The search of one node."""


class Judgement(NamedTuple):
    """What is known about the thresholds of a column.

    `best`, (n_gaps, 2), are objective and threshold of the best edge in each gap between centers.
    `wanted` is a mask of the bins that may hold a threshold of at most the limit, and `bound` a
    lower bound of the objective of all thresholds inside bins.
    """

    best: np.ndarray
    wanted: np.ndarray
    bound: Any


# Columns that are refined together: few at first, since the best of them often decides.
_FIRST_COLUMNS, _NEXT_COLUMNS = 2, 8


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
    def first_sums(self, nodes: Sequence[Node[State]], routing: Any) -> dict[int, Any]:
        """What the searches of some nodes begin with, by number, after one pass if it takes one."""

    @abstractmethod
    def node_search(self, node: Node[State], sums: Any, n: int, n_nodes: int) -> Search:
        """The search for the n best splits of a node, given its first sums."""

    def start_states(self, nodes: Sequence[BatchNode]) -> list[Any]:
        """States of nodes without a parent."""
        return [None] * len(nodes)

    def child_states(
        self, nodes: Sequence[Node[State]], children: Sequence[tuple[BatchNode, BatchNode]]
    ) -> list[tuple[Any, Any]]:
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
        return self.grown.routing([node.rows.number for node in nodes])

    def gain_bound(self, node: Node[State]) -> float | None:
        """None for a node that needs no split; a bound would take a pass."""
        return np.inf if not self.separates_centers or len(node.rows.centers) > 1 else None

    def search(self, nodes: Sequence[Node[State]], n: int = 1) -> list[list[Split]]:
        wanted = [node for node in nodes if self.gain_bound(node) is not None]
        found: dict[int, list[Split]] = {}
        for group in self.groups(wanted) if wanted else []:
            routing, row_sums = self.routing(group), self.row_sums(group)
            by_number = {node.rows.number: node for node in group}
            first = self.first_sums(group, routing)
            searches = {
                number: self.node_search(node, first[number], n, len(group))
                for number, node in by_number.items()
            }
            answers: dict[int, Any] = dict.fromkeys(searches)
            while answers:
                requests: dict[int, list[PartRequest]] = {}
                for number, answer in answers.items():
                    try:
                        requests[number] = searches[number].send(answer)
                    except StopIteration as stop:
                        found[number] = stop.value
                of_all = [request for of_node in requests.values() for request in of_node]
                task = self.task(routing, row_sums, of_all)
                sums = iter(self.problem.map(task) if of_all else ())
                answers = {number: [next(sums) for _ in some] for number, some in requests.items()}
        return [found.get(node.rows.number, []) for node in nodes]

    def search_node(
        self,
        node: int,
        search: ColumnSearch,
        sums_of: Callable[[int], np.ndarray],
        judge: Callable[[int, FineColumn, Any], Judgement],
        n_nodes: int,
        prepare: Callable[[list[int]], Generator[Any, Any, None]] | None = None,
    ) -> Search:
        """The best splits of a node, from the columns of its `search` after a scan of all bins.

        ``sums_of(feature)`` are the sums by bin of the quantizer and channel, and ``judge(feature,
        column, limit)`` judges edges and bins of a column. `n_nodes` are searched together.
        ``prepare(features)`` yields requests for what `sums_of` needs, and stores the answers. If
        the problem is not exact, thresholds inside bins are not searched, and the gap is stored.
        """
        problem, bins = self.problem, self.problem.bins
        n_columns, bound = _FIRST_COLUMNS, np.inf
        while features := search.next_columns(n_columns):
            n_columns, limit = _NEXT_COLUMNS, search.limit
            if prepare is not None:
                yield from prepare(features)
            columns = {
                j: FineColumn.of(bins.edges[j], sums_of(j), bins.inside[j]) for j in features
            }
            waiting, best = features, {}
            while waiting:
                requests, wanted, n_requests = {}, {}, n_nodes * len(waiting)
                for j in waiting:
                    best[j], wanted[j], least = judge(j, columns[j], limit)
                    if wanted[j].any():
                        bound = min(bound, least)
                        requests[j] = columns[j].request(
                            node, j, wanted[j], problem.n_bins, n_requests
                        )
                if not problem.is_exact:
                    break
                waiting = list(requests)
                if waiting:
                    found = yield list(requests.values())
                    for j, sums in zip(waiting, found):
                        columns[j] = columns[j].divided(wanted[j], requests[j], sums)
            search.store(features, [best[j] for j in features])
        splits = search.best_splits()
        if splits and not problem.is_exact:
            problem.gaps[node] = max(0.0, float(splits[0].objective - bound))
        return splits

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
        made = zip(splits, thresholds, children, self.child_states(nodes, children))
        return [DividedNode(split, t, *map(Node, pair, states)) for split, t, pair, states in made]

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

        def sides(requests: list[SideRequest], kind: int) -> np.ndarray:
            bins = [int(edges[feature].searchsorted(value)) for _, feature, value in requests]
            return problem.map(NeighbourTask(routing, row_sums, requests, bins, kind))

        found = sides(requests, ALL if counts_all else ACTIVE)
        intervals = []
        for request, of_node, (below, above) in zip(requests, coordinates, found.tolist()):
            is_left = of_node <= request.threshold
            low = max(-below, of_node.max(initial=-np.inf, where=is_left))
            high = min(above, of_node.min(initial=np.inf, where=~is_left))
            intervals.append((float(low), float(high)))
        if counts_all:
            return intervals
        # Passive rows are on the side of the lowest threshold, and bound the highest.
        requests = [r._replace(threshold=low) for r, (low, _) in zip(requests, intervals)]
        found = sides(requests, PASSIVE)
        return [
            (low, min(high, above)) for (low, high), above in zip(intervals, found[:, 1].tolist())
        ]

    def cluster(self, node: Node[State]) -> int:
        """The node's center; -1 for several, of which the one with most weight is found later."""
        return int(node.rows.centers[0]) if len(node.rows.centers) == 1 else -1

    def count(self, node: Node[State]) -> tuple[int, float]:
        """Nothing: rows are counted at the end of a fit."""
        return 0, 0.0
