"""A tree that is being changed, and the way of every row through it."""

from __future__ import annotations

import numpy as np

from pellucid._core.criteria.column_search import BinnedColumn
from pellucid._core.criteria.problem import Problem
from pellucid._core.data.arrays import divide_rows
from pellucid.tree import LEAF, ThresholdTree, TreeBuilder
from pellucid.tree.rounding import ThresholdStyle, choose_threshold


class Routes:
    """A tree of which any part may change, with the rows at its nodes.

    Nodes keep their numbers as long as they are in the tree; those of nodes that leave it are
    used again. While the tree is being changed, thresholds lie in the middle of their intervals:
    what becomes of a tree must not depend on the numbers it is shown with.

    Parameters
    ----------
    tree : ThresholdTree
    problem : Problem
    threshold_style : {"round", "midpoint", "data"}
        Which number of a cut's interval is shown in the end.
    n_leaves : int
        Most leaves that the tree may come to have.

    Attributes
    ----------
    root : int
    feature, threshold, left, right, cluster : ndarray
        By node, as in a :class:`ThresholdTree`.
    goes_left : ndarray of shape (n_nodes, n_samples), bool
        Whether a row, if it came to an inner node, would go left there.
    reach : ndarray of shape (n_nodes, n_samples)
        The leaf that a row would reach from a node.
    rows : list of ndarray
        The rows that do reach each node.
    """

    def __init__(
        self, tree: ThresholdTree, problem: Problem, threshold_style: ThresholdStyle, n_leaves: int
    ) -> None:
        self.problem, self.threshold_style = problem, threshold_style
        size, n_rows = 2 * max(n_leaves, tree.n_leaves) - 1, problem.n_samples
        self.root = 0
        self.feature = _longer(tree.feature, size)
        self.threshold = _longer(tree.threshold, size)
        self.left = _longer(tree.children_left, size)
        self.right = _longer(tree.children_right, size)
        self.cluster = _longer(tree.cluster, size)
        self.goes_left = np.empty((size, n_rows), dtype=bool)
        self.reach = np.empty((size, n_rows), dtype=np.uint8 if size <= 256 else np.int32)
        self._every = np.arange(n_rows, dtype=np.int32)
        self.rows = [self._every] * size
        self._is_new = np.zeros(size, dtype=bool)
        self._given = self.threshold.copy()
        for node in self.inner():
            self._divide(node)
        self.follow()
        self.center_thresholds()

    def copy(self) -> Routes:
        """A tree that can be changed without changing this one."""
        other = object.__new__(Routes)
        other.__dict__.update(self.__dict__)
        for name in ("feature", "threshold", "left", "right", "cluster", "goes_left", "reach"):
            setattr(other, name, getattr(self, name).copy())
        other.rows, other._is_new = self.rows.copy(), self._is_new.copy()
        return other

    def preorder(self, start: int | None = None) -> list[int]:
        """The nodes below a node and itself, parents before children, left before right."""
        order, stack = [], [self.root if start is None else start]
        while stack:
            node = stack.pop()
            order.append(node)
            if self.left[node] != LEAF:
                stack += [int(self.right[node]), int(self.left[node])]
        return order

    def inner(self) -> list[int]:
        """Inner nodes in preorder."""
        return [node for node in self.preorder() if self.left[node] != LEAF]

    def leaves(self, start: int | None = None) -> list[int]:
        """Leaves from left to right."""
        return [node for node in self.preorder(start) if self.left[node] == LEAF]

    @property
    def leaf(self) -> np.ndarray:
        """Leaf of each row."""
        return self.reach[self.root]

    def labels(self) -> np.ndarray:
        """Cluster of each row."""
        return self.cluster[self.leaf]

    def children(self, node: int) -> tuple[int, int]:
        """Left and right child."""
        return int(self.left[node]), int(self.right[node])

    def follow(self) -> None:
        """Work out everything about the rows anew, after a change to the tree."""
        order = self.preorder()
        for node in reversed(order):
            self.update_reach(node)
        self.rows[self.root] = self._every
        for node in order:
            self.update_rows(node)

    def center_thresholds(self) -> None:
        """Put all thresholds into the middle of their intervals; all rows stay in their leaves."""
        for node in self.inner():
            middle = self._styled(node, "midpoint")
            if middle != self.threshold[node]:
                self.threshold[node] = middle
                self._divide(node)
        for node in reversed(self.preorder()):
            self.update_reach(node)

    def update_reach(self, node: int) -> None:
        """Work out `reach` of a node from that of its children."""
        if self.left[node] == LEAF:
            self.reach[node] = node
        else:
            left, right = self.reach[self.left[node]], self.reach[self.right[node]]
            self.reach[node] = np.where(self.goes_left[node], left, right)

    def update_rows(self, node: int) -> None:
        """Share the rows of an inner node out to its children."""
        if self.left[node] != LEAF:
            left, right = self.children(node)
            rows = self.rows[node]
            halves = divide_rows(rows, self.goes_left[node][rows])
            self.rows[left], self.rows[right] = halves

    def cut(self, node: int, feature: int, at: float) -> None:
        """Give an inner node another question; `reach` and `rows` are left to the caller."""
        self.feature[node], self.threshold[node] = feature, at
        self.threshold[node] = self._styled(node, "midpoint")
        self._divide(node)
        self._is_new[node] = True

    def split(self, leaf: int, feature: int, at: float) -> tuple[int, int]:
        """Put a question at a leaf; both new leaves belong to its cluster. Call `follow` then."""
        used = set(self.preorder())
        left, right = [node for node in range(len(self.left)) if node not in used][:2]
        self.left[leaf], self.right[leaf] = left, right
        for child in (left, right):
            self.left[child] = self.right[child] = self.feature[child] = LEAF
            self.cluster[child] = self.cluster[leaf]
        self.cluster[leaf] = LEAF
        self.cut(leaf, feature, at)
        return left, right

    def replace(self, node: int, child: int) -> None:
        """Put one child of a node in its place; the other is lost. Call `follow` then."""
        if node == self.root:
            self.root = child
        else:
            for side in (self.left, self.right):
                side[side == node] = child
        self.left[node] = self.right[node] = LEAF
        self._is_new[child] = True

    def build(self) -> tuple[ThresholdTree, np.ndarray]:
        """The tree, and the node number of each row's leaf in it."""
        threshold = self._shown()
        builder = TreeBuilder(self.problem.n_features)
        number = {self.root: 0}
        weights = self.problem.weights
        for node in self.preorder():
            here = number[node]
            builder.set_counts(here, len(self.rows[node]), weights.total_of(self.rows[node]))
            if self.left[node] == LEAF:
                builder.set_cluster(here, self.cluster[node])
            else:
                halves = builder.split(here, feature=self.feature[node], threshold=threshold[node])
                number.update(zip(self.children(node), halves))
        leaf = np.empty(self.problem.n_samples, dtype=np.intp)
        for place, node in enumerate(self.preorder()):
            if self.left[node] == LEAF:
                leaf[self.rows[node]] = place
        return builder.build(), leaf

    def _divide(self, node: int) -> None:
        column = BinnedColumn(self.problem, int(self.feature[node]), self._every)
        self.goes_left[node] = column.at_most(self.threshold[node])

    def _styled(self, node: int, style: ThresholdStyle) -> float:
        """One of the thresholds that divide the rows of the node as its own does."""
        at = self.threshold[node]
        column = BinnedColumn(self.problem, int(self.feature[node]), self.rows[node])
        low, high = column.around(at)
        is_cut = np.isfinite(low) and np.isfinite(high)
        return choose_threshold(low, high, style) if is_cut else at

    def _shown(self) -> np.ndarray:
        """Thresholds as they were given; below every change, as the style has it."""
        threshold, is_new = self._given.copy(), self._is_new.copy()
        for node in self.inner():
            if is_new[node]:
                threshold[node] = self._styled(node, self.threshold_style)
                is_new[list(self.children(node))] = True
        return threshold


def _longer(array: np.ndarray, size: int) -> np.ndarray:
    longer = np.full(size, LEAF, dtype=array.dtype)
    longer[: len(array)] = array
    return longer
