"""The decision tree that predicts the clusters from the explanation features."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from pellucid.tree import ThresholdTree
from pellucid.tree.from_sklearn import SklearnSplit, build_from_splits, splits_in_growth_order

ROUNDING = 1e-12  # tolerance for the rounding errors of a measure that is updated split by split
_TREES = (
    "an estimator of this package, such as pellucid.ExKMC(), or a "
    "sklearn.tree.DecisionTreeClassifier"
)
# Attributes of a tree whose splits can be read.
_PARTS = ("node_count", "children_left", "children_right", "feature", "threshold")
_MAX_COPIES = 10_000_000  # largest number of rows that a tree without sample weights is fitted on


class ClusterTree(NamedTuple):
    """A tree and its accuracy as a predictor of the clusters, in the chosen measure."""

    tree: ThresholdTree
    accuracy: float


@dataclass(eq=False)
class TreeGrower:
    """Grows trees for different clusterings of the same rows, with the options of XClusters.

    Without `tree`, CART (Gini impurity, best-first) grows until its leaves are pure or
    `min_accuracy` is reached. The row weights of `measure` are `weight` by default.
    """

    X: np.ndarray
    weight: np.ndarray
    _: KW_ONLY
    tree: Any = None
    min_accuracy: float = 1.0
    measure: str = "f1"
    measure_weight: Any = None
    random_state: int = 0

    def __post_init__(self) -> None:
        if self.tree is not None:
            check_tree(self.tree)
        if self.measure_weight is None:
            self.measure_weight = self.weight

    @cached_property
    def _ranks(self) -> np.ndarray:
        """Ranks of the values of each column: in scikit-learn's float32, close values coincide."""
        ranks = [np.unique(column, return_inverse=True)[1] for column in self.X.T]
        return np.column_stack(ranks).astype(np.float32)

    def grow(self, labels: np.ndarray) -> ClusterTree:
        """Grow the tree of a clustering, given as labels 0, 1, ... of the rows."""
        if self._is_package_estimator():
            model = clone(self.tree).set_params(reference=None)
            tree = model.fit(self.X, labels, sample_weight=self.weight).tree_
            return ClusterTree(tree, self._measure(labels, tree.predict(self.X)))
        growth = self._grow(labels)
        if isinstance(growth, _OpaqueTree):
            # CART without errors on the predictions has the same predictions.
            growth = TreeGrower(self.X, self.weight)._grow_cart(growth.predicted)
        builder, _ = build_from_splits(
            growth.useful_splits(),
            n_features=self.X.shape[1],
            rows=np.arange(len(self.X)),
            cluster=growth.cluster,
            values=lambda feature, rows: self.X[rows, feature],
            total_weight=lambda rows: float(self.weight[rows].sum()),
        )
        return ClusterTree(builder.build(), self._measure(labels, growth.predicted))

    def size(self, labels: np.ndarray) -> tuple[int, float]:
        """Number of nodes and accuracy of the tree, without building it."""
        if self._is_package_estimator():
            tree, accuracy = self.grow(labels)
            return tree.node_count, accuracy
        growth = self._grow(labels)
        return growth.n_nodes, self._measure(labels, growth.predicted)

    def _is_package_estimator(self) -> bool:
        return hasattr(self.tree, "get_params") and "reference" in self.tree.get_params()

    def _measure(self, labels: np.ndarray, predicted: np.ndarray) -> float:
        return MEASURES[self.measure](confusion(labels, predicted, self.measure_weight))

    def _grow_cart(self, labels: np.ndarray) -> _ClassifierGrowth:
        """Replay the splits of an exact CART until `min_accuracy` is reached.

        Each cluster gets a leaf. Otherwise, tiny clusters would reduce D without a rule.
        """
        from sklearn.tree import DecisionTreeClassifier

        n_leaves = max(len(labels), 2)
        classifier = DecisionTreeClassifier(max_leaf_nodes=n_leaves, random_state=self.random_state)
        classifier.fit(self._ranks, labels, sample_weight=self.weight)
        growth = _ClassifierGrowth(labels, self.weight, self.measure_weight)
        for split in _splits(classifier, self._ranks):
            # An exact tree is grown completely, because tiny weights may round to no error.
            is_accurate = MEASURES[self.measure](growth.confusion) >= self.min_accuracy - ROUNDING
            has_all_clusters = np.bincount(growth.predicted, minlength=growth.n_clusters).all()
            if self.min_accuracy < 1 and is_accurate and has_all_clusters:
                break
            growth.add(split)
        return growth

    def _grow(self, labels: np.ndarray) -> _ClassifierGrowth | _OpaqueTree:
        if self.tree is None:
            return self._grow_cart(labels)
        classifier = fit_tree(self.tree, self.X, labels, self.weight)
        tree = getattr(classifier, "tree_", None)
        if not all(hasattr(tree, part) for part in _PARTS):
            n_nodes = node_count(classifier)
            predicted = np.asarray(classifier.predict(self.X)).ravel()
            if len(predicted) != len(labels) or not np.isin(predicted, labels).all():
                raise ValueError(
                    f"tree={type(classifier).__name__}(): predict must return one of the labels of "
                    "fit per row; use a classifier"
                )
            return _OpaqueTree(predicted.astype(labels.dtype), n_nodes)
        growth = _ClassifierGrowth(labels, self.weight, self.measure_weight)
        for split in _splits(classifier, self.X):
            growth.add(split)
        return growth


