"""Cuts of a tree whose leaves are clusters of their own.

With S and W the sum and the weight of the rows of a leaf, such a tree costs

    (squares of all rows) - (sum over the leaves of |S|^2 / W),

so that the second sum, the *share*, is to be maximised, and a part of the tree can be changed and
judged without a look at the rest.

A *line* is a row as the loops have it: its values times its weight, its weight, and its weighted
square. All are whole numbers whose sums are below 2**53, so that sums are exact in any order.

Nodes are rows of an array of whole numbers; what they hold is named in `walk_layout`. Rows whose
rank in the column `FEATURE` is at most `AT` go left; of a leaf, these two say where it is best
split, once that is known. Children of leaves are -1. Rows of a node are those from `BEGIN` to
`END`, and a node that is not in use has none. A node is `STALE` if there might be a better cut.
"""

from __future__ import annotations

import numpy as np

from pellucid._core.kernels.local_search_layout import (
    AT,
    BEGIN,
    END,
    FEATURE,
    LEFT,
    N_STEPS,
    PARENT,
    RIGHT,
    STALE,
)
from pellucid._utils.compilation import fused_allocating, inlined

NEAR, FAR, KEY, ORDER, OLD_KEY, OLD_ORDER = range(6)

N_COLUMNS = 4
"""Columns that are looked at closely for a cut."""

FAR_OFF = 0.2
"""Share of a part's cost by which a coarse look may find a column worse than the cut there is."""

TIE = 1e-9
"""Share by which a cut must be better than the one there is."""

FINE = 1e-12
"""The same for two cuts that a node could have."""


@fused_allocating
def send(rank, lines, nodes, start, rows, room, sums, shares):
    """Send the rows of a node down; the number of leaves that come to have none.

    Parameters
    ----------
    rank : ndarray of shape (n, n_features), uint16
        Number of different values of a column that are smaller.
    lines : ndarray of shape (n, n_features + 2)
    nodes : ndarray of shape (n_nodes, 8), int64
    start : int
    rows : ndarray of shape (n,), int32
        Row numbers, those of each node next to each other.
    room : ndarray of shape (6, n), int32
    sums : ndarray of shape (n_nodes, n_features + 2)
        Of the lines of each leaf: filled in.
    shares : ndarray of shape (n_nodes, 2)
        |S|^2 / W of each leaf: filled in. The second becomes -1: what it gains by its best split
        is not known.
    """
    n_values = lines.shape[1]
    stack = np.empty(len(nodes), dtype=np.int64)
    stack[0] = start
    height, n_empty = 1, 0
    while height > 0:
        height -= 1
        i = stack[height]
        begin, end, left, right = nodes[i, BEGIN], nodes[i, END], nodes[i, LEFT], nodes[i, RIGHT]
        nodes[i, STALE] = left >= 0
        if left < 0:
            for j in range(n_values):
                sums[i, j] = 0.0
            for p in range(begin, end):
                for j in range(n_values):
                    sums[i, j] += lines[rows[p], j]
            total = 0.0
            for j in range(n_values - 2):
                total += sums[i, j] * sums[i, j]
            if begin == end:
                n_empty += 1
                total = 0.0
            else:
                total /= sums[i, n_values - 2]
            shares[i, 0], shares[i, 1] = total, -1.0
            continue
        feature, at, place, n = nodes[i, FEATURE], nodes[i, AT], begin, 0
        for p in range(begin, end):
            row = rows[p]
            if rank[row, feature] <= at:
                rows[place] = row
                place += 1
            else:
                room[0, n] = row
                n += 1
        for p in range(n):
            rows[place + p] = room[0, p]
        nodes[left, BEGIN], nodes[left, END], nodes[left, PARENT] = begin, place, i
        nodes[right, BEGIN], nodes[right, END], nodes[right, PARENT] = place, end, i
        stack[height], stack[height + 1] = right, left
        height += 2
    return n_empty


