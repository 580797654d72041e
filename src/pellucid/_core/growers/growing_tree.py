"""The growing tree that all searches share: cells at its leaves, thresholds chosen as it splits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from pellucid._core.criteria.base import Cell, Criterion
from pellucid._core.criteria.column_search import Cut
from pellucid._core.data.arrays import order_by
from pellucid._core.data.weights import Weights
from pellucid._core.growers.scheduling import for_each_cell
from pellucid.tree import ThresholdTree, TreeBuilder
from pellucid.tree.rounding import ThresholdStyle, choose_threshold


@dataclass(frozen=True)
class Growth:
    """What a search returns.

    Attributes
    ----------
    builder : TreeBuilder
        Builds the tree as it was after any number of splits.
    gains : list
        Gain of each split that the search made, in order; those of a base tree are not in it.
    leaves : dict of int to Cell
        What is in each leaf, by the builder's numbers.
    """

    builder: TreeBuilder
    gains: list
    leaves: dict[int, Cell]

    @cached_property
    def leaf_of_rows(self) -> np.ndarray:
        """Leaf of each row, by the numbers of the tree that the builder builds."""
        from pellucid._core.kernels.rows import note_leaf

        cells = self.leaves.values()
        n_samples = sum(len(cell.active) + len(cell.passive) for cell in cells)
        leaf = np.empty(n_samples, dtype=np.intp)
        for number, node in enumerate(self.builder.preorder()):
            if node in self.leaves:
                note_leaf(self.leaves[node].active, number, leaf)
                note_leaf(self.leaves[node].passive, number, leaf)
        return leaf


@dataclass(frozen=True)
class Base:
    """A tree to go on from.

    Attributes
    ----------
    tree : ThresholdTree
    leaf : ndarray of shape (n_samples,), optional
        Leaf of each row, where that is known already.
    rows : list of ndarray, optional
        The same the other way round: the rows of each node, none of those that are no leaves.
    """

    tree: ThresholdTree
    leaf: np.ndarray | None = None
    rows: list[np.ndarray] | None = None

    @classmethod
    def of(cls, growth: Growth) -> Base:
        """What has been grown."""
        none = np.empty(0, dtype=np.int32)
        rows = [
            np.concatenate([growth.leaves[node].active, growth.leaves[node].passive])
            if node in growth.leaves
            else none
            for node in growth.builder.preorder()
        ]
        return cls(growth.builder.build(), rows=rows)

    def rows_by_node(self, X) -> list[np.ndarray]:
        """The rows of each node, none of those that are no leaves."""
        if self.rows is not None:
            return self.rows
        leaf, n_nodes = self.tree.apply(X) if self.leaf is None else self.leaf, self.tree.node_count
        ends = np.cumsum(np.bincount(leaf, minlength=n_nodes))
        return np.split(order_by(leaf, n_nodes), ends[:-1])


class Divided(NamedTuple):
    """A cell that has been cut."""

    cut: Cut
    threshold: float
    left: Cell
    right: Cell


class Plant:
    """A tree builder together with the cell of each of its leaves.

    Parameters
    ----------
    criterion : Criterion
        Divides the cells and names their clusters.
    threshold_style : {"round", "midpoint", "data"}
        Which number of a cut's interval becomes the threshold.
    base : Base, optional
        Tree to go on from; a single leaf when left out. For criteria that look at rows alone:
        the cells at its leaves are not told which centers or cuts lead to them.
    name_all : bool
        Whether nodes that are split here keep a cluster, so that earlier trees can be built.
    """

    def __init__(
        self,
        criterion: Criterion,
        threshold_style: ThresholdStyle,
        base: Base | None = None,
        name_all: bool = False,
    ) -> None:
        self.criterion = criterion
        self.threshold_style = threshold_style
        n_features = criterion.problem.n_features
        self.builder = TreeBuilder(n_features) if base is None else TreeBuilder.from_tree(base.tree)
        self.name_all = name_all
        self.gains: list = []
        self._divided: list[Cell] = []
        self.cells: dict[int, Cell] = {0: criterion.root()}
        if base is not None:
            self._take_over(base)
        for_each_cell(criterion, self._name, list(self.cells), self.cells)
        set_counts(self.builder, self.cells, criterion.problem.weights)

    def _take_over(self, base: Base) -> None:
        """Put the rows into the leaves of a tree that is there already."""
        problem, root = self.criterion.problem, self.cells.pop(0)
        for number, rows in enumerate(base.rows_by_node(problem.X)):
            if base.tree.is_leaf[number]:
                likely = {"likely": int(base.tree.cluster[number])}
                self.cells[number] = Cell(rows, rows[:0], root.centers, memo=likely)

    def divide(self, cell: Cell, cut: Cut) -> Divided:
        """What a cut would make of a cell."""
        low, high = self.criterion.interval(cell, cut)
        threshold = choose_threshold(low, high, self.threshold_style)
        return Divided(cut, threshold, *self.criterion.divide(cell, cut.feature, threshold))

    def split(self, number: int, cut: Cut) -> tuple[int, int]:
        """Cut a leaf; returns its children."""
        return self.accept(number, self.divide(self.cells[number], cut))

    def accept(self, number: int, divided: Divided) -> tuple[int, int]:
        """Put what a leaf was divided into in its place; returns its children."""
        cut, cell = divided.cut, self.cells.pop(number)
        children = self.builder.split(number, feature=cut.feature, threshold=divided.threshold)
        for child, half in zip(children, (divided.left, divided.right)):
            self.cells[child] = half
            self._name(child)
            self.builder.set_counts(child, *_count(half, self.criterion.problem.weights))
        cell.memo.clear()  # what the halves need of it, they have
        self.gains.append(cut.gain)
        self._divided.append(cell)
        return children

    def undo(self) -> None:
        """Take the latest split back."""
        node = self.builder.nodes[number := self.builder.splits[-1]]
        del self.cells[node.left], self.cells[node.right]
        self.cells[number] = self._divided.pop()
        self.gains.pop()
        self.builder.undo()

    def growth(self) -> Growth:
        """What has been grown so far."""
        if not self.name_all:
            for number, cell in self.cells.items():
                self.builder.set_cluster(number, self.criterion.cluster(cell))
        return Growth(self.builder, self.gains, self.cells)

    def _name(self, number: int) -> None:
        if self.name_all:
            self.builder.set_cluster(number, self.criterion.cluster(self.cells[number]))


def set_counts(builder: TreeBuilder, leaves: dict[int, Cell], weights: Weights) -> None:
    """Rows and weight of all nodes, from those of the leaves; children come after their parents."""
    counts: dict[int, tuple[int, float]] = {}
    for number in reversed(range(len(builder.nodes))):
        if number in leaves:
            counts[number] = _count(leaves[number], weights)
        else:
            node = builder.nodes[number]
            (n, weight), (m, more) = counts[node.left], counts[node.right]
            counts[number] = (n + m, weight + more)
        builder.set_counts(number, *counts[number])


def _count(cell: Cell, weights: Weights) -> tuple[int, float]:
    """Rows and weight of a cell."""
    weight = weights.total_of(cell.active) + weights.total_of(cell.passive)
    return len(cell.active) + len(cell.passive), weight
