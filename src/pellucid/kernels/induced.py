"""Induced cost at every edge of one feature.

Each row pays the least of its costs to the centers on its own side of the threshold. Written as
an excess over d, its least cost in the cell, which it pays to its nearest center: the excess is
zero unless the threshold separates the row from that center. For the gaps in between, the excess
of gap g is the cost of the nearest center on the row's own side less d, found by walking through
the row's centers from near to far. It is never less than the row's margin, what the second
nearest center costs more, so `pellucid.kernels.separated` bounds it from below in less time.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from pellucid.kernels._compile import compiled, inlined, inner
from pellucid.kernels.gaps import find_positions, judge_edges, new_gaps

Ranked = namedtuple("Ranked", "rows own other margin near cost weight base centers")
"""The rows of a cell with their centers from near to far.

rows : row numbers, ascending
own, other, margin : for each of `rows`, the cell's nearest and second nearest center, and what
    the second costs more
near, cost : for every row of the data, the centers by ascending cost, and those costs
weight : of each of `rows`
base : sum of the least costs
centers : the centers of the cell
"""


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


@inner
def place_rows(codes, cell, n_gaps, base, first_left, rank, rise, fall, below):
    """Add up what each row changes: in each gap (base), and in its bin as it goes left.

    Often a row is in a gap next to its own center, and the second nearest center lies on the
    other side of that gap: then its margin is all there is to know.
    """
    rows, near, cost = cell.rows, cell.near, cell.cost
    owns, others, margins, weight = cell.own, cell.other, cell.margin, cell.weight
    for i in range(len(rows)):
        row = rows[i]
        b = codes[row]
        below[b] += weight[i]
        own, other, left = rank[owns[i]], rank[others[i]], first_left[b]
        moving = left - 1
        if left <= own:
            if left == own and other <= moving:
                rise[b] += margins[i]
            elif own > 0:
                low = max(moving, 0)
                rise[b] += excess_left(near, cost, row, owns[i], rank, low, own - 1, moving, base)
        elif own < n_gaps:
            if moving == own and other > own:
                base[own] += margins[i]
                base[own + 1] -= margins[i]
                fall[b] += margins[i]
            else:
                high = min(moving, n_gaps - 1)
                fall[b] += excess_right(near, cost, row, owns[i], rank, own, high, moving, base)


@inner
def tally_induced(columns, cell, gaps):
    """Fill `gaps` for a single dense column; the number of positions."""
    n_positions = find_positions(columns.center_code[0], cell.centers, gaps)
    n_codes = columns.n_edges[0] + 1
    gaps.amount[:n_codes] = 0
    gaps.fall[:n_codes] = 0
    gaps.below[:n_codes] = 0
    base = np.zeros(n_positions + 1, dtype=np.int64)
    first_left = np.searchsorted(gaps.position[:n_positions], np.arange(n_codes))
    place_rows(
        columns.codes[0], cell, n_positions - 1, base, first_left, gaps.rank, gaps.amount,
        gaps.fall, gaps.below,
    )  # fmt: skip
    for b in range(1, n_codes):
        gaps.below[b] += gaps.below[b - 1]
    base[0] += cell.base
    for g in range(n_positions - 1):
        amount = base[g]
        base[g + 1] += amount
        for t in range(gaps.position[g], gaps.position[g + 1]):
            if t > gaps.position[g]:
                amount += gaps.amount[t] - gaps.fall[t]
            gaps.amount[t] = amount
    return n_positions


@compiled
def open_induced(columns, cell, terms, killer, limit):
    """Look into a single dense column.

    Returns the number of positions, the gaps, the objective and number of the best edge, and the
    bins inside which `limit`, or that objective, could be reached.
    """
    width, n_clusters = columns.edges.shape[1], columns.center_code.shape[1]
    gaps = new_gaps(width, n_clusters)
    wanted = np.zeros(width, dtype=np.bool_)
    n_positions = tally_induced(columns, cell, gaps)
    inside = columns.inside[0]
    best, at, _ = judge_edges(n_positions, inside, gaps, terms, killer, -np.inf, wanted)
    judge_edges(n_positions, inside, gaps, terms, killer, min(limit, best), wanted)
    return n_positions, gaps, best, at, wanted


@compiled
def induced_change(rows, places, codes, n_positions, cell, gaps, change):
    """What each of some rows changes as it goes left inside its bin.

    `places` are their places in the cell, `codes` their codes.
    """
    base = np.zeros(len(gaps.position) + 1, dtype=np.int64)
    n_gaps = n_positions - 1
    for i in range(len(rows)):
        row, center = rows[i], cell.own[places[i]]
        own = gaps.rank[center]
        moving = np.searchsorted(gaps.position[:n_positions], codes[i]) - 1
        if moving < 0 or moving >= n_gaps:
            change[i] = 0
        elif moving < own:
            change[i] = excess_left(
                cell.near, cell.cost, row, center, gaps.rank, moving, own - 1, moving, base
            )
        else:
            change[i] = -excess_right(
                cell.near, cell.cost, row, center, gaps.rank, own, moving, moving, base
            )
