"""Parts of a problem, for the exact search: what their rows pay at least, and their two sides.

A part is a set of centers and the rows that share them: every row will pay the cost of the center
in whose leaf it ends. The *owner* of a row is the cheapest of these centers, its *margin* what the
next cheapest costs more: a row that is cut off from its owner pays the margin at least.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from pellucid._utils.compilation import allocating, compiled

NEVER = 2**62
"""More than any cost."""

Tables = namedtuple("Tables", "rank order costs owner margin")
"""The whole problem. An item is a row or, after all rows, a center; a center weighs nothing.

rank : (n_columns, n_items), number of smaller values in the column; equal values are one
order : (n_columns, n_items), the items by rank
costs : (n_rows, n_centers), what a row pays
owner, margin : (n_items,), of the part at hand; owner is a place in its centers, -1 elsewhere
"""

Cuts = namedtuple("Cuts", "gap at amount gained shed left right total")
"""Cuts of a part; those of one gap between neighbouring centers of a column stand together.

gap : number of centers times the column, plus the place of the center at which the gap starts
at : rank of the largest value that goes left
amount : what the rows pay at least, each at the cheapest center of its side
gained, shed : since the start of the gap, by how much the rows that went left could have paid
    more than their least on the left, and on the right
left, right : what each side is known to pay beyond its part of the amount
total : lower bound for the whole
"""


@compiled
def own_rows(rows, centers, tables):
    """Set owner and margin of the rows and centers of a part; the sum of the least costs."""
    costs, owner, margin = tables.costs, tables.owner, tables.margin
    base = np.int64(0)
    for i in rows:
        least, next_least, at = np.int64(NEVER), np.int64(NEVER), 0
        for q in range(len(centers)):
            cost = costs[i, centers[q]]
            if cost < least:
                least, next_least, at = cost, least, q
            elif cost < next_least:
                next_least = cost
        owner[i], margin[i] = at, next_least - least
        base += least
    for q in range(len(centers)):
        owner[len(costs) + centers[q]] = q
    return base


@compiled
def disown_rows(rows, centers, tables):
    """Take `own_rows` back."""
    owner = tables.owner
    for i in rows:
        owner[i] = -1
    for c in centers:
        owner[len(tables.costs) + c] = -1


@allocating
def price_pairs(rows, centers, tables, pair):
    """pair[a, b] = least sum of margins over the cuts that separate the centers a and b.

    Counted are the rows of a and of b on the wrong side. The sum falls only where a row of the
    center on the left goes left, or a threshold passes that center: only there it is looked at.
    """
    rank, order, owner, margin = tables.rank, tables.order, tables.owner, tables.margin
    n_rows, n = len(tables.costs), len(centers)
    whole, below = np.zeros(n, np.int64), np.zeros(n, np.int64)
    place = np.empty(n, np.int64)
    for i in rows:
        whole[owner[i]] += margin[i]
    pair.fill(NEVER)
    for j in range(len(rank)):
        last = np.int64(0)
        for q in range(n):
            below[q], place[q] = 0, rank[j, n_rows + centers[q]]
            last = max(last, place[q])
        start = 0
        while rank[j, order[j, start]] < last:
            t, end = rank[j, order[j, start]], start
            while rank[j, order[j, end]] == t:
                i = order[j, end]
                if owner[i] >= 0:
                    below[owner[i]] += margin[i]
                end += 1
            for r in range(start, end):
                a = owner[order[j, r]]
                if a >= 0 and place[a] <= t:
                    beyond = whole[a] - below[a]
                    for b in range(n):
                        if place[b] > t and beyond + below[b] < pair[a, b]:
                            pair[a, b] = beyond + below[b]
            start = end
    for a in range(n):
        for b in range(a + 1):
            least = min(pair[a, b], pair[b, a])
            pair[a, b] = pair[b, a] = least if least < NEVER else 0


@compiled
def raise_gap(k, left, right, cuts):
    """Carry over to the gap of cut k what its sides pay beyond the amount: `left`, `right`.

    A side that has more rows pays no less beyond its amount; one that has fewer, less at most by
    what those rows could have paid beyond their least.
    """
    gap, amount, gained, shed = cuts.gap, cuts.amount, cuts.gained, cuts.shed
    lefts, rights, total = cuts.left, cuts.right, cuts.total
    p = k
    while p > 0 and gap[p - 1] == gap[k]:
        p -= 1
    while p < len(gap) and gap[p] == gap[k]:
        lefts[p] = max(lefts[p], left - max(gained[k] - gained[p], 0))
        rights[p] = max(rights[p], right - max(shed[p] - shed[k], 0))
        total[p] = max(total[p], amount[p] + lefts[p] + rights[p])
        p += 1


@compiled
def two_least(total):
    """Place of the least total, and the least of all others."""
    best, second = 0, np.int64(NEVER)
    for p in range(1, len(total)):
        if total[p] < total[best]:
            second, best = total[best], p
        elif total[p] < second:
            second = total[p]
    return best, second


@allocating
def share_rows(rows, ranks, at, left_centers, right_centers, costs):
    """Rows of the two sides, and what those rows pay that pay the same at each of their centers.

    Those are not among the rows: they no longer matter to the search.
    """
    near, far = np.empty(len(rows), rows.dtype), np.empty(len(rows), rows.dtype)
    n_near = n_far = 0
    paid = np.int64(0)
    for i in rows:
        centers = left_centers if ranks[i] <= at else right_centers
        cost, same = costs[i, centers[0]], True
        for q in range(1, len(centers)):
            same &= costs[i, centers[q]] == cost
        if same:
            paid += cost
        elif ranks[i] <= at:
            near[n_near] = i
            n_near += 1
        else:
            far[n_far] = i
            n_far += 1
    return near[:n_near], far[:n_far], paid


@compiled
def pack_rows(rows, words):
    """Set bit i of the words, all 0 before, for every row i."""
    for i in rows:
        words[i >> 6] |= np.uint64(1) << np.uint64(i & 63)


@allocating
def unpack_rows(words):
    """The rows whose bits are set, ascending."""
    rows, n = np.empty(64 * len(words), np.int32), 0
    for w in range(len(words)):
        word, i = words[w], w << 6
        while word != 0:
            rows[n] = i
            n += word & np.uint64(1) == 1
            word >>= np.uint64(1)
            i += 1
    return rows[:n]


@compiled
def compare_rows(words, n, others, beyond, spread):
    """Greatest of beyond[p] - sum of spread over the rows that others[p] has and words has not.

    Over the first n lines p of `others`; not below 0. A line is left as soon as its sum is too
    great for it to be the greatest.
    """
    best = np.int64(0)
    for p in range(n):
        left, w = beyond[p] - best, 0
        while left > 0 and w < len(words):
            missing, i = others[p, w] & ~words[w], w << 6
            while missing != 0 and left > 0:
                if missing & np.uint64(1) == 1:
                    left -= spread[i]
                missing >>= np.uint64(1)
                i += 1
            w += 1
        best += max(left, 0)
    return best
