"""Compiled loops over the rows of a batch.

For the induced cost, a row is *settled* if its own center is the nearest of all centers by exact
costs. A settled row in the leaf of its own center is *active*: its nearest center in the leaf is
known. The rows of center c are starts[c] .. starts[c + 1]. Of settled rows, second[i] is the second
nearest of all centers, or n_clusters if it is not known; of the others, n_clusters + 1.
"""

from __future__ import annotations

import numpy as np

from pellucid._utils.compilation import compiled, inner

_INFINITE = 2**62
"""More than any cost."""


@compiled
def route_node(node, left, right, values, threshold, out):
    """Move the rows of one node to its children; the processor works on many rows at once."""
    for i in range(len(out)):
        child = left if values[i] <= threshold else right
        out[i] = child if out[i] == node else out[i]


@compiled
def separated_rows(starts, second, last_leaf, leaf, last_leaf_of_center, leaf_of_center, rows):
    """Fill `rows` with the rows that left the leaf of their own center; returns their number.

    Before, row i was in last_leaf[i] and center c in last_leaf_of_center[c], now they are in
    leaf[i] and leaf_of_center[c]. Centers in no open leaf have -1; their rows do not count. Only
    settled rows count; all are if `second` is 0. `rows` has space for one more.
    """
    n, unsettled = np.uint64(0), len(leaf_of_center) + 1
    for c in range(len(leaf_of_center)):
        before, after = last_leaf_of_center[c], leaf_of_center[c]
        if after >= 0:
            for i in range(np.uint64(starts[c]), np.uint64(starts[c + 1])):
                rows[n] = i
                is_gone = np.uint64(last_leaf[i] == before) & np.uint64(leaf[i] != after)
                n += is_gone & np.uint64(second[i] != unsettled)
    return np.int64(n)


@compiled
def extremes_by_part(parts, values, lowest, highest):
    """Least and largest value of each part."""
    for i in range(len(parts)):
        p, value = parts[i], np.float64(values[i])
        lowest[p] = value if value < lowest[p] else lowest[p]
        highest[p] = value if value > highest[p] else highest[p]


@compiled
def count_by_leaf(starts, leaf, units, out):
    """out[0, l, c] += 1 and out[1, l, c] += units[i] for the rows i of center c in leaf l."""
    for c in range(len(starts) - 1):
        for i in range(np.uint64(starts[c]), np.uint64(starts[c + 1])):
            out[0, np.uint64(leaf[i]), c] += 1
            out[1, np.uint64(leaf[i]), c] += units[i]


@compiled
def rows_elsewhere(starts, leaf, home, rows):
    """Fill `rows` with the rows of each center c that are not in the leaf home[c]; returns their
    number. `rows` has space for one more.
    """
    n = np.uint64(0)
    for c in range(len(home)):
        for i in range(np.uint64(starts[c]), np.uint64(starts[c + 1])):
            rows[n] = i
            n += np.uint64(leaf[i] != home[c])
    return np.int64(n)


@compiled
def passive_rows(starts, second, leaf, leaf_of_center, is_open, rows):
    """Fill `rows` with the rows of open leaves that are not active; returns their number.

    `rows` has space for one more.
    """
    n, unsettled = np.uint64(0), len(leaf_of_center) + 1
    for c in range(len(leaf_of_center)):
        home = leaf_of_center[c]
        for i in range(np.uint64(starts[c]), np.uint64(starts[c + 1])):
            rows[n] = i
            is_active = np.uint64(leaf[i] == home) & np.uint64(second[i] != unsettled)
            n += np.uint64(is_open[np.uint64(leaf[i])]) & (np.uint64(1) - is_active)
    return np.int64(n)


@compiled
def find_two_nearest(costs, weight, nearest, second, margin, sums):
    """Fill the positions of the two least costs of each row, and the difference of these costs.

    Ties go to the first center. To sums[c] are added weight, margin and least cost of the rows
    whose nearest center is c.
    """
    for i in range(len(costs)):
        # Unsigned indices are not checked for being negative.
        c, other = np.uint64(0), np.uint64(0)
        least, next_least = _INFINITE, _INFINITE
        for j in range(np.uint64(costs.shape[1])):
            cost = costs[i, j]
            if cost < least:
                least, next_least, c, other = cost, least, j, c
            elif cost < next_least:
                next_least, other = cost, j
        nearest[i], second[i], margin[i] = c, other, next_least - least
        sums[c, 0] += weight[i]
        sums[c, 1] += next_least - least
        sums[c, 2] += least


