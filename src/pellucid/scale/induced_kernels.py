"""Compiled loops of the induced cost over the rows of a batch.

A row is *settled* if its own center is the nearest of all centers by exact costs. A settled row in
the leaf of its own center is *active*: its nearest center in the leaf is known. The rows of center
c are starts[c] .. starts[c + 1].
"""

from __future__ import annotations

import numpy as np

from pellucid._utils.compilation import compiled

_INFINITE = 2**62
"""More than any cost."""


@compiled
def separated_settled_rows(
    starts, settled, last_leaf, leaf, last_leaf_of_center, leaf_of_center, rows
):
    """Fill `rows` with rows that are no longer active, though their center is in an open leaf.

    Returns their number; `rows` has space for one more. The arguments are those of
    `pellucid.scale.kernels.separated_rows`.
    """
    n = np.uint64(0)
    for c in range(len(leaf_of_center)):
        before, after = last_leaf_of_center[c], leaf_of_center[c]
        if after >= 0:
            for i in range(np.uint64(starts[c]), np.uint64(starts[c + 1])):
                rows[n] = i
                is_gone = np.uint64(last_leaf[i] == before) & np.uint64(leaf[i] != after)
                n += is_gone & np.uint64(settled[i])
    return np.int64(n)


@compiled
def passive_rows(starts, settled, leaf, leaf_of_center, is_open, rows):
    """Fill `rows` with the rows of open leaves that are not active; returns their number.

    `rows` has space for one more.
    """
    n = np.uint64(0)
    for c in range(len(leaf_of_center)):
        home = leaf_of_center[c]
        for i in range(np.uint64(starts[c]), np.uint64(starts[c + 1])):
            rows[n] = i
            is_active = np.uint64(leaf[i] == home) & np.uint64(settled[i])
            n += np.uint64(is_open[np.uint64(leaf[i])]) & (np.uint64(1) - is_active)
    return np.int64(n)


@compiled
def active_rows_in_bins(starts, settled, leaf, node, centers, codes, is_wanted, rows):
    """Fill `rows` with active rows of a node in some bins; returns their number.

    Of the p-th center, the bins b with is_wanted[p, b] = 1. `rows` has space for one more.
    """
    n = np.uint64(0)
    for p in range(len(centers)):
        c = centers[p]
        for i in range(np.uint64(starts[c]), np.uint64(starts[c + 1])):
            rows[n] = i
            is_active = np.uint64(leaf[i] == node) & np.uint64(settled[i])
            n += is_active & np.uint64(is_wanted[p, np.uint64(codes[i])])
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