def relabel_clusters(
    tree: ThresholdTree, new_label: np.ndarray, n_rows: np.ndarray
) -> ThresholdTree:
    """The tree with other clusters, and with the number of all rows, not distinct ones, by leaf."""
    n_rows = n_rows.copy()
    for node in reversed(np.flatnonzero(~tree.is_leaf)):  # parents have smaller numbers
        n_rows[node] = n_rows[tree.children_left[node]] + n_rows[tree.children_right[node]]
    cluster = np.where(tree.is_leaf, new_label[tree.cluster], tree.cluster)
    return tree.replace(cluster=cluster, n_node_samples=n_rows)


class _OpaqueTree(NamedTuple):
    """A tree that has predictions and a number of nodes, but no splits to read."""

    predicted: np.ndarray
    n_nodes: int


class _ClassifierGrowth:
    """A growing tree: its splits, `cluster` of each node, `predicted` rows, and `confusion`."""

    def __init__(self, labels: np.ndarray, weight: np.ndarray, measure_weight: np.ndarray) -> None:
        self.labels, self.weight, self.measure_weight = labels, weight, measure_weight
        self.n_clusters = int(labels.max()) + 1
        self.splits: list[SklearnSplit] = []
        rows = np.arange(len(labels))
        self.cluster = {0: int(self._totals(rows, weight).argmax())}
        self.predicted = np.full(len(labels), self.cluster[0])
        self.confusion = np.zeros((self.n_clusters, self.n_clusters))
        self.confusion[:, self.cluster[0]] = self._totals(rows, measure_weight)

    def add(self, split: SklearnSplit) -> None:
        self.splits.append(split)
        for child, rows in zip(split.children, split.rows):
            self.cluster[child] = int(self._totals(rows, self.weight).argmax())
            self.predicted[rows] = self.cluster[child]
            totals = self._totals(rows, self.measure_weight)
            self.confusion[:, self.cluster[split.node]] -= totals
            self.confusion[:, self.cluster[child]] += totals

    def useful_splits(self) -> list[SklearnSplit]:
        """The splits without those below which all leaves predict the same cluster."""
        is_uniform = dict.fromkeys(self.cluster, True)
        useful = []
        for split in reversed(self.splits):
            left, right = split.children
            if self.cluster[left] == self.cluster[right] and is_uniform[left] and is_uniform[right]:
                self.cluster[split.node] = self.cluster[left]
            else:
                is_uniform[split.node] = False
                useful.append(split)
        return useful[::-1]

    @property
    def n_nodes(self) -> int:
        """Number of nodes of the useful splits and their leaves."""
        return 2 * len(self.useful_splits()) + 1

    def _totals(self, rows: np.ndarray, weight: np.ndarray) -> np.ndarray:
        return np.bincount(self.labels[rows], weights=weight[rows], minlength=self.n_clusters)


def _splits(classifier: Any, X: np.ndarray) -> Iterator[SklearnSplit]:
    rows = np.arange(len(X))
    return splits_in_growth_order(classifier.tree_, rows, lambda column, rows: X[rows, column])