@inner
def add_margin_if_excess(b, own, other, margin, gaps, ranges, by_gap, by_bin):
    """Add up the excess of a row if its second nearest center is on its side; whether it is.

    It must be on its side of all edges of the ranges that separate the row from its nearest center.
    The excess is then the margin. The row is in bin b, and the nearest centers have the ranks `own`
    and `other` in the column, -1 if the second one is not known or not in the node. For the other
    arguments see `sum_excess_in_ranges`.
    """
    is_excess = other >= 0
    for g in gaps:
        is_left = own <= g
        is_separated = b > ranges[g, 0] if is_left else b <= ranges[g, 1]
        is_excess &= not is_separated or (other > g) == is_left
    if is_excess:
        for g in gaps:
            first, last = ranges[g, 0], ranges[g, 1]
            is_left = own <= g
            if b > first if is_left else b <= last:
                by_gap[g] += margin
                if first < b <= last:
                    by_bin[np.int64(is_left), b] += margin
    return is_excess


@compiled
def add_active_excess(
    starts,
    margins,
    leaf,
    node,
    rank_of_center,
    codes,
    is_wanted,
    gaps,
    ranges,
    by_gap,
    by_bin,
    rows,
):
    """Add up the excess of active rows of a node where it is the margin.

    Only rows of center c in the bins b with is_wanted[c, b] = 1 count. `margins` is (second nearest
    centers, margins); rank_of_center[c] is the rank in the column of a center of the node, and -1
    of others and of n_clusters, n_clusters + 1. `rows` is filled with the rows whose excess is
    another one, and has space for one more than there are rows.

    Returns the number of the rows in `rows`.
    """
    second, margin = margins
    n, unsettled = np.uint64(0), len(starts)
    for c in range(len(starts) - 1):
        own, begin = rank_of_center[c], n
        if own < 0:
            continue
        for i in range(np.uint64(starts[c]), np.uint64(starts[c + 1])):
            rows[n] = i
            is_active = np.uint64(leaf[i] == node) & np.uint64(second[i] != unsettled)
            n += is_active & np.uint64(is_wanted[c, np.uint64(codes[i])])
        end, n = n, begin
        for r in range(begin, end):
            i = np.uint64(rows[r])
            b, other = np.int64(codes[i]), rank_of_center[np.uint64(second[i])]
            rows[n] = i
            n += np.uint64(
                not add_margin_if_excess(b, own, other, margin[i], gaps, ranges, by_gap, by_bin)
            )
    return np.int64(n)


@compiled
def add_passive_excess(rows, codes, ranks, margin, gaps, ranges, by_gap, by_bin):
    """The same for rows with given ranks, `ranks`, of their two nearest centers in the node.

    The rows whose excess is not the margin are moved to the front of `rows`; returns their number.
    """
    own, other = ranks
    n = np.uint64(0)
    for r in range(np.uint64(len(rows))):
        i = rows[r]
        rows[n] = i
        b = np.int64(codes[np.uint64(i)])
        n += np.uint64(
            not add_margin_if_excess(b, own[r], other[r], margin[r], gaps, ranges, by_gap, by_bin)
        )
    return np.int64(n)


@compiled
def sum_excess_in_ranges(codes, nearest_rank, order, costs, gaps, ranges, by_gap, by_bin):
    """Add up the excess of rows for ranges of edges; see `pellucid._core.kernels.induced_cost`.

    codes : bin of each row
    nearest_rank : rank in the column of each row's nearest center
    order : the node's centers in the order of the column
    costs : cost of each row at each center of the node
    gaps : the gaps that have a range
    ranges : of each gap, the first and the last edge of the range
    by_gap : excess of the rows that an edge of the range separates from their nearest center
    by_bin : the part of it in the bins between the edges of the range: of rows whose nearest
        center is to the right of the gap, and of those whose nearest center is to the left
    """
    n_centers = len(order)
    for i in range(len(codes)):
        b, own = np.int64(codes[i]), nearest_rank[i]
        own_cost = costs[i, order[own]]
        for g in gaps:
            first, last = ranges[g, 0], ranges[g, 1]
            is_left = own <= g
            if (b <= first) if is_left else (b > last):
                continue
            least = _INFINITE
            for r in range(g + 1 if is_left else 0, n_centers if is_left else g + 1):
                cost = costs[i, order[r]]
                least = cost if cost < least else least
            by_gap[g] += least - own_cost
            if first < b <= last:
                by_bin[np.int64(is_left), b] += least - own_cost
