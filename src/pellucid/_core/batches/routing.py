"""From the rows of a batch to the nodes of a growing tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pellucid._core.batches.batch import Batch
from pellucid._core.data.arrays import order_by
from pellucid.tree import ThresholdTree, TreeBuilder


@dataclass(frozen=True)
class Routing:
    """The splits of a growing tree, as they are sent to the batches.

    Feature, left and right child are -1 for leaves.
    """

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    overlaps = False

    def members(self, batch: Batch) -> LeafMembers:
        return LeafMembers(batch, self.leaves(batch))

    @classmethod
    def of(cls, builder: TreeBuilder) -> Routing:
        splits = [(node.feature, node.left, node.right) for node in builder.nodes]
        feature, left, right = np.array(splits, dtype=np.intp).T
        return cls(feature, np.array([node.threshold for node in builder.nodes]), left, right)

    def leaves(self, batch: Batch) -> np.ndarray:
        """The leaf of each row.

        A batch stores the leaves of the last routing. If this one continues it, only the splits
        since then are applied, and only their columns are read.
        """
        from pellucid._core.batches.kernels import route_node

        last, leaf = batch.routed
        if last is self:
            return leaf
        if last is None or not self.continues(last):
            last, leaf = None, np.zeros(batch.n_rows, dtype=np.int16)
        is_new = self.left >= 0
        if last is not None:
            is_new[: len(last.left)] &= last.left < 0
        if is_new.any():
            leaf = leaf.astype(np.int16 if len(self.left) < 2**15 else np.int32)  # a copy
            for node in is_new.nonzero()[0]:  # children have larger numbers than their parents
                numbers = map(leaf.dtype.type, (node, self.left[node], self.right[node]))
                values = batch.columns[self.feature[node]]
                route_node(*numbers, values, self.threshold[node], leaf)
        if last is None or is_new.any():
            batch.routed = self, leaf
        return leaf

    def continues(self, last: Routing) -> bool:
        """Whether all splits of another routing are among those of this one."""
        n, was_split = len(last.left), last.left >= 0
        if n > len(self.left):
            return False
        return all(
            np.array_equal(getattr(self, name)[:n][was_split], getattr(last, name)[was_split])
            for name in ("feature", "threshold", "left", "right")
        )


class LeafMembers(NamedTuple):
    """Rows of a batch by leaf."""

    batch: Batch
    leaf: np.ndarray

    def rows(self, node: int) -> np.ndarray:
        """Rows of a node, ascending."""
        return (self.leaf == node).nonzero()[0].astype(np.int32)

    def between(self, node: int, feature: int, first: int, last: int) -> np.ndarray:
        """Rows of a node in the bins first .. last of a column, ascending.

        NumPy compares many codes at once.
        """
        codes, number = self.batch.codes[feature], self.batch.codes.dtype.type
        # Smaller codes wrap around.
        is_inside = codes - number(first) <= number(last - first)
        return (is_inside & (self.leaf == node)).nonzero()[0].astype(np.int32)

    def groups(self, nodes: Sequence[int]) -> dict[int, np.ndarray]:
        return rows_by_leaf(self.leaf, nodes)


class Side(NamedTuple):
    """How the rows of a node differ from those of its parent; the parent of the root is -1."""

    parent: int = -1
    feature: int = -1
    threshold: float = np.nan
    is_left: bool = True


@dataclass(frozen=True)
class OverlapRouting:
    """The conditions of nodes that overlap, since some of them were split in several ways.

    A row is not in one leaf, but in all nodes whose conditions it meets. `sides` has some nodes and
    all of their ancestors.
    """

    sides: dict[int, Side]
    overlaps = True

    def members(self, batch: Batch) -> OverlapMembers:
        return OverlapMembers(self.sides, batch)


class OverlapMembers:
    """As `LeafMembers`, found when they are needed."""

    def __init__(self, sides: dict[int, Side], batch: Batch) -> None:
        self._sides, self._batch = sides, batch
        self._rows: dict[int, np.ndarray] = {}

    def rows(self, number: int) -> np.ndarray:
        path = []
        while number not in self._rows and self._sides[number].parent >= 0:
            path.append(number)
            number = self._sides[number].parent
        if number not in self._rows:
            self._rows[number] = np.arange(self._batch.n_rows, dtype=np.int32)
        rows = self._rows[number]
        for child in reversed(path):
            _, feature, threshold, is_left = self._sides[child]
            values = self._batch.columns[feature].take(rows)
            rows = self._rows[child] = rows[(values <= threshold) == is_left]
        return rows

    def groups(self, nodes: Sequence[int]) -> dict[int, np.ndarray]:
        return {node: self.rows(node) for node in nodes}

    def between(self, node: int, feature: int, first: int, last: int) -> np.ndarray:
        rows = self.rows(node)
        codes = self._batch.codes[feature].take(rows)
        return rows[(codes >= first) & (codes <= last)]


class GrownNodes:
    """All nodes of a growing tree, or of several trees that share nodes.

    The nodes of a start tree keep their numbers; without one, there is the root alone, number 0.
    """

    def __init__(self, start: ThresholdTree | None = None) -> None:
        self._sides, self._overlap = {0: Side()}, False
        self._children: dict[int, tuple[int, int]] = {}
        if start is not None:
            for parent, node in enumerate(TreeBuilder.from_tree(start).nodes):
                if node.left >= 0:
                    self._link(parent, node.feature, node.threshold, (node.left, node.right))

    def _link(self, parent: int, feature: int, threshold: float, pair: tuple[int, int]) -> None:
        self._children[parent] = pair
        for child, is_left in zip(pair, (True, False)):
            self._sides[child] = Side(parent, feature, threshold, is_left)

    def divide(self, number: int, feature: int, threshold: float) -> tuple[int, int]:
        """The numbers of the children of a split. A node may be split in several ways."""
        self._overlap |= number in self._children
        pair = len(self._sides), len(self._sides) + 1
        self._link(number, feature, threshold, pair)
        return pair

    def routing(self, numbers: Sequence[int]) -> Routing | OverlapRouting:
        """Where the rows of some nodes are."""
        if self._overlap:
            sides: dict[int, Side] = {}
            for number in numbers:
                while number >= 0 and number not in sides:
                    sides[number] = self._sides[number]
                    number = sides[number].parent
            return OverlapRouting(sides)
        n = len(self._sides)
        feature, left, right = np.full((3, n), -1, dtype=np.intp)
        threshold = np.full(n, np.nan)
        for parent, (left[parent], right[parent]) in self._children.items():
            _, feature[parent], threshold[parent], _ = self._sides[int(left[parent])]
        return Routing(feature, threshold, left, right)


def rows_by_leaf(leaf: np.ndarray, numbers: Sequence[int]) -> dict[int, np.ndarray]:
    """Rows of some leaves, ascending."""
    n_nodes = max(numbers, default=0) + 2
    last = np.minimum(leaf, n_nodes - 1)  # one group for all later leaves
    ends = np.bincount(last, minlength=n_nodes).cumsum()
    order = order_by(last, n_nodes)
    return {n: order[ends[n - 1] if n else 0 : ends[n]] for n in numbers}
