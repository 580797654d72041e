"""Cuts of a tree whose leaves are the clusters, as the local search needs them.

With S and W the sum and the weight of the rows of a leaf, the k-means cost of such a tree is

    (total sum of squares) - BSS,    BSS = sum over leaves of |S|^2 / W,

with BSS the between-cluster sum of squares. So BSS is maximised, and a subtree can be changed and
evaluated without the rest of the tree.

The *statistics* of a row are its values times its weight, its weight, and its weighted square. All
are multiples of a unit whose sums are below 2**53, so that sums of rows are exact in any order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pellucid._core.kernels.sorting import radix_sort
from pellucid._utils.compilation import fused_allocating, inlined

N_CODES = 64
"""Coarse steps of a column."""

N_EXACT_COLUMNS = 4
"""Columns that are searched at every rank for one cut."""

MAX_COARSE_LOSS = 0.2
"""Part of a subtree's cost by which a column may be worse in coarse steps than the current cut."""

MIN_GAIN = 1e-9
"""Part of BSS by which a cut must be better than the current one."""

TIE = 1e-12
"""Part of BSS up to which two cuts are equal; ties go to the column and rank found first."""

LEFT_LEAF, RIGHT_LEAF, KEY, ORDER, OLD_KEY, OLD_ORDER = range(6)
"""Rows of the scratch array of shape (6, n)."""


class RankedRows(NamedTuple):
    """The n rows of the data."""

    rank: np.ndarray  # (n, n_features), uint16, number of different smaller values in the column
    code: np.ndarray  # (n, n_features), uint8, ranks in at most `N_CODES` coarse steps
    statistics: np.ndarray  # (n, n_features + 2)


class TreeArrays(NamedTuple):
    """A tree; arrays with one entry per node, except for `rows`."""

    feature: np.ndarray  # rows with rank[row, feature] <= rank go left; for a leaf, its best split
    rank: np.ndarray
    left: np.ndarray  # children; -1 for a leaf
    right: np.ndarray
    begin: np.ndarray  # the rows of a node are rows[begin:end]; an unused node has none
    end: np.ndarray
    parent: np.ndarray
    is_stale: np.ndarray  # whether an inner node might have a better cut
    rows: np.ndarray  # (n,), int32, row numbers, those of each node contiguous
    sums: np.ndarray  # (n_nodes, n_features + 2), sums of the row statistics of each leaf
    between_ss: np.ndarray  # |S|^2 / W of each leaf
    split_gain: np.ndarray  # rise of BSS by the best split of a leaf; -1 if not known


@fused_allocating
def route_rows(data, tree, start, scratch):
    """Send the rows of a node down to its leaves; return the number of leaves without rows.

    Parameters
    ----------
    data : RankedRows
    tree : TreeArrays
        Rows and statistics of all nodes below `start` are updated.
    start : int
    scratch : ndarray of shape (6, n), int32
    """
    rank, statistics = data.rank, data.statistics
    rows, sums, n_values = tree.rows, tree.sums, data.statistics.shape[1]
    stack = np.empty(len(tree.left), dtype=np.int64)
    stack[0] = start
    height, n_empty = 1, 0
    while height > 0:
        height -= 1
        i = stack[height]
        begin, end, left, right = tree.begin[i], tree.end[i], tree.left[i], tree.right[i]
        tree.is_stale[i] = left >= 0
        if left < 0:
            for j in range(n_values):
                sums[i, j] = 0.0
            for p in range(begin, end):
                for j in range(n_values):
                    sums[i, j] += statistics[rows[p], j]
            total = 0.0
            for j in range(n_values - 2):
                total += sums[i, j] * sums[i, j]
            if begin == end:
                n_empty += 1
                total = 0.0
            else:
                total /= sums[i, n_values - 2]
            tree.between_ss[i], tree.split_gain[i] = total, -1.0
            continue
        feature, at, middle, n = tree.feature[i], tree.rank[i], begin, 0
        for p in range(begin, end):
            row = rows[p]
            if rank[row, feature] <= at:
                rows[middle] = row
                middle += 1
            else:
                scratch[0, n] = row
                n += 1
        for p in range(n):
            rows[middle + p] = scratch[0, p]
        tree.begin[left], tree.end[left], tree.parent[left] = begin, middle, i
        tree.begin[right], tree.end[right], tree.parent[right] = middle, end, i
        stack[height], stack[height + 1] = right, left
        height += 2
    return n_empty


