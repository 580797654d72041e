"""Cuts of a tree whose clusters are groups of leaves, as the local search needs them.

With S and W the sum and the weight of the rows of a group, the k-means cost of such a tree is

    (total sum of squares) - BSS,    BSS = sum over groups of |S|^2 / W,

with BSS the between-cluster sum of squares. So BSS is maximised. If each leaf is a group of its
own, a subtree is changed and evaluated without the rest of the tree.

The *statistics* of a row are its values times its weight, its weight, and its weighted square. All
are multiples of a unit whose sums are below 2**53, so that sums of rows are exact in any order.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from pellucid._utils.compilation import fused, inner, reordered

N_CODES = 64  # coarse steps of a column
# Part of a subtree's cost by which a column may be worse in coarse steps than the current cut.
MAX_COARSE_LOSS = 0.2
MIN_GAIN = 1e-9  # part of BSS by which a cut must be better than the current one
# Part of BSS up to which two cuts or columns are equal; ties go to the first column and rank. Sums
# in floating point depend on the order of the rows, and on rows being repeated or weighted.
TIE = 1e-12
# Steps of power iteration for the main axis of a leaf, on which the choice of columns depends
# (convention).
N_ITERATIONS = 3
# Re-optimisation stops if BSS misses its goal by more than this multiple of its latest rise.
GIVE_UP_FACTOR = 0.5

KEY, ORDER, OLD_KEY, OLD_ORDER, COUNT, LEFT_GROUP, RIGHT_GROUP, CONTESTED, STACK, INNER = range(10)
"""Rows of the scratch array; the first five are those of `radix_sort`."""

RIGHT, MOVED, MEANS = range(3)
"""Sums of groups if all rows are on the right, the same during a sweep, and means."""


class RankedRows(NamedTuple):
    """The n rows of the data."""

    rank: np.ndarray  # (n, n_features), uint16, number of different smaller values in the column
    code: np.ndarray  # (n, n_features), uint8, ranks in at most `N_CODES` coarse steps
    statistics: np.ndarray  # (n, n_values + 1); the last column is the own cluster of the row


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
    group: np.ndarray  # leaves of one group are one cluster
    cluster: np.ndarray  # by group: the cluster to which its rows should belong
    rows: np.ndarray  # (n,), int32, row numbers, those of each node contiguous
    sums: np.ndarray  # (n_nodes, n_features + 2), sums of the row statistics of each leaf
    between_ss: np.ndarray  # |S|^2 / W of each leaf
    split_gain: np.ndarray  # rise of BSS by the best split of a leaf, or a bound; -1 if not known
    agreed: np.ndarray  # weight of the rows of a leaf that are in their own cluster


(
    CUT_FEATURE, CUT_RANK, LEFT_CHILD, RIGHT_CHILD, BEGIN, END, PARENT, IS_STALE, GROUP, CLUSTER,
) = range(10)  # fmt: skip
"""Rows of `nodes`, which has the first ten arrays of a `TreeArrays`; loops with few arguments
compile faster."""

BETWEEN_SS, SPLIT_GAIN, AGREED = range(3)
"""Rows of `scores`, which has the last three."""


@inner
def radix_sort(arrays, n):
    """Stable sort of n nonnegative integers, eight bits at a time. Numba's sorts compile slowly.

    `arrays` has the keys and the items in its first rows, and three rows of scratch space; its
    shape is (5 or more, 257 or n or more).
    """
    largest = 0
    for i in range(n):
        largest = arrays[KEY, i] if arrays[KEY, i] > largest else largest
    shift = 0
    while shift == 0 or largest >> shift > 0:
        for s in range(257):
            arrays[COUNT, s] = 0
        for i in range(n):
            key = arrays[KEY, i]
            arrays[OLD_KEY, i] = key
            arrays[OLD_ORDER, i] = arrays[ORDER, i]
            arrays[COUNT, ((key >> shift) & 255) + 1] += 1
        for s in range(256):
            arrays[COUNT, s + 1] += arrays[COUNT, s]
        for i in range(n):
            key = arrays[OLD_KEY, i]
            s = (key >> shift) & 255
            place = arrays[COUNT, s]
            arrays[KEY, place] = key
            arrays[ORDER, place] = arrays[OLD_ORDER, i]
            arrays[COUNT, s] = place + 1
        shift += 8


@fused
def route_rows(rank, statistics, nodes, rows, sums, scores, start, scratch):
    """Send the rows of a node down to its leaves.

    Rows and statistics of all nodes below `start` are updated. Two rows of `scratch` hold the rows
    that go right, and the nodes that are still to be visited.
    """
    _, n_values = sums.shape
    scratch[1, 0] = start
    height = 1
    while height > 0:
        height -= 1
        i = scratch[1, height]
        begin, end, left = nodes[BEGIN, i], nodes[END, i], nodes[LEFT_CHILD, i]
        nodes[IS_STALE, i] = left >= 0
        if left < 0:
            for j in range(n_values):
                sums[i, j] = 0.0
            cluster, agreed = nodes[CLUSTER, nodes[GROUP, i]], 0.0
            for p in range(begin, end):
                row = rows[p]
                for j in range(n_values):
                    sums[i, j] += statistics[row, j]
                if statistics[row, n_values] == cluster:
                    agreed += statistics[row, n_values - 2]
            scores[AGREED, i] = agreed
            total = 0.0
            for j in range(n_values - 2):
                total += sums[i, j] * sums[i, j]
            scores[BETWEEN_SS, i] = total / sums[i, n_values - 2] if begin < end else 0.0
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


@reordered
def _scan_inner_node(
    rank, code, statistics, nodes, rows, sums, node, scratch, buffers, coarse, mistake_cost
):  # fmt: skip
    """Evaluate all columns of an inner node in coarse steps, with fixed centers.

    With d[i] the cost of row i in the group it reaches on the left minus that on the right, fills
    coarse[j, N_CODES, 0] with the least sum of d over the rows up to a step of column j. Returns
    the same sum for the node's current cut, number and weight of the contested rows: those whose
    groups differ, and the rise of the weight of rows in their own clusters if all go right. Also
    fills these rows and their groups (`scratch`), and the sums of the
    groups if all rows go right.
    """
    n_nodes, n_values = sums.shape
    n_features, n_columns, begin = n_values - 2, rank.shape[1], nodes[BEGIN, node]
    middle, end = nodes[END, nodes[LEFT_CHILD, node]], nodes[END, node]
    current, n, total_weight, agreed = 0.0, 0, 0.0, 0.0
    for i in range(n_nodes):
        if nodes[LEFT_CHILD, i] < 0 and begin <= nodes[BEGIN, i] < nodes[END, i] <= end:
            for p in range(nodes[BEGIN, i] - begin, nodes[END, i] - begin):
                scratch[LEFT_GROUP, p] = nodes[GROUP, i]
    for p in range(end - begin):
        row, is_left = rows[begin + p], begin + p < middle
        other = nodes[RIGHT_CHILD if is_left else LEFT_CHILD, node]
        while nodes[LEFT_CHILD, other] >= 0:
            goes_right = rank[row, nodes[CUT_FEATURE, other]] > nodes[CUT_RANK, other]
            other = nodes[RIGHT_CHILD if goes_right else LEFT_CHILD, other]
        a, b = scratch[LEFT_GROUP, p], nodes[GROUP, other]
        if not is_left:
            a, b = b, a
        if a == b:
            continue
        scratch[LEFT_GROUP, n] = a
        scratch[RIGHT_GROUP, n] = b
        scratch[CONTESTED, n] = row
        n += 1
        product, weight = 0.0, statistics[row, n_features]
        total_weight += weight
        for j in range(n_features):
            product += statistics[row, j] * (buffers[MEANS, b, j] - buffers[MEANS, a, j])
        norm = buffers[MEANS, a, n_features] - buffers[MEANS, b, n_features]
        difference, label = 2 * product + weight * norm, statistics[row, n_values]
        more = 0.0
        if label == nodes[CLUSTER, a]:
            more = -weight
        elif label == nodes[CLUSTER, b]:
            more = weight
        difference += mistake_cost * more
        for j in range(n_columns):
            coarse[j, code[row, j], 0] += difference
        if is_left:
            current += difference
            agreed += more
            for j in range(n_features + 1):
                buffers[RIGHT, a, j] -= statistics[row, j]
                buffers[RIGHT, b, j] += statistics[row, j]
    for j in range(n_columns):
        total = least = 0.0
        for s in range(N_CODES - 1):
            total += coarse[j, s, 0]
            least = total if total < least else least
        coarse[j, N_CODES, 0] = least
    return current, n, total_weight, agreed


@reordered
def _main_axis(statistics, nodes, rows, sums, leaf, buffers):
    """Fill buffers[MOVED, 0] with about the direction of largest variance of a leaf's rows.

    Power iteration with their covariance, from the column of largest variance.
    """
    _, n_values = sums.shape
    n_features, total = n_values - 2, sums[leaf, n_values - 2]
    for j in range(n_features):
        buffers[MOVED, 1, j] = 0.0
    for p in range(nodes[BEGIN, leaf], nodes[END, leaf]):
        row = rows[p]
        for j in range(n_features):
            square = statistics[row, j] * statistics[row, j]
            buffers[MOVED, 1, j] += square / statistics[row, n_features]
    widest, largest = 0, -1.0
    for j in range(n_features):
        buffers[MOVED, 0, j] = 0.0
        spread = buffers[MOVED, 1, j] - sums[leaf, j] * sums[leaf, j] / total
        if spread > largest * (1 + TIE):
            widest, largest = j, spread
    buffers[MOVED, 0, widest] = 1.0
    for _ in range(N_ITERATIONS):
        mean = norm = 0.0
        for j in range(n_features):
            buffers[MOVED, 1, j] = 0.0
            mean += sums[leaf, j] / total * buffers[MOVED, 0, j]
        for p in range(nodes[BEGIN, leaf], nodes[END, leaf]):
            row, product = rows[p], 0.0
            for j in range(n_features):
                product += statistics[row, j] * buffers[MOVED, 0, j]
            product = product / statistics[row, n_features] - mean
            for j in range(n_features):
                buffers[MOVED, 1, j] += product * statistics[row, j]
        for j in range(n_features):
            norm += buffers[MOVED, 1, j] * buffers[MOVED, 1, j]
        if norm == 0:
            return
        for j in range(n_features):
            buffers[MOVED, 0, j] = buffers[MOVED, 1, j] / math.sqrt(norm)


@reordered
def _scan_leaf(code, statistics, nodes, rows, sums, leaf, scratch, buffers, coarse, is_same_space):
    """Evaluate all columns of a leaf in coarse steps; fills in minus the gain in each column alone.

    If costs are in another space, minus the gain along its main axis. The groups of the new leaves
    have the numbers 0 and 1.
    """
    _, n_values = sums.shape
    n_features, n_columns, begin = n_values - 2, code.shape[1], nodes[BEGIN, leaf]
    for j in range(n_features + 1):
        buffers[RIGHT, leaf, j] = 0.0
        buffers[RIGHT, 1, j] = sums[leaf, j]
    whole = 0.0
    if not is_same_space and begin < nodes[END, leaf]:
        _main_axis(statistics, nodes, rows, sums, leaf, buffers)
        for j in range(n_features):
            whole += sums[leaf, j] * buffers[MOVED, 0, j]
    for p in range(begin, nodes[END, leaf]):
        row = rows[p]
        scratch[LEFT_GROUP, p - begin] = 0
        scratch[RIGHT_GROUP, p - begin] = 1
        scratch[CONTESTED, p - begin] = row
        weight = statistics[row, n_features]
        if is_same_space:
            for j in range(n_columns):
                coarse[j, code[row, j], 0] += statistics[row, j]
                coarse[j, code[row, j], 1] += weight
            continue
        value = 0.0
        for j in range(n_features):
            value += statistics[row, j] * buffers[MOVED, 0, j]
        for j in range(n_columns):
            coarse[j, code[row, j], 0] += value
            coarse[j, code[row, j], 1] += weight
    for j in range(n_columns):
        left = weight = least = 0.0
        total = sums[leaf, j] if is_same_space else whole
        for s in range(N_CODES - 1):
            left += coarse[j, s, 0]
            weight += coarse[j, s, 1]
            right, rest = total - left, sums[leaf, n_features] - weight
            if weight > 0 and rest > 0:
                loss = -left * left / weight - right * right / rest
                least = loss if loss < least else least
        coarse[j, N_CODES, 0] = least + total * total / sums[leaf, n_features]


@reordered
def _sweep_column(
    statistics, n, n_groups, best, scratch, buffers, nodes, agreed, mistake_cost
):  # fmt: skip
    """The largest value above `best` over the ranks of a column, and its rank; -1 if there is none.

    The value is BSS, plus `mistake_cost` times the rise of the weight of rows in their own
    clusters, `agreed` at first. The rows are in the order of the column, and go from the right to
    the left one by one. Only ranks count that leave rows to `n_groups` groups.
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
        row, a, b = (
            scratch[CONTESTED, place],
            scratch[LEFT_GROUP, place],
            scratch[RIGHT_GROUP, place],
        )
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
        label = statistics[row, n_values]
        if label == nodes[CLUSTER, a]:
            agreed += statistics[row, n_features]
        elif label == nodes[CLUSTER, b]:
            agreed -= statistics[row, n_features]
        is_cut = scratch[KEY, p + 1] > scratch[KEY, p] and n_nonempty == n_groups
        value = total + mistake_cost * agreed
        if is_cut and value > best + TIE * (value if value > 0 else -value):
            best, at = value, scratch[KEY, p]
    return best, at


