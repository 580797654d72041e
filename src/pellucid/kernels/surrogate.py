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
def add_by_bin(features, codes, rows, prices, near, sums):
    """sums[f, b] += prices of the rows in bin b of the f-th feature; dense columns.

    The features are gone through together, a block of rows at a time, whose prices are copied
    together first, into `near`: they stay in cache. Numbers of rows and bins are unsigned, so that
    none is looked at for being counted from the end.
    """
    block, n_prices = len(near), np.uint64(prices.shape[1])
    for start in range(0, len(rows), block):
        size = np.uint64(block if block < len(rows) - start else len(rows) - start)
        some = rows[start:]
        for i in range(size):
            for c in range(n_prices):
                near[i, c] = prices[np.uint64(some[i]), c]
        for f in range(len(features)):
            j = features[f]
            for i in range(size):
                b = np.uint64(codes[j, np.uint64(some[i])])
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


@compiled
def scan_surrogate(features, begins, which, sums, totals, inside, limit, below, found, wanted):
    """found[j, 0] = least cost over the edges, the lowest such edge, bound inside the bins.

    Line s of `sums` is about bin which[s]; the bins of the f-th feature begin at begins[f]. Those
    of the last feature that could reach `limit` are marked as `wanted`. `below` is room for sums.
    """
    k = len(totals) - 2
    for f in range(len(features)):
        j = features[f]
        best, at, bound = np.int64(NOTHING), np.int64(-1), np.int64(NOTHING)
        before, n_below = np.int64(0), np.int64(0)
        for c in range(k):
            below[c] = 0
        for s in range(begins[f], begins[f + 1]):
            t = which[s]
            wanted[t] = False
            count = sums[s, k + 1]
            if count == 0:
                continue
            left, right = np.int64(NOTHING), np.int64(NOTHING)
            for c in range(k):
                near = below[c] + sums[s, c]
                far = totals[c] - near
                below[c] = near
                left = near if near < left else left
                right = far if far < right else right
            n_below += count
            if count > 1 and inside[j, t]:
                least = before + right + sums[s, k]
                bound = least if least < bound else bound
                wanted[t] = least <= limit
            if n_below < totals[k + 1] and left + right < best:
                best, at = left + right, np.int64(t)
            before = left
        found[j, 0, 0], found[j, 0, 1], found[j, 0, 2] = best, at, bound


@compiled
def sweep_surrogate(values, codes, prices, below, totals, left):
    """Least cost strictly inside the bins of the given rows, sorted by value, and its threshold.

    prices[i] are those of the row of values[i]; below[b], of all rows in bins before b, added up.
    `left` is room for sums.
    """
    k, n = len(totals) - 2, len(values)
    best, at = np.int64(NOTHING), np.nan
    for i in range(n):
        b = codes[i]
        if i == 0 or codes[i - 1] != b:
            for c in range(k):
                left[c] = below[b, c]
        for c in range(k):
            left[c] += prices[i, c]
        if i + 1 < n and codes[i + 1] == b and values[i + 1] != values[i]:
            near, far = np.int64(NOTHING), np.int64(NOTHING)
            for c in range(k):
                here, there = left[c], totals[c] - left[c]
                near = here if here < near else near
                far = there if there < far else far
            if near + far < best:
                best, at = near + far, values[i]
    return best, at