@inlined
def _scan_inner_node(data, tree, node, scratch, right_sums, means, norms, coarse, loss):
    """Evaluate all columns of an inner node in coarse steps, with fixed centers.

    With d[i] the cost of row i in the leaf it reaches on the left minus that on the right, fills
    loss[j] with the least sum of d over the rows up to a step of column j. Returns the same sum for
    the node's current cut. Also fills the two leaves of each row (`scratch`), and the sums of the
    leaves if all rows go right.
    """
    rank, code, statistics, sums = data.rank, data.code, data.statistics, tree.sums
    n_features, begin = rank.shape[1], tree.begin[node]
    for i in range(len(tree.left)):
        norm, weight = 0.0, sums[i, n_features]
        for j in range(n_features):
            means[i, j] = sums[i, j] / weight if weight > 0 else 0.0
            norm += means[i, j] * means[i, j]
        norms[i] = norm
    current = 0.0
    for p in range(tree.end[node] - begin):
        row = tree.rows[begin + p]
        a, b = tree.left[node], tree.right[node]
        while tree.left[a] >= 0:
            a = tree.right[a] if rank[row, tree.feature[a]] > tree.rank[a] else tree.left[a]
        while tree.left[b] >= 0:
            b = tree.right[b] if rank[row, tree.feature[b]] > tree.rank[b] else tree.left[b]
        scratch[LEFT_LEAF, p], scratch[RIGHT_LEAF, p] = a, b
        product = 0.0
        for j in range(n_features):
            right_sums[b, j] += statistics[row, j]
            product += statistics[row, j] * (means[b, j] - means[a, j])
        right_sums[b, n_features] += statistics[row, n_features]
        difference = 2 * product + statistics[row, n_features] * (norms[a] - norms[b])
        for j in range(n_features):
            coarse[j, code[row, j], 0] += difference
        if rank[row, tree.feature[node]] <= tree.rank[node]:
            current += difference
    for j in range(n_features):
        total = least = 0.0
        for s in range(N_CODES - 1):
            total += coarse[j, s, 0]
            least = min(least, total)
        loss[j] = least
    return current


@inlined
def _scan_leaf(data, tree, leaf, scratch, right_sums, coarse, loss):
    """Evaluate all columns of a leaf in coarse steps; loss[j] is minus the gain in column j alone.

    The new leaves have the numbers 0 and 1.
    """
    code, statistics, sums = data.code, data.statistics, tree.sums
    n_features, begin = code.shape[1], tree.begin[leaf]
    for j in range(n_features + 1):
        right_sums[1, j] = sums[leaf, j]
    for p in range(begin, tree.end[leaf]):
        row = tree.rows[p]
        scratch[LEFT_LEAF, p - begin], scratch[RIGHT_LEAF, p - begin] = 0, 1
        weight = statistics[row, n_features]
        for j in range(n_features):
            coarse[j, code[row, j], 0] += statistics[row, j]
            coarse[j, code[row, j], 1] += weight
    for j in range(n_features):
        left = weight = least = 0.0
        for s in range(N_CODES - 1):
            left += coarse[j, s, 0]
            weight += coarse[j, s, 1]
            right, rest = sums[leaf, j] - left, sums[leaf, n_features] - weight
            if weight > 0 and rest > 0:
                least = min(least, -left * left / weight - right * right / rest)
        loss[j] = least + sums[leaf, j] * sums[leaf, j] / sums[leaf, n_features]


