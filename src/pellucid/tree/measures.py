"""Measures of a tree: depth and number of conditions of its leaves, importance of its features.

A path may split a feature several times. A rule needs only the tightest lower and the tightest
upper bound per feature, so its size is the number of different pairs (feature, side) on the path.
"""

from __future__ import annotations

import numpy as np

from pellucid.tree.threshold_tree import LEAF, ThresholdTree


def conditions_per_leaf(tree: ThresholdTree) -> np.ndarray:
    """Number of irredundant conditions of each leaf, in the order of ``tree.leaves``."""
    bounds: list[frozenset[tuple[int, bool]]] = [frozenset()] * tree.node_count
    arrays = tree.feature, tree.children_left, tree.children_right
    feature, left, right = (array.tolist() for array in arrays)
    for node in range(tree.node_count):  # preorder: parents come before their children
        if left[node] != LEAF:
            bounds[left[node]] = bounds[node] | {(feature[node], True)}
            bounds[right[node]] = bounds[node] | {(feature[node], False)}
    return np.array([len(bounds[leaf]) for leaf in tree.leaves.tolist()])


def mean_depth(tree: ThresholdTree) -> float:
    r"""Weighted average depth, :math:`\mathrm{WAD} = \sum_l w_l d_l / \sum_l w_l`."""
    return mean_over_leaves(tree, tree.depth[tree.leaves])


def mean_conditions(tree: ThresholdTree) -> float:
    r""":math:`\mathrm{WAES} = \sum_l w_l s_l / \sum_l w_l`, with s_l the conditions of leaf l."""
    return mean_over_leaves(tree, conditions_per_leaf(tree))


def mean_over_leaves(
    tree: ThresholdTree, values: np.ndarray, node_weight: np.ndarray | None = None
) -> float:
    """Average of a value per leaf, weighted by the training rows or by a given weight per node."""
    weight = tree.weighted_n_node_samples if node_weight is None else node_weight
    weight = weight[tree.leaves]
    return float(weight @ values / weight.sum())


def feature_importances(
    tree: ThresholdTree, leaf_weight: np.ndarray, leaf_means: np.ndarray
) -> np.ndarray:
    """Normalised total reduction of the within-node sum of squares by the splits of each feature.

    A split of node t into l and r, with weights W and means m, reduces it by

        D_t = W_l W_r / (W_l + W_r) |m_l - m_r|^2,

    for means of one-hot classes the weighted decrease of the Gini impurity. `leaf_weight` and
    `leaf_means` are in the order of ``tree.leaves``.
    """
    decrease = np.zeros(tree.n_features)
    rows = {int(leaf): i for i, leaf in enumerate(tree.leaves)}
    weight_and_mean: dict[int, tuple[float, np.ndarray]] = {}
    for node in range(tree.node_count - 1, -1, -1):  # preorder: children before their parent
        if tree.children_left[node] == LEAF:
            weight_and_mean[node] = float(leaf_weight[rows[node]]), leaf_means[rows[node]]
            continue
        left_weight, left = weight_and_mean.pop(int(tree.children_left[node]))
        right_weight, right = weight_and_mean.pop(int(tree.children_right[node]))
        weight = left_weight + right_weight
        if left_weight > 0 and right_weight > 0:
            difference = right - left
            squared = float(np.square(difference).sum())
            decrease[tree.feature[node]] += left_weight * right_weight / weight * squared
            weight_and_mean[node] = weight, left + difference * (right_weight / weight)
        else:
            weight_and_mean[node] = weight, left if left_weight > 0 else right
    total = decrease.sum()
    return decrease / total if total > 0 else decrease