@reordered
def _value(nodes, sums, scores, buffers, mistake_cost):
    """BSS of all groups less the cost of mistakes, and how many groups have rows.

    `buffers[MEANS]` has the sums of the groups.
    """
    n_nodes, n_values = sums.shape
    n_features, total, n_groups = n_values - 2, 0.0, 0
    for i in range(n_nodes):
        for j in range(n_features + 1):
            buffers[MEANS, i, j] = 0.0
    for i in range(n_nodes):
        if nodes[LEFT_CHILD, i] < 0 and nodes[BEGIN, i] < nodes[END, i]:
            for j in range(n_features + 1):
                buffers[MEANS, nodes[GROUP, i], j] += sums[i, j]
            total -= mistake_cost * (sums[i, n_features] - scores[AGREED, i])
    for g in range(n_nodes):
        if buffers[MEANS, g, n_features] > 0:
            square = 0.0
            for j in range(n_features):
                square += buffers[MEANS, g, j] * buffers[MEANS, g, j]
            total += square / buffers[MEANS, g, n_features]
            n_groups += 1
    return total, n_groups


@reordered
def _best_cut(
    rank, code, statistics, nodes, rows, sums, scores, node, n_exact, by_weight, scratch, buffers,
    coarse, mistake_cost, is_same_space,
):  # fmt: skip
    """The best cut of an inner node for the subtrees it has, or the best split of a leaf.

    All columns are evaluated in coarse steps first, with fixed centers. The `n_exact` best are
    evaluated at every rank with centers that move with the rows, that is, by BSS. No cluster may
    lose all of its rows. Returns the rise of BSS (0 if there is no better cut), column and rank of
    the cut, and `work`.
    """
    n_nodes, n_values = sums.shape
    n_features, begin, end = n_values - 2, nodes[BEGIN, node], nodes[END, node]
    n = end - begin
    now, limit, weight, n_groups, agreed = 0.0, 0.0, 0.0, 0, 0.0
    for i in range(n_nodes):
        for j in range(n_values):
            buffers[RIGHT, i, j] = 0.0
        buffers[MOVED, i, 0] = 0.0
    for i in range(n_nodes):
        if nodes[LEFT_CHILD, i] < 0 and begin <= nodes[BEGIN, i] <= nodes[END, i] <= end:
            buffers[MOVED, nodes[GROUP, i], 0] = 1.0
            if nodes[BEGIN, i] < nodes[END, i]:
                limit += MAX_COARSE_LOSS * (sums[i, n_features + 1] - scores[BETWEEN_SS, i])
                weight += sums[i, n_features]
    for i in range(n_nodes):
        g = nodes[GROUP, i]
        is_used = nodes[LEFT_CHILD, i] < 0 and nodes[BEGIN, i] < nodes[END, i]
        if is_used and buffers[MOVED, g, 0] > 0:
            for j in range(n_features + 1):
                buffers[RIGHT, g, j] += sums[i, j]
    for g in range(n_nodes):
        total = buffers[RIGHT, g, n_features]
        if total > 0:
            norm = 0.0
            for j in range(n_features):
                buffers[MEANS, g, j] = buffers[RIGHT, g, j] / total
                norm += buffers[MEANS, g, j] * buffers[MEANS, g, j]
            buffers[MEANS, g, n_features] = norm
            now += norm * total
            n_groups += 1
    for j in range(rank.shape[1]):
        for s in range(N_CODES):
            coarse[j, s, 0] = 0.0
            coarse[j, s, 1] = 0.0
    if nodes[LEFT_CHILD, node] < 0:
        n_groups, moving, mistake_cost = 2, weight, 0.0  # its new leaves have no clusters yet
        _scan_leaf(
            code, statistics, nodes, rows, sums, node, scratch, buffers, coarse, is_same_space
        )
    else:
        current, n, moving, agreed = _scan_inner_node(
            rank, code, statistics, nodes, rows, sums, node, scratch, buffers, coarse, mistake_cost
        )
        limit += current
    best, feature, at, n_columns = now + MIN_GAIN * (now if now > 0 else -now), -1, -1, 0
    while n_columns < n_exact and n_columns < rank.shape[1]:
        column = 0
        for j in range(rank.shape[1]):
            if coarse[j, N_CODES, 0] < coarse[column, N_CODES, 0] - TIE * now:
                column = j
        if coarse[column, N_CODES, 0] > limit + TIE * now:
            break
        coarse[column, N_CODES, 0] = np.inf
        n_columns += 1
        for p in range(n):
            scratch[ORDER, p] = p
            scratch[KEY, p] = rank[scratch[CONTESTED, p], column]
        radix_sort(scratch, n)
        total, found = _sweep_column(
            statistics, n, n_groups, best, scratch, buffers, nodes, agreed, mistake_cost
        )
        if found >= 0:
            best, feature, at = total, column, found
    work = n_nodes * n_values + (weight if by_weight else end - begin) * (30 + 3 * n_features)
    work += (moving if by_weight else n) * n_columns * (15 + 2 * n_features)
    return best - now if feature >= 0 else 0.0, feature, at, work


