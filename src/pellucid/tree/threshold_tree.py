"""The threshold tree: flat arrays that route rows to leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import joblib
import numpy as np
from scipy import sparse

from pellucid.tree.predictor import PackedTree, column_values, leaf_values

LEAF = -1
"""Value of ``children_left``, ``children_right`` and ``feature`` at a leaf."""

_ARRAYS: dict[str, type] = {
    "feature": np.intp,
    "threshold": np.float64,
    "children_left": np.intp,
    "children_right": np.intp,
    "cluster": np.intp,
    "n_node_samples": np.intp,
    "weighted_n_node_samples": np.float64,
}
"""The arrays of a tree, an entry per node, and their types."""


class ThresholdTree:
    """A binary tree of single-feature thresholds whose leaves carry clusters.

    A row goes left at a node if ``x[feature] <= threshold``. Nodes are numbered in preorder: a
    node comes before its children, and the left subtree before the right one. Two trees with the
    same splits are therefore equal array by array.

    Trees are made by :class:`TreeBuilder` and are immutable: the arrays are read-only.

    Parameters
    ----------
    n_features : int
        Number of columns.
    **arrays
        The arrays below, by their names.

    Attributes
    ----------
    feature : ndarray of shape (node_count,), intp
        Column of the split of an inner node; -1 at a leaf.
    threshold : ndarray of shape (node_count,), float64
        Threshold of an inner node; NaN at a leaf.
    children_left, children_right : ndarray of shape (node_count,), intp
        Numbers of the children; -1 at a leaf.
    cluster : ndarray of shape (node_count,), intp
        Cluster of a leaf; -1 at an inner node.
    n_node_samples : ndarray of shape (node_count,), intp
        Number of training rows that reached the node.
    weighted_n_node_samples : ndarray of shape (node_count,), float64
        Their total sample weight.
    n_features : int
        Number of columns of the data.

    See Also
    --------
    plot_tree : The tree as a picture.
    export_text : The tree as text.
    from_json : Read a tree that was saved.

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

    __slots__ = (*_ARRAYS, "_packed", "n_features")

    feature: np.ndarray
    threshold: np.ndarray
    children_left: np.ndarray
    children_right: np.ndarray
    cluster: np.ndarray
    n_node_samples: np.ndarray
    weighted_n_node_samples: np.ndarray
    n_features: int
    _packed: PackedTree | None

    def __init__(self, *, n_features: int, **arrays: Any) -> None:
        self.__setstate__({"n_features": n_features, **arrays})

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a ThresholdTree is immutable; {name!r} cannot be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a ThresholdTree is immutable; {name!r} cannot be deleted")

    def __getstate__(self) -> dict[str, Any]:
        arrays = {name: np.asarray(getattr(self, name)) for name in _ARRAYS}
        return {"n_features": self.n_features, **arrays}

    def __setstate__(self, state: dict[str, Any]) -> None:
        # skops restores objects by this method and never calls __reduce__.
        object.__setattr__(self, "n_features", int(state["n_features"]))
        object.__setattr__(self, "_packed", None)
        for name, dtype in _ARRAYS.items():
            array: np.ndarray = np.array(state[name], dtype=dtype)
            array.setflags(write=False)
            object.__setattr__(self, name, array)

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
        sizes = f"n_leaves={self.n_leaves}, max_depth={self.max_depth}"
        return f"ThresholdTree({sizes}, n_features={self.n_features})"

    def replace(self, *, n_features: int | None = None, **arrays: np.ndarray) -> ThresholdTree:
        """A copy with another number of columns, or with other arrays by their names.

        Parameters
        ----------
        n_features : int, optional
            Number of columns. Default: the same.
        **arrays
            Other arrays, by their names.

        Returns
        -------
        ThresholdTree
            The copy.
        """
        kept = {name: getattr(self, name) for name in _ARRAYS}
        n_features = self.n_features if n_features is None else n_features
        return ThresholdTree(n_features=n_features, **{**kept, **arrays})

    @property
    def node_count(self) -> int:
        """Number of nodes: inner nodes and leaves."""
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
        """Depth of each node: the number of splits above it."""
        depth = np.zeros(self.node_count, dtype=np.intp)
        for node in np.flatnonzero(~self.is_leaf):
            depth[[self.children_left[node], self.children_right[node]]] = depth[node] + 1
        return depth

    @property
    def max_depth(self) -> int:
        """Largest depth of a leaf."""
        return int(self.depth.max())

    def apply(self, X: Any) -> np.ndarray:
        """Node number of the leaf that each row of `X` reaches.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Sparse data are read one column at a time.

        Returns
        -------
        ndarray of shape (n_samples,), intp
            Numbers of nodes.
        """
        return self.leaf_values(X, np.arange(self.node_count))[0]

    def predict(self, X: Any) -> np.ndarray:
        """Cluster of each row of `X`, as integers.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,), intp
            Clusters.
        """
        return self.leaf_values(X, self.cluster)[0]

    def leaf_values(
        self,
        X: Any,
        values: np.ndarray,
        *,
        check: bool = False,
        count_threads: Callable[[], int] = joblib.cpu_count,
    ) -> tuple[np.ndarray, bool]:
        """Value of the leaf of each row: ``values[apply(X)]``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.
        values : ndarray of shape (node_count,)
            A value per node; those of inner nodes are not used.
        check : bool, default=False
            Whether to search, in the same pass, for values of `X` that are not finite.
        count_threads : callable, default=joblib.cpu_count
            Returns the number of threads to use; called only if there are many rows.

        Returns
        -------
        found : ndarray of shape (n_samples,)
            The values.
        is_finite : bool
            False if `check` is true and `X` holds NaN or an infinity in any column.
        """
        X = X if sparse.issparse(X) else np.asarray(X)
        if X.ndim != 2 or X.shape[1] != self.n_features:
            n = self.n_features
            raise ValueError(f"X has shape {X.shape}, but the tree expects {n} columns")
        packed = self._packed
        if packed is None:
            packed = PackedTree.of(self)
            object.__setattr__(self, "_packed", packed)
        return leaf_values(packed, X, values, check=check, count_threads=count_threads)

    def decision_path(self, X: Any) -> sparse.csr_array:
        """Nodes that each row of `X` passes, as an indicator matrix.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        csr_array of shape (n_samples, node_count), int64
            Entry (i, j) is 1 if row i passes node j. Each row has the root, its leaf and the
            nodes between them, by increasing number.
        """
        leaf = self.apply(X)
        indptr = np.concatenate([[0], np.cumsum(self.depth[leaf] + 1)])
        indices = np.empty(indptr[-1], dtype=np.intp)
        for node in np.unique(leaf).tolist():
            path = [*(inner for inner, _ in self.path(node)), node]
            first = indptr[:-1][leaf == node]
            indices[first[:, None] + np.arange(len(path))] = path
        entries = (np.ones(len(indices), dtype=np.int64), indices, indptr)
        return sparse.csr_array(entries, shape=(len(leaf), self.node_count))

    def path(self, node: int) -> list[tuple[int, bool]]:
        """Splits from the root to `node`: pairs of (inner node, whether the path goes left).

        Parameters
        ----------
        node : int
            Number of the node.

        Returns
        -------
        list of tuple of (int, bool)
            The splits, from the root on.
        """
        if not 0 <= node < self.node_count:
            raise IndexError(f"there is no node {node}; nodes are 0 .. {self.node_count - 1}")
        steps, at = [], 0
        while at != node:
            right = int(self.children_right[at])
            is_left = bool(node < right)  # in preorder the whole left subtree comes first
            steps.append((at, is_left))
            at = int(self.children_left[at]) if is_left else right
        return steps

    def rows_by_node(self, X: Any) -> Iterator[tuple[int, np.ndarray]]:
        """Each node with the rows of a dense or canonical CSC matrix that reach it, in preorder.

        Parameters
        ----------
        X : ndarray or csc_array of shape (n_samples, n_features)
            Rows.

        Yields
        ------
        tuple of (int, ndarray)
            The node, and the indices of its rows.
        """
        reached = {0: np.arange(X.shape[0])}
        for node in range(self.node_count):
            rows = reached.pop(node)
            yield node, rows
            if self.children_left[node] != LEAF:
                left = column_values(X, self.feature[node], rows) <= self.threshold[node]
                reached[int(self.children_left[node])] = rows[left]
                reached[int(self.children_right[node])] = rows[~left]
