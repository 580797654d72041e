"""CART: scikit-learn's decision tree on the labels of the reference."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from pellucid.baselines._base import BaselineTree
from pellucid.cluster._base import common_parameters
from pellucid.cuts.criterion import Cell
from pellucid.cuts.thresholds import choose_threshold
from pellucid.growth.plant import Growth
from pellucid.tree import LEAF, TreeBuilder


@common_parameters
class CARTExplainer(BaselineTree):
    """A classification tree that predicts the reference clusters.

    scikit-learn's ``DecisionTreeClassifier(max_leaf_nodes=n_leaves)`` (Gini impurity, best leaf
    first) learns the labels of the reference, and its tree becomes a threshold tree. It counts
    misplaced rows and is blind to what they cost, which is what it is here to show.

    Every training row reaches the leaf in which scikit-learn's tree has it, and each leaf is the
    majority cluster of its rows. scikit-learn looks at the data in single precision; the
    thresholds here are chosen between the values themselves.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters; that of the reference when left out, or 8 without a reference.
    n_leaves : int, default=None
        Number of leaves at the most; that of the clusters when left out. A tree that already
        reproduces the reference is not cut any further.
    {common}
        scikit-learn's tree uses it too: it decides between cuts that are equally good.

    Attributes
    ----------
    {attributes}

    See Also
    --------
    pellucid.ExKMC : Trees of any size that do look at the cost.

    References
    ----------
    Breiman, Friedman, Stone, Olshen (1984). Classification and regression trees.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pellucid.baselines import CARTExplainer
    >>> model = CARTExplainer(3, random_state=0).fit(load_iris(as_frame=True).data)
    >>> model.n_leaves_
    3
    >>> print(f"{model.inertia_ / model.reference_inertia_:.3f}")
    1.037
    """

    def _grow(self, problem, progress):
        builder = TreeBuilder(problem.n_features)
        rows = np.arange(problem.n_samples, dtype=np.int32)
        if (n_leaves := self._max_leaves(problem.n_clusters)) == 1:
            counts = np.bincount(problem.labels, weights=problem.weights.values)
            builder.set_cluster(0, int(np.argmax(counts)))
            builder.set_counts(0, len(rows), problem.weights.total_of(rows))
            return Growth(builder, [], {0: as_leaf(rows)})
        return self._translate(self._fit_classifier(problem, n_leaves), problem, builder, progress)

    def _fit_classifier(self, problem, n_leaves: int):
        from sklearn.tree import DecisionTreeClassifier

        _check_single_precision(problem.X)
        classifier = DecisionTreeClassifier(max_leaf_nodes=n_leaves, random_state=self.random_state)
        weight = None if problem.weights.are_ones else problem.weights.values
        return classifier.fit(_with_short_indices(problem.X), problem.labels, sample_weight=weight)

    def _translate(self, classifier, problem, builder: TreeBuilder, progress) -> Growth:
        """The classifier's tree, split by split in the order in which it grew."""
        cart = classifier.tree_
        clusters = classifier.classes_[cart.value[:, 0, :].argmax(axis=1)]
        ours = {0: 0}
        reached = {0: np.arange(problem.n_samples, dtype=np.int32)}
        gains = []

        def settle(node: int, rows: np.ndarray) -> None:
            reached[node] = rows
            builder.set_cluster(ours[node], clusters[node])
            builder.set_counts(ours[node], len(rows), problem.weights.total_of(rows))

        settle(0, reached[0])
        # Both children of a node are numbered when it is split, so their numbers tell the order.
        inner = np.flatnonzero(cart.children_left != LEAF)
        for node in inner[np.argsort(cart.children_left[inner])].tolist():
            rows, feature = reached.pop(node), int(cart.feature[node])
            values = problem.values(feature, rows)
            left = values.astype(np.float32) <= cart.threshold[node]
            threshold = choose_threshold(
                float(values[left].max()), float(values[~left].min()), self.threshold_style
            )
            halves = cart.children_left[node].item(), cart.children_right[node].item()
            children = builder.split(ours[node], feature=feature, threshold=threshold)
            for half, child, part in zip(halves, children, (rows[left], rows[~left])):
                ours[half] = child
                settle(half, part)
            gains.append(0.0)
            progress.step()
        leaves = {ours[node]: as_leaf(rows) for node, rows in reached.items()}
        return Growth(builder, gains, leaves)


def as_leaf(rows: np.ndarray) -> Cell:
    """A leaf that is only asked for its rows."""
    return Cell(rows, rows[:0], np.empty(0, dtype=np.intp))


def _with_short_indices(X):
    """scikit-learn's trees take sparse data with 32-bit indices only."""
    if not sparse.issparse(X) or X.indices.dtype == X.indptr.dtype == np.int32:
        return X
    short = (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32))
    return sparse.csc_array(short, shape=X.shape)


def _check_single_precision(X) -> None:
    """scikit-learn's own complaint would not say which column is too large."""
    limit = np.finfo(np.float32).max
    values = X.data if sparse.issparse(X) else X
    if values.size == 0 or max(values.max(), -values.min()) <= limit:
        return
    if sparse.issparse(X):
        column = int(np.searchsorted(X.indptr, np.argmax(np.abs(X.data)), side="right")) - 1
    else:
        column = int(np.argmax(np.abs(X).max(axis=0)))
    raise ValueError(
        f"column {column} has values beyond {limit:.3g}, too large for scikit-learn's decision "
        "tree, which works in float32; divide the column by a constant"
    )