@inlined
def tear(rank, code, lines, nodes, node, rows, sums, room, right, means, norms, steps, loss):
    """Look at all columns of an inner node at once, in coarse steps, the centers where they are.

    Says which leaves each row reaches on the left and on the right (`room`), what the sums of
    leaves are if all rows go right, and, for each column, the least sum over its steps of what rows
    pay more on the left (`loss`). Returns the same sum for the node's own cut.
    """
    n_features, begin = rank.shape[1], nodes[node, BEGIN]
    for i in range(len(nodes)):
        norm, weight = 0.0, sums[i, n_features]
        for j in range(n_features):
            means[i, j] = sums[i, j] / weight if weight > 0 else 0.0
            norm += means[i, j] * means[i, j]
        norms[i] = norm
    own = 0.0
    for p in range(nodes[node, END] - begin):
        row = rows[begin + p]
        a, b = nodes[node, LEFT], nodes[node, RIGHT]
        while nodes[a, LEFT] >= 0:
            a = nodes[a, LEFT + (rank[row, nodes[a, FEATURE]] > nodes[a, AT])]
        while nodes[b, LEFT] >= 0:
            b = nodes[b, LEFT + (rank[row, nodes[b, FEATURE]] > nodes[b, AT])]
        room[NEAR, p], room[FAR, p] = a, b
        apart = 0.0
        for j in range(n_features):
            right[b, j] += lines[row, j]
            apart += lines[row, j] * (means[b, j] - means[a, j])
        right[b, n_features] += lines[row, n_features]
        extra = 2 * apart + lines[row, n_features] * (norms[a] - norms[b])
        for j in range(n_features):
            steps[j, code[row, j], 0] += extra
        if rank[row, nodes[node, FEATURE]] <= nodes[node, AT]:
            own += extra
    for j in range(n_features):
        total = least = 0.0
        for s in range(N_STEPS - 1):
            total += steps[j, s, 0]
            least = min(least, total)
        loss[j] = least
    return own


@inlined
def scan(code, lines, begin, end, rows, sums, leaf, room, right, steps, loss):
    """The same for a leaf, half of which is to go left: minus what a cut gains in its column."""
    n_features = code.shape[1]
    for j in range(n_features + 1):
        right[1, j] = sums[leaf, j]
    for p in range(begin, end):
        row = rows[p]
        room[NEAR, p - begin], room[FAR, p - begin] = 0, 1
        weight = lines[row, n_features]
        for j in range(n_features):
            steps[j, code[row, j], 0] += lines[row, j]
            steps[j, code[row, j], 1] += weight
    for j in range(n_features):
        left = weight = least = 0.0
        for s in range(N_STEPS - 1):
            left += steps[j, s, 0]
            weight += steps[j, s, 1]
            rest, other = sums[leaf, j] - left, sums[leaf, n_features] - weight
            if weight > 0 and other > 0:
                least = min(least, -left * left / weight - rest * rest / other)
        loss[j] = least + sums[leaf, j] * sums[leaf, j] / sums[leaf, n_features]


@inlined
def sort(rank, rows, begin, n, column, room, count):
    """Places of some rows by their rank, and these ranks: eight bits at a time."""
    most = 0
    for p in range(n):
        room[ORDER, p], room[KEY, p] = p, rank[rows[begin + p], column]
        most = max(most, room[KEY, p])
    shift = 0
    while shift == 0 or most >> shift > 0:
        for s in range(257):
            count[s] = 0
        for p in range(n):
            room[OLD_KEY, p], room[OLD_ORDER, p] = room[KEY, p], room[ORDER, p]
            count[((room[KEY, p] >> shift) & 255) + 1] += 1
        for s in range(256):
            count[s + 1] += count[s]
        for p in range(n):
            s = (room[OLD_KEY, p] >> shift) & 255
            room[KEY, count[s]], room[ORDER, count[s]] = room[OLD_KEY, p], room[OLD_ORDER, p]
            count[s] += 1
        shift += 8


