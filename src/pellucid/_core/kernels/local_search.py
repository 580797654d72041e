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

from pellucid._core.kernels.sorting import KEY, ORDER, radix_sort
from pellucid._utils.compilation import fused, reordered

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

LEFT_LEAF, RIGHT_LEAF = 5, 6
"""Rows of the scratch array; the others are those of `radix_sort`."""

RIGHT, MOVED, MEANS = range(3)
"""Sums of leaves if all rows are on the right, the same during a sweep, and means."""


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


CUT_FEATURE, CUT_RANK, LEFT_CHILD, RIGHT_CHILD, BEGIN, END, PARENT, IS_STALE = range(8)
"""Rows of `nodes`, which has the first eight arrays of a `TreeArrays`; loops with few arguments
compile faster."""

BETWEEN_SS, SPLIT_GAIN = range(2)
"""Rows of `scores`, which has the last two."""


@fused
def route_rows(rank, statistics, nodes, rows, sums, scores, start, scratch):
    """Send the rows of a node down to its leaves; return the number of leaves without rows.

    Rows and statistics of all nodes below `start` are updated. Two rows of `scratch` hold the rows
    that go right, and the nodes that are still to be visited.
    """
    _, n_values = sums.shape
    scratch[1, 0] = start
    height, n_empty = 1, 0
    while height > 0:
        height -= 1
        i = scratch[1, height]
        begin, end, left = nodes[BEGIN, i], nodes[END, i], nodes[LEFT_CHILD, i]
        nodes[IS_STALE, i] = left >= 0
        if left < 0:
            for j in range(n_values):
                sums[i, j] = 0.0
            for p in range(begin, end):
                row = rows[p]
                for j in range(n_values):
                    sums[i, j] += statistics[row, j]
            total = 0.0
            for j in range(n_values - 2):
                total += sums[i, j] * sums[i, j]
            if begin == end:
                n_empty += 1
                total = 0.0
            else:
                total /= sums[i, n_values - 2]
            scores[BETWEEN_SS, i] = total
            scores[SPLIT_GAIN, i] = -1.0
            continue
        right, feature, at = nodes[RIGHT_CHILD, i], nodes[CUT_FEATURE, i], nodes[CUT_RANK, i]
        middle, n = begin, 0
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
        nodes[BEGIN, left] = begin
        nodes[END, left] = nodes[BEGIN, right] = middle
        nodes[END, right] = end
        nodes[PARENT, left] = nodes[PARENT, right] = i
        scratch[1, height] = right
        scratch[1, height + 1] = left
        height += 2
    return n_empty


@reordered
def _scan_inner_node(rank, code, statistics, nodes, rows, sums, node, scratch, buffers, coarse):
    """Evaluate all columns of an inner node in coarse steps, with fixed centers.

    With d[i] the cost of row i in the leaf it reaches on the left minus that on the right, fills
    coarse[j, N_CODES, 0] with the least sum of d over the rows up to a step of column j. Returns
    the same sum for the node's current cut. Also fills the two leaves of each row (`scratch`), and
    the sums of the leaves if all rows go right.
    """
    n_nodes, n_values = sums.shape
    n_features, begin = n_values - 2, nodes[BEGIN, node]
    for i in range(n_nodes):
        norm, weight = 0.0, sums[i, n_features]
        for j in range(n_features):
            mean = sums[i, j] / weight if weight > 0 else 0.0
            buffers[MEANS, i, j] = mean
            norm += mean * mean
        buffers[MEANS, i, n_features] = norm
    current, cut_feature, cut_rank = 0.0, nodes[CUT_FEATURE, node], nodes[CUT_RANK, node]
    for p in range(nodes[END, node] - begin):
        row = rows[begin + p]
        a, b = nodes[LEFT_CHILD, node], nodes[RIGHT_CHILD, node]
        while nodes[LEFT_CHILD, a] >= 0:
            goes_right = rank[row, nodes[CUT_FEATURE, a]] > nodes[CUT_RANK, a]
            a = nodes[RIGHT_CHILD if goes_right else LEFT_CHILD, a]
        while nodes[LEFT_CHILD, b] >= 0:
            goes_right = rank[row, nodes[CUT_FEATURE, b]] > nodes[CUT_RANK, b]
            b = nodes[RIGHT_CHILD if goes_right else LEFT_CHILD, b]
        scratch[LEFT_LEAF, p] = a
        scratch[RIGHT_LEAF, p] = b
        product, weight = 0.0, statistics[row, n_features]
        for j in range(n_features):
            value = statistics[row, j]
            buffers[RIGHT, b, j] += value
            product += value * (buffers[MEANS, b, j] - buffers[MEANS, a, j])
        buffers[RIGHT, b, n_features] += weight
        norm = buffers[MEANS, a, n_features] - buffers[MEANS, b, n_features]
        difference = 2 * product + weight * norm
        for j in range(n_features):
            coarse[j, code[row, j], 0] += difference
        if rank[row, cut_feature] <= cut_rank:
            current += difference
    for j in range(n_features):
        total = least = 0.0
        for s in range(N_CODES - 1):
            total += coarse[j, s, 0]
            least = total if total < least else least
        coarse[j, N_CODES, 0] = least
    return current


