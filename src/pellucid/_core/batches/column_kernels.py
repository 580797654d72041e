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


@inner
def add_costs_at(columns, start, n, coordinates, place, factor, values, others, out):
    """Add to out[i] the cost of row start + i at center place[i], for n rows of a block.

    coordinates[j, c] is that of center c in column j; `values` and `others` are scratch space.
    """
    for j in range(len(columns)):
        copy_values(columns[j, start : start + n], values)
        line = coordinates[j]
        for i in range(BLOCK_ROWS):  # a loop of its own, since it takes one row after the other
            others[i] = line[place[i]]
        for i in range(BLOCK_ROWS):
            gap = values[i] - others[i]
            out[i] += np.int64(np.rint(gap * gap * factor[i]))


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
def margins_by_column(
    columns,
    starts,
    centers,
    coordinates,
    scale,
    limits,
    scratch,
    exact,
    place,
    sums,
    costs,
    margins,
    second,
):
    """Costs at the own centers, and margins, of rows in order of own center.

    The rows of center g are starts[g] .. starts[g + 1]. costs[i] is as in `costs_by_column`. The
    margin is the least cost at another center, second[i], less the cost at the own one. Squares are
    summed here, and decide which center that is; only its cost is then computed as the own one is.
    If they cannot decide, second[i] is n_centers, and margins[i] is at most the margin. If the
    margin may not be positive, second[i] is n_centers + 1, and margins[i] is -1.

    `coordinates` is the transpose of `centers`. `limits` is (1 / unit, relative error of a sum of
    squares, error of its rounding). `scratch` is six arrays of BLOCK_ROWS numbers, `exact` two
    integer ones, `place` one of uint64, `sums` has (n_centers, BLOCK_ROWS).
    """
    n_features, k = len(columns), len(centers)
    per_unit, error, rounding = limits
    even, odd, factor, least, third, nearest = scratch
    own, other_cost = exact
    for g in range(k):
        for start in range(starts[g], starts[g + 1], BLOCK_ROWS):
            n = starts[g + 1] - start
            n = n if n < BLOCK_ROWS else BLOCK_ROWS
            for i in range(n):
                factor[i] = scale[start + i] * per_unit
            for i in range(BLOCK_ROWS):
                own[i], other_cost[i] = 0, 0
                least[i], third[i], nearest[i] = np.inf, np.inf, 0.0
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
                    line, first, last = sums[c], centers[c, j], centers[c, other]
                    for i in range(BLOCK_ROWS):
                        gap, other_gap = even[i] - first, odd[i] - last
                        line[i] += gap * gap + other_gap * other_gap * is_pair
                first, last = centers[g, j], centers[g, other]
                for i in range(BLOCK_ROWS):
                    gap, other_gap = even[i] - first, odd[i] - last
                    term = np.int64(np.rint(gap * gap * factor[i]))
                    own[i] += term + np.int64(np.rint(other_gap * other_gap * factor[i] * is_pair))
            for c in range(k):
                if c != g:
                    line, number = sums[c], float(c)
                    for i in range(BLOCK_ROWS):
                        total, least_before = line[i], least[i]
                        larger = total if total > least_before else least_before
                        third[i] = larger if larger < third[i] else third[i]
                        nearest[i] = number if total < least_before else nearest[i]
                        least[i] = total if total < least_before else least_before
            for i in range(BLOCK_ROWS):
                place[i] = np.uint64(nearest[i])
            add_costs_at(columns, start, n, coordinates, place, factor, even, odd, other_cost)
            line = sums[g]
            for i in range(BLOCK_ROWS):
                unsure = error * (least[i] + line[i])
                line[i] = (least[i] - line[i] - unsure) * factor[i] - rounding
                unsure = error * (third[i] + least[i])
                third[i] = (third[i] - least[i] - unsure) * factor[i] - rounding
            for i in range(n):
                costs[start + i], margins[start + i] = own[i], other_cost[i] - own[i]
                second[start + i] = place[i]
                is_settled = 1.0 <= line[i] < _LARGEST_MARGIN
                if not (is_settled and (third[i] >= 1.0 or k == 2)):
                    margins[start + i] = np.int64(line[i]) if is_settled else -1
                    second[start + i] = k if is_settled else k + 1


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
def moments_of_rows(columns, rows, weight, groups, origins, weights, squares, sums):
    """The same for some rows, in two groupings at once; adds to the moments.

    All arguments after `weight` are pairs: groups[0][r] and groups[1][r] are the groups of rows[r].
    """
    (of_first, of_second), (first_origins, second_origins) = groups, origins
    first_weights, second_weights = weights
    (first_squares, second_squares), (first_sums, second_sums) = squares, sums
    for r in range(len(rows)):
        first_weights[np.uint64(of_first[r])] += weight[np.uint64(rows[r])]
        second_weights[np.uint64(of_second[r])] += weight[np.uint64(rows[r])]
    for j in range(len(columns)):
        for r in range(len(rows)):
            i, g, h = np.uint64(rows[r]), np.uint64(of_first[r]), np.uint64(of_second[r])
            value = np.float64(columns[j, i])
            gap = value - first_origins[g, j]
            weighted = weight[i] * gap
            first_sums[g, j] += weighted
            first_squares[g, j] += weighted * gap
            gap = value - second_origins[h, j]
            weighted = weight[i] * gap
            second_sums[h, j] += weighted
            second_squares[h, j] += weighted * gap