@fused_allocating
def best_cut(data, tree, node, scratch, by_weight):
    """The best cut of an inner node for the subtrees it has, or the best split of a leaf.

    All columns are evaluated in coarse steps first, with fixed centers. The few best of them are
    evaluated at every rank with centers that move with the rows, that is, by BSS. No leaf may lose
    all of its rows.

    Parameters
    ----------
    data : RankedRows
    tree : TreeArrays
    node : int
    scratch : ndarray of shape (6, n), int32
    by_weight : bool
        Whether a row of weight w counts as w rows in `work`.

    Returns
    -------
    gain : float
        Rise of BSS; 0 if there is no better cut.
    feature, rank : int
    work : float
        About the nanoseconds that this takes, computed from the number of rows and columns.
    """
    rank, statistics, rows = data.rank, data.statistics, tree.rows
    n_nodes, n_features = len(tree.left), rank.shape[1]
    begin, end = tree.begin[node], tree.end[node]
    n, is_leaf = end - begin, tree.left[node] < 0
    buffers = np.zeros((3, n_nodes, n_features + 1))
    right_sums, sums, means = buffers[0], buffers[1], buffers[2]
    between_ss, norms = np.empty(n_nodes), np.empty(n_nodes)
    coarse, loss = np.zeros((n_features, N_CODES, 2)), np.empty(n_features)
    count = np.empty(257, dtype=np.int64)
    now, limit, weight, n_leaves = 0.0, 0.0, 0.0, 0
    for i in range(n_nodes):
        if tree.left[i] < 0 and begin <= tree.begin[i] < tree.end[i] <= end:
            now += tree.between_ss[i]
            limit += MAX_COARSE_LOSS * (tree.sums[i, n_features + 1] - tree.between_ss[i])
            weight += tree.sums[i, n_features]
            n_leaves += 1
    if is_leaf:
        n_leaves = 2
        _scan_leaf(data, tree, node, scratch, right_sums, coarse, loss)
    else:
        limit += _scan_inner_node(data, tree, node, scratch, right_sums, means, norms, coarse, loss)
    best, feature, at, n_columns = now + MIN_GAIN * abs(now), -1, -1, 0
    while n_columns < min(N_EXACT_COLUMNS, n_features):
        column = 0
        for j in range(n_features):
            if loss[j] < loss[column]:
                column = j
        if loss[column] > limit:
            break
        loss[column] = np.inf
        n_columns += 1
        for p in range(n):
            scratch[ORDER, p], scratch[KEY, p] = p, rank[rows[begin + p], column]
        radix_sort(
            scratch[KEY, :n],
            scratch[ORDER, :n],
            scratch[OLD_KEY, :n],
            scratch[OLD_ORDER, :n],
            count,
        )
        total, n_nonempty = 0.0, 0
        for c in range(n_nodes):
            square = 0.0
            for j in range(n_features + 1):
                sums[c, j] = right_sums[c, j]
            for j in range(n_features):
                square += right_sums[c, j] * right_sums[c, j]
            has_rows = right_sums[c, n_features] > 0
            between_ss[c] = square / right_sums[c, n_features] if has_rows else 0.0
            total += between_ss[c]
            n_nonempty += has_rows
        for p in range(n - 1):
            place = scratch[ORDER, p]
            row, a, b = rows[begin + place], scratch[LEFT_LEAF, place], scratch[RIGHT_LEAF, place]
            more = less = 0.0
            n_nonempty += sums[a, n_features] == 0
            for j in range(n_features):
                high, low = sums[a, j] + statistics[row, j], sums[b, j] - statistics[row, j]
                sums[a, j], sums[b, j] = high, low
                more += high * high
                less += low * low
            sums[a, n_features] += statistics[row, n_features]
            sums[b, n_features] -= statistics[row, n_features]
            more /= sums[a, n_features]
            if sums[b, n_features] > 0:
                less /= sums[b, n_features]
            else:
                n_nonempty -= 1
            total += (more - between_ss[a]) + (less - between_ss[b])
            between_ss[a], between_ss[b] = more, less
            is_cut = scratch[KEY, p + 1] > scratch[KEY, p] and n_nonempty == n_leaves
            if is_cut and total > best + TIE * abs(total):
                best, feature, at = total, column, scratch[KEY, p]
    work = (weight if by_weight else n) * (30 + 3 * n_features + n_columns * (15 + 2 * n_features))
    return best - now if feature >= 0 else 0.0, feature, at, work
