"""The true k-means cost at every threshold of a column, the centers moving along with the rows.

With S[c] and W[c] the sum and the weight of the rows of cluster c, the cost of a clustering is

    (squares of all rows) - (sum over c of |S[c]|^2 / W[c]),

so that the second sum alone is to be maximised. Each row that goes from the right to the left
takes its part of S and W from one cluster to another.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from pellucid.kernels._compile import compiled, inner

Moving = namedtuple("Moving", "near far weight line dense data indices indptr origin is_sparse")
"""Rows that go to one cluster on the left of a cut and to another on its right.

near, far : cluster of each row on the left and on the right
weight : of each row
line : where each row is in `dense`, or in `indptr`
dense : rows of the data; empty for sparse data
data, indices, indptr : of a CSR matrix; empty for dense data
origin : point that sums are taken about; 0 for sparse data
"""


@inner
def take_sparse_row(moving, i, sums, squares):
    """Take a row of CSR data from sums[far] to sums[near]; squares[c] stays |sums[c]|^2."""
    near, far, weight, line = moving.near[i], moving.far[i], moving.weight[i], moving.line[i]
    data, indices, indptr = moving.data, moving.indices, moving.indptr
    for p in range(indptr[line], indptr[line + 1]):
        j, part = indices[p], weight * np.float64(data[p])
        squares[near] += part * (2.0 * sums[near, j] + part)
        squares[far] -= part * (2.0 * sums[far, j] - part)
        sums[near, j] += part
        sums[far, j] -= part


@inner
def square(sums, c):
    """|S|^2 of one cluster; two sums side by side."""
    n = sums.shape[1]
    even = odd = 0.0
    for j in range(0, n - 1, 2):
        even += sums[c, j] * sums[c, j]
        odd += sums[c, j + 1] * sums[c, j + 1]
    if n % 2:
        even += sums[c, n - 1] * sums[c, n - 1]
    return even + odd


@compiled
def total_share(sums, weights, counts):
    """Sum of |S|^2 / W over all clusters that have rows."""
    total = 0.0
    for c in range(len(weights)):
        if counts[c] > 0:
            total += square(sums, c) / weights[c]
    return total


@compiled
def move_rows(moving, goes, sums, weights, counts):
    """Take the rows that go from their far to their near cluster."""
    dense, origin, squares = moving.dense, moving.origin, np.zeros(len(weights))
    for i in range(len(goes)):
        if goes[i]:
            near, far = moving.near[i], moving.far[i]
            if moving.is_sparse:
                take_sparse_row(moving, i, sums, squares)
            else:
                line = moving.line[i]
                for j in range(len(origin)):
                    part = moving.weight[i] * (dense[line, j] - origin[j])
                    sums[near, j] += part
                    sums[far, j] -= part
            weights[near] += moving.weight[i]
            weights[far] -= moving.weight[i]
            counts[near] += 1
            counts[far] -= 1


@compiled
def add_squares(moving, squares):
    """Add to squares[j] the weighted squares of column j about the origin."""
    dense, origin = moving.dense, moving.origin
    for i in range(len(moving.line)):
        weight, line = moving.weight[i], moving.line[i]
        if moving.is_sparse:
            for p in range(moving.indptr[line], moving.indptr[line + 1]):
                value = np.float64(moving.data[p])
                squares[moving.indices[p]] += weight * value * value
        else:
            for j in range(len(origin)):
                gap = dense[line, j] - origin[j]
                squares[j] += weight * gap * gap


@inner
def sort_by_bin(codes, rows, n_codes, first, order):
    """Places of the rows by code, equal codes in order; first[b] is where code b starts."""
    for b in range(n_codes + 1):
        first[b] = 0
    for i in range(len(rows)):
        first[codes[rows[i]] + 1] += 1
    for b in range(n_codes):
        first[b + 1] += first[b]
    for i in range(len(rows)):
        b = codes[rows[i]]
        order[first[b]] = i
        first[b] += 1
    for b in range(n_codes, 0, -1):
        first[b] = first[b - 1]
    first[0] = 0


@inner
def sort_part(order, begin, end, values):
    """Sort places by value, equal values by place (Shell's method)."""
    gap = 1
    while gap < (end - begin) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for p in range(begin + gap, end):
            i = order[p]
            q = p
            while q >= begin + gap and (
                values[order[q - gap]] > values[i]
                or (values[order[q - gap]] == values[i] and order[q - gap] > i)
            ):
                order[q] = order[q - gap]
                q -= gap
            order[q] = i
        gap //= 3


@compiled
def sweep_moving(order, values, moving, sums, weights, counts, wanted, tolerance):
    """Largest sum of |S|^2 / W over the thresholds of a column, and the lowest that reaches it.

    At the start all rows are on the right; they go left in the given order, that of their values.
    Only thresholds count that leave no `wanted` cluster empty. A sum that is larger by no more
    than the tolerance counts as equal.
    """
    nears, fars, row_weights, lines = moving.near, moving.far, moving.weight, moving.line
    dense, origin, is_sparse = moving.dense, moving.origin, moving.is_sparse
    sums, weights, counts = sums.copy(), weights.copy(), counts.copy()
    k = len(weights)
    squares, shares, is_stale = np.zeros(k), np.zeros(k), np.ones(k, dtype=np.bool_)
    missing = 0
    for c in range(k):
        squares[c] = square(sums, c)
        missing += wanted[c] and counts[c] == 0
    best, at = -np.inf, np.nan
    for p in range(len(order) - 1):
        i = order[p]
        near, far, weight = nears[i], fars[i], row_weights[i]
        if is_sparse:
            take_sparse_row(moving, i, sums, squares)
        else:
            line = lines[i]
            for j in range(len(origin)):
                part = weight * (dense[line, j] - origin[j])
                sums[near, j] += part
                sums[far, j] -= part
        weights[near] += weight
        weights[far] -= weight
        missing -= wanted[near] and counts[near] == 0
        counts[near] += 1
        counts[far] -= 1
        missing += wanted[far] and counts[far] == 0
        is_stale[near] = is_stale[far] = True
        if missing == 0 and values[i] < values[order[p + 1]]:
            total = 0.0
            for c in range(k):
                if is_stale[c]:
                    is_stale[c] = False
                    if not is_sparse:
                        squares[c] = square(sums, c)
                    shares[c] = squares[c] / weights[c] if counts[c] > 0 else 0.0
                total += shares[c]
            if total > best + tolerance:
                best, at = total, values[i]
    return best, at


@compiled
def sweep_columns(features, columns, rows, moving, moments, wanted, tolerance, found):
    """found[f] = largest sum over the thresholds of a dense column, and its threshold."""
    codes, inside, n_edges = columns.codes, columns.inside, columns.n_edges
    dense, lines = moving.dense, moving.line
    n = len(rows)
    order, values = np.empty(n, dtype=np.int64), np.empty(n)
    first = np.empty(columns.edges.shape[1] + 2, dtype=np.int64)
    for f in range(len(features)):
        j = features[f]
        n_codes = n_edges[j] + 1
        for i in range(n):
            values[i] = dense[lines[i], j]
        sort_by_bin(codes[j], rows, n_codes, first, order)
        for b in range(n_codes):
            if inside[j, b] and first[b + 1] - first[b] > 1:
                sort_part(order, first[b], first[b + 1], values)
        found[f, 0], found[f, 1] = sweep_moving(
            order, values, moving, moments[0], moments[1], moments[2], wanted, tolerance
        )
