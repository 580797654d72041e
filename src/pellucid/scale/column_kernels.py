"""Compiled loops over values that are stored column by column: (n_features, n_rows).

The innermost loops run over a block of rows, so that the processor works on several rows at once.
Per row, the operations and their order are those of the loops in `pellucid._core.kernels.dataset`
where a result must be the same to the bit. Arrays of scratch space are separate arguments: the
compiler can then assume that they do not overlap.
"""

from __future__ import annotations

import numpy as np

from pellucid._utils.compilation import compiled, fused, inner

BLOCK_ROWS = 256
"""Rows per block."""

_LARGEST_MARGIN = 2.0**62
"""Larger numbers, and infinity, are not converted to integers."""


@inner
def copy_values(values, out):
    """out[i] = values[i], as float64; `out` may be longer."""
    for i in range(len(values)):
        out[i] = values[i]


@compiled
def gather(columns, rows, out):
    """out[j, r] = columns[j, rows[r]]."""
    for j in range(len(columns)):
        for r in range(len(rows)):
            out[j, r] = columns[j, np.uint64(rows[r])]


@fused
def nearest_by_column(columns, centers, half_squares, largest, error, limit, scores, scratch, out):
    """The labels of `dense_nearest`: -1 if the two largest scores are too close, or out of range.

    `scores` is scratch for (n_centers, BLOCK_ROWS) numbers, `scratch` six arrays of BLOCK_ROWS.
    """
    (n_features, n_rows), k = columns.shape, len(half_squares)
    size, best, second, at, even, odd = scratch
    for start in range(0, n_rows, BLOCK_ROWS):
        n = n_rows - start if n_rows - start < BLOCK_ROWS else BLOCK_ROWS
        for i in range(BLOCK_ROWS):
            size[i] = largest
        for c in range(k):
            line = scores[c]
            for i in range(BLOCK_ROWS):
                line[i] = -half_squares[c]
        for j in range(0, n_features, 2):  # two columns for each reading of the scores
            other = j + 1 if j + 1 < n_features else j
            is_pair = float(other - j)
            copy_values(columns[j, start : start + n], even)
            copy_values(columns[other, start : start + n], odd)
            for i in range(BLOCK_ROWS):
                size[i] += even[i] * even[i] + odd[i] * odd[i]
            for c in range(k):
                line, first, last = scores[c], centers[c, j], centers[c, other] * is_pair
                for i in range(BLOCK_ROWS):
                    line[i] += first * even[i] + last * odd[i]
        for i in range(BLOCK_ROWS):
            best[i], second[i], at[i] = scores[0, i], -np.inf, 0.0
        for c in range(1, k):
            line, number = scores[c], float(c)
            for i in range(BLOCK_ROWS):
                score = line[i]
                lower = score if score < best[i] else best[i]
                second[i] = lower if lower > second[i] else second[i]
                at[i] = number if score > best[i] else at[i]
                best[i] = score if score > best[i] else best[i]
        for i in range(n):
            is_decided = best[i] - second[i] > error * size[i] and size[i] <= limit
            out[start + i] = np.int64(at[i]) if is_decided else -1


@compiled
def costs_by_column(columns, centers, scale, per_unit, scratch, sums, out):
    """The costs of `dense_costs`.

    `scratch` is three arrays of BLOCK_ROWS numbers, `sums` has (n_centers, BLOCK_ROWS).
    """
    (n_features, n_rows), k = columns.shape, len(centers)
    even, odd, factor = scratch
    for start in range(0, n_rows, BLOCK_ROWS):
        n = n_rows - start if n_rows - start < BLOCK_ROWS else BLOCK_ROWS
        for i in range(n):
            factor[i] = scale[start + i] * per_unit
        for c in range(k):
            for i in range(BLOCK_ROWS):
                sums[c, i] = 0
        for j in range(0, n_features, 2):  # two columns for each reading of the sums
            other = j + 1 if j + 1 < n_features else j
            is_pair = float(other - j)
            copy_values(columns[j, start : start + n], even)
            copy_values(columns[other, start : start + n], odd)
            for c in range(k):
                line, first, second = sums[c], centers[c, j], centers[c, other]
                for i in range(BLOCK_ROWS):
                    gap = even[i] - first
                    term = np.int64(np.rint(gap * gap * factor[i]))
                    gap = odd[i] - second
                    line[i] += term + np.int64(np.rint(gap * gap * factor[i] * is_pair))
        for i in range(n):
            for c in range(k):
                out[start + i, c] = sums[c, i]


