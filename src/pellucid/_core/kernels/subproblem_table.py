"""All cuts of a part that are worth a look, each with a lower bound of what the rows pay after it.

For one column of a part: gap g holds the thresholds from the g-th of its centers, in the order of
the column, up to the next. What the rows pay at a threshold is at least the *amount*, each row at
the cheapest center of its side, and *more* for centers that have yet to be separated: the price
of a pair, as far as the cut itself has not made its rows pay it already.
"""

from __future__ import annotations

import numpy as np

from pellucid._core.kernels.subproblem import NEVER
from pellucid._utils.compilation import allocating, inner


@inner
def line_up(j, centers, tables, by_place, place, home):
    """The centers of a part in the order of a column, their ranks, and the place of each."""
    rank, first = tables.rank, len(tables.costs)
    for q in range(len(centers)):
        c, p = centers[q], q
        while p > 0 and place[p - 1] > rank[j, first + c]:
            by_place[p], place[p] = by_place[p - 1], place[p - 1]
            p -= 1
        by_place[p], place[p] = c, rank[j, first + c]
    for p in range(len(centers)):
        home[tables.owner[first + by_place[p]]] = p


@inner
def scan_column(j, tables, by_place, place, home, amount, lost, inside):
    """Amounts at the start of every gap, and the rows inside gaps; the number of those.

    amount[g] is what all rows pay at the threshold of center g, each at the cheapest center of its
    side; lost[g, a], the margins of the rows of center a that are on the other side.
    """
    order, rank, costs = tables.order, tables.rank, tables.costs
    owner, margin = tables.owner, tables.margin
    n_rows, n = len(costs), len(place)
    n_inside = g = 0
    for r in range(order.shape[1]):
        i = order[j, r]
        if i >= n_rows or owner[i] < 0:
            continue
        v = rank[j, i]
        while g < n and place[g] < v:
            g += 1
        # Right of the centers before g, left of the others.
        low_left, high_left = np.int64(NEVER), np.int64(0)
        for q in range(g):
            cost = costs[i, by_place[q]]
            low_left, high_left = min(low_left, cost), max(high_left, cost)
        low = low_left
        for q in range(g, n - 1):
            low = min(low, costs[i, by_place[q]])
            amount[q] += low
        low_right, high_right = np.int64(NEVER), np.int64(0)
        for q in range(n - 1, g - 1, -1):
            cost = costs[i, by_place[q]]
            low_right, high_right = min(low_right, cost), max(high_right, cost)
        low = low_right
        for q in range(g - 1, -1, -1):
            if q < n - 1:
                amount[q] += low
            low = min(low, costs[i, by_place[q]])
        h = home[owner[i]]
        for q in range(min(g, h), max(g, h)):
            lost[q, owner[i]] += margin[i]
        if 0 < g < n and v < place[g]:
            inside[n_inside, 0], inside[n_inside, 1] = i, g - 1
            inside[n_inside, 2] = low_left - low_right
            inside[n_inside, 3] = high_left - low_left
            inside[n_inside, 4] = high_right - low_right
            inside[n_inside, 5] = (high_left <= low_right) + 2 * (high_right <= low_left)
            n_inside += 1
    return n_inside


@inner
def match(g, home, pairs, lost, mate, slack):
    """Pair centers that a cut after center g leaves together, heaviest pairs first.

    slack[a] of a paired center a is what its pair will cost yet: the weight of the pair, less what
    the cut itself takes from the rows of the two. Returns the sum of all that is positive.
    """
    mate.fill(-1)
    more = np.int64(0)
    for p in range(len(pairs)):
        a, b = pairs[p, 0], pairs[p, 1]
        if mate[a] < 0 and mate[b] < 0 and (home[a] <= g) == (home[b] <= g):
            mate[a], mate[b] = b, a
            slack[a] = pairs[p, 2] - lost[g, a] - lost[g, b]
            more += max(slack[a], 0)
    return more


@inner
def sweep_gap(j, g, z, n_inside, tables, place, home, pairs, amount, lost, inside, spare, found, n):
    """Write down the cuts of one gap; the next row inside a gap, and the number of cuts found."""
    rank, owner, margin = tables.rank, tables.owner, tables.margin
    mate, slack = spare[0], spare[1]
    more = match(g, home, pairs, lost, mate, slack)
    here, t, back = amount[g], place[g], False
    gained, shed = np.int64(0), np.int64(0)
    while True:
        # The rows of the next value: better off on the left, all of them? On the right?
        y, better = z, 3
        while y < n_inside and inside[y, 1] == g and rank[j, inside[y, 0]] == rank[j, inside[z, 0]]:
            better &= inside[y, 5]
            y += 1
        if not back and (y == z or better & 1 == 0):
            found[n, 0], found[n, 1], found[n, 2], found[n, 3] = j, g, t, here
            found[n, 4], found[n, 5], found[n, 6] = gained, shed, here + more
            n += 1
        if y == z:
            return y, n
        t, back = rank[j, inside[z, 0]], better == 2
        for e in range(z, y):
            i, a = inside[e, 0], owner[inside[e, 0]]
            here += inside[e, 2]
            gained += inside[e, 3]
            shed += inside[e, 4]
            if mate[a] >= 0:
                b = min(a, mate[a])
                more -= max(slack[b], 0)
                slack[b] += margin[i] if home[a] <= g else -margin[i]
                more += max(slack[b], 0)
        z = y


@allocating
def list_cuts(j, rows, centers, tables, pairs, found):
    """Every cut of a part, from column j on, that no other makes superfluous.

    A cut is superfluous when the next row to cross it is better off across, whatever tree grows
    on either side: its greatest cost there is no more than its least cost here.

    pairs : lines of two centers a < b and what it costs to separate them, heaviest first
    found : filled with one cut a line: column, gap, at, amount, gained, shed, total

    Returns the next column, which `found` had no room for, and the number of cuts.
    """
    n = len(centers)
    by_place, place, home, amount = np.empty((4, n), np.int64)
    spare, lost = np.empty((2, n), np.int64), np.empty((n, n), np.int64)
    # Of the rows inside gaps: item, gap, change of the amount, gained, shed, where better off.
    inside = np.empty((len(rows), 6), np.int64)
    n_found = 0
    while j < len(tables.rank) and n_found + len(rows) + n <= len(found):
        line_up(j, centers, tables, by_place, place, home)
        amount.fill(0)
        lost.fill(0)
        n_inside = scan_column(j, tables, by_place, place, home, amount, lost, inside)
        z = 0
        for g in range(n - 1):
            if place[g] < place[g + 1]:
                z, n_found = sweep_gap(
                    j, g, z, n_inside, tables, place, home, pairs, amount, lost, inside, spare,
                    found, n_found,
                )  # fmt: skip
        j += 1
    return j, n_found
