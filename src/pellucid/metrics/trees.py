"""Measures of an explanation: what it costs, how long it is, how true to the reference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from pellucid._core.data.dataset import Dataset
from pellucid._core.data.medians import OBJECTIVES
from pellucid._core.data.weights import Weights
from pellucid.explanation.rules import path_conditions, simplify
from pellucid.tables.encoding import Indicator
from pellucid.tables.validation import read_sample_weight
from pellucid.tree import ThresholdTree
from pellucid.tree.predictor import canonical_csc
from pellucid.tree.sizes import mean_over_leaves


def kmeans_cost(X: Any, labels: Any, *, sample_weight: Any = None) -> float:
    """Sum of squared distances of the rows to the mean of their cluster.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    labels : array-like of shape (n_samples,)
        Cluster of each row, of any type.
    sample_weight : array-like of shape (n_samples,), optional

    Examples
    --------
    >>> from pellucid.metrics import kmeans_cost
    >>> kmeans_cost([[0.0], [2.0], [10.0]], [0, 0, 1])
    2.0
    """
    return _partition_cost("kmeans", X, labels, sample_weight)


def kmedians_cost(X: Any, labels: Any, *, sample_weight: Any = None) -> float:
    """Sum of absolute distances of the rows to the coordinate-wise median of their cluster.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    labels : array-like of shape (n_samples,)
        Cluster of each row, of any type.
    sample_weight : array-like of shape (n_samples,), optional

    Examples
    --------
    >>> from pellucid.metrics import kmedians_cost
    >>> kmedians_cost([[0.0], [1.0], [5.0], [10.0]], [0, 0, 0, 1])
    5.0
    """
    return _partition_cost("kmedians", X, labels, sample_weight)


def surrogate_cost(
    X: Any, labels: Any, centers: Any, *, sample_weight: Any = None, objective: str = "kmeans"
) -> float:
    """Sum of squared (or absolute) distances of the rows to given centers.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
    labels : array-like of int, shape (n_samples,)
        Position of each row's center in `centers`.
    centers : array-like of shape (n_clusters, n_features)
    sample_weight : array-like of shape (n_samples,), optional
    objective : {"kmeans", "kmedians"}, default="kmeans"

    Examples
    --------
    >>> from pellucid.metrics import surrogate_cost
    >>> surrogate_cost([[0.0], [2.0]], [0, 0], [[0.0]])
    4.0
    """
    X, position = _read(X), np.asarray(labels, dtype=np.intp)
    _check_length("labels", position, X)
    centers = np.asarray(centers, dtype=np.float64)
    if centers.ndim != 2 or centers.shape[1] != X.shape[1]:
        raise ValueError(f"centers have shape {centers.shape}, but X has {X.shape[1]} columns")
    if len(position) and not 0 <= position.min() <= position.max() < len(centers):
        raise ValueError(f"labels must lie in 0 .. {len(centers) - 1}, one center each")
    return _data(objective, X, sample_weight).cost(position, centers)


def normalized_partition_cost(
    X: Any,
    labels: Any,
    reference_labels: Any,
    *,
    sample_weight: Any = None,
    objective: str = "kmeans",
) -> float:
    """Cost of a partition over the cost of the reference partition (NPC); 1 is a perfect copy.

    Both costs use the means of their own clusters, or with ``objective="kmedians"`` the medians.
    Two partitions without any cost give 1.
    """
    cost = _partition_cost(objective, X, labels, sample_weight)
    reference = _partition_cost(objective, X, reference_labels, sample_weight)
    if reference == 0:
        return 1.0 if cost == 0 else float("inf")
    return cost / reference


def weighted_average_depth(
    tree: ThresholdTree, X: Any = None, *, sample_weight: Any = None
) -> float:
    """Questions asked of the average row (WAD).

    Parameters
    ----------
    tree : ThresholdTree
    X : array-like or sparse matrix of shape (n_samples, n_features), optional
        Rows to average over; the counts of the training rows when left out.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows of `X`.
    """
    return _average_over_leaves(tree, tree.depth[tree.leaves], X, sample_weight)


def weighted_average_explanation_size(
    tree: ThresholdTree,
    X: Any = None,
    *,
    sample_weight: Any = None,
    feature_names: Sequence[str | Indicator] | None = None,
) -> float:
    """Conditions needed to explain the average row, redundant ones left out (WAES).

    Parameters
    ----------
    tree : ThresholdTree
    X : array-like or sparse matrix of shape (n_samples, n_features), optional
        Rows to average over; the counts of the training rows when left out.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows of `X`.
    feature_names : sequence of str or Indicator, optional
        Descriptions of the columns: a column that is one category is, without further
        conditions, none of the others.
    """
    sizes = [
        len(simplify(path_conditions(tree, leaf, feature_names))) for leaf in tree.leaves.tolist()
    ]
    return _average_over_leaves(tree, np.array(sizes), X, sample_weight)


def reference_agreement(labels: Any, reference_labels: Any, *, sample_weight: Any = None) -> float:
    """Share of rows in the same cluster as in the reference, after the best matching of names.

    Examples
    --------
    >>> from pellucid.metrics import reference_agreement
    >>> reference_agreement([1, 1, 0, 0], ["a", "a", "b", "a"])
    0.75
    """
    labels, reference_labels = np.asarray(labels), np.asarray(reference_labels)
    if labels.shape != reference_labels.shape or labels.ndim != 1:
        raise ValueError(
            f"labels have shape {labels.shape} and reference_labels {reference_labels.shape}; "
            "both must be flat and of one length"
        )
    weight = read_sample_weight(sample_weight, len(labels))
    names, ours = _positions(labels)
    reference_names, theirs = _positions(reference_labels)
    shape = (len(names), len(reference_names))
    pairs = ours * shape[1] + theirs
    table = np.bincount(pairs, weights=weight, minlength=shape[0] * shape[1]).reshape(shape)
    return float(table[linear_sum_assignment(table, maximize=True)].sum() / weight.sum())


def _positions(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Different labels, and the position of each row's among them."""
    if labels.dtype.kind in "iu" and labels.size and labels.min() >= 0 and labels.max() < 2**16:
        # Counting is many times as fast as the sorting that labels of any kind need.
        is_there = np.bincount(labels) > 0
        return np.flatnonzero(is_there), (np.cumsum(is_there) - 1)[labels]
    return np.unique(labels, return_inverse=True)


