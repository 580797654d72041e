"""The k-means cost at every threshold of a column, with centers that move with the rows.

With S[c] and W[c] the sum and the weight of the rows of cluster c, the cost of a clustering is

    (total sum of squares) - BSS,    BSS = sum over c of |S[c]|^2 / W[c],

with BSS the between-cluster sum of squares, which is maximised. Each row that goes from the right
to the left of a threshold moves its part of S and W from its right to its left cluster. Sums are
taken about an origin, which is 0 for sparse data. Clusters are given as a
`pellucid._core.refine.moving_center_split.Moments`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pellucid._core.kernels.sorting import counting_sort, shell_sort
from pellucid._utils.compilation import allocating, compiled, inner

_SQUARE_ROUNDING = 2.0**-46
"""Part of the largest |S|^2 of a sweep that rounding can change while it is updated."""


class DenseRows(NamedTuple):
    """Rows of a dense matrix: row i is X[index[i]], with a cluster on either side and a weight."""

    left: np.ndarray
    right: np.ndarray
    weight: np.ndarray
    index: np.ndarray
    X: np.ndarray
    origin: np.ndarray


class SparseRows(NamedTuple):
    """The same for rows of a CSR matrix."""

    left: np.ndarray
    right: np.ndarray
    weight: np.ndarray
    index: np.ndarray
    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray


@inner
def _square(sums, c):
    """|S|^2 of one cluster, in two independent sums."""
    n = sums.shape[1]
    even = odd = 0.0
    for j in range(0, n - 1, 2):
        even += sums[c, j] * sums[c, j]
        odd += sums[c, j + 1] * sums[c, j + 1]
    if n % 2:
        even += sums[c, n - 1] * sums[c, n - 1]
    return even + odd


@compiled
def between_ss(moments):
    """Sum of |S|^2 / W over all clusters that have rows."""
    total = 0.0
    for c in range(len(moments.weights)):
        if moments.counts[c] > 0:
            total += _square(moments.sums, c) / moments.weights[c]
    return total


@inner
def _move_weight(left, right, weight, weights, counts, wanted, is_stale):
    """Move a row's weight; return by how much the number of wanted clusters without rows falls."""
    weights[left] += weight
    weights[right] -= weight
    gets_rows = wanted[left] and counts[left] == 0
    counts[left] += 1
    counts[right] -= 1
    is_stale[left] = is_stale[right] = True
    return np.int64(gets_rows) - np.int64(wanted[right] and counts[right] == 0)


@inner
def _count_empty(wanted, counts):
    """Number of wanted clusters without rows."""
    n_empty = 0
    for c in range(len(wanted)):
        n_empty += wanted[c] and counts[c] == 0
    return n_empty


@compiled
def move_dense(moves, rows, moments):
    """Move the rows i with moves[i] from their right to their left cluster."""
    sums, weights, counts = moments.sums, moments.weights, moments.counts
    for i in range(len(moves)):
        if moves[i]:
            a, b, w, at = rows.left[i], rows.right[i], rows.weight[i], rows.index[i]
            for j in range(len(rows.origin)):
                part = w * (rows.X[at, j] - rows.origin[j])
                sums[a, j] += part
                sums[b, j] -= part
            weights[a] += w
            weights[b] -= w
            counts[a] += 1
            counts[b] -= 1


@compiled
def move_sparse(moves, rows, moments):
    """`move_dense` for rows of a CSR matrix."""
    sums, weights, counts = moments.sums, moments.weights, moments.counts
    for i in range(len(moves)):
        if moves[i]:
            a, b, w, at = rows.left[i], rows.right[i], rows.weight[i], rows.index[i]
            for p in range(rows.indptr[at], rows.indptr[at + 1]):
                part = w * np.float64(rows.data[p])
                sums[a, rows.indices[p]] += part
                sums[b, rows.indices[p]] -= part
            weights[a] += w
            weights[b] -= w
            counts[a] += 1
            counts[b] -= 1