@reordered
def _scan_leaf(code, statistics, nodes, rows, sums, leaf, scratch, buffers, coarse):
    """Evaluate all columns of a leaf in coarse steps; fills in minus the gain in each column alone.

    The new leaves have the numbers 0 and 1.
    """
    _, n_values = sums.shape
    n_features, begin = n_values - 2, nodes[BEGIN, leaf]
    for j in range(n_features + 1):
        buffers[RIGHT, 1, j] = sums[leaf, j]
    for p in range(begin, nodes[END, leaf]):
        row = rows[p]
        scratch[LEFT_LEAF, p - begin] = 0
        scratch[RIGHT_LEAF, p - begin] = 1
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
                loss = -left * left / weight - right * right / rest
                least = loss if loss < least else least
        coarse[j, N_CODES, 0] = least + sums[leaf, j] * sums[leaf, j] / sums[leaf, n_features]


@reordered
def _sweep_column(statistics, rows, begin, n, n_leaves, best, scratch, buffers):
    """The largest BSS above `best` over the ranks of a column, and its rank; -1 if there is none.

    The rows are in the order of the column, and go from the right to the left one by one. Only
    ranks count that leave rows to `n_leaves` leaves.
    """
    _, n_nodes, n_values = buffers.shape
    n_features, at = n_values - 2, -1
    total, n_nonempty = 0.0, 0
    for c in range(n_nodes):
        square = 0.0
        for j in range(n_features + 1):
            buffers[MOVED, c, j] = buffers[RIGHT, c, j]
        for j in range(n_features):
            square += buffers[RIGHT, c, j] * buffers[RIGHT, c, j]
        if buffers[RIGHT, c, n_features] > 0:
            square /= buffers[RIGHT, c, n_features]
            n_nonempty += 1
        else:
            square = 0.0
        buffers[MOVED, c, n_features + 1] = square
        total += square
    for p in range(n - 1):
        place = scratch[ORDER, p]
        row, a, b = rows[begin + place], scratch[LEFT_LEAF, place], scratch[RIGHT_LEAF, place]
        more = less = 0.0
        if buffers[MOVED, a, n_features] == 0:
            n_nonempty += 1
        for j in range(n_features):
            value = statistics[row, j]
            high, low = buffers[MOVED, a, j] + value, buffers[MOVED, b, j] - value
            buffers[MOVED, a, j] = high
            buffers[MOVED, b, j] = low
            more += high * high
            less += low * low
        high = buffers[MOVED, a, n_features] + statistics[row, n_features]
        low = buffers[MOVED, b, n_features] - statistics[row, n_features]
        buffers[MOVED, a, n_features] = high
        buffers[MOVED, b, n_features] = low
        more /= high
        if low > 0:
            less /= low
        else:
            n_nonempty -= 1
        last = buffers[MOVED, a, n_features + 1]
        total += (more - last) + (less - buffers[MOVED, b, n_features + 1])
        buffers[MOVED, a, n_features + 1] = more
        buffers[MOVED, b, n_features + 1] = less
        is_cut = scratch[KEY, p + 1] > scratch[KEY, p] and n_nonempty == n_leaves
        if is_cut and total > best + TIE * (total if total > 0 else -total):
            best, at = total, scratch[KEY, p]
    return best, at


