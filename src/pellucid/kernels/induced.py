"""Induced cost at every edge of one feature.

Each row pays the least of its costs to the centers on its own side of the threshold. Written as
an excess over d, its least cost in the cell, which it pays to its nearest center: the excess is
zero unless the threshold separates the row from that center. For the gaps in between, the excess
of gap g is the cost of the nearest center on the row's own side less d, found by walking through
the row's centers from near to far. It is never less than the row's margin, what the second
nearest center costs more, so `pellucid.kernels.separated` bounds it from below in less time.
"""

from __future__ import annotations

import numpy as np

from pellucid.kernels._compile import compiled, inlined


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
    base = np.int64(0)
    for i in range(len(rows)):
        row = rows[i]
        p = 0
        while place[near[row, p]] < 0:
            p += 1
        q = p + 1
        while place[near[row, q]] < 0:
            q += 1
        own[i], other[i] = near[row, p], near[row, q]
        margin[i] = cost[row, q] - cost[row, p]
        base += cost[row, p]
        home[i] = place[own[i]]
        sums[home[i], 0] += weight[i]
        sums[home[i], 1] += margin[i]
    return base


@inlined
def excess_left(near, cost, row, own, rank, low, high, moving, base):
    """Excess of a row left of its nearest center `own`, over the gaps low .. high.

    Gap g offers it the centers of rank <= g. All gaps but `moving` are added to `base`; the
    excess of that one is returned.
    """
    p = 0
    while near[row, p] != own:
        p += 1
    least = cost[row, p]
    moved = np.int64(0)
    while high >= low:
        p += 1
        r = rank[near[row, p]]
        if 0 <= r <= high:
            extra = cost[row, p] - least
            start = max(r, low)
            base[high + 1] -= extra
            if start == moving:
                moved = extra
                base[start + 1] += extra
            else:
                base[start] += extra
            high = start - 1
    return moved


@inlined
def excess_right(near, cost, row, own, rank, low, high, moving, base):
    """The same for a row right of its nearest center: gap g offers the centers of rank > g.

    Here `moving` is the highest gap, and is added to `base` too.
    """
    p = 0
    while near[row, p] != own:
        p += 1
    least = cost[row, p]
    moved = np.int64(0)
    while low <= high:
        p += 1
        r = rank[near[row, p]]
        if r > low:
            extra = cost[row, p] - least
            stop = min(r - 1, high)
            if stop == moving:
                moved = extra
            base[low] += extra
            base[stop + 1] -= extra
            low = stop + 1
    return moved


@compiled
def tally_induced(
    codes, rows, owns, others, margins, near, cost, weight, rank, position, first_left, total,
    amount, fall, below,
):  # fmt: skip
    """Fill amount, fall and below (see `pellucid.kernels.gaps`) for a single dense column.

    rows, owns, others, margins, weight : the rows of the cell, for each its nearest and second
        nearest center there, what the second costs more, and its weight
    near, cost : for every row of the data, the centers by ascending cost, and those costs
    rank : where each center stands in `position`, -1 for the centers of other cells
    first_left : for each code, the first position at or above it
    total : sum of the least costs

    Each row changes the cost in some gaps (base), and in its bin as it goes left. Often it is in a
    gap next to its own center, and the second nearest center lies on the other side of that gap:
    then its margin is all there is to know.
    """
    n_gaps, n_codes = len(position) - 1, len(first_left)
    base = np.zeros(n_gaps + 2, dtype=np.int64)
    for b in range(n_codes):
        amount[b], fall[b], below[b] = 0, 0, 0
    for i in range(len(rows)):
        row = rows[i]
        b = codes[row]
        below[b] += weight[i]
        own, other, left = rank[owns[i]], rank[others[i]], first_left[b]
        moving = left - 1
        if left <= own:
            if left == own and other <= moving:
                amount[b] += margins[i]
            elif own > 0:
                low = max(moving, 0)
                amount[b] += excess_left(near, cost, row, owns[i], rank, low, own - 1, moving, base)
        elif own < n_gaps:
            if moving == own and other > own:
                base[own] += margins[i]
                base[own + 1] -= margins[i]
                fall[b] += margins[i]
            else:
                high = min(moving, n_gaps - 1)
                fall[b] += excess_right(near, cost, row, owns[i], rank, own, high, moving, base)
    for b in range(1, n_codes):
        below[b] += below[b - 1]
    base[0] += total
    for g in range(n_gaps):
        spent = base[g]
        base[g + 1] += spent
        for t in range(position[g], position[g + 1]):
            if t > position[g]:
                spent += amount[t] - fall[t]
            amount[t] = spent


@compiled
def induced_change(rows, owns, codes, near, cost, rank, n_gaps, first_left, change):
    """What each of some rows changes as it goes left inside its bin."""
    base = np.zeros(n_gaps + 2, dtype=np.int64)
    for i in range(len(rows)):
        row, center = rows[i], owns[i]
        own, moving = rank[center], first_left[codes[i]] - 1
        if moving < 0 or moving >= n_gaps:
            change[i] = 0
        elif moving < own:
            change[i] = excess_left(near, cost, row, center, rank, moving, own - 1, moving, base)
        else:
            change[i] = -excess_right(near, cost, row, center, rank, own, moving, moving, base)


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
