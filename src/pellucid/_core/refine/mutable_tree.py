"""Trees in arrays that can be changed at any node, and the route of every row through them.

`TreeBuilder` of `pellucid.tree` serves growing: it adds splits in order, can undo them, and has no
rows. Here any part of a tree changes, nodes are reused, and the rows of each node are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pellucid._core.criteria.partition import split_rows
from pellucid._core.criteria.problem import Problem
from pellucid._core.data.arrays import divide_rows
from pellucid.tree import LEAF, ThresholdTree, TreeBuilder
from pellucid.tree.rounding import ThresholdStyle, choose_threshold


class Cut(NamedTuple):
    """A split of a tree: values up to `value` go left. Children are positions among the nodes."""

    feature: int
    value: float
    left: int
    right: int


def build_tree(
    problem: Problem, nodes: Sequence[Cut | None], style: ThresholdStyle
) -> tuple[TreeBuilder, dict[int, tuple[int, np.ndarray]]]:
    """The tree of some nodes, None for a leaf, on the rows of a problem, without empty sides.

    Also returns place in `nodes` and rows of each leaf, by number.
    """
    builder, leaves = TreeBuilder(problem.n_features), {}
    stack = [(0, 0, np.arange(problem.n_samples, dtype=np.int32))]
    while stack:
        place, number, rows = stack.pop()
        builder.set_counts(number, len(rows), problem.weights.total_of(rows))
        cut = nodes[place]
        if cut is None:
            leaves[number] = place, rows
            continue
        values = problem.values(cut.feature, rows)
        goes_left = values <= cut.value
        left, right = divide_rows(rows, goes_left)
        if not (len(left) and len(right)):
            stack.append((cut.left if len(left) else cut.right, number, rows))
            continue
        low, high = float(values[goes_left].max()), float(values[~goes_left].min())
        threshold = choose_threshold(low, high, style)
        children = builder.split(number, feature=cut.feature, threshold=threshold)
        stack += zip((cut.left, cut.right), children, (left, right))
    return builder, leaves


class ArrayTree:
    """A binary tree in arrays. Some nodes may be unused."""

    root = 0
    left: np.ndarray  # children of each node, -1 for a leaf; changed by `set_children` only
    right: np.ndarray
    _of_root: tuple[list[int], list[int]] | None = None

    def set_children(self, node: int, left: int = LEAF, right: int = LEAF) -> None:
        """Give a node other children; without any it becomes a leaf."""
        self.left[node], self.right[node] = left, right
        self._of_root = None

    def preorder(self, start: int | None = None) -> list[int]:
        """Nodes from `start` (the root) down, parents before children, left before right.

        Those of the whole tree are stored and must not be changed.
        """
        return self._nodes_from(start)[0]

    def leaves(self, start: int | None = None) -> list[int]:
        """Leaves from `start` (the root) down, from left to right; stored as `preorder` is."""
        return self._nodes_from(start)[1]

    def _nodes_from(self, start: int | None) -> tuple[list[int], list[int]]:
        """All nodes, and the leaves."""
        top = self.root if start is None else start
        if top == self.root and self._of_root is not None:
            return self._of_root
        left, right = self.left.tolist(), self.right.tolist()
        order, leaves, stack = list[int](), list[int](), [top]
        while stack:
            node = stack.pop()
            order.append(node)
            if left[node] == LEAF:
                leaves.append(node)
            else:
                stack += (right[node], left[node])
        if top == self.root:
            self._of_root = order, leaves
        return order, leaves

    def is_leaf(self, node: int) -> bool:
        return self.left.item(node) == LEAF

    def inner(self) -> list[int]:
        """Inner nodes in preorder."""
        return [node for node in self.preorder() if not self.is_leaf(node)]

    def children(self, node: int) -> tuple[int, int]:
        return self.left.item(node), self.right.item(node)

    def add_children(self, leaf: int) -> tuple[int, int]:
        """Give a leaf two children, nodes that were not part of the tree; return them."""
        used = set(self.preorder())
        left, right = [node for node in range(len(self.left)) if node not in used][:2]
        self.set_children(leaf, left, right)
        self.set_children(left)
        self.set_children(right)
        return left, right


class MutableTree(ArrayTree):
    """A tree with the rows at its nodes, and the leaf that every row would reach from each node.

    A node keeps its number as long as it is part of the tree. While the tree is changed, thresholds
    are the midpoints of their intervals, so that the result does not depend on `threshold_style`.

    The final tree has thresholds of a style, and at most `n_leaves` leaves. By node and row,
    `goes_left` says whether the row would go left at an inner node, and `reach` is the leaf that it
    would reach from there. `rows` are those that reach each node from the root.
    """

    def __init__(
        self, tree: ThresholdTree, problem: Problem, threshold_style: ThresholdStyle, n_leaves: int
    ) -> None:
        self.problem, self.threshold_style = problem, threshold_style
        size, n_rows = 2 * max(n_leaves, tree.n_leaves) - 1, problem.n_samples
        given = tree.feature, tree.threshold, tree.children_left, tree.children_right, tree.cluster
        self.feature, self.threshold, self.left, self.right, self.cluster = (
            np.append(array, np.full(size - len(array), LEAF, dtype=array.dtype)) for array in given
        )
        self.goes_left = np.empty((size, n_rows), dtype=bool)
        self.reach = np.empty((size, n_rows), dtype=np.uint8 if size <= 256 else np.int32)
        self._all_rows = np.arange(n_rows, dtype=np.int32)
        self.rows = [self._all_rows] * size
        self._is_changed = np.zeros(size, dtype=bool)
        self._given_threshold = self.threshold.copy()
        for node in self.inner():
            self._route(node)
        self.update_all()
        self.center_thresholds()

    def copy(self) -> MutableTree:
        other = object.__new__(MutableTree)
        other.__dict__.update(self.__dict__)
        for name in ("feature", "threshold", "left", "right", "cluster", "goes_left", "reach"):
            setattr(other, name, getattr(self, name).copy())
        other.rows, other._is_changed = self.rows.copy(), self._is_changed.copy()
        return other

    @property
    def leaf(self) -> np.ndarray:
        return self.reach[self.root]

    def labels(self) -> np.ndarray:
        return self.cluster[self.leaf]

    def has_rows(self) -> np.ndarray:
        """Whether each cluster has rows."""
        found = np.zeros(self.problem.n_clusters, dtype=bool)
        found[[self.cluster[leaf] for leaf in self.leaves() if len(self.rows[leaf])]] = True
        return found

    def update_all(self) -> None:
        """Recompute `reach` and `rows` of all nodes, after a change of the tree."""
        for node in reversed(self.preorder()):
            self.update_reach(node)
        self.rows[self.root] = self._all_rows
        for node in self.preorder():
            self.update_rows(node)

    def update_at(self, node: int) -> None:
        """The same after a change of one node: of its cut, its leaves, or its parent."""
        parents = {child: above for above in self.inner() for child in self.children(above)}
        for child in self.children(node):
            if child != LEAF:
                self.update_reach(child)
        above: int | None = node
        while above is not None:
            self.update_reach(above)
            above = parents.get(above)
        if node == self.root:
            self.rows[node] = self._all_rows
        else:
            self.update_rows(parents[node])
        for below in self.preorder(node):
            self.update_rows(below)

    def center_thresholds(self) -> None:
        """Move all thresholds to the midpoints of their intervals; rows stay in their leaves."""
        for node in self.inner():
            middle = self._styled(node, "midpoint")
            if middle != self.threshold[node]:
                self.threshold[node] = middle
                self._route(node)
        for node in reversed(self.preorder()):
            self.update_reach(node)

    def update_reach(self, node: int) -> None:
        """Recompute `reach` of a node from its children."""
        if self.is_leaf(node):
            self.reach[node] = node
        else:
            left, right = (self.reach[child] for child in self.children(node))
            self.reach[node] = np.where(self.goes_left[node], left, right)

    def update_rows(self, node: int) -> None:
        """Recompute `rows` of the children of a node."""
        if not self.is_leaf(node):
            left, right = self.children(node)
            rows = self.rows[node]
            self.rows[left], self.rows[right] = divide_rows(rows, self.goes_left[node][rows])

    def cut(self, node: int, feature: int, threshold: float) -> None:
        """Change the cut of an inner node; `reach` and `rows` are left to the caller."""
        self.feature[node], self.threshold[node] = feature, threshold
        self.threshold[node] = self._styled(node, "midpoint")
        self._route(node)
        self._is_changed[node] = True

    def split(self, leaf: int, feature: int, threshold: float) -> tuple[int, int]:
        """Split a leaf; both new leaves have its cluster. Call `update_at` afterwards."""
        children = self.add_children(leaf)
        for child in children:
            self.feature[child], self.cluster[child] = LEAF, self.cluster[leaf]
        self.cluster[leaf] = LEAF
        self.cut(leaf, feature, threshold)
        return children

    def replace(self, node: int, child: int) -> None:
        """Replace a node by one of its children. Call `update_at` for the child afterwards."""
        if node == self.root:
            self.root = child
        else:
            for side in (self.left, self.right):
                side[side == node] = child
        self.set_children(node)
        self._is_changed[child] = True

    def to_tree(self) -> tuple[ThresholdTree, np.ndarray]:
        """The final tree, and the node number of each row's leaf in it."""
        # As they were given; in the style of the tree at and below changed nodes.
        threshold, is_changed = self._given_threshold.copy(), self._is_changed.copy()
        for node in self.inner():
            if is_changed[node]:
                threshold[node] = self._styled(node, self.threshold_style)
                is_changed[list(self.children(node))] = True
        builder, weights = TreeBuilder(self.problem.n_features), self.problem.weights
        leaf = np.empty(self.problem.n_samples, dtype=np.intp)
        number = {self.root: 0}
        for place, node in enumerate(self.preorder()):
            rows = self.rows[node]
            builder.set_counts(number[node], len(rows), weights.total_of(rows))
            if self.is_leaf(node):
                builder.set_cluster(number[node], self.cluster[node])
                leaf[rows] = place
            else:
                children = builder.split(
                    number[node], feature=self.feature[node], threshold=threshold[node]
                )
                number.update(zip(self.children(node), children))
        return builder.build(), leaf

    def _route(self, node: int) -> None:
        feature, threshold = int(self.feature[node]), self.threshold[node]
        left = split_rows(self.problem, self._all_rows, feature, threshold).left
        self.goes_left[node] = False
        self.goes_left[node, left] = True

    def _styled(self, node: int, style: ThresholdStyle) -> float:
        """The threshold of a style that divides the rows of a node as the current one does."""
        feature, threshold = int(self.feature[node]), self.threshold[node]
        low, high, *_ = split_rows(self.problem, self.rows[node], feature, threshold)
        is_cut = np.isfinite(low) and np.isfinite(high)
        return choose_threshold(low, high, style) if is_cut else threshold