@allocating
def sweep_dense(
    features, codes, n_edges, inside, row_numbers, rows, moments, wanted, tolerance, found
):
    """found[j] = largest BSS over the thresholds of column j, and the lowest that reaches it.

    For each column all rows are on the right at first, as `moments` has them, and go left in the
    order of their values. Only thresholds count that leave rows to every wanted cluster. A BSS that
    is larger by at most `tolerance` counts as equal. `codes` are those of all rows of the data,
    `row_numbers` the rows among them.
    """
    X, origin = rows.X, rows.origin
    n, k, width = len(row_numbers), len(moments.weights), inside.shape[1]
    order, values, keys = np.empty(n, dtype=np.int64), np.empty(n), np.empty(n)
    first = np.empty(width + 2, dtype=np.int64)
    S, W, N = np.empty(moments.sums.shape), np.empty(k), np.empty(k, dtype=np.int64)
    parts, is_stale = np.empty(k), np.empty(k, dtype=np.bool_)
    for f in range(len(features)):
        feature = features[f]
        for i in range(n):
            values[i] = X[rows.index[i], feature]
        n_codes = n_edges[feature] + 1
        counting_sort(codes[feature], row_numbers, n_codes, first, order)
        for b in range(n_codes):
            begin, end = first[b], first[b + 1]
            if inside[feature, b] and end - begin > 1:
                for p in range(begin, end):
                    keys[p] = values[order[p]]
                shell_sort(keys[begin:end], order[begin:end])
        for c in range(k):
            W[c], N[c], is_stale[c], parts[c] = moments.weights[c], moments.counts[c], True, 0.0
            for j in range(len(origin)):
                S[c, j] = moments.sums[c, j]
        n_empty = _count_empty(wanted, N)
        best, threshold = -np.inf, np.nan
        for p in range(n - 1):
            i = order[p]
            a, b, w, at = rows.left[i], rows.right[i], rows.weight[i], rows.index[i]
            for j in range(len(origin)):
                part = w * (X[at, j] - origin[j])
                S[a, j] += part
                S[b, j] -= part
            n_empty -= _move_weight(a, b, w, W, N, wanted, is_stale)
            if n_empty == 0 and values[i] < values[order[p + 1]]:
                total = 0.0
                for c in range(k):
                    if is_stale[c]:
                        is_stale[c] = False
                        parts[c] = _square(S, c) / W[c] if N[c] > 0 else 0.0
                    total += parts[c]
                if total > best + tolerance:
                    best, threshold = total, values[i]
        found[feature, 0], found[feature, 1] = best, threshold


@allocating
def sweep_sparse(order, values, rows, moments, wanted, tolerance):
    """`sweep_dense` for one column with a known order, and rows of a CSR matrix.

    |S|^2 is updated with every stored entry. It keeps the rounding errors of its largest value, and
    is computed anew before they could count for the weight that is left.
    """
    k = len(moments.weights)
    S, W, N = moments.sums.copy(), moments.weights.copy(), moments.counts.copy()
    squares, largest, is_stale = np.empty(k), np.empty(k), np.zeros(k, dtype=np.bool_)
    for c in range(k):
        squares[c] = largest[c] = _square(S, c)
    n_empty = _count_empty(wanted, N)
    best, threshold = -np.inf, np.nan
    for p in range(len(order) - 1):
        i = order[p]
        a, b, w, at = rows.left[i], rows.right[i], rows.weight[i], rows.index[i]
        for q in range(rows.indptr[at], rows.indptr[at + 1]):
            j, part = rows.indices[q], w * np.float64(rows.data[q])
            squares[a] += part * (2.0 * S[a, j] + part)
            squares[b] -= part * (2.0 * S[b, j] - part)
            S[a, j] += part
            S[b, j] -= part
        n_empty -= _move_weight(a, b, w, W, N, wanted, is_stale)
        if n_empty == 0 and values[i] < values[order[p + 1]]:
            total = 0.0
            for c in range(k):
                if N[c] > 0:
                    largest[c] = max(largest[c], squares[c])
                    if _SQUARE_ROUNDING * largest[c] > tolerance * W[c]:
                        squares[c] = largest[c] = _square(S, c)
                    total += squares[c] / W[c]
            if total > best + tolerance:
                best, threshold = total, values[i]
    return best, threshold


@compiled
def squares_dense(rows, squares):
    """Add to squares[j] the weighted squares of column j about the origin."""
    for i in range(len(rows.index)):
        for j in range(len(rows.origin)):
            gap = rows.X[rows.index[i], j] - rows.origin[j]
            squares[j] += rows.weight[i] * gap * gap


@compiled
def squares_sparse(rows, squares):
    """`squares_dense` for rows of a CSR matrix, about 0."""
    for i in range(len(rows.index)):
        for p in range(rows.indptr[rows.index[i]], rows.indptr[rows.index[i] + 1]):
            value = np.float64(rows.data[p])
            squares[rows.indices[p]] += rows.weight[i] * value * value
