"""scikit-learn's CART on the reference labels, as a threshold tree."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from pellucid._core.criteria.base import Node, NodeRows
from pellucid._core.criteria.problem import Problem
from pellucid._core.growers.growing_tree import GrowthResult
from pellucid._utils.progress import Progress
from pellucid.tree.from_sklearn import build_from_splits, splits_in_growth_order
from pellucid.tree.rounding import ThresholdStyle


def grow_cart(
    problem: Problem,
    n_leaves: int,
    threshold_style: ThresholdStyle,
    progress: Progress,
    random_state: Any = None,
) -> GrowthResult:
    """Tree of at most `n_leaves` leaves, grown best-first by Gini impurity of the labels."""
    rows, splits = np.arange(problem.n_samples, dtype=np.int32), []
    if n_leaves == 1:
        cluster = [int(problem.weight_by_cluster(rows).argmax())]
    else:
        classifier = fit_classifier(problem, n_leaves, random_state)
        cluster = classifier.classes_[classifier.tree_.value[:, 0, :].argmax(axis=1)].tolist()
        for split in splits_in_growth_order(classifier.tree_, rows, problem.values):
            splits.append(split)
            progress.step()
    builder, leaf_rows = build_from_splits(
        splits,
        n_features=problem.n_features,
        rows=rows,
        cluster=cluster,
        values=problem.values,
        total_weight=problem.weights.total_of,
        threshold_style=threshold_style,
    )
    leaves = {number: as_leaf(rows) for number, rows in leaf_rows.items()}
    return GrowthResult(builder, [0.0] * len(splits), leaves)


def fits_single_precision(X: Any) -> bool:
    """Whether all values fit into float32, in which scikit-learn's trees work."""
    values = X.data if sparse.issparse(X) else X
    return values.size == 0 or max(values.max(), -values.min()) <= np.finfo(np.float32).max


def fit_classifier(
    problem: Problem, n_leaves: int, random_state: Any, max_depth: int | None = None
) -> Any:
    """scikit-learn's tree of at most `n_leaves` leaves for the labels."""
    from sklearn.tree import DecisionTreeClassifier

    _check_single_precision(problem.X)
    classifier = DecisionTreeClassifier(
        max_leaf_nodes=n_leaves, max_depth=max_depth, random_state=random_state
    )
    # Sums of units are exact, so that scikit-learn's loops over dense and sparse data, which add in
    # different orders, find the same ties.
    weight = None if problem.weights.are_ones else problem.weights.units.astype(np.float64)
    return classifier.fit(_as_accepted(problem.X), problem.labels, sample_weight=weight)


def as_leaf(rows: np.ndarray) -> Node[None]:
    """A leaf with rows and nothing else."""
    return Node(NodeRows(rows, rows[:0], np.empty(0, dtype=np.intp)), None)


def _as_accepted(X: Any) -> Any:
    """The data as scikit-learn's trees accept them: writable, and with 32-bit indices if sparse.

    Its check of finite values fails on read-only arrays whose sum overflows.
    """
    if not sparse.issparse(X):
        return X if X.flags.writeable else X.copy()
    if X.indices.dtype == X.indptr.dtype == np.int32:
        return X
    short = (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32))
    return sparse.csc_array(short, shape=X.shape)


def _check_single_precision(X: Any) -> None:
    """Raise an error that names the column; scikit-learn's error does not."""
    if fits_single_precision(X):
        return
    limit = np.finfo(np.float32).max
    largest = abs(X).max(axis=0)
    column = int(np.argmax(largest.toarray() if sparse.issparse(X) else largest))
    raise ValueError(
        f"column {column} has values beyond {limit:.3g}, too large for scikit-learn's decision "
        "tree, which works in float32; divide the column by a constant"
    )
