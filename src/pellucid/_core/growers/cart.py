"""scikit-learn's CART on the labels of a reference, as a tree of ours."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from pellucid._core.criteria.base import Cell
from pellucid._core.criteria.problem import Problem
from pellucid._core.growers.growing_tree import Growth
from pellucid._utils.progress import Progress
from pellucid.tree import LEAF, TreeBuilder
from pellucid.tree.rounding import ThresholdStyle, choose_threshold


def grow_cart(
    problem: Problem,
    n_leaves: int,
    threshold_style: ThresholdStyle,
    progress: Progress,
    random_state: Any = None,
) -> Growth:
    """The tree of a decision-tree classifier of the reference labels, with so many leaves."""
    builder = TreeBuilder(problem.n_features)
    rows = np.arange(problem.n_samples, dtype=np.int32)
    if n_leaves == 1:
        counts = np.bincount(problem.labels, weights=problem.weights.values)
        builder.set_cluster(0, int(np.argmax(counts)))
        builder.set_counts(0, len(rows), problem.weights.total_of(rows))
        return Growth(builder, [], {0: as_leaf(rows)})
    classifier = _fit_classifier(problem, n_leaves, random_state)
    return _translate(classifier, problem, builder, threshold_style, progress)


def fits_single_precision(X) -> bool:
    """Whether scikit-learn's trees, which work in float32, can read all values."""
    values = X.data if sparse.issparse(X) else X
    return values.size == 0 or max(values.max(), -values.min()) <= np.finfo(np.float32).max


def _fit_classifier(problem: Problem, n_leaves: int, random_state: Any):
    from sklearn.tree import DecisionTreeClassifier

    _check_single_precision(problem.X)
    classifier = DecisionTreeClassifier(max_leaf_nodes=n_leaves, random_state=random_state)
    weight = None if problem.weights.are_ones else problem.weights.values
    return classifier.fit(_with_short_indices(problem.X), problem.labels, sample_weight=weight)


def _translate(
    classifier, problem: Problem, builder: TreeBuilder, threshold_style: ThresholdStyle, progress
) -> Growth:
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
            float(values[left].max()), float(values[~left].min()), threshold_style
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
    if fits_single_precision(X):
        return
    limit = np.finfo(np.float32).max
    if sparse.issparse(X):
        column = int(np.searchsorted(X.indptr, np.argmax(np.abs(X.data)), side="right")) - 1
    else:
        column = int(np.argmax(np.abs(X).max(axis=0)))
    raise ValueError(
        f"column {column} has values beyond {limit:.3g}, too large for scikit-learn's decision "
        "tree, which works in float32; divide the column by a constant"
    )
