"""The growing tree that all searches share: cells at its leaves, thresholds chosen as it splits."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pellucid.cuts.criterion import Cell, Criterion, Cut
from pellucid.cuts.thresholds import ThresholdStyle, choose_threshold
from pellucid.tree import LEAF, ThresholdTree, TreeBuilder


@dataclass(frozen=True)
class Growth:
    """What a search returns.

    Attributes
    ----------
    builder : TreeBuilder
        Builds the tree as it was after any number of splits.
    gains : list
        Gain of each split that the search made, in order; those of a base tree are not in it.
    """

    builder: TreeBuilder
    gains: list = field(default_factory=list)


class Plant:
    """A tree builder together with the cell of each of its leaves.

    Parameters
    ----------
    criterion : Criterion
        Divides the cells and names their clusters.
    threshold_style : {"round", "midpoint", "data"}
        Which number of a cut's interval becomes the threshold.
    base : ThresholdTree, optional
        Tree to go on from; a single leaf when left out.
    """

    def __init__(
        self,
        criterion: Criterion,
        threshold_style: ThresholdStyle,
        base: ThresholdTree | None = None,
    ) -> None:
        self.criterion = criterion
        self.threshold_style = threshold_style
        n_features = criterion.problem.n_features
        self.builder = TreeBuilder(n_features) if base is None else TreeBuilder.from_tree(base)
        self.gains: list = []
        self.cells: dict[int, Cell] = {}
        self._settle(0, criterion.root())
        for number in range(len(self.builder.nodes)):
            node = self.builder.nodes[number]
            if node.left != LEAF:
                halves = criterion.divide(self.cells.pop(number), node.feature, node.threshold)
                self._settle(node.left, halves[0])
                self._settle(node.right, halves[1])

    def split(self, number: int, cut: Cut) -> tuple[int, int]:
        """Cut a leaf; returns its children.

        The threshold keeps to the rows that reach the leaf, those included that the criterion
        no longer counts, so that every style sends every training row the same way.
        """
        cell = self.cells.pop(number)
        values = self.criterion.problem.values(cut.feature, cell.rows)
        high = np.min(values[values > cut.low], initial=cut.high)
        threshold = choose_threshold(cut.low, float(high), self.threshold_style)
        children = self.builder.split(number, feature=cut.feature, threshold=threshold)
        for child, half in zip(children, self.criterion.divide(cell, cut.feature, threshold)):
            self._settle(child, half)
        self.gains.append(cut.gain)
        return children

    def growth(self) -> Growth:
        """What has been grown so far."""
        return Growth(self.builder, self.gains)

    def _settle(self, number: int, cell: Cell) -> None:
        weight = self.criterion.problem.weights.values[cell.rows].sum()
        self.cells[number] = cell
        self.builder.set_counts(number, len(cell.rows), weight)
        self.builder.set_cluster(number, self.criterion.cluster(cell))
