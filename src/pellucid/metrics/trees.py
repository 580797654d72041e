"""Measures of an explanation: its cost, its size, and its agreement with the reference."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from pellucid._core.data.arrays import Weights
from pellucid._core.data.dataset import Dataset
from pellucid._core.data.medians import OBJECTIVES
from pellucid._utils.estimators import Objective
from pellucid.explanation.rules import path_conditions, simplify
from pellucid.tables.encoding import ColumnNames
from pellucid.tables.validation import read_sample_weight
from pellucid.tree import ThresholdTree
from pellucid.tree.measures import conditions_per_leaf, mean_over_leaves
from pellucid.tree.predictor import canonical_csc


def kmeans_cost(X: Any, labels: Any, *, sample_weight: Any = None) -> float:
    r"""Cost of a partition by k-means, :math:`\sum_i w_i \lVert x_i - \mu_{c(i)} \rVert_2^2`.

    :math:`\mu_c` is the weighted mean of the rows of cluster :math:`c`.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows.
    labels : array-like of shape (n_samples,)
        Cluster of each row, of any type.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows.

    Returns
    -------
    float
        The cost.

    Examples
    --------
    >>> from pellucid.metrics import kmeans_cost
    >>> kmeans_cost([[0.0], [2.0], [10.0]], [0, 0, 1])
    2.0
    """
    return _partition_cost("kmeans", X, labels, sample_weight)


def kmedians_cost(X: Any, labels: Any, *, sample_weight: Any = None) -> float:
    r"""Cost of a partition by k-medians, :math:`\sum_i w_i \lVert x_i - m_{c(i)} \rVert_1`.

    :math:`m_c` is the coordinate-wise weighted (lower) median of the rows of cluster :math:`c`.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows.
    labels : array-like of shape (n_samples,)
        Cluster of each row, of any type.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows.

    Returns
    -------
    float
        The cost.

    Examples
    --------
    >>> from pellucid.metrics import kmedians_cost
    >>> kmedians_cost([[0.0], [1.0], [5.0], [10.0]], [0, 0, 0, 1])
    5.0
    """
    return _partition_cost("kmedians", X, labels, sample_weight)


def surrogate_cost(
    X: Any, labels: Any, centers: Any, *, sample_weight: Any = None, objective: Objective = "kmeans"
) -> float:
    r"""Cost of the rows at given centers, :math:`\sum_i w_i \lVert x_i - \mu_{c(i)} \rVert_2^2`.

    With ``objective="kmedians"``, :math:`\sum_i w_i \lVert x_i - \mu_{c(i)} \rVert_1`.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows.
    labels : array-like of int, shape (n_samples,)
        Position of each row's center in `centers`.
    centers : array-like of shape (n_clusters, n_features)
        Reference centers.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows.
    objective : {"kmeans", "kmedians"}, default="kmeans"

    Returns
    -------
    float
        The cost.

    Examples
    --------
    >>> from pellucid.metrics import surrogate_cost
    >>> surrogate_cost([[0.0], [2.0]], [0, 0], [[0.0]])
    4.0
    """
    X, position = _read(X, np.asarray(labels, dtype=np.intp))
    centers = np.asarray(centers, dtype=np.float64)
    if centers.ndim != 2 or centers.shape[1] != X.shape[1]:
        raise ValueError(f"centers has shape {centers.shape}, but X has {X.shape[1]} columns")
    if len(position) and not 0 <= position.min() <= position.max() < len(centers):
        raise ValueError(f"labels must be positions in centers, 0 .. {len(centers) - 1}")
    return _data(objective, X, sample_weight).cost(position, centers)


def normalized_partition_cost(
    X: Any,
    labels: Any,
    reference_labels: Any,
    *,
    sample_weight: Any = None,
    objective: Objective = "kmeans",
) -> float:
    r"""Normalized partition cost (NPC) of a partition against a reference partition.

    .. math:: \mathrm{NPC} = \frac{\mathrm{cost}(P)}{\mathrm{cost}(P_{\mathrm{ref}})}

    Each cost uses the means of the partition's own clusters, or with ``objective="kmedians"`` the
    medians. 1 means that the partition is as good as the reference. If both costs are 0, the
    result is 1.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows.
    labels, reference_labels : array-like of shape (n_samples,)
        Cluster of each row, and its cluster in the reference.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows.
    objective : {"kmeans", "kmedians"}, default="kmeans"

    Returns
    -------
    float
        The ratio; 1 if both cost the same.

    References
    ----------
    Laber, Murtinho, Oliveira (2023). Shallow decision trees for explainable k-means
    clustering. Pattern Recognition.

    Examples
    --------
    >>> from pellucid.metrics import normalized_partition_cost
    >>> normalized_partition_cost([[0.0], [2.0], [6.0]], [0, 1, 1], [0, 0, 1])
    4.0
    """
    cost = _partition_cost(objective, X, labels, sample_weight)
    reference = _partition_cost(objective, X, reference_labels, sample_weight)
    if reference == 0:
        return 1.0 if cost == 0 else float("inf")
    return cost / reference


def weighted_average_depth(
    tree: ThresholdTree, X: Any = None, *, sample_weight: Any = None
) -> float:
    r"""Weighted average depth, :math:`\mathrm{WAD} = \sum_l w_l d_l / \sum_l w_l`.

    :math:`d_l` is the depth of leaf :math:`l` and :math:`w_l` the weight of its rows: the mean
    number of splits that a row passes.

    Parameters
    ----------
    tree : ThresholdTree
        The tree.
    X : array-like or sparse matrix of shape (n_samples, n_features), optional
        Rows to average over. Default: the training rows.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows of `X`.

    Returns
    -------
    float
        The mean depth.
    """
    return _average_over_leaves(tree, tree.depth[tree.leaves], X, sample_weight)


def weighted_average_explanation_size(
    tree: ThresholdTree,
    X: Any = None,
    *,
    sample_weight: Any = None,
    feature_names: ColumnNames | None = None,
) -> float:
    r"""Weighted average explanation size, :math:`\mathrm{WAES} = \sum_l w_l s_l / \sum_l w_l`.

    :math:`s_l` is the number of conditions in the rule of leaf :math:`l` without redundant ones,
    and :math:`w_l` the weight of its rows.

    Parameters
    ----------
    tree : ThresholdTree
        The tree.
    X : array-like or sparse matrix of shape (n_samples, n_features), optional
        Rows to average over. Default: the training rows.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows of `X`.
    feature_names : sequence of str or Indicator, optional
        Descriptions of the columns. A rule that includes a category of a column does not need
        the conditions that exclude its other categories.

    Returns
    -------
    float
        The mean number of conditions.
    """
    if feature_names is None:
        sizes = conditions_per_leaf(tree)
    else:
        paths = (path_conditions(tree, leaf, feature_names) for leaf in tree.leaves.tolist())
        sizes = np.array([len(simplify(path)) for path in paths])
    return _average_over_leaves(tree, sizes, X, sample_weight)


def reference_agreement(labels: Any, reference_labels: Any, *, sample_weight: Any = None) -> float:
    """Fraction of rows in the same cluster as in the reference, for the best matching of clusters.

    Parameters
    ----------
    labels, reference_labels : array-like of shape (n_samples,)
        Labels of any type; clusters are matched one to one.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of the rows.

    Returns
    -------
    float
        A share between 0 and 1.

    Examples
    --------
    >>> from pellucid.metrics import reference_agreement
    >>> reference_agreement([1, 1, 0, 0], ["a", "a", "b", "a"])
    0.75
    """
    labels, reference_labels = np.asarray(labels), np.asarray(reference_labels)
    if labels.shape != reference_labels.shape or labels.ndim != 1:
        raise ValueError(
            f"labels has shape {labels.shape} and reference_labels {reference_labels.shape}; "
            "both must be 1-D and of the same length"
        )
    weight = read_sample_weight(sample_weight, len(labels))
    names, ours = _positions(labels)
    reference_names, theirs = _positions(reference_labels)
    shape = len(names), len(reference_names)
    pairs = ours * shape[1] + theirs
    table = np.bincount(pairs, weights=weight, minlength=shape[0] * shape[1]).reshape(shape)
    return float(table[linear_sum_assignment(table, maximize=True)].sum() / weight.sum())


def match_clusters(table: np.ndarray) -> np.ndarray:
    """The name of each cluster so that most weight has its own name.

    `table` has the weight of the rows by cluster and by the name that they should have. Cluster i
    keeps the name i unless another assignment has more weight.
    """
    names, kept = linear_sum_assignment(table, maximize=True)[1], np.arange(len(table))
    return names if table[kept, names].sum() > np.trace(table) else kept


def _positions(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct labels, and the position of each row's label among them."""
    if labels.dtype.kind in "iu" and labels.size and labels.min() >= 0 and labels.max() < 2**16:
        # Counting is many times faster than sorting.
        is_used = np.bincount(labels) > 0
        return np.flatnonzero(is_used), (np.cumsum(is_used) - 1)[labels]
    return np.unique(labels, return_inverse=True)