def _partition_cost(objective: str, X: Any, labels: Any, sample_weight: Any) -> float:
    X = _read(X)
    names, position = np.unique(np.asarray(labels), return_inverse=True)
    _check_length("labels", position, X)
    data = _data(objective, X, sample_weight)
    centers = np.nan_to_num(data.group_centers(position, len(names)))
    return data.cost(position, centers)


def _data(objective: str, X, sample_weight: Any) -> Dataset:
    if objective not in OBJECTIVES:
        known = ", ".join(map(repr, OBJECTIVES))
        raise ValueError(f"objective is {objective!r}; it must be one of {known}")
    weight = read_sample_weight(sample_weight, X.shape[0])
    return OBJECTIVES[objective](X, Weights.of(weight))


def _read(X):
    return canonical_csc(X) if sparse.issparse(X) else np.asarray(X)


def _check_length(what: str, values: np.ndarray, X) -> None:
    if values.shape != (X.shape[0],):
        raise ValueError(f"{what} have shape {values.shape}, but X has {X.shape[0]} rows")


def _average_over_leaves(tree, amounts: np.ndarray, X, sample_weight) -> float:
    if X is None:
        if sample_weight is not None:
            raise ValueError("sample_weight weighs the rows of X; pass X too")
        return mean_over_leaves(tree, amounts)
    leaf = tree.apply(X)
    rows = read_sample_weight(sample_weight, len(leaf))
    weight = np.bincount(leaf, weights=rows, minlength=tree.node_count)
    return mean_over_leaves(tree, amounts, weight)
