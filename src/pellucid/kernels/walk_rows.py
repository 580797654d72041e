"""Trees whose leaves are clusters of their own, as arrays that can be changed, and their rows.

Such a tree costs what its leaves cost, so that a part of it can be changed and judged without a look
at the rest. With S and W the sum and the weight of the rows of a leaf, the cost is

    (squares of all rows) - (sum over the leaves of |S|^2 / W),

so that the second sum, the *share*, is to be maximised.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pellucid.kernels._compile import inner, reordered

NONE = -1
"""No node."""


class Sample(NamedTuple):
    """The rows that trees are judged by.

    Attributes
    ----------
    lines : ndarray of shape (n, n_features)
        Values, about some origin.
    weight, square : ndarray of shape (n,)
        Weight of each row, and its weighted square.
    rank : ndarray of shape (n_features, n), int32
        Number of different values of a column that are smaller.
    n_ranks : ndarray of shape (n_features,)
        Number of different values.
    code : ndarray of shape (n_features, n), uint8
        The same in at most 256 steps.
    """

    lines: np.ndarray
    weight: np.ndarray
    square: np.ndarray
    rank: np.ndarray
    n_ranks: np.ndarray
    code: np.ndarray


class Tree(NamedTuple):
    """A tree over a sample; node 0 is the root, and some nodes may be free.

    Attributes
    ----------
    feature, at, left, right, parent : ndarray of shape (n_nodes,)
        Rows of at most the rank `at` go left. Children of leaves are -1.
    begin, end : ndarray of shape (n_nodes,)
        Where the rows of a node are in `rows`.
    sums, weights : ndarray of shape (n_nodes, n_features) and (n_nodes,)
        Of the rows of a leaf.
    is_stale : ndarray of shape (n_nodes,), bool
        Whether there might be a better cut for an inner node.
    gain, gain_feature, gain_at : ndarray of shape (n_nodes,)
        The best split of a leaf, and what it adds to the share; a gain of NaN is not known.
    rows : ndarray of shape (n,), int32
    """

    feature: np.ndarray
    at: np.ndarray
    left: np.ndarray
    right: np.ndarray
    parent: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    sums: np.ndarray
    weights: np.ndarray
    is_stale: np.ndarray
    gain: np.ndarray
    gain_feature: np.ndarray
    gain_at: np.ndarray
    rows: np.ndarray


class Room(NamedTuple):
    """Where compiled loops keep what they need for a moment.

    Attributes
    ----------
    near, far, key, order, count : ndarray of int64
        A number for each row; the last has room for all ranks of a column.
    extra : ndarray of shape (n,), float64
    rows : ndarray of shape (n,), int32
    nodes, stack : ndarray of int64
        Room for all nodes.
    random : ndarray of shape (1,), uint64
        State of the random numbers, not 0.
    """

    near: np.ndarray
    far: np.ndarray
    key: np.ndarray
    order: np.ndarray
    count: np.ndarray
    extra: np.ndarray
    rows: np.ndarray
    nodes: np.ndarray
    stack: np.ndarray
    random: np.ndarray


@inner
def draw(random):
    """A number in [0, 1) (xorshift)."""
    x = random[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    random[0] = x
    return (x >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@inner
def list_nodes(tree, start, nodes, stack):
    """Fill `nodes` with those from `start` downwards, parents first; how many there are."""
    left, right = tree.left, tree.right
    n, height = 0, 1
    stack[0] = start
    while height > 0:
        height -= 1
        node = stack[height]
        nodes[n] = node
        n += 1
        if left[node] != NONE:
            stack[height], stack[height + 1] = right[node], left[node]
            height += 2
    return n


@reordered
def add_up(sample, tree, leaf):
    """Sum and weight of the rows of a leaf."""
    lines, weight, rows, sums = sample.lines, sample.weight, tree.rows, tree.sums
    n_features = lines.shape[1]
    for j in range(n_features):
        sums[leaf, j] = 0.0
    total = 0.0
    for p in range(tree.begin[leaf], tree.end[leaf]):
        row = rows[p]
        w = weight[row]
        total += w
        for j in range(n_features):
            sums[leaf, j] += w * lines[row, j]
    tree.weights[leaf] = total
    tree.gain[leaf] = np.nan


@reordered
def share_of(sums, weights, c):
    """|S|^2 / W."""
    total = 0.0
    for j in range(sums.shape[1]):
        total += sums[c, j] * sums[c, j]
    return total / weights[c] if weights[c] > 0 else 0.0


@inner
def share_below(tree, start, room):
    """Share of all leaves from `start` downwards."""
    total = 0.0
    for i in range(list_nodes(tree, start, room.nodes, room.stack)):
        node = room.nodes[i]
        if tree.left[node] == NONE:
            total += share_of(tree.sums, tree.weights, node)
    return total


@inner
def send_rows(sample, tree, start, room):
    """Send the rows of a node down; whether all leaves have some."""
    left, right, begin, end = tree.left, tree.right, tree.begin, tree.end
    rows, aside = tree.rows, room.rows
    all_full = True
    for i in range(list_nodes(tree, start, room.nodes, room.stack)):
        node = room.nodes[i]
        tree.is_stale[node] = True
        if left[node] == NONE:
            all_full &= begin[node] < end[node]
            add_up(sample, tree, node)
            continue
        rank, at = sample.rank[tree.feature[node]], tree.at[node]
        place, n = begin[node], 0
        for p in range(begin[node], end[node]):
            row = rows[p]
            if rank[row] <= at:
                rows[place] = row
                place += 1
            else:
                aside[n] = row
                n += 1
        for p in range(n):
            rows[place + p] = aside[p]
        begin[left[node]], end[left[node]] = begin[node], place
        begin[right[node]], end[right[node]] = place, end[node]
        tree.parent[left[node]] = tree.parent[right[node]] = node
    return all_full


@inner
def mark_above(tree, node, top):
    """Whatever has changed at a node, the nodes above it may have better cuts now."""
    while node != top:
        node = tree.parent[node]
        tree.is_stale[node] = True


@inner
def copy_tree(one, other):
    """Make another tree as this one is."""
    for i in range(len(one.left)):
        other.feature[i], other.at[i], other.parent[i] = one.feature[i], one.at[i], one.parent[i]
        other.left[i], other.right[i] = one.left[i], one.right[i]
        other.begin[i], other.end[i] = one.begin[i], one.end[i]
        other.weights[i], other.is_stale[i], other.gain[i] = (
            one.weights[i],
            one.is_stale[i],
            one.gain[i],
        )
        other.gain_feature[i], other.gain_at[i] = one.gain_feature[i], one.gain_at[i]
        for j in range(one.sums.shape[1]):
            other.sums[i, j] = one.sums[i, j]
    for i in range(len(one.rows)):
        other.rows[i] = one.rows[i]
