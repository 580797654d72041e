"""What a criterion is: the best splits of a node, and the two children of a split."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar, cast

import numpy as np

from pellucid._core.criteria.center_search import CenterCodes
from pellucid._core.criteria.column_search import Split
from pellucid._core.criteria.partition import SplitRows, split_rows
from pellucid._core.criteria.problem import Problem
from pellucid._core.data.arrays import rows_by_group
from pellucid._utils.threads import ThreadPool
from pellucid.tree import ThresholdTree
from pellucid.tree.rounding import ThresholdStyle, choose_threshold

_Result = TypeVar("_Result")

_MIN_ROWS = 4096
"""Rows of all nodes together that are worth more than one thread."""

_MIN_UTILIZATION = 0.75
"""Share of the threads that must have work while the largest node is processed."""

_AHEAD = 8
"""Leaves per thread that are searched before it is certain that they must be."""

State = TypeVar("State")
"""What a criterion stores about a node: a small dataclass of its own, or None."""


@dataclass(frozen=True, eq=False)
class NodeRows:
    """The part of the data that reaches a node of a growing tree.

    `active` rows count in the search for a split, `passive` are the others. `centers` are the
    reference centers of the node, ascending. `cut_left` (`cut_right`) are the features of which a
    split above sent this node to the left (right), and `depth` is the number of splits above it.
    """

    active: np.ndarray
    passive: np.ndarray
    centers: np.ndarray
    cut_left: frozenset[int] = frozenset()
    cut_right: frozenset[int] = frozenset()
    depth: int = 0

    def children(
        self,
        feature: int,
        is_left: np.ndarray,
        active: Sequence[np.ndarray],
        passive: Sequence[np.ndarray],
    ) -> tuple[NodeRows, NodeRows]:
        """The sides of a cut, given the rows of either and which centers are on the left."""
        centers, depth = (self.centers[is_left], self.centers[~is_left]), self.depth + 1
        left, right = zip(active, passive, centers)
        return (
            NodeRows(*left, self.cut_left | {feature}, self.cut_right, depth),
            NodeRows(*right, self.cut_left, self.cut_right | {feature}, depth),
        )


@dataclass(frozen=True, eq=False)
class Node(Generic[State]):
    """A node of a growing tree: its rows, and what the criterion stores about it.

    A search drops the state of a node by dropping the node; children hold what they need.
    """

    rows: Any
    """`NodeRows` in memory; on batches, where the node is in the tree."""
    state: State


class SplitNode(NamedTuple):
    """A split node; every threshold t with low <= t < high gives the same children."""

    split: Split
    low: float
    high: float
    left: Node[Any]
    right: Node[Any]

    def divided(self, style: ThresholdStyle) -> DividedNode:
        """The same with one of the thresholds."""
        threshold = choose_threshold(self.low, self.high, style)
        return DividedNode(self.split, threshold, self.left, self.right)


class DividedNode(NamedTuple):
    """A node that has been split at a threshold, and its children."""

    split: Split
    threshold: float
    left: Node[Any]
    right: Node[Any]


@dataclass(frozen=True)
class StartTree:
    """A tree from which growth continues, and the leaf of each row, if known."""

    tree: ThresholdTree
    leaf: np.ndarray | None = None

    def rows_by_node(self, X: Any, pool: ThreadPool) -> list[np.ndarray]:
        """The rows of each node; empty for inner nodes."""
        leaf = self.tree.apply(X) if self.leaf is None else self.leaf
        return rows_by_group(leaf, self.tree.node_count, pool)


class Criterion(ABC, Generic[State]):
    """How good is a split? What all growers use, wherever the rows are.

    Nodes are searched and divided in groups: in memory by several threads, in batches by one pass.
    """

    problem: Any
    searches_ahead: bool
    """Whether splits are made, and their children searched, before it is certain that they are
    needed: it is cheaper to do so for several nodes together.
    """

    @abstractmethod
    def root(self) -> Node[State]:
        """The node that holds all rows and centers."""

    @abstractmethod
    def start_nodes(self, start: StartTree) -> dict[int, Node[State]]:
        """The leaves of a start tree, by their numbers."""

    @abstractmethod
    def search(self, nodes: Sequence[Node[State]], n: int = 1) -> list[list[Split]]:
        """The n best splits of each node, the best first; empty if it has none or needs none.

        Smallest objective; ties go to the lowest feature, then to the lowest threshold. Of splits
        that differ only in where the threshold lies between the same centers, only the best.
        """

    @abstractmethod
    def divide(
        self, nodes: Sequence[Node[State]], splits: Sequence[Split], style: ThresholdStyle
    ) -> list[DividedNode]:
        """Make a split of each node."""

    def divide_best(
        self, nodes: Sequence[Node[State]], style: ThresholdStyle
    ) -> list[DividedNode | None]:
        """Make the best split of each node; None for those without one."""
        found = dict(zip(nodes, self.search(nodes)))
        chosen = [node for node in nodes if found[node]]
        made = self.divide(chosen, [found[node][0] for node in chosen], style) if chosen else []
        of_node = dict(zip(chosen, made))
        return [of_node.get(node) for node in nodes]

    def searched_together(self, first: Node[State], others: Sequence[Node[State]]) -> list[int]:
        """Which of some other nodes, the likely ones first, are searched together with a node."""
        return []

    def loss(self, node: Node[State], split: Split) -> float:
        """What a split adds to the sum by which whole trees are compared; less is better."""
        return split.objective

    def gain_bound(self, node: Node[State]) -> float | None:
        """An upper bound for the gain of the best split, or None if the node needs no split.

        Nodes whose bound is small may never have to be searched.
        """
        return np.inf

    @abstractmethod
    def cluster(self, node: Node[State]) -> int:
        """The cluster of the node as a leaf."""

    def clusters(self, nodes: Sequence[Node[State]]) -> list[int]:
        return list(map(self.cluster, nodes))

    @abstractmethod
    def count(self, node: Node[State]) -> tuple[int, float]:
        """Number and weight of the rows of a node, if they are known."""

    def without_state(self, node: Node[State]) -> Node[State]:
        """A node that has been split, for the case that the split is undone."""
        return node


class MemoryCriterion(Criterion[State]):
    """A criterion on rows in memory: one subclass per answer, written for one node."""

    nodes_are_independent = False
    """Whether nodes may be searched and split concurrently, in any order."""

    problem: Problem
    searches_ahead = False

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    @property
    def min_rows_to_share_columns(self) -> int:
        """Rows of a node from which on its columns are worth distributing over threads."""
        return 0

    def root(self) -> Node[State]:
        return self.start_node(np.arange(self.problem.n_samples, dtype=np.int32))

    def start_node(
        self, active: np.ndarray, cluster: int | None = None, depth: int = 0
    ) -> Node[State]:
        """A node without a parent: the root, or a leaf of a start tree, its cluster and depth."""
        rows = NodeRows(active, active[:0], np.arange(self.problem.n_clusters), depth=depth)
        return Node(rows, self.start_state(cluster))

    def start_state(self, cluster: int | None = None) -> State:
        """State of a node without a parent; None if the criterion stores nothing."""
        return cast(State, None)

    def start_nodes(self, start: StartTree) -> dict[int, Node[State]]:
        """The leaves of a start tree. Only for criteria that ignore centers and splits above."""
        tree = start.tree
        return {
            number: self.start_node(rows, int(tree.cluster[number]), int(tree.depth[number]))
            for number, rows in enumerate(start.rows_by_node(self.problem.X, self.problem.pool))
            if tree.is_leaf[number]
        }

    def child_states(
        self, node: Node[State], left: NodeRows, right: NodeRows
    ) -> tuple[State, State]:
        return self.start_state(), self.start_state()

    @abstractmethod
    def best_splits(self, node: Node[State], n: int = 1) -> list[Split]:
        """The n best splits of one node; see `search`."""

    def best_split(self, node: Node[State]) -> Split | None:
        splits = self.best_splits(node)
        return splits[0] if splits else None

    def first_split(self, node: Node[State], objective: Any) -> list[Split]:
        """A split without gain: the first feature with several values, only the lowest left."""
        for feature in range(self.problem.n_features):
            values = self.problem.values(feature, node.rows.active)
            if (lowest := values.min()) < values.max():
                return [Split(objective, feature, float(lowest), 0)]
        return []

    def search(self, nodes: Sequence[Node[State]], n: int = 1) -> list[list[Split]]:
        if n == 1:  # a criterion may have a rule of its own for the best one
            found = self._map(self.best_split, nodes)
            return [[] if split is None else [split] for split in found]
        return self._map(lambda node: self.best_splits(node, n), nodes)

    def divide(
        self, nodes: Sequence[Node[State]], splits: Sequence[Split], style: ThresholdStyle
    ) -> list[DividedNode]:
        return self._map(lambda n, split: self.divide_node(n, split).divided(style), nodes, splits)

    def divide_best(
        self, nodes: Sequence[Node[State]], style: ThresholdStyle
    ) -> list[DividedNode | None]:
        """Search and divide each node in one step, while its rows are in the cache."""

        def divide(node: Node[State]) -> DividedNode | None:
            split = self.best_split(node)
            return None if split is None else self.divide_node(node, split).divided(style)

        return self._map(divide, nodes)

    def _map(
        self, work: Callable[..., _Result], nodes: Sequence[Node[State]], *others: Sequence[Any]
    ) -> list[_Result]:
        """``work(node, *others)`` for some nodes, one after the other or concurrently.

        Threads either share the columns of one node or process one node each. The second is faster
        for small nodes; it is used where the threads are nearly all busy. The results are the same.
        """
        sizes, items = [len(node.rows.active) for node in nodes], list(zip(nodes, *others))
        if not (self.nodes_are_independent and self._are_worth_sharing(sizes)):
            return [work(*item) for item in items]
        # The largest first, so that no thread starts it while the others have finished.
        order = sorted(range(len(nodes)), key=lambda i: -sizes[i])
        results = self.problem.pool.map(lambda i: work(*items[i]), order)
        return [result for _, result in sorted(zip(order, results), key=lambda pair: pair[0])]

    def _are_worth_sharing(self, sizes: Sequence[int]) -> bool:
        """Whether nodes of these sizes are faster to process concurrently, one per thread."""
        largest = max(sizes, default=0)
        shared = largest if largest >= self.min_rows_to_share_columns else 0
        required = _MIN_UTILIZATION * self.problem.pool.n_threads * shared
        return sum(sizes) >= max(required, _MIN_ROWS)

    def searched_together(self, first: Node[State], others: Sequence[Node[State]]) -> list[int]:
        """If a node is too small for all threads, others that are as small."""
        n_threads = self.problem.pool.n_threads if self.nodes_are_independent else 1
        small = self.min_rows_to_share_columns
        if n_threads == 1 or len(first.rows.active) >= small:
            return []
        sizes = [len(node.rows.active) for node in others[: _AHEAD * n_threads]]
        chosen = [place for place, size in enumerate(sizes) if size < small]
        all_sizes = [len(first.rows.active), *(sizes[place] for place in chosen)]
        return chosen if self._are_worth_sharing(all_sizes) else []

    def clusters(self, nodes: Sequence[Node[State]]) -> list[int]:
        return self._map(self.cluster, nodes)

    def count(self, node: Node[State]) -> tuple[int, float]:
        rows, weights = node.rows, self.problem.weights
        weight = weights.total_of(rows.active) + weights.total_of(rows.passive)
        return len(rows.active) + len(rows.passive), weight

    def without_state(self, node: Node[State]) -> Node[State]:
        return Node(node.rows, self.start_state())

    def divide_node(self, node: Node[State], split: Split) -> SplitNode:
        """The children of a split, and the interval of all thresholds that give the same."""
        rows, feature, threshold = node.rows, split.feature, split.threshold
        low, high, left, right = self.split_rows(rows.active, feature, threshold)
        is_left, none = self.problem.centers[rows.centers, feature] <= threshold, left[:0]
        sides = rows.children(feature, is_left, (left, right), (none, none))
        return SplitNode(split, low, high, *map(Node, sides, self.child_states(node, *sides)))

    def split_rows(self, rows: np.ndarray, feature: int, threshold: float) -> SplitRows:
        return split_rows(self.problem, rows, feature, threshold)


class CenterSplitCriterion(MemoryCriterion[State]):
    """A criterion whose splits separate reference centers; a node with one center is a leaf."""

    def best_splits(self, node: Node[State], n: int = 1) -> list[Split]:
        """Best splits over all columns, at most one for each pair of neighbouring centers."""
        if len(node.rows.centers) < 2:
            return []
        coordinates = self.problem.centers[node.rows.centers]
        features = (coordinates != coordinates[0]).any(axis=0).nonzero()[0]
        return self.best_center_splits(node, features, n) if len(features) else []

    @abstractmethod
    def best_center_splits(self, node: Node[State], features: np.ndarray, n: int) -> list[Split]:
        """Best splits over the columns in which the centers of the node differ."""

    def divide_node(self, node: Node[State], split: Split) -> SplitNode:
        """The children; each center stays on its side under all thresholds of the interval."""
        divided = super().divide_node(node, split)
        low, high = self.center_interval(node.rows.centers, split)
        return divided._replace(low=max(low, divided.low), high=min(high, divided.high))

    def center_interval(self, centers: np.ndarray, split: Split) -> tuple[float, float]:
        """All thresholds that separate the centers as the split does."""
        coordinates = self.problem.centers[centers, split.feature]
        is_left = coordinates <= split.threshold
        low = coordinates.max(initial=-np.inf, where=is_left)
        return float(low), float(coordinates.min(initial=np.inf, where=~is_left))

    def center_codes(self, node: Node[State]) -> CenterCodes:
        return CenterCodes.of(self.problem.bins.center_code, node.rows.centers)

    def cluster(self, node: Node[State]) -> int:
        """The node's center; of several that no split separates, the one with most rows."""
        centers = node.rows.centers
        if len(centers) == 1:
            return int(centers[0])
        weight = self.problem.weight_by_cluster(node.rows.active)[centers]
        return int(centers[np.argmax(weight)])
