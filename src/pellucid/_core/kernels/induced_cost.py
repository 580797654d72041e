"""Induced cost at every edge of a column.

After a split, each row is assigned to the nearest center on its own side. Its *excess* is the cost
of that center less the cost of its nearest center in the node, and is 0 unless the threshold
separates the row from its nearest center. The induced cost is the current cost of the node plus
the excess of all rows.

The centers of the node divide a column into gaps: gap g lies between the centers of ranks g and
g + 1. The excess of a row depends only on the gap of the threshold and on the side of the row.

    ranked_centers, ranked_costs : (n_samples, k), centers of each row by ascending cost, and costs
    nearest : nearest center of each row of the node, as a position among the node's centers
"""

from __future__ import annotations

import numpy as np

from pellucid._core.kernels.sorting import insertion_sort
from pellucid._utils.compilation import compiled


@compiled
def rank_centers(costs, ranked_centers):
    """Sort each row of `costs` in place; ranked_centers[i, p] = center of the p-th least cost.

    The sort is stable.
    """
    for i in range(len(costs)):
        for c in range(costs.shape[1]):
            ranked_centers[i, c] = c
        insertion_sort(costs[i], ranked_centers[i])


@compiled
def find_nearest(rows, weight, position, ranked_centers, ranked_costs, nearest, margin, sums):
    """Fill `nearest`, and margin[i] = cost of the second nearest center less that of the nearest.

    position[c] is the position of center c among those of the node, -1 for other centers. To
    sums[c] are added weight, margin and least cost of the rows whose nearest center is c.
    """
    for i in range(len(rows)):
        # Unsigned indices are not checked for being negative.
        row, p = np.uint64(rows[i]), np.uint64(0)
        while position[ranked_centers[row, p]] < 0:
            p += np.uint64(1)
        c, cost = np.uint64(position[ranked_centers[row, p]]), ranked_costs[row, p]
        p += np.uint64(1)
        while position[ranked_centers[row, p]] < 0:
            p += np.uint64(1)
        nearest[i], margin[i] = c, ranked_costs[row, p] - cost
        sums[c, 0] += weight[i]
        sums[c, 1] += margin[i]
        sums[c, 2] += cost


@compiled
def sum_excess(
    codes, rows, nearest, nearest_rank, ranked_centers, ranked_costs, rank, gap_of_bin,
    by_gap, by_bin, change
):  # fmt: skip
    """Add up the excess of rows in one column.

    codes : bin of every row of the data
    nearest_rank : rank in the column of each of the node's centers
    rank : the same by center, -1 for centers of other nodes
    gap_of_bin : gap in which a bin lies; -1 and n_gaps for bins outside
    by_gap : the cumulative sum is the excess for thresholds in each gap if all rows of the gap are
        separated from their nearest centers
    by_bin : excess, in the gap of the bin, of the rows whose nearest center is to the right of the
        gap, and of those whose nearest center is to the left
    change : excess that a row adds when it goes to the left inside its bin

    A row is separated in all gaps between its nearest center and its bin. They are visited in this
    order, together with the centers by ascending cost: the cheapest center beyond a gap is the
    nearest on the side of the row.
    """
    last_gap = len(by_gap) - 2
    for i in range(len(rows)):
        row = np.uint64(rows[i])
        b = np.uint64(codes[row])
        own, gap = nearest_rank[nearest[i]], gap_of_bin[b]
        is_left = gap >= own
        sign = 1 if is_left else -1
        if is_left:
            n_gaps = (gap if gap < last_gap else last_gap) - own + 1
        else:
            n_gaps = own - (gap if gap > 0 else 0)
        done, p, least, excess = 0, np.uint64(0), np.int64(0), np.int64(0)
        while done < n_gaps:
            r = rank[ranked_centers[row, p]]
            distance = sign * (r - own)
            if r == own:
                least = ranked_costs[row, p]
            elif r >= 0 and distance > done:
                end = distance if distance < n_gaps else n_gaps
                excess = ranked_costs[row, p] - least
                by_gap[np.uint64(own + sign * done)] += sign * excess
                by_gap[np.uint64(own + sign * end)] -= sign * excess
                done = end
            p += np.uint64(1)
        by_bin[np.uint64(is_left), b] += excess
        change[i] = -sign * excess


@compiled
def sum_least_costs(rows, ranked_centers, ranked_costs, allowed):
    """Sum over rows of the least cost to an allowed center."""
    total = np.int64(0)
    for i in range(len(rows)):
        row, p = np.uint64(rows[i]), np.uint64(0)
        while not allowed[ranked_centers[row, p]]:
            p += np.uint64(1)
        total += ranked_costs[row, p]
    return total
