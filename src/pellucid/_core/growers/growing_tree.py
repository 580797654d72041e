"""The growing tree that all growers share: a node per leaf, thresholds chosen as it is split.

Greedy growth: every leaf is split at its best split until the criterion finds none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from pellucid._core.criteria.base import Criterion, Node, NodeRows, SplitNode
from pellucid._core.criteria.column_search import Split
from pellucid._core.data.arrays import Weights, order_by
from pellucid._utils.progress import Progress
from pellucid.tree import ThresholdTree, TreeBuilder
from pellucid.tree.rounding import ThresholdStyle, choose_threshold

_Result = TypeVar("_Result")

_MIN_ROWS = 4096
"""Rows of all nodes together that are worth more than one thread."""

_MIN_UTILIZATION = 0.75
"""Share of the threads that must have work while the largest node is processed."""


@dataclass(frozen=True)
class GrowthResult:
    """A tree as a grower returns it.

    Attributes
    ----------
    builder : TreeBuilder
        Builds the tree as it was after any number of splits.
    gains : list
        Gain of each split that the grower made, in order, without those of a start tree.
    leaves : dict of int to Node
        Node of each leaf, by the numbers of the builder.
    """

    builder: TreeBuilder
    gains: list[Any]
    leaves: dict[int, Node[Any]]

    @cached_property
    def leaf_of_rows(self) -> np.ndarray:
        """Leaf of each row, by the numbers of the tree that the builder builds."""
        leaves = {number: leaf.rows for number, leaf in self.leaves.items()}
        n_samples = sum(len(rows.active) + len(rows.passive) for rows in leaves.values())
        leaf = np.empty(n_samples, dtype=np.intp)
        for number, node in enumerate(self.builder.preorder()):
            if node in leaves:
                leaf[leaves[node].active] = leaf[leaves[node].passive] = number
        return leaf


@dataclass(frozen=True)
class StartTree:
    """A tree from which growth continues.

    Attributes
    ----------
    tree : ThresholdTree
    leaf : ndarray of shape (n_samples,), optional
        Leaf of each row, if known.
    """

    tree: ThresholdTree
    leaf: np.ndarray | None = None

    def rows_by_node(self, X: Any) -> list[np.ndarray]:
        """The rows of each node; empty for inner nodes."""
        leaf, n_nodes = self.tree.apply(X) if self.leaf is None else self.leaf, self.tree.node_count
        ends = np.cumsum(np.bincount(leaf, minlength=n_nodes))
        return np.split(order_by(leaf, n_nodes), ends[:-1])


class GrowingTree:
    """A tree builder together with the node of each of its leaves.

    Parameters
    ----------
    criterion : Criterion
        Divides the nodes and assigns their clusters.
    threshold_style : {"round", "midpoint", "data"}
        Which number of a split's interval becomes the threshold.
    start : StartTree, optional
        Tree from which growth continues; a single leaf when left out. Only for criteria that
        ignore the centers of a node and the splits above it.
    name_all : bool
        Whether inner nodes get a cluster too, so that earlier trees can be built.
    """

    def __init__(
        self,
        criterion: Criterion,
        threshold_style: ThresholdStyle,
        start: StartTree | None = None,
        name_all: bool = False,
    ) -> None:
        self.criterion = criterion
        self.threshold_style = threshold_style
        self.name_all = name_all
        self.gains: list[Any] = []
        self._split_rows: list[NodeRows] = []
        problem, root = criterion.problem, criterion.root()
        if start is None:
            self.builder, self.leaves = TreeBuilder(problem.n_features), {0: root}
        else:
            self.builder = TreeBuilder.from_tree(start.tree)
            self.leaves = {
                number: criterion.start_node(
                    rows, int(start.tree.cluster[number]), int(start.tree.depth[number])
                )
                for number, rows in enumerate(start.rows_by_node(problem.X))
                if start.tree.is_leaf[number]
            }
        map_nodes(criterion, self._name, list(self.leaves), self.leaves)
        set_counts(self.builder, self.leaves, problem.weights)

    def split(self, number: int, split: Split) -> tuple[int, int]:
        """Split a leaf; returns its children."""
        return self.accept(number, self.criterion.divide(self.leaves[number], split))

    def accept(self, number: int, divided: SplitNode) -> tuple[int, int]:
        """Replace a leaf by its two children; returns their numbers."""
        split, low, high, *nodes = divided
        threshold = choose_threshold(low, high, self.threshold_style)
        children = self.builder.split(number, feature=split.feature, threshold=threshold)
        for child, node in zip(children, nodes):
            self.leaves[child] = node
            self._name(child)
            self.builder.set_counts(child, *_count(node.rows, self.criterion.problem.weights))
        self.gains.append(split.gain)
        self._split_rows.append(self.leaves.pop(number).rows)
        return children

    def undo(self) -> None:
        """Undo the latest split."""
        node = self.builder.nodes[number := self.builder.splits[-1]]
        del self.leaves[node.left], self.leaves[node.right]
        self.leaves[number] = Node(self._split_rows.pop(), self.criterion.start_state())
        self.gains.pop()
        self.builder.undo()

    def result(self) -> GrowthResult:
        """The tree as it is now."""
        if not self.name_all:
            for number, node in self.leaves.items():
                self.builder.set_cluster(number, self.criterion.cluster(node))
        return GrowthResult(self.builder, self.gains, self.leaves)

    def _name(self, number: int) -> None:
        if self.name_all:
            self.builder.set_cluster(number, self.criterion.cluster(self.leaves[number]))


def set_counts(builder: TreeBuilder, leaves: dict[int, Node[Any]], weights: Weights) -> None:
    """Set rows and weight of all nodes, from those of the leaves; parents come before children."""
    counts: dict[int, tuple[int, float]] = {}
    for number in reversed(range(len(builder.nodes))):
        if number in leaves:
            counts[number] = _count(leaves[number].rows, weights)
        else:
            node = builder.nodes[number]
            (n_left, left), (n_right, right) = counts[node.left], counts[node.right]
            counts[number] = (n_left + n_right, left + right)
        builder.set_counts(number, *counts[number])


def _count(rows: NodeRows, weights: Weights) -> tuple[int, float]:
    """Number and weight of the rows of a node."""
    weight = weights.total_of(rows.active) + weights.total_of(rows.passive)
    return len(rows.active) + len(rows.passive), weight


def map_nodes(
    criterion: Criterion,
    work: Callable[[int], _Result],
    numbers: Sequence[int],
    nodes: dict[int, Node[Any]],
) -> list[_Result]:
    """``work(number)`` for some nodes, one after the other or concurrently.

    Threads either share the columns of one node or process one node each. The second is faster for
    small nodes; it is used where the threads are nearly all busy. The results are the same.
    """
    sizes = [len(nodes[number].rows.active) for number in numbers]
    if not (criterion.nodes_are_independent and are_worth_sharing(criterion, sizes)):
        return [work(number) for number in numbers]
    # The largest first, so that no thread starts it while the others have finished.
    order = sorted(range(len(numbers)), key=lambda i: -sizes[i])
    results = criterion.problem.pool.map(lambda i: work(numbers[i]), order)
    return [result for _, result in sorted(zip(order, results), key=lambda pair: pair[0])]


def are_worth_sharing(criterion: Criterion, sizes: Sequence[int]) -> bool:
    """Whether nodes of these sizes are faster to process concurrently, one per thread."""
    largest = max(sizes, default=0)
    shared = largest if largest >= criterion.min_rows_to_share_columns else 0
    required = _MIN_UTILIZATION * criterion.problem.pool.n_threads * shared
    return sum(sizes) >= max(required, _MIN_ROWS)


def grow_greedily(
    criterion: Criterion, threshold_style: ThresholdStyle, progress: Progress
) -> GrowthResult:
    """Split all leaves of a level, from left to right, then those of the next level."""
    tree = GrowingTree(criterion, threshold_style)

    def divide(number: int) -> SplitNode | None:
        split = criterion.best_split(tree.leaves[number])
        return None if split is None else criterion.divide(tree.leaves[number], split)

    level = [0]
    while level:
        next_level: list[int] = []
        for number, divided in zip(level, map_nodes(criterion, divide, level, tree.leaves)):
            if divided is not None:
                next_level += tree.accept(number, divided)
                progress.step()
        level = next_level
    return tree.result()