@fused
def reoptimise(
    rank, code, statistics, nodes, rows, sums, scores, top, limits, by_weight, scratch, buffers,
    coarse,
):  # fmt: skip
    """Improve the cuts of a subtree until none improves; for a leaf, find its best split.

    The cut of the top node comes last; otherwise a cut that has just been changed would be undone
    at once. The first arguments are the arrays of a `RankedRows` and of a `TreeArrays`.

    `limits` are the number of clusters; the number of columns that are searched at every rank; the
    value below which the search is given up before the top node has its turn; the value without
    which it is given up from then on, if that is out of reach; the cost of a mistake of weight 1,
    in squared units; and whether the columns of the statistics are those that are split, not those
    of another space. `by_weight`: whether a row of weight w counts as w rows in `work`.

    Scratch space: `scratch`, (10, n), int32; `buffers`, (3, n_nodes, n_features + 2), for
    statistics of the groups, where the last column of the sums during a sweep is |S|^2 / W;
    `coarse`, (n_columns, N_CODES + 1, 2), for sums by coarse step, where the last entry is how
    much worse a column is.

    Returns the value of the tree, BSS less the cost of mistakes, or minus infinity if a cluster has
    no rows; for a leaf, the rise of BSS by its best split, which becomes its cut, 0 if there is
    none. And `work`, about the nanoseconds that this takes, computed from the number of rows and
    columns.
    """
    value, n_groups = _value(nodes, sums, scores, buffers, limits[4])
    is_leaf, work, n_inner, height = nodes[LEFT_CHILD, top] < 0, 0.0, 0, 1
    if n_groups < limits[0] and not is_leaf:
        return -np.inf, work
    scratch[STACK, 0] = top
    while height > 0:
        height -= 1
        i = scratch[STACK, height]
        if nodes[LEFT_CHILD, i] >= 0 or is_leaf:
            scratch[INNER, n_inner] = i
            n_inner += 1
        if nodes[LEFT_CHILD, i] >= 0:
            scratch[STACK, height] = nodes[RIGHT_CHILD, i]
            scratch[STACK, height + 1] = nodes[LEFT_CHILD, i]
            height += 2
    with_top = is_leaf
    while value >= limits[2]:
        changed = False
        for p in range(n_inner - 1, -1 if with_top else 0, -1):
            i = np.int64(scratch[INNER, p])  # one compilation of `route_rows` serves all
            if not (nodes[IS_STALE, i] or is_leaf):
                continue
            gain, feature, at, more = _best_cut(
                rank, code, statistics, nodes, rows, sums, scores, i, limits[1], by_weight, scratch,
                buffers, coarse, limits[4], limits[5] > 0,
            )  # fmt: skip
            work += more
            if gain > 0:
                nodes[CUT_FEATURE, i], nodes[CUT_RANK, i] = feature, at
            if is_leaf:
                return gain, work
            if gain > 0:
                changed = True
                route_rows(rank, statistics, nodes, rows, sums, scores, i, scratch)
                above = i
                for _ in range(n_inner):  # a path has no more inner nodes
                    if above == top:
                        break
                    above = nodes[PARENT, above]
                    nodes[IS_STALE, above] = 1
            nodes[IS_STALE, i] = 0
        before = value
        value, _ = _value(nodes, sums, scores, buffers, limits[4])
        rise = value - before
        if changed and rise <= 0:  # rounding: BSS must rise, so that no tree returns
            break
        if with_top and (not changed or limits[3] - value > GIVE_UP_FACTOR * rise):
            break
        with_top = with_top or not changed
    return value, work