def confusion(labels: np.ndarray, predicted: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Weighted confusion matrix: true clusters in rows, predicted clusters in columns."""
    n = int(max(labels.max(), predicted.max())) + 1
    return np.bincount(labels * n + predicted, weights=weight, minlength=n * n).reshape(n, n)


def accuracy(confusion: np.ndarray) -> float:
    """Weighted fraction of correctly predicted rows."""
    if _is_exact(confusion):
        return 1.0
    return float(np.trace(confusion) / confusion.sum())


def weighted_f1(confusion: np.ndarray) -> float:
    """F1 of each cluster, 2·correct / (true + predicted), averaged by the clusters' weights."""
    if _is_exact(confusion):
        return 1.0
    true, predicted = confusion.sum(axis=1), confusion.sum(axis=0)
    f1 = 2 * np.diag(confusion) / np.maximum(true + predicted, np.finfo(float).tiny)
    return float(true @ f1 / true.sum())


def _is_exact(confusion: np.ndarray) -> bool:
    # Sums of the same weights in different order may differ in the last digit.
    return np.count_nonzero(confusion) == np.count_nonzero(np.diag(confusion))


MEASURES = {"f1": weighted_f1, "accuracy": accuracy}


def reachable_accuracy(X: np.ndarray, labels: np.ndarray, weight: np.ndarray) -> float:
    """Accuracy of the best tree, in which all identical rows get their heaviest cluster."""
    group = np.unique(X, axis=0, return_inverse=True)[1].ravel()
    n = int(labels.max()) + 1
    totals = np.bincount(group * n + labels, weights=weight, minlength=n * (int(group.max()) + 1))
    return float(totals.reshape(-1, n).max(axis=1).sum() / weight.sum())


def check_tree(tree: Any) -> None:
    check_instance(tree, "tree")
    if hasattr(tree, "steps"):
        last = type(tree.steps[-1][1]).__name__
        raise TypeError(
            f"tree is a pipeline; pass its last step, {last}, alone: it is fitted on the encoded "
            "explanation features"
        )
    if not hasattr(tree, "predict"):
        raise TypeError(f"tree={name_of(tree)} has no method predict; use {_TREES}")


def fit_tree(tree: Any, X: np.ndarray, labels: np.ndarray, weight: np.ndarray) -> Any:
    """Fit a copy of a tree; one without sample weights on as many copies of each row."""
    model = clone(tree, safe=False)
    parameters = inspect.signature(tree.fit).parameters.values()
    if any(p.name == "sample_weight" or p.kind is p.VAR_KEYWORD for p in parameters):
        return model.fit(X, labels, sample_weight=weight)
    if np.ptp(weight) == 0:
        return model.fit(X, labels)
    if (weight != np.floor(weight)).any() or weight.sum() > _MAX_COPIES:
        raise TypeError(
            f"the fit of tree={name_of(tree)} has no sample_weight; such a tree needs integer "
            f"weights that sum to at most {_MAX_COPIES:,}, or no weights"
        )
    copies = np.repeat(np.arange(len(X)), weight.astype(np.int64))
    return model.fit(X[copies], labels[copies])


def node_count(model: Any) -> int:
    """Number of nodes of a fitted tree that does not show its splits."""
    for owner in (getattr(model, "tree_", None), model):
        for name in ("node_count", "node_count_"):
            if hasattr(owner, name):
                return int(getattr(owner, name))
    if hasattr(model, "get_n_leaves"):
        return 2 * int(model.get_n_leaves()) - 1
    raise TypeError(
        f"tree={name_of(model)} does not fit a tree with a node count (tree_.node_count, "
        f"node_count_ or get_n_leaves()); use {_TREES}"
    )


def check_instance(estimator: Any, name: str) -> None:
    if inspect.isclass(estimator):
        kind = estimator.__name__
        raise TypeError(f"{name} is the class {kind}; pass an instance: {name}={kind}()")


def name_of(estimator: Any) -> str:
    """How an estimator is named in a message; without its address in memory."""
    text = repr(estimator)
    return f"{type(estimator).__name__}()" if " object at 0x" in text else text
