"""The growing tree that all growers share, a node per leaf; and greedy growth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from pellucid._core.criteria.base import Criterion, DividedNode, Node, StartTree
from pellucid._core.criteria.column_search import Split
from pellucid._utils.progress import Progress
from pellucid._utils.threads import SERIAL, ThreadPool
from pellucid.tree import ThresholdTree, TreeBuilder
from pellucid.tree.rounding import ThresholdStyle

_ROWS_AT_ONCE = 2**17
"""Rows whose leaf is stored at a time, by one thread."""


@dataclass(frozen=True)
class GrowthResult:
    """A tree as a grower returns it.

    The builder builds the tree as it was after any number of splits. `gains` are those of the
    splits that the grower made, in order, without those of a start tree. `leaves` has the node of
    each leaf, by the numbers of the builder.
    """

    builder: TreeBuilder
    gains: list[Any]
    leaves: dict[int, Node[Any]]

    @cached_property
    def leaf_of_rows(self) -> np.ndarray:
        """Leaf of each row, by the numbers of the tree that the builder builds."""
        return self.find_leaves(SERIAL)

    def find_leaves(self, pool: ThreadPool) -> np.ndarray:
        """The same, found by all threads."""
        parts = [
            (number, rows[start : start + _ROWS_AT_ONCE])
            for number, node in enumerate(self.builder.preorder())
            if node in self.leaves
            for rows in (self.leaves[node].rows.active, self.leaves[node].rows.passive)
            for start in range(0, len(rows), _ROWS_AT_ONCE)
        ]
        leaf = np.empty(sum(len(rows) for _, rows in parts), dtype=np.intp)

        def store(part: tuple[int, np.ndarray]) -> None:
            leaf[part[1]] = part[0]

        pool.map(store, parts)
        return leaf


class FitSummary(NamedTuple):
    """What is found about a tree and its rows at the end of a fit.

    `names` are those of the clusters, `cluster_centers` and `inertia` the centers of the clusters
    of the tree and the cost of the rows, followed by those of the reference. `purity` is, by leaf,
    the share of the weight whose own center is the leaf's, and `mistakes` the weight of the other
    rows. `n_noise` has, by leaf, the rows of noise that were left out.
    """

    tree: ThresholdTree
    names: Any
    cluster_centers: np.ndarray
    inertia: float
    reference_centers: np.ndarray
    reference_inertia: float
    purity: dict[int, float]
    importances: np.ndarray
    mistakes: int | float
    n_noise: Mapping[int, int] = MappingProxyType({})


class GrowingTree:
    """A tree builder together with the node of each of its leaves.

    Growth continues from `start`, or from a single leaf. With `name_all`, inner nodes get a cluster
    too, so that earlier trees can be built.
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
        self._split_nodes: list[Node[Any]] = []
        if start is None:
            self.builder = TreeBuilder(criterion.problem.n_features)
            self.leaves = {0: criterion.root()}
        else:
            self.builder = TreeBuilder.from_tree(start.tree)
            self.leaves = criterion.start_nodes(start)
        if name_all:
            for number, cluster in zip(self.leaves, criterion.clusters(list(self.leaves.values()))):
                self.builder.set_cluster(number, cluster)
        set_counts(self.builder, self.leaves, criterion)

    def split(self, number: int, split: Split) -> tuple[int, int]:
        """Split a leaf; returns its children."""
        nodes, style = [self.leaves[number]], self.threshold_style
        return self.accept(number, self.criterion.divide(nodes, [split], style)[0])

    def accept(self, number: int, divided: DividedNode) -> tuple[int, int]:
        """Replace a leaf by its two children; returns their numbers."""
        split, threshold, *nodes = divided
        children = self.builder.split(number, feature=split.feature, threshold=threshold)
        for child, node in zip(children, nodes):
            self.leaves[child] = node
            if self.name_all:
                self.builder.set_cluster(child, self.criterion.cluster(node))
            self.builder.set_counts(child, *self.criterion.count(node))
        self.gains.append(split.gain)
        self._split_nodes.append(self.criterion.without_state(self.leaves.pop(number)))
        return children

    def undo(self) -> None:
        node = self.builder.nodes[number := self.builder.splits[-1]]
        del self.leaves[node.left], self.leaves[node.right]
        self.leaves[number] = self._split_nodes.pop()
        self.gains.pop()
        self.builder.undo()

    def result(self) -> GrowthResult:
        """The tree as it is now."""
        if not self.name_all:
            for number, node in self.leaves.items():
                self.builder.set_cluster(number, self.criterion.cluster(node))
        return GrowthResult(self.builder, self.gains, self.leaves)


def set_counts(
    builder: TreeBuilder, leaves: dict[int, Node[Any]], criterion: Criterion[Any]
) -> None:
    """Set rows and weight of all nodes, from those of the leaves; parents come before children."""
    counts: dict[int, tuple[int, float]] = {}
    for number in reversed(range(len(builder.nodes))):
        if number in leaves:
            counts[number] = criterion.count(leaves[number])
        else:
            node = builder.nodes[number]
            (n_left, left), (n_right, right) = counts[node.left], counts[node.right]
            counts[number] = (n_left + n_right, left + right)
        builder.set_counts(number, *counts[number])


def grow_greedily(
    criterion: Criterion[Any], threshold_style: ThresholdStyle, progress: Progress
) -> GrowthResult:
    """Split all leaves of a level, from left to right, then those of the next level."""
    tree, level = GrowingTree(criterion, threshold_style), [0]
    while level:
        nodes, next_level = [tree.leaves[number] for number in level], list[int]()
        for number, divided in zip(level, criterion.divide_best(nodes, threshold_style)):
            if divided is not None:
                next_level += tree.accept(number, divided)
                progress.step()
        level = next_level
    return tree.result()