@compiled
def margins_by_column(columns, starts, centers, scale, limits, scratch, own, sums, costs, margins):
    """Costs at the own centers, and lower bounds of the margins, of rows in order of own center.

    The rows of center g are starts[g] .. starts[g + 1]. costs[i] is as in `costs_by_column`. The
    margin is the least cost at another center less the cost at the own one: margins[i] is at most
    that, and -1 if it may not be positive. Squares are summed here, and rounded only at the end.

    `limits` is (1 / unit, relative error of a sum of squares, error of its rounding). `scratch` is
    four arrays of BLOCK_ROWS numbers, `own` an integer one, `sums` has (n_centers, BLOCK_ROWS).
    """
    n_features, k = len(columns), len(centers)
    per_unit, error, rounding = limits
    even, odd, factor, least = scratch
    for g in range(k):
        for start in range(starts[g], starts[g + 1], BLOCK_ROWS):
            n = starts[g + 1] - start
            n = n if n < BLOCK_ROWS else BLOCK_ROWS
            for i in range(n):
                factor[i] = scale[start + i] * per_unit
            for i in range(BLOCK_ROWS):
                own[i], least[i] = 0, np.inf
            for c in range(k):
                line = sums[c]
                for i in range(BLOCK_ROWS):
                    line[i] = 0.0
            for j in range(0, n_features, 2):  # two columns for each reading of the sums
                other = j + 1 if j + 1 < n_features else j
                is_pair = float(other - j)
                copy_values(columns[j, start : start + n], even)
                copy_values(columns[other, start : start + n], odd)
                for c in range(k):
                    line, first, second = sums[c], centers[c, j], centers[c, other]
                    for i in range(BLOCK_ROWS):
                        gap, other_gap = even[i] - first, odd[i] - second
                        line[i] += gap * gap + other_gap * other_gap * is_pair
                first, second = centers[g, j], centers[g, other]
                for i in range(BLOCK_ROWS):
                    gap, other_gap = even[i] - first, odd[i] - second
                    term = np.int64(np.rint(gap * gap * factor[i]))
                    own[i] += term + np.int64(np.rint(other_gap * other_gap * factor[i] * is_pair))
            for c in range(k):
                if c != g:
                    line = sums[c]
                    for i in range(BLOCK_ROWS):
                        least[i] = line[i] if line[i] < least[i] else least[i]
            line = sums[g]
            for i in range(n):
                unsure = error * (least[i] + line[i])
                margin = (least[i] - line[i] - unsure) * factor[i] - rounding
                costs[start + i] = own[i]
                margins[start + i] = np.int64(margin) if 1.0 <= margin < _LARGEST_MARGIN else -1


@fused
def moments_by_group(columns, starts, weight, origins, weights, squares, sums):
    """Moments of groups of rows about their origins; see `dense_moments`.

    The rows of group g are starts[g] .. starts[g + 1]. squares[g, j] is that of column j.
    """
    for g in range(len(origins)):
        first, last = np.uint64(starts[g]), np.uint64(starts[g + 1])
        total = 0.0
        for i in range(first, last):
            total += weight[i]
        weights[g] = total
        for j in range(len(columns)):
            origin, total, square = origins[g, j], 0.0, 0.0
            for i in range(first, last):
                gap = np.float64(columns[j, i]) - origin
                total += weight[i] * gap
                square += weight[i] * gap * gap
            sums[g, j], squares[g, j] = total, square


@fused
def moments_of_rows(columns, rows, groups, weight, origins, weights, squares, sums):
    """The same for some rows, groups[r] being the group of rows[r]; adds to the moments."""
    for r in range(len(rows)):
        weights[np.uint64(groups[r])] += weight[np.uint64(rows[r])]
    for j in range(len(columns)):
        for r in range(len(rows)):
            i, g = np.uint64(rows[r]), np.uint64(groups[r])
            gap = np.float64(columns[j, i]) - origins[g, j]
            weighted = weight[i] * gap
            sums[g, j] += weighted
            squares[g, j] += weighted * gap
