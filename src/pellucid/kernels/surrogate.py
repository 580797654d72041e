"""Surrogate cost: each side of a cut pays at the one center that is cheapest for it.

With S[t, c] the cost to center c of the rows at or below edge t and T[c] that of all rows,

    cost(t) = min over c of S[t, c] + min over c of (T[c] - S[t, c]),

and inside bin b, whose rows pay their least cost or more,

    cost >= min over c of S[b - 1, c] + min over c of (T[c] - S[b, c]) + (least costs in bin b).
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from pellucid.kernels._compile import compiled, inner

NOTHING = 2**62
"""More than any cost."""

Priced = namedtuple("Priced", "rows slot costs totals")
"""The rows of a cell with their costs.

rows : row numbers
slot : place of every row of the data in `rows`, -1 for rows of other cells; for CSC columns
costs : of every row of the data: the cost to each center, the least of these, and 1
totals : sums of those over `rows`
"""


@compiled
def price_rows(costs, priced):
    """The columns of `Priced.costs`: costs, least cost, 1."""
    n, k = costs.shape
    for i in range(n):
        least = costs[i, 0]
        for c in range(k):
            priced[i, c] = costs[i, c]
            least = min(least, costs[i, c])
        priced[i, k] = least
        priced[i, k + 1] = 1


@compiled
def add_rows(rows, costs, totals):
    """Add up the prices of some rows."""
    for i in range(len(rows)):
        for c in range(costs.shape[1]):
            totals[c] += costs[rows[i], c]


@compiled
def add_by_bin(features, columns, cell, sums):
    """sums[f, b] = prices of the rows in bin b of the f-th feature, added up.

    Of a CSC column only the stored entries are looked at; all other rows are counted at once.
    Dense columns are gone through together, a block of rows at a time: the prices of the block
    stay in cache.
    """
    codes, rows, slot, costs = columns.codes, cell.rows, cell.slot, cell.costs
    n_prices = costs.shape[1]
    for f in range(len(features)):
        for b in range(columns.n_edges[features[f]] + 1):
            for c in range(n_prices):
                sums[f, b, c] = 0
    if columns.is_sparse:
        indices = columns.indices
        for f in range(len(features)):
            j = features[f]
            for p in range(columns.indptr[j], columns.indptr[j + 1]):
                row = indices[p]
                if slot[row] >= 0:
                    b = codes[0, p]
                    for c in range(n_prices):
                        sums[f, b, c] += costs[row, c]
            zero = columns.zero_code[j]
            for c in range(n_prices):
                rest = cell.totals[c]
                for b in range(columns.n_edges[j] + 1):
                    rest -= sums[f, b, c]
                sums[f, zero, c] += rest
        return
    block = 2048
    for start in range(0, len(rows), block):
        for f in range(len(features)):
            j = features[f]
            for i in range(start, min(start + block, len(rows))):
                row = rows[i]
                b = codes[j, row]
                for c in range(n_prices):
                    sums[f, b, c] += costs[row, c]


@inner
def judge_surrogate(sums, n_codes, totals, inside, limit, wanted):
    """Least cost over the edges, the lowest such edge, and a bound for the inside of the bins.

    Bins that could reach `limit` are marked as `wanted`.
    """
    k = len(totals) - 2
    below = np.zeros(k + 2, dtype=np.int64)
    best, at, bound = np.int64(NOTHING), -1, np.int64(NOTHING)
    before = np.int64(0)
    for t in range(n_codes):
        wanted[t] = False
        count = sums[t, k + 1]
        if count == 0:
            continue
        left, right = np.int64(NOTHING), np.int64(NOTHING)
        for c in range(k):
            below[c] += sums[t, c]
            left = min(left, below[c])
            right = min(right, totals[c] - below[c])
        below[k + 1] += count
        if count > 1 and inside[t]:
            least = before + right + sums[t, k]
            bound = min(bound, least)
            wanted[t] = least <= limit
        if below[k + 1] < totals[k + 1] and left + right < best:
            best, at = left + right, t
        before = left
    return best, at, bound


@compiled
def scan_surrogate(features, columns, cell, sums, found):
    """found[j] = least cost over the edges, its edge, bound inside the bins; `sums` by feature."""
    wanted = np.zeros(columns.edges.shape[1], dtype=np.bool_)
    for f in range(len(features)):
        j = features[f]
        found[j, 0], found[j, 1], found[j, 2] = judge_surrogate(
            sums[f], columns.n_edges[j] + 1, cell.totals, columns.inside[j], -1, wanted
        )


@compiled
def open_surrogate(j, columns, cell, limit):
    """Cumulative sums at the edges of one feature, and the bins that could reach `limit`."""
    width = columns.edges.shape[1]
    sums = np.zeros((1, width, cell.costs.shape[1]), dtype=np.int64)
    wanted = np.zeros(width, dtype=np.bool_)
    add_by_bin(np.array([j]), columns, cell, sums)
    judge_surrogate(sums[0], columns.n_edges[j] + 1, cell.totals, columns.inside[j], limit, wanted)
    for t in range(1, width):
        sums[0, t] += sums[0, t - 1]
    return sums[0], wanted


@compiled
def sweep_surrogate(values, codes, rows, sums, cell):
    """Least cost strictly inside the bins of the given rows, sorted by value, and its threshold."""
    k = sums.shape[1] - 2
    left = np.zeros(k, dtype=np.int64)
    best, at = np.int64(NOTHING), np.nan
    i = 0
    while i < len(values):
        b = codes[i]
        for c in range(k):
            left[c] = sums[b - 1, c] if b > 0 else 0
        while i < len(values) and codes[i] == b:
            value = values[i]
            while i < len(values) and values[i] == value:
                for c in range(k):
                    left[c] += cell.costs[rows[i], c]
                i += 1
            if i < len(values) and codes[i] == b:
                near, far = np.int64(NOTHING), np.int64(NOTHING)
                for c in range(k):
                    near = min(near, left[c])
                    far = min(far, cell.totals[c] - left[c])
                if near + far < best:
                    best, at = near + far, value
    return best, at
