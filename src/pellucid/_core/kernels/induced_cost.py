"""Induced cost at every edge of one feature.

Each row pays the least of its costs to the centers on its own side of the threshold. Written as
an excess over d, its least cost in the cell, which it pays to its nearest center: the excess is
zero unless the threshold separates the row from that center. For the gaps in between, the excess
of gap g is the cost of the nearest center on the row's own side less d, found by walking through
the row's centers from near to far. It is never less than the row's margin, what the second
nearest center costs more, so `pellucid._core.kernels.mistakes` bounds it from below in less time.
"""

from __future__ import annotations

import numpy as np

from pellucid._utils.compilation import compiled


@compiled
def rank_centers(costs, near):
    """Sort each row of `costs` in place, and note which center stands where; stable."""
    n, k = costs.shape
    for i in range(n):
        for c in range(k):
            cost = costs[i, c]
            p = c
            while p > 0 and costs[i, p - 1] > cost:
                costs[i, p] = costs[i, p - 1]
                near[i, p] = near[i, p - 1]
                p -= 1
            costs[i, p] = cost
            near[i, p] = c


@compiled
def find_nearest(rows, near, cost, weight, place, own, other, margin, home, sums):
    """Fill own, other, margin, and the sums of weight and margin by center; sum of least costs.

    place[c] is the place of center c among those of the cell, -1 for the others; `home` is the
    place of `own`.
    """
    base, one = np.int64(0), np.uint64(1)
    for i in range(len(rows)):
        # Unsigned, so that no index is looked at for being counted from the end.
        row, p = np.uint64(rows[i]), np.uint64(0)
        while place[near[row, p]] < 0:
            p += one
        q = p + one
        while place[near[row, q]] < 0:
            q += one
        own[i], other[i] = near[row, p], near[row, q]
        extra, at = cost[row, q] - cost[row, p], np.uint64(place[near[row, p]])
        margin[i], home[i] = extra, at
        base += cost[row, p]
        sums[at, 0] += weight[i]
        sums[at, 1] += extra
    return base


@compiled
def tally_induced(
    codes, rows, owns, others, margins, near, cost, weight, rank, first_left, levels, base, change
):
    """What each row adds to the induced cost, for a single dense column.

    rows, owns, others, margins, weight : the rows of the cell, for each its nearest and second
        nearest center there, what the second costs more, and its weight
    near, cost : for every row of the data, the centers by ascending cost, and those costs
    rank : where each center stands in the order of the column, -1 for the centers of other cells
    first_left : for each code, the rank of the first center at or above it
    levels : by bin: what its rows add to the cost as they go left, what they take off it as they
        go left, and their weight
    base : by gap, by how much the excess of all rows in it is more than in the gap before; what
        `levels` adds is not in it
    change : what each row changes as it goes left inside its bin

    Gaps are counted away from the row's nearest center: in gap g it pays for the nearest of the
    centers that are more than g places away on its side. The second nearest is looked at first:
    often it is all there is to know.
    """
    n_gaps = len(base) - 2
    for i in range(len(rows)):
        row = np.uint64(rows[i])
        b = np.uint64(codes[row])
        levels[2, b] += weight[i]
        own, moving = rank[owns[i]], first_left[b] - 1
        if moving < own:
            sign, last = -1, own - 1 - (moving if moving > 0 else 0)
        else:
            sign, last = 1, (moving if moving < n_gaps else n_gaps - 1) - own
        gap, p, moved, least = 0, np.uint64(0), np.int64(0), np.int64(0)
        away, extra = sign * (rank[others[i]] - own), margins[i]
        while gap <= last:
            if away > gap:
                stop = away if away <= last else last + 1
                first, end = own + gap, own + stop
                if sign < 0:
                    first, end = own - stop, own - gap
                    if first == moving:
                        moved = extra
                        first += 1
                elif end == moving + 1:
                    moved = extra
                base[np.uint64(first)] += extra
                base[np.uint64(end)] -= extra
                gap = stop
            else:
                r = rank[near[row, p]]
                away, extra = sign * (r - own) if r >= 0 else -1, cost[row, p] - least
                if r == own:
                    least = extra
                p += np.uint64(1)
        if sign < 0:
            levels[0, b] += moved
            change[i] = moved
        else:
            levels[1, b] += moved
            change[i] = -moved


@compiled
def pay(rows, left, near, cost, center_left, in_cell):
    """What rows pay to the nearest center of their cell, and to the nearest on their own side."""
    before, after = np.int64(0), np.int64(0)
    for i in range(len(rows)):
        row = rows[i]
        p = 0
        while not in_cell[near[row, p]]:
            p += 1
        before += cost[row, p]
        while not in_cell[near[row, p]] or center_left[near[row, p]] != left[i]:
            p += 1
        after += cost[row, p]
    return before, after
