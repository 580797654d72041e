"""Where to cut when each row knows what it pays on either side.

With d[i] = what row i pays more on the left than on the right, a threshold t costs

    (sum of all d[i] with x[i] <= t) + (what all rows pay on the right),

so that the first sum alone is to be minimised. Strictly inside bin b it is at least the sum at
the edge before b plus the negative d of bin b.
"""

from __future__ import annotations

import numpy as np

from pellucid._utils.compilation import allocating, compiled, inner

NOTHING = 2**62
"""More than any cost."""


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
def judge_extras(sums, n_codes, falls, rises, inside, limit, wanted):
    """Least sum over the edges, the lowest such edge, and a bound for the inside of the bins.

    sums[b] holds the negative and the positive extras of bin b, `falls` and `rises` those of all.
    Bins that could reach `limit` are marked as `wanted`. Where all rows of a bin pull one way,
    the edge to that side is better than the inside, if it is a cut at all.
    """
    best, at, bound = np.int64(NOTHING), -1, np.int64(NOTHING)
    low = high = np.int64(0)
    for t in range(n_codes):
        wanted[t] = False
        down, up = sums[t, 0], sums[t, 1]
        if down == 0 and up == 0:
            continue
        is_first = low == 0 and high == 0
        least = low + high + down
        low += down
        high += up
        is_last = low == falls and high == rises
        if inside[t] and not (down == 0 and not is_first) and not (up == 0 and not is_last):
            bound = min(bound, least)
            wanted[t] = least <= limit
        if not is_last and low + high < best:
            best, at = low + high, t
    return best, at, bound


@allocating
def scan_dense(features, codes, n_edges, inside, rows, extra, falls, rises, found):
    """found[j] = least sum over the edges of a column, its edge, bound for the inside of the bins.

    Columns are gone through together, a block of rows at a time, so that the rows stay in cache.
    Every other row is added up elsewhere: no addition has to wait for the one before.
    """
    width, block = inside.shape[1], 2048
    sums = np.zeros((len(features), 2, width, 2), dtype=np.int64)
    wanted = np.zeros(width, dtype=np.bool_)
    for start in range(0, len(rows), block):
        end = min(start + block, len(rows))
        for f in range(len(features)):
            j = features[f]
            for i in range(start, end - 1, 2):
                more, other = extra[i], extra[i + 1]
                sums[f, 0, codes[j, rows[i]], 1 if more > 0 else 0] += more
                sums[f, 1, codes[j, rows[i + 1]], 1 if other > 0 else 0] += other
            if (end - start) % 2:
                more = extra[end - 1]
                sums[f, 0, codes[j, rows[end - 1]], 1 if more > 0 else 0] += more
    for f in range(len(features)):
        j = features[f]
        for b in range(n_edges[j] + 1):
            sums[f, 0, b, 0] += sums[f, 1, b, 0]
            sums[f, 0, b, 1] += sums[f, 1, b, 1]
        found[j, 0], found[j, 1], found[j, 2] = judge_extras(
            sums[f, 0], n_edges[j] + 1, falls, rises, inside[j], -NOTHING, wanted
        )


@allocating
def scan_sparse(features, codes, indices, indptr, zero_code, n_edges, inside, extra, falls, rises,
                found):  # fmt: skip
    """The same for CSC columns; here `extra` is that of every row of the data, 0 for most."""
    width = inside.shape[1]
    wanted = np.zeros(width, dtype=np.bool_)
    for j in features:
        sums = np.zeros((width, 2), dtype=np.int64)
        low, high = falls, rises
        for p in range(indptr[j], indptr[j + 1]):
            more = extra[indices[p]]
            if more < 0:
                sums[codes[p], 0] += more
                low -= more
            else:
                sums[codes[p], 1] += more
                high -= more
        sums[zero_code[j], 0] += low
        sums[zero_code[j], 1] += high
        found[j, 0], found[j, 1], found[j, 2] = judge_extras(
            sums, n_edges[j] + 1, falls, rises, inside[j], -NOTHING, wanted
        )


@allocating
def open_extras(codes, n_codes, inside, rows, extra, falls, rises, limit):
    """Sums at the edges of one column, the best edge, and the rows that are worth a look.

    These are the places of the rows in bins that could reach `limit`. `codes` are those of all
    rows of the data.
    """
    sums, wanted = np.zeros((n_codes, 2), dtype=np.int64), np.zeros(n_codes, dtype=np.bool_)
    for i in range(len(rows)):
        sums[codes[rows[i]], 1 if extra[i] > 0 else 0] += extra[i]
    _, edge, _ = judge_extras(sums, n_codes, falls, rises, inside, limit, wanted)
    at_edge, total = np.empty(n_codes, dtype=np.int64), np.int64(0)
    for b in range(n_codes):
        total += sums[b, 0] + sums[b, 1]
        at_edge[b] = total
    places = np.empty(len(rows) + 1, dtype=np.int32)
    n = 0
    for i in range(len(rows)):
        places[n] = i
        n += wanted[codes[rows[i]]]
    return at_edge, edge, places[:n]


@compiled
def sweep_extras(order, values, places, codes, rows, extra, at_edge):
    """Least sum strictly inside the bins of the rows at some places, and its threshold.

    order : the places by value
    values : of the rows at the places
    codes : of all rows of the data
    """
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