def _partition_cost(objective: str, X: Any, labels: Any, sample_weight: Any) -> float:
    names, position = np.unique(np.asarray(labels), return_inverse=True)
    X, position = _read(X, position)
    data = _data(objective, X, sample_weight)
    centers = np.nan_to_num(data.group_centers(position, len(names)))
    return data.cost(position, centers)


def _data(objective: str, X: Any, sample_weight: Any) -> Dataset:
    if objective not in OBJECTIVES:
        known = ", ".join(map(repr, OBJECTIVES))
        raise ValueError(f"objective is {objective!r}; it must be one of {known}")
    weight = read_sample_weight(sample_weight, X.shape[0])
    return OBJECTIVES[objective](X, Weights.of(weight))


def _read(X: Any, labels: np.ndarray) -> tuple[Any, np.ndarray]:
    X = canonical_csc(X) if sparse.issparse(X) else np.asarray(X)
    if labels.shape != (X.shape[0],):
        raise ValueError(f"labels has shape {labels.shape}, but X has {X.shape[0]} rows")
    return X, labels


def _average_over_leaves(
    tree: ThresholdTree, amounts: np.ndarray, X: Any, sample_weight: Any
) -> float:
    if X is None:
        if sample_weight is not None:
            raise ValueError("sample_weight needs X: it holds the weights of its rows")
        return mean_over_leaves(tree, amounts)
    leaf = tree.apply(X)
    rows = read_sample_weight(sample_weight, len(leaf))
    weight = np.bincount(leaf, weights=rows, minlength=tree.node_count)
    return mean_over_leaves(tree, amounts, weight)