@fused
def best_cut(
    rank, code, statistics, nodes, rows, sums, scores, node, by_weight, scratch, buffers, coarse
):
    """The best cut of an inner node for the subtrees it has, or the best split of a leaf.

    All columns are evaluated in coarse steps first, with fixed centers. The few best of them are
    evaluated at every rank with centers that move with the rows, that is, by BSS. No leaf may lose
    all of its rows.

    Parameters
    ----------
    rank, code, statistics : ndarray
        The arrays of a `RankedRows`.
    nodes, rows, sums, scores : ndarray
        The arrays of a `TreeArrays`.
    node : int
    by_weight : bool
        Whether a row of weight w counts as w rows in `work`.
    scratch : ndarray of shape (7, n), int32
    buffers : ndarray of shape (3, n_nodes, n_features + 2)
        Scratch space for statistics of the leaves. The last column of the sums during a sweep is
        |S|^2 / W.
    coarse : ndarray of shape (n_features, N_CODES + 1, 2)
        Scratch space for sums by coarse step; the last entry is how much worse a column is.

    Returns
    -------
    gain : float
        Rise of BSS; 0 if there is no better cut.
    feature, rank : int
    work : float
        About the nanoseconds that this takes, computed from the number of rows and columns.
    """
    n_nodes, n_values = sums.shape
    n_features, begin, end = n_values - 2, nodes[BEGIN, node], nodes[END, node]
    n = end - begin
    now, limit, weight, n_leaves = 0.0, 0.0, 0.0, 0
    for i in range(n_nodes):
        for j in range(n_values):
            buffers[RIGHT, i, j] = 0.0
        if nodes[LEFT_CHILD, i] < 0 and begin <= nodes[BEGIN, i] < nodes[END, i] <= end:
            now += scores[BETWEEN_SS, i]
            limit += MAX_COARSE_LOSS * (sums[i, n_features + 1] - scores[BETWEEN_SS, i])
            weight += sums[i, n_features]
            n_leaves += 1
    for j in range(n_features):
        for s in range(N_CODES):
            coarse[j, s, 0] = 0.0
            coarse[j, s, 1] = 0.0
    if nodes[LEFT_CHILD, node] < 0:
        n_leaves = 2
        _scan_leaf(code, statistics, nodes, rows, sums, node, scratch, buffers, coarse)
    else:
        limit += _scan_inner_node(
            rank, code, statistics, nodes, rows, sums, node, scratch, buffers, coarse
        )
    best, feature, at, n_columns = now + MIN_GAIN * (now if now > 0 else -now), -1, -1, 0
    while n_columns < N_EXACT_COLUMNS and n_columns < n_features:
        column = 0
        for j in range(n_features):
            if coarse[j, N_CODES, 0] < coarse[column, N_CODES, 0]:
                column = j
        if coarse[column, N_CODES, 0] > limit:
            break
        coarse[column, N_CODES, 0] = np.inf
        n_columns += 1
        for p in range(n):
            scratch[ORDER, p] = p
            scratch[KEY, p] = rank[rows[begin + p], column]
        radix_sort(scratch, n)
        total, found = _sweep_column(statistics, rows, begin, n, n_leaves, best, scratch, buffers)
        if found >= 0:
            best, feature, at = total, column, found
    work = (weight if by_weight else n) * (30 + 3 * n_features + n_columns * (15 + 2 * n_features))
    return best - now if feature >= 0 else 0.0, feature, at, work
