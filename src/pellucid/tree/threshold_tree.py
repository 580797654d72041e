"""The threshold tree: flat arrays that route rows to leaves, and the builder that makes them.

This module knows nothing of clusterings' costs, of estimators or of how cuts are found; all it
takes from the package is :mod:`pellucid.tree.predictor`, which moves rows down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import joblib
import numpy as np
from scipy import sparse

from pellucid.tree.predictor import Routes, canonical_csc, column_values, look_up

LEAF = -1
"""What ``children_left``, ``children_right`` and ``feature`` hold where there is nothing."""

_ARRAYS = (
    "feature",
    "threshold",
    "children_left",
    "children_right",
    "cluster",
    "n_node_samples",
    "weighted_n_node_samples",
)


class ThresholdTree:
    """A binary tree of single-feature thresholds whose leaves carry clusters.

    A row goes left at a node when ``x[feature] <= threshold``. Nodes are numbered in
    preorder, so a node comes before its children and the left subtree before the right one;
    two trees that ask the same questions are therefore equal array by array.

    Trees are made by :class:`TreeBuilder` and do not change afterwards: the arrays are
    read-only.

    Attributes
    ----------
    feature : ndarray of shape (node_count,), intp
        Column that an inner node looks at; -1 at a leaf.
    threshold : ndarray of shape (node_count,), float64
        Threshold of an inner node; NaN at a leaf.
    children_left, children_right : ndarray of shape (node_count,), intp
        Where a row goes; -1 at a leaf.
    cluster : ndarray of shape (node_count,), intp
        Cluster of a leaf; -1 at an inner node.
    n_node_samples : ndarray of shape (node_count,), intp
        Training rows that reached the node.
    weighted_n_node_samples : ndarray of shape (node_count,), float64
        Their total sample weight.
    n_features : int
        Number of columns of the data the tree was made for.

    Examples
    --------
    >>> from pellucid.tree import TreeBuilder
    >>> builder = TreeBuilder(n_features=2)
    >>> left, right = builder.split(0, feature=1, threshold=0.5)
    >>> builder.set_cluster(left, 0); builder.set_cluster(right, 1)
    >>> tree = builder.build()
    >>> tree
    ThresholdTree(n_leaves=2, max_depth=1, n_features=2)
    >>> tree.predict([[9.0, 0.5], [0.0, 0.6]])
    array([0, 1])
    """

    __slots__ = (*_ARRAYS, "_routes", "n_features")

    def __init__(self, *, n_features: int, **arrays: np.ndarray) -> None:
        object.__setattr__(self, "n_features", int(n_features))
        object.__setattr__(self, "_routes", None)
        for name in _ARRAYS:
            array = np.array(arrays[name])
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a ThresholdTree does not change once built; {name!r} is read-only")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a ThresholdTree does not change once built; {name!r} is read-only")

    def __reduce__(self):
        arrays = {name: np.asarray(getattr(self, name)) for name in _ARRAYS}
        return _restore, (self.n_features, arrays)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ThresholdTree):
            return NotImplemented
        return self.n_features == other.n_features and all(
            np.array_equal(getattr(self, name), getattr(other, name), equal_nan=True)
            for name in _ARRAYS
        )

    def __hash__(self) -> int:
        return hash((self.n_features, self.feature.tobytes(), self.threshold.tobytes()))

    def __repr__(self) -> str:
        return (
            f"ThresholdTree(n_leaves={self.n_leaves}, max_depth={self.max_depth}, "
            f"n_features={self.n_features})"
        )

    def replace(self, *, n_features: int | None = None, **arrays: np.ndarray) -> ThresholdTree:
        """The same tree with another number of columns, or with other arrays by their names."""
        kept = {name: getattr(self, name) for name in _ARRAYS}
        n_features = self.n_features if n_features is None else n_features
        return ThresholdTree(n_features=n_features, **{**kept, **arrays})

    @property
    def node_count(self) -> int:
        """Number of nodes, inner nodes and leaves together."""
        return len(self.feature)

    @property
    def is_leaf(self) -> np.ndarray:
        """Boolean mask of the leaves."""
        return self.children_left == LEAF

    @property
    def leaves(self) -> np.ndarray:
        """Node numbers of the leaves, left to right."""
        return np.flatnonzero(self.is_leaf)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(self.is_leaf.sum())

    @property
    def depth(self) -> np.ndarray:
        """Number of questions asked before each node."""
        depth = np.zeros(self.node_count, dtype=np.intp)
        for node in np.flatnonzero(~self.is_leaf):
            depth[[self.children_left[node], self.children_right[node]]] = depth[node] + 1
        return depth

    @property
    def max_depth(self) -> int:
        """Number of questions on the longest path."""
        return int(self.depth.max())

    def apply(self, X) -> np.ndarray:
        """Node number of the leaf that each row of `X` reaches.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows to route. Sparse data are read one column at a time.

        Returns
        -------
        ndarray of shape (n_samples,), intp
        """
        return self.look_up(X, np.arange(self.node_count))[0]

    def predict(self, X) -> np.ndarray:
        """Cluster of each row of `X`, as integers."""
        return self.look_up(X, self.cluster)[0]

    def look_up(
        self,
        X,
        answers: np.ndarray,
        *,
        check: bool = False,
        count_threads: Callable[[], int] = joblib.cpu_count,
    ) -> tuple[np.ndarray, bool]:
        """What there is to say of each row of `X`, given what there is to say of each leaf.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        answers : ndarray of shape (node_count,)
        check : bool, default=False
            Whether to look, in the same pass, for values that are not finite, in any column.
        count_threads : callable, default=joblib.cpu_count
            Tells how many threads there may be; asked only when there are many rows.

        Returns
        -------
        found : ndarray of shape (n_samples,)
            ``answers[apply(X)]``.
        is_finite : bool
            False if `check` and `X` holds NaN or an infinity.
        """
        X = self._check_width(X)
        if self._routes is None:
            object.__setattr__(self, "_routes", Routes.of(self))
        how = {"check": check, "count_threads": count_threads}
        if answers.dtype == np.intp:
            return look_up(self._routes, X, answers, **how)
        leaf, is_finite = look_up(self._routes, X, np.arange(self.node_count), **how)
        return answers[leaf], is_finite

    def decision_path(self, X) -> sparse.csr_array:
        """Nodes that each row of `X` passes, as an indicator matrix.

        Returns
        -------
        csr_array of shape (n_samples, node_count), bool
            Entry (i, j) is true when row i passes node j.
        """
        X = self._check_width(X)
        X = canonical_csc(X) if sparse.issparse(X) else X
        visits = [(rows, np.full(len(rows), node)) for node, rows in self._route(X)]
        rows, nodes = (np.concatenate(part) for part in zip(*visits))
        return sparse.csr_array(
            (np.ones(len(rows), dtype=bool), (rows, nodes)), shape=(X.shape[0], self.node_count)
        )

    def path(self, node: int) -> list[tuple[int, bool]]:
        """Questions from the root to `node`: pairs of (inner node, went left)."""
        if not 0 <= node < self.node_count:
            raise IndexError(f"there is no node {node}; nodes are 0 .. {self.node_count - 1}")
        steps, at = [], 0
        while at != node:
            right = int(self.children_right[at])
            went_left = bool(node < right)  # in preorder all of the left subtree comes first
            steps.append((at, went_left))
            at = int(self.children_left[at]) if went_left else right
        return steps

    def _check_width(self, X):
        X = X if sparse.issparse(X) else np.asarray(X)
        if X.ndim != 2 or X.shape[1] != self.n_features:
            raise ValueError(
                f"X has shape {X.shape}, but the tree was made for {self.n_features} columns"
            )
        return X

    def _route(self, X) -> Iterator[tuple[int, np.ndarray]]:
        """Every node with the rows that reach it, parents first."""
        reached = {0: np.arange(X.shape[0])}
        for node in range(self.node_count):
            rows = reached.pop(node)
            yield node, rows
            if self.children_left[node] != LEAF:
                left = column_values(X, self.feature[node], rows) <= self.threshold[node]
                reached[int(self.children_left[node])] = rows[left]
                reached[int(self.children_right[node])] = rows[~left]


def _restore(n_features: int, arrays: dict[str, np.ndarray]) -> ThresholdTree:
    return ThresholdTree(n_features=n_features, **arrays)


@dataclass
class _GrowingNode:
    """One node of a tree that is still being grown."""

    feature: int = LEAF
    threshold: float = np.nan
    left: int = LEAF
    right: int = LEAF
    cluster: int = 0
    n_samples: int = 0
    weight: float = 0.0


@dataclass
class TreeBuilder:
    """Grows a :class:`ThresholdTree` split by split, in any order, without recursion.

    Nodes are numbered in the order in which they are made; node 0 is the root. Each node
    keeps a cluster, so that the tree can be built as it was after any number of splits.
    """

    n_features: int
    nodes: list[_GrowingNode] = field(default_factory=lambda: [_GrowingNode()])
    splits: list[int] = field(default_factory=list)

    @classmethod
    def from_tree(cls, tree: ThresholdTree) -> TreeBuilder:
        """A builder that goes on from `tree`, with the same node numbers."""
        nodes = [
            _GrowingNode(*node)
            for node in zip(
                tree.feature.tolist(),
                tree.threshold.tolist(),
                tree.children_left.tolist(),
                tree.children_right.tolist(),
                tree.cluster.tolist(),
            )
        ]
        return cls(tree.n_features, nodes, np.flatnonzero(~tree.is_leaf).tolist())

    @property
    def leaves(self) -> list[int]:
        """Numbers of the nodes that have not been split."""
        return [number for number, node in enumerate(self.nodes) if node.left == LEAF]

    def split(self, node: int, *, feature: int, threshold: float) -> tuple[int, int]:
        """Put a question at a leaf; returns the numbers of its two new children."""
        parent = self.nodes[node]
        if parent.left != LEAF:
            raise ValueError(f"node {node} has been split before")
        parent.feature, parent.threshold = int(feature), float(threshold)
        parent.left, parent.right = len(self.nodes), len(self.nodes) + 1
        self.nodes += [_GrowingNode(), _GrowingNode()]
        self.splits.append(node)
        return parent.left, parent.right

    def undo(self) -> None:
        """Take the latest split back."""
        parent = self.nodes[self.splits.pop()]
        parent.feature, parent.threshold, parent.left, parent.right = LEAF, np.nan, LEAF, LEAF
        del self.nodes[-2:]

    def set_cluster(self, node: int, cluster: int) -> None:
        """Cluster that the node stands for while it is a leaf."""
        self.nodes[node].cluster = int(cluster)

    def set_counts(self, node: int, n_samples: int, weight: float) -> None:
        """How many training rows reach the node, and their total weight."""
        self.nodes[node].n_samples, self.nodes[node].weight = int(n_samples), float(weight)

    def preorder(self, n_splits: int | None = None) -> list[int]:
        """Nodes after the first `n_splits` splits, in the order in which a tree numbers them."""
        inner = set(self.splits[:n_splits])
        order, stack = [], [0]
        while stack:
            node = stack.pop()
            order.append(node)
            if node in inner:
                stack += [self.nodes[node].right, self.nodes[node].left]
        return order

    def build(self, n_splits: int | None = None) -> ThresholdTree:
        """The tree after the first `n_splits` splits (all of them by default)."""
        inner = set(self.splits[:n_splits])
        order = self.preorder(n_splits)
        number = {node: i for i, node in enumerate(order)}
        kept = [(self.nodes[node], node in inner) for node in order]
        return ThresholdTree(
            n_features=self.n_features,
            feature=np.array([n.feature if split else LEAF for n, split in kept], dtype=np.intp),
            threshold=np.array([n.threshold if split else np.nan for n, split in kept]),
            children_left=np.array(
                [number[n.left] if split else LEAF for n, split in kept], dtype=np.intp
            ),
            children_right=np.array(
                [number[n.right] if split else LEAF for n, split in kept], dtype=np.intp
            ),
            cluster=np.array([LEAF if split else n.cluster for n, split in kept], dtype=np.intp),
            n_node_samples=np.array([n.n_samples for n, _ in kept], dtype=np.intp),
            weighted_n_node_samples=np.array([n.weight for n, _ in kept], dtype=np.float64),
        )
