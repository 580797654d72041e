"""The k-means cost at every threshold of a column, with centers that move with the rows.

With S[c] and W[c] the sum and the weight of the rows of cluster c, the cost of a clustering is

    (total sum of squares) - BSS,    BSS = sum over c of |S[c]|^2 / W[c],

with BSS the between-cluster sum of squares, which is maximised. Each row that goes from the right
to the left of a threshold moves its part of S and W from its right to its left cluster. Sums are
taken about an origin, which is 0 for sparse data. Clusters are given as a
`pellucid._core.refine.node_cuts.Moments`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pellucid._utils.compilation import compiled, inlined

_SQUARE_ROUNDING = 2.0**-46
"""Part of the largest |S|^2 of a sweep that rounding can change while it is updated."""


class DenseRows(NamedTuple):
    """Rows of a dense matrix: row i is X[place[i]], with a cluster on either side and a weight."""

    left: np.ndarray
    right: np.ndarray
    weight: np.ndarray
    place: np.ndarray
    X: np.ndarray
    origin: np.ndarray


class SparseRows(NamedTuple):
    """The same for rows of a CSR matrix."""

    left: np.ndarray
    right: np.ndarray
    weight: np.ndarray
    place: np.ndarray
    data: np.ndarray
    indices: np.ndarray
    indptr: np.ndarray


@inlined
def _square(sums, c):
    """|S|^2 of one cluster, in two independent sums."""
    _, n = sums.shape
    even = odd = 0.0
    for j in range(0, n - 1, 2):
        even += sums[c, j] * sums[c, j]
        odd += sums[c, j + 1] * sums[c, j + 1]
    if n % 2:
        even += sums[c, n - 1] * sums[c, n - 1]
    return even + odd


@compiled
def move_dense(moves, rows, moments):
    """Move the rows i with moves[i] from their right to their left cluster."""
    left, right, weight, place, X, origin = rows
    sums, weights, counts = moments
    for i in range(len(moves)):
        if moves[i]:
            a, b, w, at = left[i], right[i], weight[i], place[i]
            for j in range(len(origin)):
                part = w * (X[at, j] - origin[j])
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
            a, b, w, at = rows.left[i], rows.right[i], rows.weight[i], rows.place[i]
            for p in range(rows.indptr[at], rows.indptr[at + 1]):
                part = w * np.float64(rows.data[p])
                sums[a, rows.indices[p]] += part
                sums[b, rows.indices[p]] -= part
            weights[a] += w
            weights[b] -= w
            counts[a] += 1
            counts[b] -= 1


@compiled
def sweep_dense(order, values, rows, moments, wanted, n_empty, tolerance, parts):
    """The largest BSS over the thresholds of a column, and the lowest that reaches it.

    All rows are on the right at first, as `moments` has them, and go left in their `order`, so
    that `moments` change. Only thresholds count that leave rows to every wanted cluster; at first
    `n_empty` of them have none. A BSS that is larger by at most `tolerance` counts as equal.
    `parts` is scratch space: |S|^2 / W of each cluster, negative if it is to be computed.
    """
    left, right, weight, place, X, origin = rows
    S, W, N = moments
    best, threshold = -np.inf, np.nan
    for c in range(len(parts)):
        parts[c] = -1.0
    for p in range(len(order) - 1):
        i = order[p]
        a, b, w, at = left[i], right[i], weight[i], place[i]
        for j in range(len(origin)):
            part = w * (X[at, j] - origin[j])
            S[a, j] += part
            S[b, j] -= part
        W[a] += w
        W[b] -= w
        if wanted[a] and N[a] == 0:
            n_empty -= 1
        N[a] += 1
        N[b] -= 1
        if wanted[b] and N[b] == 0:
            n_empty += 1
        parts[a] = parts[b] = -1.0
        if n_empty == 0 and values[i] < values[order[p + 1]]:
            total = 0.0
            for c in range(len(parts)):
                if parts[c] < 0:
                    parts[c] = _square(S, c) / W[c] if N[c] > 0 else 0.0
                total += parts[c]
            if total > best + tolerance:
                best, threshold = total, values[i]
    return best, threshold


@compiled
def sweep_sparse(order, values, rows, moments, wanted, n_empty, tolerance, squares, largest):
    """`sweep_dense` for rows of a CSR matrix.

    |S|^2 is updated with every stored entry. It keeps the rounding errors of its largest value, and
    is computed anew before they could count for the weight that is left. `squares` and `largest`
    are scratch space.
    """
    left, right, weight, place, data, indices, indptr = rows
    S, W, N = moments
    for c in range(len(squares)):
        squares[c] = largest[c] = _square(S, c)
    best, threshold = -np.inf, np.nan
    for p in range(len(order) - 1):
        i = order[p]
        a, b, w, at = left[i], right[i], weight[i], place[i]
        for q in range(indptr[at], indptr[at + 1]):
            j, part = indices[q], w * np.float64(data[q])
            squares[a] += part * (2.0 * S[a, j] + part)
            squares[b] -= part * (2.0 * S[b, j] - part)
            S[a, j] += part
            S[b, j] -= part
        W[a] += w
        W[b] -= w
        if wanted[a] and N[a] == 0:
            n_empty -= 1
        N[a] += 1
        N[b] -= 1
        if wanted[b] and N[b] == 0:
            n_empty += 1
        if n_empty == 0 and values[i] < values[order[p + 1]]:
            total = 0.0
            for c in range(len(squares)):
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
    for i in range(len(rows.place)):
        for j in range(len(rows.origin)):
            gap = rows.X[rows.place[i], j] - rows.origin[j]
            squares[j] += rows.weight[i] * gap * gap


@compiled
def squares_sparse(rows, squares):
    """`squares_dense` for rows of a CSR matrix, about 0."""
    for i in range(len(rows.place)):
        for p in range(rows.indptr[rows.place[i]], rows.indptr[rows.place[i] + 1]):
            value = np.float64(rows.data[p])
            squares[rows.indices[p]] += rows.weight[i] * value * value
