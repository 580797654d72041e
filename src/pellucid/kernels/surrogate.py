"""Surrogate cost: each side of a cut pays at the one center that is cheapest for it.

The *prices* of a row are its cost to each of the k centers, the least of these, and 1. With
S[t, c] the cost to center c of the rows at or below edge t and T[c] that of all rows,

    cost(t) = min over c of S[t, c] + min over c of (T[c] - S[t, c]),

and inside bin b, whose rows pay their least cost or more,

    cost >= min over c of S[b - 1, c] + min over c of (T[c] - S[b, c]) + (least costs in bin b).
"""

from __future__ import annotations

import numpy as np

from pellucid.kernels._compile import compiled, inner

NOTHING = 2**62
"""More than any cost."""


@compiled
def price_rows(prices):
    """Fill the last two columns: the least of the costs before them, and 1."""
    k = prices.shape[1] - 2
    for i in range(len(prices)):
        least = prices[i, 0]
        for c in range(1, k):
            least = min(least, prices[i, c])
        prices[i, k] = least
        prices[i, k + 1] = 1


@compiled
def add_rows(rows, prices, totals):
    """Add up the prices of some rows."""
    for i in range(len(rows)):
        row = rows[i]
        for c in range(len(totals)):
            totals[c] += prices[row, c]


@compiled
def add_by_bin(features, codes, rows, prices, sums):
    """sums[f, b] = prices of the rows in bin b of the f-th feature, added up; dense columns.

    The features are gone through together, a block of rows at a time, whose prices are copied
    together first: they stay in cache.
    """
    block = 1024
    n_prices = prices.shape[1]
    near = np.empty((block, n_prices), dtype=np.int64)
    sums[:] = 0
    for start in range(0, len(rows), block):
        size = min(block, len(rows) - start)
        for i in range(size):
            row = rows[start + i]
            for c in range(n_prices):
                near[i, c] = prices[row, c]
        for f in range(len(features)):
            j = features[f]
            for i in range(size):
                b = codes[j, rows[start + i]]
                for c in range(n_prices):
                    sums[f, b, c] += near[i, c]


@inner
def add_stored(begin, end, codes, indices, zero, prices, totals, place, which, sums):
    """The same for one CSC column, of which only the stored entries begin .. end are looked at.

    All other rows, whose code is `zero`, are counted at once. Only bins that hold rows are kept,
    in order: `which` lists their codes, and place[b], -1 before and after, where bin b stands in
    between. Returns their number.
    """
    n = 1
    which[0] = zero
    place[zero] = 0
    for p in range(begin, end):
        b = codes[p]
        if place[b] < 0:
            place[b] = 0
            which[n] = b
            n += 1
    put_in_order(which, n, place)
    for s in range(n):
        place[which[s]] = s
        for c in range(len(totals)):
            sums[s, c] = 0
    for p in range(begin, end):
        row, s = indices[p], place[codes[p]]
        for c in range(len(totals)):
            sums[s, c] += prices[row, c]
    for c in range(len(totals)):
        rest = totals[c]
        for s in range(n):
            rest -= sums[s, c]
        sums[place[zero], c] += rest
    for s in range(n):
        place[which[s]] = -1
    return n


@inner
def put_in_order(which, n, place):
    """Sort the n bins in `which`, those with a place."""
    if n > 32:
        s = 0
        for b in range(len(place)):
            if place[b] >= 0:
                which[s] = b
                s += 1
        return
    for i in range(1, n):
        b, s = which[i], i
        while s > 0 and which[s - 1] > b:
            which[s] = which[s - 1]
            s -= 1
        which[s] = b


@inner
def judge_surrogate(n, which, sums, totals, inside, limit, below, wanted):
    """Least cost over the edges, the lowest such edge, and a bound for the inside of the bins.

    The bins are which[0] .. which[n - 1]; those that could reach `limit` are marked as `wanted`.
    """
    k = len(totals) - 2
    best, at, bound = np.int64(NOTHING), -1, np.int64(NOTHING)
    before, n_below = np.int64(0), np.int64(0)
    for c in range(k):
        below[c] = 0
    for s in range(n):
        t = which[s]
        wanted[t] = False
        count = sums[s, k + 1]
        if count == 0:
            continue
        left, right = np.int64(NOTHING), np.int64(NOTHING)
        for c in range(k):
            sum_left = below[c] + sums[s, c]
            below[c] = sum_left
            left = min(left, sum_left)
            right = min(right, totals[c] - sum_left)
        n_below += count
        if count > 1 and inside[t]:
            least = before + right + sums[s, k]
            bound = min(bound, least)
            wanted[t] = least <= limit
        if n_below < totals[k + 1] and left + right < best:
            best, at = left + right, t
        before = left
    return best, at, bound


@compiled
def scan_surrogate(features, sums, totals, inside, limit, found, wanted):
    """found[j, 0] = least cost over the edges, its edge, bound inside the bins; dense columns.

    `sums` is by place in `features`. Bins of the last feature that could reach `limit` are marked
    as `wanted`.
    """
    below = np.empty(len(totals), dtype=np.int64)
    which = np.arange(sums.shape[1])
    for f in range(len(features)):
        j = features[f]
        found[j, 0, 0], found[j, 0, 1], found[j, 0, 2] = judge_surrogate(
            len(which), which, sums[f], totals, inside[j], limit, below, wanted
        )


@compiled
def scan_stored(
    features, codes, indices, indptr, zero_code, prices, totals, inside, limit, found, wanted, sums
):
    """The same for CSC columns; `sums` is left with the bins of the last feature."""
    width = inside.shape[1]
    below = np.empty(len(totals), dtype=np.int64)
    place, which = np.full(width, -1), np.empty(width, dtype=np.int64)
    n = 0
    for j in features:
        n = add_stored(
            indptr[j], indptr[j + 1], codes, indices, zero_code[j], prices, totals, place, which,
            sums,
        )  # fmt: skip
        found[j, 0, 0], found[j, 0, 1], found[j, 0, 2] = judge_surrogate(
            n, which, sums, totals, inside[j], limit, below, wanted
        )
    for s in range(n - 1, -1, -1):
        for c in range(len(totals)):
            value = sums[s, c]
            sums[s, c] = 0
            sums[which[s], c] = value


@compiled
def sweep_surrogate(values, codes, rows, prices, sums, totals):
    """Least cost strictly inside the bins of the given rows, sorted by value, and its threshold."""
    k = len(totals) - 2
    left = np.zeros(k, dtype=np.int64)
    best, at = np.int64(NOTHING), np.nan
    i, done = 0, 0
    while i < len(values):
        b = codes[i]
        while done < b:  # up to the edge before the bin
            for c in range(k):
                left[c] += sums[done, c]
            done += 1
        done += 1
        while i < len(values) and codes[i] == b:
            value = values[i]
            while i < len(values) and values[i] == value:
                for c in range(k):
                    left[c] += prices[rows[i], c]
                i += 1
            if i < len(values) and codes[i] == b:
                near, far = np.int64(NOTHING), np.int64(NOTHING)
                for c in range(k):
                    near = min(near, left[c])
                    far = min(far, totals[c] - left[c])
                if near + far < best:
                    best, at = near + far, value
    return best, at
