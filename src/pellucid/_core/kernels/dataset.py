"""Costs in integer units, nearest centers, and sums over groups of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid._utils.compilation import compiled, fused, inlined

BLOCK_ROWS = 4096
"""Rows that `dense_moments` sums together; fixed, so that sums do not depend on the threads."""


_TO_INTEGER, _TO_FRACTION = 1.5 * 2.0**52, 1.5 * 2.0**21
"""Numbers that round others to integers and to multiples of 2**-31."""


def _cost_loops(squared: bool) -> tuple[Any, Any]:
    """The loops over dense and over CSR rows for d(x, c) = (x - c)^2, or |x - c|."""

    @compiled
    def dense_costs(X, centers, scale, per_unit, out):
        """out[i, c] = sum over j of round(scale[i] d(X[i, j], centers[c, j]) per_unit).

        `per_unit` is a power of two.
        """
        n_centers, n_features = centers.shape
        for i in range(len(X)):
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
def dense_nearest(X, centers, half_squares, largest, error, limit, out):
    """out[i] = the center c of the largest score X[i] . centers[c] - half_squares[c]; -1 if the
    two largest differ by at most error (|X[i]|^2 + largest), or if that sum is above the limit.

    Two centers at a time, since each value that is read then serves twice: their number is even.
    """
    n_samples, n_features = X.shape
    for i in range(n_samples):
        size = largest
        for j in range(n_features):
            size += X[i, j] * X[i, j]
        best = second = -np.inf
        at = -1
        for c in range(0, len(half_squares), 2):
            even = odd = 0.0
            for j in range(n_features):
                even += X[i, j] * centers[c, j]
                odd += X[i, j] * centers[c + 1, j]
            for turn in range(2):
                score = odd - half_squares[c + 1] if turn else even - half_squares[c]
                lower = score if score < best else best
                second = lower if lower > second else second
                at = c + turn if score > best else at
                best = score if score > best else best
        out[i] = at if best - second > error * size and size <= limit else -1


@compiled
def dense_sums(X, labels, weight, are_counts, scale, high, low):
    """Sum weight X[i, j] over the rows of each group g, so that the order does not matter.

    A term t = weight X[i, j] scale[j] of less than 2**30 adds the nearest integer to
    high[g, j], and the rest, rounded to a multiple of 2**-31, to low[g, j]. Weights that are
    counts multiply both after rounding, so that they equal repeated rows. All sums over a count of
    at most 2**22 rows are exact. Numbers are rounded by adding a number so large that it has no
    more digits, and subtracting it.
    """
    n_samples, n_features = X.shape
    for i in range(n_samples):
        g = labels[i]
        if g >= 0:
            factor, times = (1.0, weight[i]) if are_counts else (weight[i], 1.0)
            for j in range(n_features):
                term = factor * X[i, j] * scale[j]
                whole = (term + _TO_INTEGER) - _TO_INTEGER
                high[g, j] += times * whole
                low[g, j] += times * ((term - whole + _TO_FRACTION) - _TO_FRACTION)


@compiled
def sparse_sums(data, indices, indptr, first, last, labels, weight, are_counts, scale, high, low):
    """The same for columns of a CSC matrix and any number of rows: `high` and `low` are integers,
    `low` in units of 2**-31.
    """
    for j in range(first, last):
        for p in range(indptr[j], indptr[j + 1]):
            i = indices[p]
            g = labels[i]
            if g >= 0:
                factor, times = (1.0, np.int64(weight[i])) if are_counts else (weight[i], 1)
                term = factor * np.float64(data[p]) * scale[j]
                whole = (term + _TO_INTEGER) - _TO_INTEGER
                high[g, j] += times * np.int64(whole)
                fraction = (term - whole + _TO_FRACTION) - _TO_FRACTION
                low[g, j] += times * np.int64(fraction * 2147483648.0)


@fused
def dense_moments(X, rows, labels, weight, origins, weights, squares, sums):
    """Sum weights, squared distances and differences to the origin o = origins[g] of each group g.

    For each block b of BLOCK_ROWS of the `rows` by itself, over the rows x of group g:

        weights[b, g] = sum of weight,
        squares[b, g] = sum of weight |x - o|^2,
        sums[b, g] = sum of weight (x - o).

    Label -1 is in no group.
    """
    _, n_features = X.shape
    for b in range(len(weights)):
        begin, end = b * BLOCK_ROWS, (b + 1) * BLOCK_ROWS
        for r in range(begin, end if end < len(rows) else len(rows)):
            # Unsigned indices are not checked for being negative.
            i = np.uint64(rows[r])
            if labels[i] >= 0:
                g, square = np.uint64(labels[i]), 0.0
                for j in range(n_features):
                    gap = X[i, j] - origins[g, j]
                    square += gap * gap
                    sums[b, g, j] += weight[i] * gap
                weights[b, g] += weight[i]
                squares[b, g] += weight[i] * square


@inlined
def rounding_error(a, b):
    """The exact sum a + b less the rounded one (Knuth's algorithm)."""
    total = a + b
    part = total - a
    return (a - (total - part)) + (b - part)


@compiled
def sparse_moments(data, indices, indptr, labels, weight, origins, totals, sums, scratch):
    """The same for all rows of a CSC matrix, in time proportional to its stored entries.

    For each group: totals[g, 0] = weight, totals[g, 1] = squares. `scratch`, all 0, holds for each
    group the number of its rows and the rounding errors of its weight; then the number and the
    weight of its stored entries in a column, and the rounding errors of that weight.
    All other entries are 0. Their weight is a difference, which may be far less than the weight of
    the group: with the rounding errors it keeps its digits.
    """
    for i in range(len(labels)):
        g = labels[i]
        if g >= 0:
            scratch[g, 0] += 1
            scratch[g, 1] += rounding_error(totals[g, 0], weight[i])
            totals[g, 0] += weight[i]
    for j in range(len(indptr) - 1):
        for p in range(indptr[j], indptr[j + 1]):
            i = indices[p]
            g = labels[i]
            if g >= 0:
                gap = np.float64(data[p]) - origins[g, j]
                totals[g, 1] += weight[i] * gap * gap
                sums[g, j] += weight[i] * gap
                scratch[g, 2] += 1
                scratch[g, 4] += rounding_error(scratch[g, 3], weight[i])
                scratch[g, 3] += weight[i]
        for g in range(len(origins)):
            if scratch[g, 2] < scratch[g, 0]:
                rest = (totals[g, 0] - scratch[g, 3]) + (scratch[g, 1] - scratch[g, 4])
                at = origins[g, j]
                totals[g, 1] += rest * at * at
                sums[g, j] -= rest * at
            scratch[g, 2] = scratch[g, 3] = scratch[g, 4] = 0
