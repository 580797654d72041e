"""Compiled loops over the rows of a batch."""

from __future__ import annotations

import numpy as np

from pellucid._utils.compilation import compiled

_INFINITE = 2**62
"""More than any cost."""


@compiled
def route_node(node, left, right, values, threshold, out):
    """Move the rows of one node to its children; the processor works on many rows at once."""
    for i in range(len(out)):
        child = left if values[i] <= threshold else right
        out[i] = child if out[i] == node else out[i]


@compiled
def rows_to_update(nearest, second, leaf, node_of_center, is_open, rows):
    """Fill `rows` with the rows of open leaves whose two nearest centers are not both in their
    leaf; returns their number. `rows` has space for one more.
    """
    n = np.uint64(0)
    for i in range(np.uint64(len(leaf))):
        rows[n] = i
        own = np.uint64(leaf[i])
        is_first = np.uint64(node_of_center[np.uint64(nearest[i])] == leaf[i])
        is_second = np.uint64(node_of_center[np.uint64(second[i])] == leaf[i])
        n += np.uint64(is_open[own]) & (np.uint64(1) - (is_first & is_second))
    return np.int64(n)


@compiled
def find_two_nearest(costs, nearest, second, least_cost, margin):
    """Fill the positions of the two least costs of each row, the least, and their difference.

    Ties go to the first center.
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
        nearest[i], second[i] = c, other
        least_cost[i], margin[i] = least, next_least - least


@compiled
def add_margins(rows, near, rank_of_center, codes, is_wanted, gaps, ranges, by_gap, by_bin):
    """Add up the excess of rows of a node where it is the margin.

    Only rows with is_wanted[r, b] count, of bin b and a nearest center of rank r in the column. The
    excess is the margin if the second nearest center is on the side of the row for all edges of the
    ranges that separate it from the nearest one. `near` are the arrays of `NearestCenters` of all
    rows of the batch. For the other arguments see `sum_excess_in_ranges`.

    The rows whose excess is another one are moved to the front of `rows`; returns their number.
    """
    (nearest, second, _, margin), n = near, np.uint64(0)
    for r in range(np.uint64(len(rows))):
        i = np.uint64(rows[r])
        b, own = np.int64(codes[i]), rank_of_center[np.uint64(nearest[i])]
        if not is_wanted[np.uint64(own), np.uint64(b)]:
            continue
        other, is_excess = rank_of_center[np.uint64(second[i])], True
        for g in gaps:
            is_left = own <= g
            is_separated = b > ranges[g, 0] if is_left else b <= ranges[g, 1]
            is_excess &= not is_separated or (other > g) == is_left
        if not is_excess:
            rows[n] = i
            n += np.uint64(1)
            continue
        for g in gaps:
            first, last = ranges[g, 0], ranges[g, 1]
            is_left = own <= g
            if b > first if is_left else b <= last:
                by_gap[g] += margin[i]
                if first < b <= last:
                    by_bin[np.int64(is_left), b] += margin[i]
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
