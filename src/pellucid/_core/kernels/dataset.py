"""Costs in integer units, nearest centers, and sums over groups of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid._utils.compilation import compiled, fused, inlined, inner

BLOCK_ROWS = 4096
"""Rows that `dense_moments` sums together; fixed, so that sums do not depend on the threads."""

NEAREST_ROWS, NARROW = 128, 32
"""Rows that `narrow_nearest` works on together, an even number, and the most columns that it is
faster for: then all values stay in the first-level cache.
"""


_TO_INTEGER, _TO_FRACTION = 1.5 * 2.0**52, 1.5 * 2.0**21
"""Numbers that round others to integers and to multiples of 2**-31."""


@inner
def load_rows(X, rows, begin, n, block):
    """Load n rows into `block`, those from row `begin` on, or from rows[begin] on if there are
    `rows`, unless it is the matrix itself; see `pellucid._core.data.arrays.FlatRows`.

    Unsigned indices are not checked for being negative.
    """
    if X.is_loaded:
        return
    values, along_row, along_column = X.values, np.uint64(X.row_step), np.uint64(X.column_step)
    n_columns, by_rows = np.uint64(X.n_columns), X.column_step == 1
    if by_rows or len(rows) > 0:
        for i in range(np.uint64(n)):
            at = np.uint64(begin) + i
            if len(rows) > 0:
                at = np.uint64(rows[at])
            at *= along_row
            if by_rows:
                for j in range(n_columns):
                    block[i, j] = values[at + j]
            else:
                for j in range(n_columns):
                    block[i, j] = values[at + j * along_column]
        return
    for j in range(n_columns):
        at = np.uint64(begin) * along_row + j * along_column
        for i in range(np.uint64(n)):
            block[i, j] = values[at + i * along_row]


def _cost_loops(squared: bool) -> tuple[Any, Any]:
    """The loops over dense and over CSR rows for d(x, c) = (x - c)^2, or |x - c|."""

    @compiled
    def dense_costs(X, every, begin, end, centers, scale, per_unit, block, out):
        """out[i, c] = sum over j of round(scale[i] d(X[i, j], centers[c, j]) per_unit), for the
        rows begin .. end.

        `per_unit` is a power of two, and `every` is empty; see `load_rows`.
        """
        n_centers, n_features = centers.shape
        for start in range(begin, end, len(block)):
            n = min(len(block), end - start)
            load_rows(X, every, start, n, block)
            for r in range(n):
                i = start + r
                at, factor = i if X.is_loaded else r, scale[i] * per_unit
                for c in range(n_centers):
                    total = np.int64(0)
                    for j in range(n_features):
                        gap = block[at, j] - centers[c, j]
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


COST_LOOPS = {"kmeans": _cost_loops(squared=True), "kmedians": _cost_loops(squared=False)}
"""The loops over dense and over CSR rows, by objective."""


@fused
def wide_nearest(X, every, begin, end, centers, half_squares, largest, error, limit, block, out):
    """For the rows begin .. end, out[i] = the center c of the largest score
    X[i] . centers[c] - half_squares[c]; -1 if the two largest differ by at most
    error (|X[i]|^2 + largest), or if that sum is above the limit. Returns the number of the -1.

    Two centers at a time, since each value that is read then serves twice: their number is even.
    """
    n_features, n_undecided = X.n_columns, 0
    for start in range(begin, end, len(block)):
        n = min(len(block), end - start)
        load_rows(X, every, start, n, block)
        for r in range(np.uint64(n)):
            i = np.uint64(start) + r
            place, size = i if X.is_loaded else r, largest
            for j in range(n_features):
                size += block[place, j] * block[place, j]
            best = second = -np.inf
            at = -1
            for c in range(0, len(half_squares), 2):
                even = odd = 0.0
                for j in range(n_features):
                    even += block[place, j] * centers[c, j]
                    odd += block[place, j] * centers[c + 1, j]
                for turn in range(2):
                    score = odd - half_squares[c + 1] if turn else even - half_squares[c]
                    lower = score if score < best else best
                    second = lower if lower > second else second
                    at = c + turn if score > best else at
                    best = score if score > best else best
            is_clear = best - second > error * size and size <= limit
            out[i] = at if is_clear else -1
            n_undecided += 0 if is_clear else 1
    return n_undecided


@fused
def narrow_nearest(X, begin, end, centers, half_squares, largest, error, limit,
                   columns, scores, best, second, at, out):  # fmt: skip
    """The same for few columns: NEAREST_ROWS rows are transposed into the scratch array `columns`,
    so that their scores are computed together.

    `scores`, (n_centers, NEAREST_ROWS), `best`, `second` and `at` are scratch space, too.
    """
    values, along_row, along_column = X.values, np.uint64(X.row_step), np.uint64(X.column_step)
    n_columns, n_block = np.uint64(X.n_columns), np.uint64(NEAREST_ROWS)
    one, two, three, n_undecided = np.uint64(1), np.uint64(2), np.uint64(3), 0
    for start in range(begin, end, NEAREST_ROWS):
        n = np.uint64(min(NEAREST_ROWS, end - start))
        corner = np.uint64(start) * along_row
        if along_column == 1:
            for i in range(np.uint64(0), n, two):  # two rows are stored together
                row = corner + i * along_row
                other = row + along_row if i + one < n else row
                for j in range(n_columns):
                    columns[j, i] = values[row + j]
                    columns[j, i + one] = values[other + j]
        else:
            for j in range(n_columns):
                column = corner + j * along_column
                for i in range(n):
                    columns[j, i] = values[column + i * along_row]
        for c in range(np.uint64(len(half_squares))):
            for i in range(n_block):
                scores[c, i] = -half_squares[c]
            j = np.uint64(0)
            while j + three < n_columns:
                p, q = centers[c, j], centers[c, j + one]
                r, s = centers[c, j + two], centers[c, j + three]
                for i in range(n_block):
                    scores[c, i] += (
                        columns[j, i] * p
                        + columns[j + one, i] * q
                        + columns[j + two, i] * r
                        + columns[j + three, i] * s
                    )
                j += np.uint64(4)
            while j < n_columns:
                p = centers[c, j]
                for i in range(n_block):
                    scores[c, i] += columns[j, i] * p
                j += one
        for i in range(n_block):
            best[i] = second[i] = -np.inf
            at[i] = 0
        for c in range(len(half_squares)):
            for i in range(n_block):
                score, most, next_most = scores[c, i], best[i], second[i]
                lower = score if score < most else most
                second[i] = lower if lower > next_most else next_most
                at[i] = c if score > most else at[i]
                best[i] = score if score > most else most
        for i in range(n_block):
            second[i] = best[i] - second[i]
            best[i] = largest  # from here on |x|^2 + largest
        for j in range(n_columns):
            for i in range(n_block):
                best[i] += columns[j, i] * columns[j, i]
        for i in range(n):
            is_clear = second[i] > error * best[i] and best[i] <= limit
            out[np.uint64(start) + i] = at[i] if is_clear else -1
            n_undecided += 0 if is_clear else 1
    return n_undecided


@compiled
def largest_values(X, every, begin, end, weight, block, largest):
    """largest[j] = the largest |X[i, j]| of the rows begin .. end with a positive weight."""
    for start in range(begin, end, len(block)):
        n = min(len(block), end - start)
        load_rows(X, every, start, n, block)
        for r in range(n):
            i = start + r
            if weight[i] > 0:
                at = i if X.is_loaded else r
                for j in range(len(largest)):
                    value = abs(block[at, j])
                    largest[j] = value if value > largest[j] else largest[j]


@compiled
def dense_sums(X, every, begin, end, labels, weight, are_counts, scale, block, high, low):
    """Sum weight X[i, j] over the rows of each group g, so that the order does not matter; the last
    column of the sums is that of the weight.

    A term t = weight X[i, j] scale[j] of less than 2**30 adds the nearest integer to
    high[g, j], and the rest, rounded to a multiple of 2**-31, to low[g, j]. Weights that are
    counts multiply both after rounding, so that they equal repeated rows. All sums over a count of
    at most 2**22 rows are exact. Numbers are rounded by adding a number so large that it has no
    more digits, and subtracting it.
    """
    n_features = X.n_columns
    for start in range(begin, end, len(block)):
        n = min(len(block), end - start)
        load_rows(X, every, start, n, block)
        for r in range(n):
            i = start + r
            g, at = labels[i], i if X.is_loaded else r
            if g >= 0:
                factor, times = (1.0, weight[i]) if are_counts else (weight[i], 1.0)
                for j in range(n_features):
                    term = factor * block[at, j] * scale[j]
                    whole = (term + _TO_INTEGER) - _TO_INTEGER
                    high[g, j] += times * whole
                    low[g, j] += times * ((term - whole + _TO_FRACTION) - _TO_FRACTION)
                term = factor * scale[n_features]
                whole = (term + _TO_INTEGER) - _TO_INTEGER
                high[g, n_features] += times * whole
                low[g, n_features] += times * ((term - whole + _TO_FRACTION) - _TO_FRACTION)


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
def dense_moments(X, rows, n_rows, labels, weight, origins, first, block, weights, squares, sums):
    """Sum weights, squared distances and differences to the origin o = origins[g] of each group g.

    For each block b of BLOCK_ROWS of the `rows`, or of all `n_rows` if `rows` is empty, by itself,
    from the block `first` on, over the rows x of group g:

        weights[b, g] = sum of weight,
        squares[b, g] = sum of weight |x - o|^2,
        sums[b, g] = sum of weight (x - o).

    Label -1 is in no group.
    """
    _, n_features = block.shape
    for b in range(len(weights)):
        begin = (first + b) * BLOCK_ROWS
        end = min(begin + BLOCK_ROWS, n_rows)
        for start in range(begin, end, len(block)):
            n = min(len(block), end - start)
            load_rows(X, rows, start, n, block)
            for r in range(np.uint64(n)):
                # Unsigned indices are not checked for being negative.
                i = np.uint64(start) + r
                if len(rows) > 0:
                    i = np.uint64(rows[i])
                if labels[i] >= 0:
                    at = i if X.is_loaded else r
                    g, square = np.uint64(labels[i]), 0.0
                    for j in range(n_features):
                        gap = block[at, j] - origins[g, j]
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
