"""Importance of the features, from as few rows as possible."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from pellucid._core.data.dataset import Dataset
from pellucid._core.data.group_sums import group_means
from pellucid.tree import ThresholdTree
from pellucid.tree.measures import feature_importances

_CHUNK_ROWS = 2**12
"""Rows that are copied at a time."""


def find_importances(
    tree: ThresholdTree, data: Dataset, leaf: np.ndarray, cluster_means: np.ndarray | None
) -> np.ndarray:
    """The reduction of the within-node sum of squares by the splits of each feature.

    With the cluster means, the mean of the heaviest leaf :math:`h` of each cluster :math:`c`
    follows from those of its other leaves,

        m_h = m_c + sum over l != h of (W_l / W_h) (m_c - m_l),

    so that its rows are not read. A tree with one leaf per cluster needs no rows at all. `leaf` is
    the node number of the leaf of each row.
    """
    leaves = tree.leaves
    leaf_weight, clusters = tree.weighted_n_node_samples[leaves], tree.cluster[leaves]
    derived: dict[int, list[int]] = {}
    """Position of the heaviest leaf of each cluster, and positions of the cluster's others."""
    if cluster_means is not None:
        for cluster in np.unique(clusters):
            members = np.flatnonzero(clusters == cluster)
            heaviest = int(members[np.argmax(leaf_weight[members])])
            derived[heaviest] = members[members != heaviest].tolist()
    if len(derived) == len(leaves):
        means = np.empty((len(leaves), data.X.shape[1]))
    else:
        position = np.full(tree.node_count, -1, dtype=np.intp)
        position[leaves] = np.arange(len(leaves))
        position[leaves[list(derived)]] = -1
        means = _means(data, position.take(leaf), len(leaves))
    for heaviest, others in derived.items():
        assert cluster_means is not None
        mean = cluster_means[clusters[heaviest]]
        means[heaviest] = mean
        for other in others:
            if leaf_weight[other] > 0:
                share = leaf_weight[other] / leaf_weight[heaviest]
                means[heaviest] += share * (mean - means[other])
    return feature_importances(tree, leaf_weight, means)


def _means(data: Dataset, group: np.ndarray, n_groups: int) -> np.ndarray:
    """Weighted mean of each group of rows; rows of group -1 are not read."""
    if sparse.issparse(data.X):
        return group_means(data.X, group, data.weights.values, n_groups, data.pool)
    rows = np.flatnonzero(group >= 0)
    rows = rows[np.argsort(group[rows], kind="stable")]
    ends = np.cumsum(np.bincount(group[rows], minlength=n_groups)).tolist()
    means = np.full((n_groups, data.X.shape[1]), np.nan)
    for i, (begin, end) in enumerate(zip([0, *ends], ends)):
        total, weight = np.zeros(data.X.shape[1]), 0.0
        for start in range(begin, end, _CHUNK_ROWS):
            chunk = rows[start : min(start + _CHUNK_ROWS, end)]
            values = data.X[chunk].astype(np.float64, copy=False)
            if not data.weights.are_ones:
                values = values * data.weights.values[chunk, None]
            total += values.sum(axis=0)
            weight += float(data.weights.values[chunk].sum())
        if weight > 0:
            means[i] = total / weight
    return means
