"""The true k-means cost at every threshold of a column, the centers moving along with the rows.

With S[c] and W[c] the sum and the weight of the rows of cluster c, the cost of a clustering is

    (squares of all rows) - (sum over c of |S[c]|^2 / W[c]),

so that the second sum, the *share*, is to be maximised. Each row that goes from the right to the
left takes its part of S and W from its far to its near cluster. Sums are taken about an origin,
which for sparse data is 0.
"""

from __future__ import annotations

import numpy as np

from pellucid._utils.compilation import allocating, compiled, inner


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


@inner
def recount(near, far, weight, weights, counts, wanted, is_stale):
    """A row goes from one cluster to another; by how much fewer wanted clusters are empty."""
    weights[near] += weight
    weights[far] -= weight
    found = wanted[near] and counts[near] == 0
    counts[near] += 1
    counts[far] -= 1
    is_stale[near] = is_stale[far] = True
    return np.int64(found) - np.int64(wanted[far] and counts[far] == 0)


@inner
def count_missing(wanted, counts):
    """How many wanted clusters are empty."""
    missing = 0
    for c in range(len(wanted)):
        missing += wanted[c] and counts[c] == 0
    return missing


@compiled
def move_dense(goes, near, far, weight, line, lines, origin, sums, weights, counts):
    """Take the rows that go from their far to their near cluster; row i is lines[line[i]]."""
    for i in range(len(goes)):
        if goes[i]:
            a, b, w, at = near[i], far[i], weight[i], line[i]
            for j in range(len(origin)):
                part = w * (lines[at, j] - origin[j])
                sums[a, j] += part
                sums[b, j] -= part
            weights[a] += w
            weights[b] -= w
            counts[a] += 1
            counts[b] -= 1


@compiled
def move_sparse(goes, near, far, weight, line, data, indices, indptr, sums, weights, counts):
    """The same for rows of a CSR matrix."""
    for i in range(len(goes)):
        if goes[i]:
            a, b, w, at = near[i], far[i], weight[i], line[i]
            for p in range(indptr[at], indptr[at + 1]):
                part = w * np.float64(data[p])
                sums[a, indices[p]] += part
                sums[b, indices[p]] -= part
            weights[a] += w
            weights[b] -= w
            counts[a] += 1
            counts[b] -= 1


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


@allocating
def sweep_dense(features, codes, n_edges, inside, rows, near, far, weight, line, lines, origin,
                sums, weights, counts, wanted, tolerance, found):  # fmt: skip
    """found[j] = largest share over the thresholds of column j, and the lowest that reaches it.

    For each column all rows are on the right at first, as the sums have them, and go left in the
    order of their values. Only thresholds count that leave no wanted cluster empty. A share that is
    larger by no more than the tolerance counts as equal.
    """
    n, k, width = len(rows), len(weights), inside.shape[1]
    order, values = np.empty(n, dtype=np.int64), np.empty(n)
    first = np.empty(width + 2, dtype=np.int64)
    S, W, N = np.empty(sums.shape), np.empty(k), np.empty(k, dtype=np.int64)
    shares, is_stale = np.empty(k), np.empty(k, dtype=np.bool_)
    for f in range(len(features)):
        feature = features[f]
        for i in range(n):
            values[i] = lines[line[i], feature]
        n_codes = n_edges[feature] + 1
        sort_by_bin(codes[feature], rows, n_codes, first, order)
        for b in range(n_codes):
            if inside[feature, b] and first[b + 1] - first[b] > 1:
                sort_part(order, first[b], first[b + 1], values)
        for c in range(k):
            W[c], N[c], is_stale[c], shares[c] = weights[c], counts[c], True, 0.0
            for j in range(len(origin)):
                S[c, j] = sums[c, j]
        missing = count_missing(wanted, N)
        best, at = -np.inf, np.nan
        for p in range(n - 1):
            i = order[p]
            a, b, w, place = near[i], far[i], weight[i], line[i]
            for j in range(len(origin)):
                part = w * (lines[place, j] - origin[j])
                S[a, j] += part
                S[b, j] -= part
            missing -= recount(a, b, w, W, N, wanted, is_stale)
            if missing == 0 and values[i] < values[order[p + 1]]:
                total = 0.0
                for c in range(k):
                    if is_stale[c]:
                        is_stale[c] = False
                        shares[c] = square(S, c) / W[c] if N[c] > 0 else 0.0
                    total += shares[c]
                if total > best + tolerance:
                    best, at = total, values[i]
        found[feature, 0], found[feature, 1] = best, at


@allocating
def sweep_sparse(order, values, near, far, weight, line, data, indices, indptr,
                 sums, weights, counts, wanted, tolerance):  # fmt: skip
    """The same for one column, whose order is known, and rows of a CSR matrix.

    Squares are kept up to date entry by entry.
    """
    k = len(weights)
    S, W, N = sums.copy(), weights.copy(), counts.copy()
    squares, is_stale = np.empty(k), np.zeros(k, dtype=np.bool_)
    for c in range(k):
        squares[c] = square(S, c)
    missing = count_missing(wanted, N)
    best, at = -np.inf, np.nan
    for p in range(len(order) - 1):
        i = order[p]
        a, b, w, place = near[i], far[i], weight[i], line[i]
        for q in range(indptr[place], indptr[place + 1]):
            j, part = indices[q], w * np.float64(data[q])
            squares[a] += part * (2.0 * S[a, j] + part)
            squares[b] -= part * (2.0 * S[b, j] - part)
            S[a, j] += part
            S[b, j] -= part
        missing -= recount(a, b, w, W, N, wanted, is_stale)
        if missing == 0 and values[i] < values[order[p + 1]]:
            total = 0.0
            for c in range(k):
                if N[c] > 0:
                    total += squares[c] / W[c]
            if total > best + tolerance:
                best, at = total, values[i]
    return best, at


@compiled
def squares_dense(weight, line, lines, origin, squares):
    """Add to squares[j] the weighted squares of column j about the origin."""
    for i in range(len(line)):
        for j in range(len(origin)):
            gap = lines[line[i], j] - origin[j]
            squares[j] += weight[i] * gap * gap


@compiled
def squares_sparse(weight, line, data, indices, indptr, squares):
    """The same for rows of a CSR matrix, about 0."""
    for i in range(len(line)):
        for p in range(indptr[line[i]], indptr[line[i] + 1]):
            squares[indices[p]] += weight[i] * np.float64(data[p]) * np.float64(data[p])
