"""Costs in integer units, nearest centers, and sums over groups of rows."""

from __future__ import annotations

import numpy as np

from pellucid._utils.compilation import compiled, fused

BLOCK_ROWS = 4096
"""Rows that `dense_moments` sums together; fixed, so that sums do not depend on the threads."""


def _cost_loops(squared: bool):
    """The loops over dense and over CSR rows for d(x, c) = (x - c)^2, or |x - c|."""

    @compiled
    def dense_costs(X, centers, scale, per_unit, out):
        """out[i, c] = sum over j of round(scale[i] d(X[i, j], centers[c, j]) per_unit).

        `per_unit` is a power of two.
        """
        n_centers, n_features = centers.shape
        for i in range(X.shape[0]):
            factor = scale[i] * per_unit
            for c in range(n_centers):
                total = np.int64(0)
                for j in range(n_features):
                    gap = X[i, j] - centers[c, j]
                    distance = gap * gap if squared else abs(gap)
                    total += np.int64(np.rint(distance * factor))
                out[i, c] = total

    @compiled
    def sparse_costs(data, indices, indptr, coordinates, scale, per_unit, scratch, out):
        """The same for the rows of a CSR matrix, in time proportional to the stored entries.

        coordinates[j, c] is centers[c, j]. Integers cancel exactly: start from the cost of an
        all-zero row, then replace the terms of the stored entries. `scratch`, of shape
        (n_features + 1, n_centers), holds the terms of 0 and their sums.
        """
        n_features, n_centers = coordinates.shape
        for i in range(len(indptr) - 1):
            factor = scale[i] * per_unit
            if i == 0 or scale[i] != scale[i - 1]:
                for c in range(n_centers):
                    total = np.int64(0)
                    for j in range(n_features):
                        at = coordinates[j, c]
                        distance = at * at if squared else abs(at)
                        scratch[j, c] = np.int64(np.rint(distance * factor))
                        total += scratch[j, c]
                    scratch[n_features, c] = total
            for c in range(n_centers):
                out[i, c] = scratch[n_features, c]
            for p in range(indptr[i], indptr[i + 1]):
                j, value = indices[p], np.float64(data[p])
                for c in range(n_centers):
                    gap = value - coordinates[j, c]
                    distance = gap * gap if squared else abs(gap)
                    out[i, c] += np.int64(np.rint(distance * factor)) - scratch[j, c]

    return dense_costs, sparse_costs


dense_costs, sparse_costs = _cost_loops(squared=True)
dense_absolute_costs, sparse_absolute_costs = _cost_loops(squared=False)


@fused
def dense_nearest(X, centers, half_squares, largest, error, out):
    """out[i] = the center c of the largest score X[i] . centers[c] - half_squares[c]; -1 if the
    two largest differ by at most error (|x|^2 + largest).

    Two rows and two centers at a time, since each number that is read then serves twice; both rows
    get the sum of their squares as |x|^2. The last of an odd number of rows is read twice; the
    number of centers is even.
    """
    n, n_features = X.shape
    for i in range(0, n, 2):
        k = i + 1 if i + 1 < n else i
        size = largest
        for j in range(n_features):
            size += X[i, j] * X[i, j] + X[k, j] * X[k, j]
        best = second = other_best = other_second = -np.inf
        at = other_at = -1
        for c in range(0, len(half_squares), 2):
            a = other_a = -half_squares[c]
            b = other_b = -half_squares[c + 1]
            for j in range(n_features):
                x, y, left, right = X[i, j], X[k, j], centers[c, j], centers[c + 1, j]
                a += x * left
                b += x * right
                other_a += y * left
                other_b += y * right
            for turn in range(2):
                value, other = (b, other_b) if turn else (a, other_a)
                low = value if value < best else best
                second = low if low > second else second
                at = c + turn if value > best else at
                best = value if value > best else best
                low = other if other < other_best else other_best
                other_second = low if low > other_second else other_second
                other_at = c + turn if other > other_best else other_at
                other_best = other if other > other_best else other_best
        out[i] = at if best - second > error * size else -1
        out[k] = other_at if other_best - other_second > error * size else -1


