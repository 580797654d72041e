"""Induced cost at every edge of a column.

After a split, each row is assigned to the nearest center on its own side. Its *excess* is the cost
of that center less the cost of its nearest center in the node, and is 0 unless the threshold
separates the row from its nearest center. The induced cost is the current cost of the node plus
the excess of all rows.

The centers of the node divide a column into gaps: gap g lies between the centers of ranks g and
g + 1. The excess of a row depends only on the gap of the threshold and on the side of the row.

    costs : (n_samples, n_clusters), cost of every row of the data at every center
    nearest : nearest center of each row of the node, as a position among the node's centers
"""

from __future__ import annotations

import numpy as np

from pellucid._utils.compilation import compiled

_INFINITE = 2**62
"""More than any cost."""


@compiled
def find_nearest(rows, weight, centers, costs, nearest, margin, sums):
    """Fill `nearest`, and margin[i] = cost of the second nearest center less that of the nearest.

    Ties go to the first center. To sums[c] are added weight, margin and least cost of the rows
    whose nearest center is c.
    """
    for i in range(len(rows)):
        # Unsigned indices are not checked for being negative.
        row, c = np.uint64(rows[i]), np.uint64(0)
        least, second = _INFINITE, _INFINITE
        for j in range(len(centers)):
            cost = costs[row, np.uint64(centers[j])]
            if cost < least:
                least, second, c = cost, least, np.uint64(j)
            elif cost < second:
                second = cost
        nearest[i], margin[i] = c, second - least
        sums[c, 0] += weight[i]
        sums[c, 1] += second - least
        sums[c, 2] += least


@compiled
def sum_excess(codes, rows, nearest_rank, ordered, costs, gap_of_bin, by_gap, by_bin, change):
    """Add up the excess of rows in one column.

    codes : bin of every row of the data
    nearest_rank : rank in the column of each row's nearest center
    ordered : the node's centers in the order of the column
    gap_of_bin : gap in which a bin lies; -1 and n_gaps for bins outside
    by_gap : excess for thresholds in each gap if all rows of the gap are separated from their
        nearest centers
    by_bin : excess, in the gap of the bin, of the rows whose nearest center is to the right of the
        gap, and of those whose nearest center is to the left
    change : excess that a row adds when it goes to the left inside its bin

    A row is separated in all gaps between its nearest center and its bin. The least cost beyond a
    gap is a running minimum over the centers from the far end of the column.
    """
    for i in range(len(rows)):
        row = np.uint64(rows[i])
        b = np.uint64(codes[row])
        own, gap = nearest_rank[i], gap_of_bin[b]
        is_left = np.int64(gap >= own)
        sign, far = 2 * is_left - 1, is_left * len(by_gap)
        own_cost, least, excess = costs[row, ordered[own]], _INFINITE, np.int64(0)
        for r in range(far, own, -sign):
            cost = costs[row, np.uint64(ordered[np.uint64(r)])]
            least = cost if cost < least else least
            g = r - is_left
            if sign * (gap - g) >= 0:
                by_gap[np.uint64(g)] += least - own_cost
                if g == gap:
                    excess = least - own_cost
        by_bin[np.uint64(is_left), b] += excess
        change[i] = -sign * excess


@compiled
def excess_of_columns(
    codes, rows, weight, nearest, centers, costs, center_code, scratch, amount, left
):
    """The excess of all rows of a node at the edges of several columns.

    codes : bin of the rows of the node, (n_columns, n_rows)
    nearest : nearest center of each row, as a position among `centers`
    center_code : edges of these centers, (n_columns, n_centers)
    scratch : (3, n), with n at least the number of bins and of centers
    amount, left : (n_columns, n_bins), 0 before: the excess, and the weight left of every edge
    """
    (order, rank, gap_of_bin), n_gaps = scratch, len(centers) - 1
    for f in range(len(codes)):
        for c in range(n_gaps + 1):
            r = c
            while r > 0 and center_code[f, order[r - 1]] > center_code[f, c]:
                order[r] = order[r - 1]
                r -= 1
            order[r] = c
        gap = -1
        for r in range(n_gaps + 1):
            rank[order[r]] = r
        for b in range(amount.shape[1]):
            while gap < n_gaps and center_code[f, order[gap + 1]] < b:
                gap += 1
            gap_of_bin[b] = gap
        for i in range(len(rows)):
            b, own, row = codes[f, i], rank[nearest[i]], rows[i]
            gap, is_left = gap_of_bin[b], np.int64(gap_of_bin[b] >= own)
            own_cost, least, sign = costs[row, centers[order[own]]], _INFINITE, 2 * is_left - 1
            for r in range(is_left * n_gaps, own, -sign):
                cost = costs[row, centers[order[r]]]
                least = cost if cost < least else least
                g = r - is_left
                if sign * (gap - g) >= 0:  # separated at the edges from `low` up to `high`
                    low, high = center_code[f, order[g]], center_code[f, order[g + 1]]
                    excess = least - own_cost
                    if g == gap:
                        low, high = (low, b) if is_left else (b, high)
                    amount[f, low] += excess
                    amount[f, high] -= excess
            left[f, b] += weight[i]
        for b in range(1, amount.shape[1]):
            amount[f, b] += amount[f, b - 1]
            left[f, b] += left[f, b - 1]


@compiled
def sum_least_costs(rows, centers, costs):
    """Sum over rows of the least cost at one of the centers."""
    total = np.int64(0)
    for i in range(len(rows)):
        row, least = np.uint64(rows[i]), _INFINITE
        for j in range(len(centers)):
            cost = costs[row, np.uint64(centers[j])]
            least = cost if cost < least else least
        total += least
    return total