@fused
def fill_gain_bounds(
    statistics, nodes, rows, sums, scores, by_weight, bounds, buffers, mistake_cost
):  # fmt: skip
    """Fill bounds[leaf, c] with the fall of the cost if each row of a leaf may choose cluster c.

    For leaves whose entry of `SPLIT_GAIN` is negative, which becomes their largest bound. Centers
    are the current means; no row is nearer to a cluster without rows. Returns the work.
    """
    n_nodes, n_values = sums.shape
    n_groups, n_features, work = bounds.shape[1], n_values - 2, 0.0
    _value(nodes, sums, scores, buffers, mistake_cost)
    for g in range(n_groups):
        norm, weight = 0.0, buffers[MEANS, g, n_features]
        for j in range(n_features):
            buffers[MEANS, g, j] /= weight if weight > 0 else 1.0
            norm += buffers[MEANS, g, j] * buffers[MEANS, g, j]
        buffers[MEANS, g, n_features] = norm if weight > 0 else np.inf
    for i in range(n_nodes):
        if nodes[LEFT_CHILD, i] >= 0 or scores[SPLIT_GAIN, i] >= 0:
            continue
        largest, own = 0.0, nodes[GROUP, i]
        for g in range(n_groups):
            bounds[i, g] = 0.0
        for p in range(nodes[BEGIN, i], nodes[END, i]):
            row, cost = rows[p], 0.0
            weight = statistics[row, n_features]
            for g in range(-1, n_groups):
                c = own if g < 0 else g
                product = 0.0
                for j in range(n_features):
                    product += statistics[row, j] * buffers[MEANS, c, j]
                here = weight * buffers[MEANS, c, n_features] - 2 * product
                if statistics[row, n_values] != nodes[CLUSTER, c]:
                    here += mistake_cost * weight
                if g < 0:
                    cost = here
                elif here < cost:
                    bounds[i, g] += cost - here
        for g in range(n_groups):
            largest = max(largest, bounds[i, g])
        scores[SPLIT_GAIN, i] = largest
        n = sums[i, n_features] if by_weight else nodes[END, i] - nodes[BEGIN, i]
        work += n * (10 + 0.5 * n_groups * n_features)
    return work