@fused_allocating
def find_cut(rank, code, lines, nodes, node, rows, sums, shares, room, by_weight):
    """The best cut of a node for the subtrees it has, or the best split of a leaf.

    First all columns in coarse steps, with the centers where they are; then the few best of them at
    every rank, with the centers moving along. No leaf may be left without rows.

    Returns what the share gains, or 0 if there is no better cut; the column and the rank; and about
    how many nanoseconds this has taken, counted from the sizes of what was done.

    Parameters
    ----------
    code : ndarray of shape (n, n_features), uint8
        Ranks in coarse steps.
    by_weight : bool
        Whether a row counts by its weight in the time.
    """
    n_features, begin, end = rank.shape[1], nodes[node, BEGIN], nodes[node, END]
    n, is_leaf = end - begin, nodes[node, LEFT] < 0
    desk = np.zeros((3, len(nodes), n_features + 1))
    right, moving, means = desk[0], desk[1], desk[2]
    parts, norms = np.empty(len(nodes)), np.empty(len(nodes))
    steps, loss = np.zeros((n_features, N_STEPS, 2)), np.empty(n_features)
    count = np.empty(257, dtype=np.int64)
    now, limit, weight, n_leaves = 0.0, 0.0, 0.0, 0
    for i in range(len(nodes)):
        if nodes[i, LEFT] < 0 and begin <= nodes[i, BEGIN] < nodes[i, END] <= end:
            now += shares[i, 0]
            limit += FAR_OFF * (sums[i, n_features + 1] - shares[i, 0])
            weight += sums[i, n_features]
            n_leaves += 1
    if is_leaf:
        n_leaves = 2
        scan(code, lines, begin, end, rows, sums, node, room, right, steps, loss)
    else:
        limit += tear(
            rank, code, lines, nodes, node, rows, sums, room, right, means, norms, steps, loss
        )
    best, feature, at, n_columns = now + TIE * abs(now), -1, -1, 0
    while n_columns < min(N_COLUMNS, n_features):
        column = 0
        for j in range(n_features):
            if loss[j] < loss[column]:
                column = j
        if loss[column] > limit:
            break
        loss[column] = np.inf
        n_columns += 1
        sort(rank, rows, begin, n, column, room, count)
        total, n_full = 0.0, 0
        for c in range(len(nodes)):
            square = 0.0
            for j in range(n_features + 1):
                moving[c, j] = right[c, j]
            for j in range(n_features):
                square += right[c, j] * right[c, j]
            parts[c] = square / right[c, n_features] if right[c, n_features] > 0 else 0.0
            total += parts[c]
            n_full += right[c, n_features] > 0
        for p in range(n - 1):
            place = room[ORDER, p]
            row, a, b = rows[begin + place], room[NEAR, place], room[FAR, place]
            more = less = 0.0
            n_full += moving[a, n_features] == 0
            for j in range(n_features):
                high, low = moving[a, j] + lines[row, j], moving[b, j] - lines[row, j]
                moving[a, j], moving[b, j] = high, low
                more += high * high
                less += low * low
            moving[a, n_features] += lines[row, n_features]
            moving[b, n_features] -= lines[row, n_features]
            more /= moving[a, n_features]
            if moving[b, n_features] > 0:
                less /= moving[b, n_features]
            else:
                n_full -= 1
            total += (more - parts[a]) + (less - parts[b])
            parts[a], parts[b] = more, less
            is_cut = room[KEY, p + 1] > room[KEY, p] and n_full == n_leaves
            if is_cut and total > best + FINE * abs(total):
                best, feature, at = total, column, room[KEY, p]
    work = (weight if by_weight else n) * (30 + 3 * n_features + n_columns * (15 + 2 * n_features))
    return best - now if feature >= 0 else 0.0, feature, at, work
