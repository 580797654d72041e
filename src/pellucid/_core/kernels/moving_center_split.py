"""The k-means cost at every threshold of a column, with centers that move with the rows.

With S[c] and W[c] the sum and the weight of the rows of cluster c, the cost of a clustering is

    (total sum of squares) - BSS,    BSS = sum over c of |S[c]|^2 / W[c],

with BSS the between-cluster sum of squares, which is maximised. Each row that goes from the right
to the left of a threshold moves its part of S and W from its right to its left cluster. Sums are
taken about an origin, which is 0 for sparse data. Clusters are given as a
`pellucid._core.refine.polish_state.Moments`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

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


@inlined
def _move_dense(rows, i, a, b, S, squares):
    """Move a row from cluster b to cluster a."""
    w, at = rows.weight[i], rows.place[i]
    for j in range(len(rows.origin)):
        part = w * (rows.X[at, j] - rows.origin[j])
        S[a, j] += part
        S[b, j] -= part
    squares[a] = squares[b] = -1.0


@inlined
def _move_sparse(rows, i, a, b, S, squares):
    """The same for a row of a CSR matrix."""
    w, at = rows.weight[i], rows.place[i]
    for q in range(rows.indptr[at], rows.indptr[at + 1]):
        j, part = rows.indices[q], w * np.float64(rows.data[q])
        squares[a] += part * (2.0 * S[a, j] + part)
        squares[b] -= part * (2.0 * S[b, j] - part)
        S[a, j] += part
        S[b, j] -= part


def _loops(is_sparse: bool, move: Any) -> tuple[Any, Any]:
    """The loops over dense or over CSR rows.

    |S|^2 of dense rows is computed where it is needed. That of sparse rows is updated with every
    stored entry. It keeps the rounding errors of its largest value, and is computed anew before
    they could count for the weight that is left.
    """

    @compiled
    def move_rows(moves, rows, moments, squares):
        """Move the rows i with moves[i] from their right to their left cluster."""
        S, W, N = moments
        for i in range(len(moves)):
            if moves[i]:
                a, b, w = rows.left[i], rows.right[i], rows.weight[i]
                move(rows, i, a, b, S, squares)
                W[a] += w
                W[b] -= w
                N[a] += 1
                N[b] -= 1

    @compiled
    def sweep(order, values, rows, moments, wanted, n_empty, tolerance, squares, largest):
        """The largest BSS over the thresholds of a column, and the lowest that reaches it.

        All rows are on the right at first, as `moments` has them, and go left in their `order`, so
        that `moments` change. Only thresholds count that leave rows to every wanted cluster; at
        first `n_empty` of them have none. A BSS that is larger by at most `tolerance` counts as
        equal. `squares`, |S|^2 of the clusters, and `largest` are scratch space.
        """
        S, W, N = moments
        for c in range(len(squares)):
            squares[c] = largest[c] = _square(S, c) if is_sparse else -1.0
        best, threshold = -np.inf, np.nan
        for p in range(len(order) - 1):
            i = order[p]
            a, b, w = rows.left[i], rows.right[i], rows.weight[i]
            move(rows, i, a, b, S, squares)
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
                        rounding = _SQUARE_ROUNDING * largest[c] if is_sparse else -squares[c]
                        if rounding > (tolerance * W[c] if is_sparse else 0.0):
                            squares[c] = largest[c] = _square(S, c)
                        total += squares[c] / W[c]
                if total > best + tolerance:
                    best, threshold = total, values[i]
        return best, threshold

    return move_rows, sweep


move_dense, sweep_dense = _loops(False, _move_dense)
move_sparse, sweep_sparse = _loops(True, _move_sparse)
