"""Trees whose leaves are clusters of their own, as arrays that can be changed, and their rows.

Such a tree costs what its leaves cost, so that a part of it can be changed and judged without a
look at the rest. With S and W the sum and the weight of the rows of a leaf, the cost is

    (squares of all rows) - (sum over the leaves of |S|^2 / W),

so that the second sum, the *share*, is to be maximised.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pellucid.kernels._compile import inner, reordered

ROOT, NONE = np.int64(0), np.int64(-1)
"""Numbers of the root and of no node; of one type, so that loops are compiled once."""


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


NODE = np.dtype(
    [
        *((name, np.int64) for name in ("feature", "at", "left", "right", "parent")),
        *((name, np.int64) for name in ("begin", "end", "gain_feature", "gain_at")),
        *((name, np.float64) for name in ("weight", "gain")),
        ("is_stale", np.bool_),
    ]
)
"""What is known of a node.

Rows of at most the rank `at` go left; children of leaves are -1. Its rows are those from `begin`
to `end`. A leaf has their weight, and the split that adds most to the share, if that has been
looked for: otherwise the gain is NaN. An inner node is stale if there might be a better cut for it.
"""

SPOT = np.dtype([(name, np.int32) for name in ("near", "far", "key", "order", "row")])
"""A row of a node while its cuts are looked at.

The clusters it goes to on the left and on the right, its rank, and the place of the row that comes
at its place by rank; `row` is for rows that are put aside.
"""


class Tree(NamedTuple):
    """A tree over a sample; node 0 is the root, and some nodes may be free.

    Attributes
    ----------
    nodes : ndarray of shape (n_nodes,), NODE
    sums : ndarray of shape (n_nodes, n_features)
        Of the rows of each leaf.
    rows : ndarray of shape (n,), int32
        Row numbers, those of each node next to each other.
    """

    nodes: np.ndarray
    sums: np.ndarray
    rows: np.ndarray


class Room(NamedTuple):
    """Where compiled loops keep what they need for a moment.

    Attributes
    ----------
    spots : ndarray of shape (n,), SPOT
    extra : ndarray of shape (n,)
        What each row pays more on the left.
    count : ndarray of int64
        Room for all ranks of a column.
    list, stack : ndarray of int64
        Room for all nodes.
    random : ndarray of shape (1,), uint64
        State of the random numbers, not 0.
    """

    spots: np.ndarray
    extra: np.ndarray
    count: np.ndarray
    list: np.ndarray
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
def list_nodes(tree, start, list, stack):
    """Fill the list with the nodes from `start` downwards, parents first; how many there are."""
    nodes = tree.nodes
    n, height = 0, 1
    stack[0] = start
    while height > 0:
        height -= 1
        i = stack[height]
        list[n] = i
        n += 1
        if nodes[i].left != NONE:
            stack[height] = nodes[i].right
            stack[height + 1] = nodes[i].left
            height += 2
    return n


@reordered
def add_up(sample, tree, i):
    """Sum and weight of the rows of a leaf."""
    lines, weight, rows, sums, nodes = sample.lines, sample.weight, tree.rows, tree.sums, tree.nodes
    n_features = lines.shape[1]
    for j in range(n_features):
        sums[i, j] = 0.0
    total = 0.0
    for p in range(nodes[i].begin, nodes[i].end):
        row = rows[p]
        w = weight[row]
        total += w
        for j in range(n_features):
            sums[i, j] += w * lines[row, j]
    nodes[i].weight = total
    nodes[i].gain = np.nan


@reordered
def share_of(sums, c, weight):
    """|S|^2 / W."""
    total = 0.0
    for j in range(sums.shape[1]):
        total += sums[c, j] * sums[c, j]
    return total / weight if weight > 0 else 0.0


@inner
def share_below(tree, start, room):
    """Share of all leaves from `start` downwards."""
    total = 0.0
    for p in range(list_nodes(tree, start, room.list, room.stack)):
        i = room.list[p]
        if tree.nodes[i].left == NONE:
            total += share_of(tree.sums, i, tree.nodes[i].weight)
    return total


@inner
def send_rows(sample, tree, start, room):
    """Send the rows of a node down; whether all leaves have some."""
    nodes, rows, spots = tree.nodes, tree.rows, room.spots
    all_full = True
    for p in range(list_nodes(tree, start, room.list, room.stack)):
        i = room.list[p]
        nodes[i].is_stale = True
        begin, end = nodes[i].begin, nodes[i].end
        left, right = nodes[i].left, nodes[i].right
        if left == NONE:
            all_full &= begin < end
            add_up(sample, tree, i)
            continue
        rank, at = sample.rank[nodes[i].feature], nodes[i].at
        place, n = begin, 0
        for q in range(begin, end):
            row = rows[q]
            if rank[row] <= at:
                rows[place] = row
                place += 1
            else:
                spots[n].row = row
                n += 1
        for q in range(n):
            rows[place + q] = spots[q].row
        nodes[left].begin, nodes[left].end, nodes[left].parent = begin, place, i
        nodes[right].begin, nodes[right].end, nodes[right].parent = place, end, i
    return all_full


@inner
def mark_above(tree, i, top):
    """Whatever has changed at a node, the nodes above it may have better cuts now."""
    while i != top:
        i = tree.nodes[i].parent
        tree.nodes[i].is_stale = True


@inner
def copy_tree(one, other):
    """Make another tree as this one is."""
    for i in range(len(one.nodes)):
        other.nodes[i] = one.nodes[i]
        for j in range(one.sums.shape[1]):
            other.sums[i, j] = one.sums[i, j]
    for i in range(len(one.rows)):
        other.rows[i] = one.rows[i]
