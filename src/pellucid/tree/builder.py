"""Building a threshold tree split by split."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pellucid.tree.threshold_tree import LEAF, ThresholdTree


@dataclass
class _BuilderNode:
    """One node of a tree under construction."""

    feature: int = LEAF
    threshold: float = np.nan
    left: int = LEAF
    right: int = LEAF
    cluster: int = 0
    n_samples: int = 0
    weight: float = 0.0


@dataclass
class TreeBuilder:
    """Builds a :class:`~pellucid.tree.ThresholdTree` split by split, in any order.

    Nodes are numbered in the order in which they are created; node 0 is the root. Every node has
    a cluster, so that the tree can be built as it was after any number of splits.

    Attributes
    ----------
    n_features : int
        Number of columns.
    nodes : list of node records
        All nodes, inner nodes and leaves.
    splits : list of int
        Nodes that were split, in this order.
    """

    n_features: int
    nodes: list[_BuilderNode] = field(default_factory=lambda: [_BuilderNode()])
    splits: list[int] = field(default_factory=list)

    @classmethod
    def from_tree(cls, tree: ThresholdTree) -> TreeBuilder:
        """A builder that continues from `tree`, with the same node numbers.

        Parameters
        ----------
        tree : ThresholdTree
            The tree.
        """
        splits = tree.feature, tree.threshold, tree.children_left, tree.children_right
        fields = (array.tolist() for array in (*splits, tree.cluster))
        nodes = [_BuilderNode(*node) for node in zip(*fields)]
        return cls(tree.n_features, nodes, np.flatnonzero(~tree.is_leaf).tolist())

    @property
    def leaves(self) -> list[int]:
        """Numbers of the nodes that have not been split."""
        return [number for number, node in enumerate(self.nodes) if node.left == LEAF]

    def split(self, node: int, *, feature: int, threshold: float) -> tuple[int, int]:
        """Split a leaf; returns the numbers of its two new children.

        Parameters
        ----------
        node : int
            Number of the node.
        feature : int
            Column of the split.
        threshold : float
            Rows with values of at most this go left.

        Returns
        -------
        tuple of int
            Numbers of the left and of the right child.
        """
        parent = self.nodes[node]
        if parent.left != LEAF:
            raise ValueError(f"node {node} has already been split")
        parent.feature, parent.threshold = int(feature), float(threshold)
        parent.left, parent.right = len(self.nodes), len(self.nodes) + 1
        self.nodes += [_BuilderNode(), _BuilderNode()]
        self.splits.append(node)
        return parent.left, parent.right

    def undo(self) -> None:
        """Undo the latest split."""
        parent = self.nodes[self.splits.pop()]
        parent.feature, parent.threshold, parent.left, parent.right = LEAF, np.nan, LEAF, LEAF
        del self.nodes[-2:]

    def set_cluster(self, node: int, cluster: int) -> None:
        """Set the cluster of the node, which counts while it is a leaf.

        Parameters
        ----------
        node : int
            Number of the node.
        cluster : int
            The cluster.
        """
        self.nodes[node].cluster = int(cluster)

    def set_counts(self, node: int, n_samples: int, weight: float) -> None:
        """Set the number of training rows that reach the node, and their total weight.

        Parameters
        ----------
        node : int
            Number of the node.
        n_samples : int
            Number of training rows that reach the node.
        weight : float
            Total weight of these rows.
        """
        self.nodes[node].n_samples, self.nodes[node].weight = int(n_samples), float(weight)

    def preorder(self, n_splits: int | None = None) -> list[int]:
        """Nodes after the first `n_splits` splits, in preorder, as the built tree numbers them.

        Parameters
        ----------
        n_splits : int, optional
            Number of splits to apply. Default: all.

        Returns
        -------
        list of int
            Numbers of the nodes.
        """
        inner = set(self.splits[:n_splits])
        order, stack = [], [0]
        while stack:
            node = stack.pop()
            order.append(node)
            if node in inner:
                stack += [self.nodes[node].right, self.nodes[node].left]
        return order

    def build(self, n_splits: int | None = None) -> ThresholdTree:
        """The tree after the first `n_splits` splits (all of them by default).

        Parameters
        ----------
        n_splits : int, optional
            Number of splits to apply. Default: all.

        Returns
        -------
        ThresholdTree
            The tree.
        """
        inner = set(self.splits[:n_splits])
        order = self.preorder(n_splits)
        number = {node: i for i, node in enumerate(order)}
        kept = [(self.nodes[node], node in inner) for node in order]
        return ThresholdTree(
            n_features=self.n_features,
            feature=[n.feature if split else LEAF for n, split in kept],
            threshold=[n.threshold if split else np.nan for n, split in kept],
            children_left=[number[n.left] if split else LEAF for n, split in kept],
            children_right=[number[n.right] if split else LEAF for n, split in kept],
            cluster=[LEAF if split else n.cluster for n, split in kept],
            n_node_samples=[n.n_samples for n, _ in kept],
            weighted_n_node_samples=[n.weight for n, _ in kept],
        )
