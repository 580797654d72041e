"""Prune a tree split by split."""

from __future__ import annotations

import numpy as np

from pellucid.report.alternatives import AlternativeTree, AlternativeTrees
from pellucid.tree import ThresholdTree, TreeBuilder


def pruned_trees(tree: ThresholdTree, leaf: np.ndarray, reference: np.ndarray) -> AlternativeTrees:
    """Trees with fewer and fewer splits, as long as no cluster is lost.

    Weakest links first: of all questions, the one whose answers put the fewest rows right, for
    each leaf below it, is removed with its subtree and becomes a leaf of the most frequent cluster.

    Parameters
    ----------
    tree : ThresholdTree
    leaf : ndarray of shape (n_samples,)
        Leaf of each row.
    reference : ndarray of shape (n_samples,), int
        Position of the right cluster of each row; -1 for none.
    """
    known = reference >= 0
    n_clusters = int(max(reference.max(initial=-1), tree.cluster.max())) + 1
    counts = np.zeros((tree.node_count, n_clusters), dtype=np.int64)
    np.add.at(counts, (leaf[known], reference[known]), 1)
    inner = np.flatnonzero(~tree.is_leaf).tolist()
    for node in reversed(inner):  # nodes come before their children
        counts[node] = counts[tree.children_left[node]] + counts[tree.children_right[node]]
    clusters = set(tree.cluster[tree.is_leaf].tolist())
    ends = {node: int(tree.cluster[node]) for node in np.flatnonzero(tree.is_leaf).tolist()}
    found = []
    while True:
        right, leaves = _below(tree, ends, counts)
        links = [
            ((right[node] - int(counts[node].max())) / (leaves[node] - 1), node)
            for node in inner
            if leaves[node] > 1
        ]
        if not links:
            break
        node = min(links)[1]
        below = [end for end in ends if _is_below(tree, end, node)]
        ends = {end: cluster for end, cluster in ends.items() if end not in set(below)}
        ends[node] = int(counts[node].argmax())
        if not clusters <= set(ends.values()):
            break
        found.append(AlternativeTree(_cut_back(tree, ends), "pruned", len(ends)))
    return AlternativeTrees(found)


def _below(
    tree: ThresholdTree, ends: dict[int, int], counts: np.ndarray
) -> tuple[list[int], list[int]]:
    """Rows that the leaves below each node put right, and how many leaves these are."""
    right, leaves = np.zeros(tree.node_count, dtype=np.int64), np.zeros(tree.node_count, dtype=int)
    for node in range(tree.node_count - 1, -1, -1):
        if node in ends:
            right[node], leaves[node] = counts[node, ends[node]], 1
        elif not tree.is_leaf[node]:
            children = [tree.children_left[node], tree.children_right[node]]
            right[node], leaves[node] = right[children].sum(), leaves[children].sum()
    # Nodes below a new leaf are skipped.
    stack = list(ends)
    while stack:
        node = stack.pop()
        if not tree.is_leaf[node]:
            children = [int(tree.children_left[node]), int(tree.children_right[node])]
            leaves[children] = 0
            stack += children
    return right.tolist(), leaves.tolist()


def _is_below(tree: ThresholdTree, node: int, top: int) -> bool:
    # Nodes are numbered from the top, left before right: a subtree is a range of numbers.
    last = top
    while not tree.is_leaf[last]:
        last = int(tree.children_right[last])
    return top <= node <= last


def _cut_back(tree: ThresholdTree, ends: dict[int, int]) -> ThresholdTree:
    """The tree with other leaves, each with its cluster."""
    builder = TreeBuilder(tree.n_features)
    stack = [(0, 0)]
    while stack:
        old, new = stack.pop()
        if old in ends:
            builder.set_cluster(new, ends[old])
            continue
        feature, threshold = int(tree.feature[old]), float(tree.threshold[old])
        children = builder.split(new, feature=feature, threshold=threshold)
        stack += zip((int(tree.children_left[old]), int(tree.children_right[old])), children)
    return builder.build()
