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


@compiled
def list_bins(codes, indptr, zero_code, place, begins, which, zero_at, entry):
    """The bins of CSC columns that hold rows, column after column and ascending.

    Those of column j are which[begins[j]] .. which[begins[j + 1] - 1]; zero_at[j] is where the bin
    of 0 stands, and entry[p] the bin of a stored entry. `place` is -1 for every code.
    """
    end = 0
    for j in range(len(zero_code)):
        begin, end = end, end + 1
        begins[j] = begin
        which[begin] = zero_code[j]
        place[zero_code[j]] = begin
        for p in range(indptr[j], indptr[j + 1]):
            b = codes[p]
            if place[b] < 0:
                place[b] = begin
                which[end] = b
                end += 1
        put_in_order(which, begin, end, place)
        for s in range(begin, end):
            place[which[s]] = s
        zero_at[j] = place[zero_code[j]]
        for p in range(indptr[j], indptr[j + 1]):
            entry[p] = place[codes[p]]
        for s in range(begin, end):
            place[which[s]] = -1
    begins[len(zero_code)] = end


@inner
def put_in_order(which, begin, end, place):
    """Sort the bins in which[begin] .. which[end - 1], those with a place."""
    if end - begin > 32:
        s = begin
        for b in range(len(place)):
            if place[b] >= 0:
                which[s] = b
                s += 1
        return
    for i in range(begin + 1, end):
        b, s = which[i], i
        while s > begin and which[s - 1] > b:
            which[s] = which[s - 1]
            s -= 1
        which[s] = b


@compiled
def add_stored(first, last, indices, indptr, entry, start, prices, sums):
    """sums[s - start] = prices of the stored entries in bin s, added up; columns first .. last."""
    sums[:] = 0
    for p in range(indptr[first], indptr[last]):
        row, s = indices[p], entry[p] - start
        for c in range(sums.shape[1]):
            sums[s, c] += prices[row, c]


@compiled
def take_rows(rows, indptr, entry, prices, sums):
    """Take the stored entries of some rows, of CSR data, out of their bins."""
    for i in range(len(rows)):
        row = rows[i]
        for p in range(indptr[row], indptr[row + 1]):
            for c in range(sums.shape[1]):
                sums[entry[p], c] -= prices[row, c]


@compiled
def add_zeros(begins, zero_at, totals, sums):
    """Put into the bin of 0 of each column what the others leave of the totals."""
    for f in range(len(zero_at)):
        for c in range(len(totals)):
            rest = totals[c]
            for s in range(begins[f], begins[f + 1]):
                if s != zero_at[f]:
                    rest -= sums[s, c]
            sums[zero_at[f], c] = rest


@inner
def judge_surrogate(begin, end, which, sums, totals, inside, limit, below, wanted):
    """Least cost over the edges, the lowest such edge, and a bound for the inside of the bins.

    The bins are which[begin] .. which[end - 1]; those that could reach `limit` are marked as
    `wanted`.
    """
    k = len(totals) - 2
    best, at, bound = np.int64(NOTHING), -1, np.int64(NOTHING)
    before, n_below = np.int64(0), np.int64(0)
    for c in range(k):
        below[c] = 0
    for s in range(begin, end):
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
def scan_surrogate(features, begins, which, sums, totals, inside, limit, found, wanted):
    """found[j, 0] = least cost over the edges, its edge, bound inside the bins.

    Line s of `sums` is about bin which[s]; the bins of the f-th feature begin at begins[f]. Those
    of the last feature that could reach `limit` are marked as `wanted`.
    """
    below = np.empty(len(totals), dtype=np.int64)
    for f in range(len(features)):
        j = features[f]
        found[j, 0, 0], found[j, 0, 1], found[j, 0, 2] = judge_surrogate(
            begins[f], begins[f + 1], which, sums, totals, inside[j], limit, below, wanted
        )


@compiled
def sweep_surrogate(values, codes, prices, sums, totals):
    """Least cost strictly inside the bins of the given rows, sorted by value, and its threshold.

    prices[i] are those of the row of values[i]; sums[b], of all rows in bin b.
    """
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
                    left[c] += prices[i, c]
                i += 1
            if i < len(values) and codes[i] == b:
                near, far = np.int64(NOTHING), np.int64(NOTHING)
                for c in range(k):
                    near = min(near, left[c])
                    far = min(far, totals[c] - left[c])
                if near + far < best:
                    best, at = near + far, value
    return best, at
