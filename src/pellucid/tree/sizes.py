"""Sizes of explanations: depth and number of conditions, per leaf and on average.

A path may split a feature several times. A rule needs only the tightest lower and the tightest
upper bound per feature, so its size is the number of different pairs (feature, side) on the path.
"""

from __future__ import annotations

import numpy as np

from pellucid.tree.threshold_tree import LEAF, ThresholdTree


def conditions_per_leaf(tree: ThresholdTree) -> np.ndarray:
    """Number of irredundant conditions of each leaf, in the order of ``tree.leaves``."""
    bounds: list[frozenset[tuple[int, bool]]] = [frozenset()] * tree.node_count
    feature, left, right = (
        a.tolist() for a in (tree.feature, tree.children_left, tree.children_right)
    )
    for node in range(tree.node_count):  # preorder: parents come before their children
        if left[node] != LEAF:
            bounds[left[node]] = bounds[node] | {(feature[node], True)}
            bounds[right[node]] = bounds[node] | {(feature[node], False)}
    return np.array([len(bounds[leaf]) for leaf in tree.leaves.tolist()])


def mean_depth(tree: ThresholdTree) -> float:
    r"""Weighted average depth, :math:`\mathrm{WAD} = \sum_l w_l d_l / \sum_l w_l`."""
    return mean_over_leaves(tree, tree.depth[tree.leaves])


def mean_conditions(tree: ThresholdTree) -> float:
    r"""Weighted average explanation size, :math:`\mathrm{WAES} = \sum_l w_l s_l / \sum_l w_l`.

    :math:`s_l` is the number of irredundant conditions of leaf :math:`l`.
    """
    return mean_over_leaves(tree, conditions_per_leaf(tree))


def mean_over_leaves(
    tree: ThresholdTree, values: np.ndarray, node_weight: np.ndarray | None = None
) -> float:
    """Average of a value per leaf, weighted by the training rows or by a given weight per node."""
    weight = tree.weighted_n_node_samples if node_weight is None else node_weight
    weight = weight[tree.leaves]
    return float(weight @ values / weight.sum())