@compiled
def pick_nearest(products, half_squares, errors, out):
    """out[i] = the center c of the largest score products[i, c] - half_squares[c]; -1 if the two
    largest differ by at most errors[i].
    """
    for i in range(len(out)):
        best, second, at = -np.inf, -np.inf, -1
        for c in range(len(half_squares)):
            value = products[i, c] - half_squares[c]
            if value > best:
                second = best
                best = value
                at = c
            elif value > second:
                second = value
        out[i] = at if best - second > errors[i] else -1


@compiled
def dense_sums(X, labels, weight, first, sums):
    """sums[g, first + j] = sum of weight X[i, j] over the rows of group g.

    Rows are added in order in every storage, so the bits are always the same.
    """
    for i in range(X.shape[0]):
        g = labels[i]
        if g >= 0:
            for j in range(X.shape[1]):
                sums[g, first + j] += weight[i] * X[i, j]


@compiled
def sparse_sums(data, indices, indptr, first, last, labels, weight, sums):
    """The same for columns of a CSC matrix."""
    for j in range(first, last):
        for p in range(indptr[j], indptr[j + 1]):
            i = indices[p]
            g = labels[i]
            if g >= 0:
                sums[g, j] += weight[i] * np.float64(data[p])


@fused
def dense_moments(X, rows, labels, others, weight, origins, weights, squares, sums):
    """Sum weights, squared distances and differences to the origin o of a row's group.

    For each block b of BLOCK_ROWS of the `rows` by itself, with p the place of a row's group:

        weights[b, p] += weight,
        squares[b, p] += weight |x - o|^2,
        sums[b, p, j] += weight (x_j - o_j).

    Rows that both groupings put into group g have the place p = g; those that only `labels` puts
    there come after all groups, then those that only `others` puts there. Label -1 is in no group.
    """
    n_groups, n_features = origins.shape
    for b in range(len(weights)):
        begin, end = b * BLOCK_ROWS, (b + 1) * BLOCK_ROWS
        for r in range(np.uint64(begin), np.uint64(end if end < len(rows) else len(rows))):
            i = np.uint64(rows[r])
            own, other, factor = labels[i], others[i], weight[i]
            differ = own != other
            for turn in range(1 + differ):
                g = other if turn else own
                if g >= 0:
                    group = np.uint64(g)
                    place, square = group + np.uint64((differ + turn) * n_groups), 0.0
                    for j in range(n_features):
                        gap = X[i, j] - origins[group, j]
                        square += gap * gap
                        sums[b, place, j] += factor * gap
                    weights[b, place] += factor
                    squares[b, place] += factor * square


@compiled
def sparse_moments(data, indices, indptr, labels, weight, origins, totals, sums, scratch):
    """The same for all rows of a CSC matrix and one grouping, in time of its stored entries.

    For each group: totals[g, 0] = weight, totals[g, 1] = squares. `scratch`, all 0, holds for each
    group the weight and the number of its stored entries in a column, and the number of its rows.
    All other entries are 0; there are none if there are as many stored entries as rows, whatever
    rounding leaves of the weight.
    """
    for i in range(len(labels)):
        if labels[i] >= 0:
            totals[labels[i], 0] += weight[i]
            scratch[labels[i], 2] += 1
    for j in range(len(indptr) - 1):
        for p in range(indptr[j], indptr[j + 1]):
            i = indices[p]
            g = labels[i]
            if g >= 0:
                gap = np.float64(data[p]) - origins[g, j]
                totals[g, 1] += weight[i] * gap * gap
                sums[g, j] += weight[i] * gap
                scratch[g, 0] += weight[i]
                scratch[g, 1] += 1
        for g in range(len(origins)):
            if scratch[g, 1] < scratch[g, 2]:
                rest, at = totals[g, 0] - scratch[g, 0], origins[g, j]
                totals[g, 1] += rest * at * at
                sums[g, j] -= rest * at
            scratch[g, 0] = scratch[g, 1] = 0
