"""Where to cut when each row knows what it pays on either side.

With d[i] = what row i pays more on the left than on the right, a threshold t costs

    (sum of all d[i] with x[i] <= t) + (what all rows pay on the right),

so that the first sum alone is to be minimised. Strictly inside bin b it is at least the sum at
the edge before b plus the negative d of bin b.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from pellucid.kernels._compile import compiled, inner

NOTHING = 2**62
"""More than any cost."""

Torn = namedtuple("Torn", "rows slot extra falls rises")
"""Rows that do not pay the same on both sides of a cut.

rows : row numbers, ascending
slot : place of every row of the data in `rows`, -1 elsewhere; for CSC columns
extra : what each of `rows` pays more on the left; never 0
falls, rises : sums of the negative and of the positive `extra`
"""


@compiled
def tear_rows(rows, left, right, cluster, costs, torn, extra):
    """Fill `torn` and `extra` with the rows of a node that care, and count them.

    left[i] and right[i] are the leaves that row i of the data reaches on either side. Also
    returns the sums of the negative and of the positive extras.
    """
    n = 0
    falls = rises = np.int64(0)
    for i in range(len(rows)):
        row = rows[i]
        near, far = cluster[left[row]], cluster[right[row]]
        if near != far:
            more = costs[row, near] - costs[row, far]
            if more != 0:
                torn[n], extra[n] = row, more
                n += 1
                if more < 0:
                    falls += more
                else:
                    rises += more
    return n, falls, rises


@inner
def add_extras(features, columns, cell, sums):
    """Add to sums[f, b] the (negative, positive) extras in bin b of the f-th feature."""
    codes, rows, slot, extra = columns.codes, cell.rows, cell.slot, cell.extra
    if columns.is_sparse:
        indices = columns.indices
        for f in range(len(features)):
            j = features[f]
            falls, rises = cell.falls, cell.rises
            for p in range(columns.indptr[j], columns.indptr[j + 1]):
                place = slot[indices[p]]
                if place >= 0:
                    more = extra[place]
                    if more < 0:
                        sums[f, codes[0, p], 0] += more
                        falls -= more
                    else:
                        sums[f, codes[0, p], 1] += more
                        rises -= more
            sums[f, columns.zero_code[j], 0] += falls
            sums[f, columns.zero_code[j], 1] += rises
        return
    block = 2048  # rows gone through together, so that they stay in cache
    twin = np.zeros(
        sums.shape, dtype=np.int64
    )  # every other row: no addition has to wait for the one before
    for start in range(0, len(rows), block):
        end = min(start + block, len(rows))
        for f in range(len(features)):
            j = features[f]
            for i in range(start, end - 1, 2):
                more, other = extra[i], extra[i + 1]
                sums[f, codes[j, rows[i]], 1 if more > 0 else 0] += more
                twin[f, codes[j, rows[i + 1]], 1 if other > 0 else 0] += other
            if (end - start) % 2:
                more = extra[end - 1]
                sums[f, codes[j, rows[end - 1]], 1 if more > 0 else 0] += more
    for f in range(len(features)):
        for b in range(sums.shape[1]):
            sums[f, b, 0] += twin[f, b, 0]
            sums[f, b, 1] += twin[f, b, 1]


@inner
def judge_extras(sums, n_codes, cell, inside, limit, wanted):
    """Least sum over the edges, the lowest such edge, and a bound for the inside of the bins.

    Bins that could reach `limit` are marked as `wanted`. Where all rows of a bin pull one way,
    the edge to that side is better than the inside, if it is a cut at all.
    """
    best, at, bound = np.int64(NOTHING), -1, np.int64(NOTHING)
    falls = rises = np.int64(0)
    for t in range(n_codes):
        wanted[t] = False
        down, up = sums[t, 0], sums[t, 1]
        if down == 0 and up == 0:
            continue
        is_first = falls == 0 and rises == 0
        least = falls + rises + down
        falls += down
        rises += up
        is_last = falls == cell.falls and rises == cell.rises
        if inside[t] and not (down == 0 and not is_first) and not (up == 0 and not is_last):
            bound = min(bound, least)
            wanted[t] = least <= limit
        if not is_last and falls + rises < best:
            best, at = falls + rises, t
    return best, at, bound


@compiled
def scan_extras(features, columns, cell, found):
    """found[j] = least sum over the edges, its edge, bound for the inside of the bins."""
    width = columns.edges.shape[1]
    sums = np.zeros((len(features), width, 2), dtype=np.int64)
    wanted = np.zeros(width, dtype=np.bool_)
    add_extras(features, columns, cell, sums)
    for f in range(len(features)):
        j = features[f]
        found[j, 0], found[j, 1], found[j, 2] = judge_extras(
            sums[f], columns.n_edges[j] + 1, cell, columns.inside[j], -NOTHING, wanted
        )


@compiled
def open_extras(codes, n_codes, inside, cell, limit):
    """Sums at the edges of one column, the places of the rows in bins that could reach `limit`, and
    the best edge.

    `codes` are those of all rows of the data.
    """
    rows, extra = cell.rows, cell.extra
    sums, wanted = np.zeros((n_codes, 2), dtype=np.int64), np.zeros(n_codes, dtype=np.bool_)
    for i in range(len(rows)):
        sums[codes[rows[i]], 1 if extra[i] > 0 else 0] += extra[i]
    _, edge, _ = judge_extras(sums, n_codes, cell, inside, limit, wanted)
    at_edge, total = np.empty(n_codes, dtype=np.int64), np.int64(0)
    for b in range(n_codes):
        total += sums[b, 0] + sums[b, 1]
        at_edge[b] = total
    places = np.empty(len(rows), dtype=np.int32)
    n = 0
    for i in range(len(rows)):
        places[n] = i
        n += wanted[codes[rows[i]]]
    return at_edge, places[:n], edge


@compiled
def sweep_extras(order, values, places, codes, cell, at_edge):
    """Least sum strictly inside the bins of the rows at some places, and its threshold.

    order : the places by value
    values : of the rows at the places
    codes : of all rows of the data
    """
    rows, extra = cell.rows, cell.extra
    best, at = np.int64(NOTHING), np.nan
    before, total = -1, np.int64(0)
    for p in range(len(order)):
        place = places[order[p]]
        b, value = codes[rows[place]], values[order[p]]
        if b != before:
            before, total = b, at_edge[b - 1] if b > 0 else np.int64(0)
        total += extra[place]
        if p + 1 < len(order):
            after = places[order[p + 1]]
            is_inside = codes[rows[after]] == b and values[order[p + 1]] > value
            if is_inside and total < best:
                best, at = total, value
    return best, at


@compiled
def total_cost(leaf, cluster, costs):
    """What all rows pay in the clusters of their leaves."""
    total = np.int64(0)
    for i in range(len(leaf)):
        total += costs[i, cluster[leaf[i]]]
    return total


@compiled
def add_by_leaf(leaf, costs, sums):
    """sums[l, c] = what the rows of leaf l would pay in cluster c."""
    for i in range(len(leaf)):
        for c in range(costs.shape[1]):
            sums[leaf[i], c] += costs[i, c]
