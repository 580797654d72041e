"""The tree that tells the clusters apart by the explanation features, exactly or nearly so."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pellucid.tree import LEAF, ThresholdTree, TreeBuilder
from pellucid.tree.from_sklearn import (
    ColumnValues,
    SklearnSplit,
    build_from_splits,
    splits_in_growth_order,
)
from pellucid.xclusters.tree_accuracy import MEASURES, confusion

_ROUNDING = 1e-12
"""How far a measure that was kept up to date split by split may be off."""


class Explained(NamedTuple):
    """A tree, and how well it tells the clusters."""

    tree: ThresholdTree
    accuracy: float
    """In the measure that was asked for."""


class TreeGrower:
    """Grows a tree for one clustering of the rows after the other.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_columns)
        The explanation features, encoded as numbers.
    weight : ndarray of shape (n_samples,)
        All above 0.
    tree : estimator, optional
        An estimator of this package, which is fitted with the clusters as its labels, or a
        decision tree of scikit-learn. Without one, CART (Gini impurity, best leaf first) grows
        until its leaves are pure or `wanted` is reached.
    wanted : float, default=1.0
        How well CART's tree must tell the clusters; at 1 it is grown until nothing is left to
        cut. A plugged-in tree has its own rules for when to stop.
    measure : {"f1", "accuracy"}, default="f1"
        F1 of each cluster, averaged by weight, or the share of rows, by weight.
    random_state : int, default=0
        Decides between cuts that are equally good.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.xclusters.trees import TreeGrower
    >>> X = np.array([[0.0, 20], [0, 50], [1, 20], [1, 50]])
    >>> TreeGrower(X, np.ones(4)).grow(np.array([0, 1, 2, 2]))
    Explained(tree=ThresholdTree(n_leaves=3, max_depth=2, n_features=2), accuracy=1.0)
    """

    def __init__(
        self,
        X: np.ndarray,
        weight: np.ndarray,
        *,
        tree: Any = None,
        wanted: float = 1.0,
        measure: str = "f1",
        random_state: int = 0,
    ) -> None:
        self.X, self.weight, self.tree = X, weight, tree
        self.wanted, self.measure, self.random_state = wanted, measure, random_state
        # scikit-learn works in float32, which ranks survive and close values do not.
        self._ranks = None if tree is not None else _ranks(X)

    def grow(self, labels: np.ndarray) -> Explained:
        """The tree for a clustering, given as clusters 0, 1, ... of the rows."""
        if self._is_ours():
            tree = self._grow_ours(labels)
            return Explained(tree, self._measure(labels, tree.predict(self.X)))
        grown = self._grow_classifier(labels)
        return Explained(self._build(grown), self._measure(labels, grown.predicted))

    def size(self, labels: np.ndarray) -> tuple[int, float]:
        """Nodes and accuracy of the tree that `grow` makes, which takes longer."""
        if self._is_ours():
            tree, accuracy = self.grow(labels)
            return tree.node_count, accuracy
        grown = self._grow_classifier(labels)
        return 2 * len(grown.worthwhile()) + 1, self._measure(labels, grown.predicted)

    def _is_ours(self) -> bool:
        return self.tree is not None and "reference" in self.tree.get_params()

    def _measure(self, labels: np.ndarray, predicted: np.ndarray) -> float:
        return MEASURES[self.measure](confusion(labels, predicted, self.weight))

    def _grow_classifier(self, labels: np.ndarray) -> _Grown:
        return self._grow_cart(labels) if self.tree is None else self._grow_theirs(labels)

    def _grow_cart(self, labels: np.ndarray) -> _Grown:
        from sklearn.tree import DecisionTreeClassifier

        classifier = DecisionTreeClassifier(
            max_leaf_nodes=max(len(labels), 2), random_state=self.random_state
        )
        classifier.fit(self._ranks, labels, sample_weight=self.weight)
        grown = _Grown(labels, self.weight)
        measure = MEASURES[self.measure]
        rows, values = np.arange(len(labels)), _values_of(self._ranks)
        for split in splits_in_growth_order(classifier.tree_, rows, values):
            # A tree that is to be exact is grown as far as it goes, whatever the weights say.
            if self.wanted < 1 and measure(grown.confusion) >= self.wanted - _ROUNDING:
                break
            grown.add(split)
        return grown

    def _grow_theirs(self, labels: np.ndarray) -> _Grown:
        from sklearn.base import clone

        classifier = clone(self.tree).fit(self.X, labels, sample_weight=self.weight)
        if not hasattr(getattr(classifier, "tree_", None), "children_left"):
            raise TypeError(
                f"tree={self.tree!r} makes no tree; give an estimator of this package, such as "
                "pellucid.ExKMC(), or a sklearn.tree.DecisionTreeClassifier"
            )
        grown = _Grown(labels, self.weight)
        rows, values = np.arange(len(labels)), _values_of(self.X)
        for split in splits_in_growth_order(classifier.tree_, rows, values):
            grown.add(split)
        return grown

    def _grow_ours(self, labels: np.ndarray) -> ThresholdTree:
        from sklearn.base import clone

        model = clone(self.tree).set_params(reference=None)
        return model.fit(self.X, labels, sample_weight=self.weight).tree_

    def _build(self, grown: _Grown) -> ThresholdTree:
        builder, _ = build_from_splits(
            grown.worthwhile(),
            n_features=self.X.shape[1],
            rows=np.arange(len(self.X)),
            cluster=grown.cluster,
            values=_values_of(self.X),
            total_weight=lambda rows: float(self.weight[rows].sum()),
        )
        return builder.build()


def renumbered(tree: ThresholdTree, number: np.ndarray) -> ThresholdTree:
    """The same tree with other numbers for its clusters: `number` by the old ones."""
    builder = TreeBuilder.from_tree(tree)
    for node in range(tree.node_count):
        builder.set_counts(node, tree.n_node_samples[node], tree.weighted_n_node_samples[node])
        if tree.children_left[node] == LEAF:
            builder.set_cluster(node, number[tree.cluster[node]])
    return builder.build()


class _Grown:
    """A tree as far as it has grown: its splits, the cluster of each node and row, the mistakes."""

    def __init__(self, labels: np.ndarray, weight: np.ndarray) -> None:
        self.labels, self.weight = labels, weight
        self.n_clusters = int(labels.max()) + 1
        self.splits: list[SklearnSplit] = []
        weights = self._weights(np.arange(len(labels)))
        self.cluster = {0: int(weights.argmax())}
        self.predicted = np.full(len(labels), self.cluster[0])
        self.confusion = np.zeros((self.n_clusters, self.n_clusters))
        self.confusion[:, self.cluster[0]] = weights

    def add(self, split: SklearnSplit) -> None:
        self.splits.append(split)
        for half, rows in zip(split.children, split.rows):
            weights = self._weights(rows)
            self.cluster[half] = int(weights.argmax())
            self.predicted[rows] = self.cluster[half]
            self.confusion[:, self.cluster[split.node]] -= weights
            self.confusion[:, self.cluster[half]] += weights

    def worthwhile(self) -> list[SklearnSplit]:
        """The splits without those below which all leaves say the same."""
        says = dict.fromkeys(self.cluster, True)
        kept = []
        for split in reversed(self.splits):
            left, right = split.children
            same = self.cluster[left] == self.cluster[right]
            if same and says[left] and says[right]:
                self.cluster[split.node] = self.cluster[left]
            else:
                says[split.node] = False
                kept.append(split)
        return kept[::-1]

    def _weights(self, rows: np.ndarray) -> np.ndarray:
        return np.bincount(self.labels[rows], weights=self.weight[rows], minlength=self.n_clusters)


def _values_of(X: np.ndarray) -> ColumnValues:
    return lambda feature, rows: X[rows, feature]


def _ranks(X: np.ndarray) -> np.ndarray:
    ranks = [np.unique(column, return_inverse=True)[1] for column in X.T]
    return np.column_stack(ranks).astype(np.float32)
