"""Compiled loops of the search for boxes of one class each.

Every row i has two integers: a box of class c gains own_i for its rows of class c and loses cost_i
for all its rows. Its value is Σ own_i [y_i = c] - Σ cost_i, minus `facet` per finite end. Values
of columns are dense ranks 0, 1, ..., so that a sum per value is a histogram and nothing is sorted.
"""

import numpy as np

from pellucid._utils.compilation import allocating, inner


@allocating
def bin_ranks(ranks, sizes, units, n_bins, is_used, codes, starts):
    """Divide the ranks of each column that `is_used` into bins of about the same weight.

    Filled in are `codes` (n_columns, n), the bin of each row, and `starts` (n_columns, n_bins + 1),
    the first rank of each bin and, at the end, the number of ranks.
    """
    total = units.sum()
    for j in np.flatnonzero(is_used):
        weight_of = np.zeros(sizes[j], np.int64)
        for i in range(len(units)):
            weight_of[ranks[j, i]] += units[i]
        bin_of, below, part = np.empty(sizes[j], np.uint8), 0, 0
        starts[j, :] = sizes[j]
        for rank in range(sizes[j]):
            while (part + 1) * total <= below * n_bins:
                part += 1
            b = rank if sizes[j] <= n_bins else part
            bin_of[rank] = b
            starts[j, b] = min(starts[j, b], rank)
            below += weight_of[rank]
        for b in range(n_bins - 1, -1, -1):  # of empty bins
            starts[j, b] = min(starts[j, b], starts[j, b + 1])
        for i in range(len(units)):
            codes[j, i] = bin_of[ranks[j, i]]


@allocating
def positive_sums(codes, subsets, y, own, cost, n_bins, n_classes, bound):
    """Fill in `bound` (n_subsets, n_classes) of boxes on a grid: the sum of its positive cells."""
    n_subsets, dim = subsets.shape
    n_cells = n_bins**dim
    gained, lost = np.empty(n_classes * n_cells, np.int64), np.empty(n_cells, np.int64)
    first_cell, cells = y * n_cells, np.empty(len(y), np.int64)
    for s in range(n_subsets):
        gained[:] = 0
        lost[:] = 0
        cells[:] = 0
        for a in range(dim):
            code_of = codes[subsets[s, a]]
            for i in range(len(y)):
                cells[i] = cells[i] * n_bins + code_of[i]
        for i in range(len(y)):
            gained[first_cell[i] + cells[i]] += own[i]
            lost[cells[i]] += cost[i]
        for c in range(n_classes):
            total, of_class = 0, gained[c * n_cells : (c + 1) * n_cells]
            for cell in range(n_cells):
                total += max(0, of_class[cell] - lost[cell])
            bound[s, c] = total


@inner
def _best_run(sums, n, facet, is_bounded, best, run):
    """Largest sum of a range of `sums[:n]` minus `facet` per inner end, if it is above `best`.

    `run` gets its first and last position. With `is_bounded`, the whole range is left out.
    """
    total, least, after_least = 0, 0, 0
    for j in range(n):
        total += sums[j]
        at_end = 0 if j == n - 1 else facet
        if total - at_end > best and not (is_bounded and j == n - 1):
            best = total - at_end
            run[0], run[1] = 0, j
        if after_least > 0 and total - least - at_end - facet > best:
            best = total - least - at_end - facet
            run[0], run[1] = after_least, j
        if total <= least or after_least == 0:
            least, after_least = total, j + 1
    return best


@allocating
def best_grid_box(first, second, gains, n_bins, facet, is_bounded, least, box):
    """Largest value of a box on a grid over two columns, or `least` if it is not above this.

    `box` gets its first and last bins. For every range of bins of the first column, the best range
    of the second is found in one pass (Kadane's algorithm): O(n_bins³) steps, exact. For one
    column, n_bins[0] is 1. With `is_bounded`, a box has a finite end in either column.
    """
    rows, columns = n_bins
    grid = np.zeros((rows, columns), np.int64)
    for i in range(len(gains)):
        grid[first[i], second[i]] += gains[i]
    # Sums of the positive cells of each row of the grid: what a row adds at most.
    most, rest = np.zeros(rows, np.int64), 0
    for low in range(rows):
        for j in range(columns):
            most[low] += max(0, grid[low, j])
        rest += most[low]
    best = least
    sums, run = np.empty(columns, np.int64), np.empty(2, np.int64)
    for low in range(rows):
        if rest <= best:
            break
        rest -= most[low]
        if low > 0 and most[low] == 0:
            continue  # without this row, a box is not worse
        sums[:] = 0
        for high in range(low, rows):
            positive = 0  # no range has more
            for j in range(columns):
                sums[j] += grid[high, j]
                positive += max(0, sums[j])
            is_last = high == rows - 1
            if (most[high] == 0 and not is_last) or (is_bounded and low == 0 and is_last):
                continue
            ends = facet * ((low > 0) + (not is_last))
            if positive - ends <= best:
                continue
            found = _best_run(sums, columns, facet, is_bounded, best + ends, run) - ends
            if found > best:
                best = found
                box[0], box[1], box[2], box[3] = low, high, run[0], run[1]
    return best


@allocating
def improve_box(ranks, sizes, gains, facet, lower, upper):
    """Optimize the ends of a box, lower ≤ rank ≤ upper, column by column; returns its value."""
    dim, n = ranks.shape
    outside = np.zeros(n, np.int8)
    n_ends = 0
    for a in range(dim):
        low, high = np.int32(lower[a]), np.int32(upper[a])
        n_ends += (low > 0) + (high < sizes[a] - 1)
        for i in range(n):
            outside[i] += not (low <= ranks[a, i] <= high)
    value = -facet * n_ends
    for i in range(n):
        if outside[i] == 0:
            value += gains[i]
    sums, run = np.empty(sizes.max(), np.int64), np.empty(2, np.int64)
    unchanged = a = 0
    while unchanged < dim:
        low, high, rank_of = np.int32(lower[a]), np.int32(upper[a]), ranks[a]
        sums[: sizes[a]] = 0
        for i in range(n):
            rank = rank_of[i]
            if outside[i] == (not (low <= rank <= high)):
                sums[rank] += gains[i]
        others = n_ends - (low > 0) - (high < sizes[a] - 1)
        least = value + facet * others
        found = _best_run(sums, sizes[a], facet, False, least, run) - facet * others
        if found > value:
            first, last = np.int32(run[0]), np.int32(run[1])
            for i in range(n):
                rank = rank_of[i]
                outside[i] += (low <= rank <= high) - (first <= rank <= last)
            value, lower[a], upper[a] = found, first, last
            n_ends = others + (first > 0) + (last < sizes[a] - 1)
            unchanged = 1
        else:
            unchanged += 1
        a = (a + 1) % dim
    return value


@allocating
def improve_boxes(ranks, sizes, y, units, own, cost, held, facet, columns, answers, lower, upper,
                  figures):  # fmt: skip
    """Optimize the ends of each of some boxes, and measure them.

    `held` is the weight of the rows that are classified correctly without the box, and 0 for
    others. `columns` (n_boxes, dim) are positions in `ranks`. `lower` and `upper` (n_boxes, dim)
    are changed, and `figures` (n_boxes, 5), see `Figures`, filled in.
    """
    n_boxes, dim = columns.shape
    part, size = np.empty((dim, len(y)), np.int32), np.empty(dim, np.int64)
    gains, inside = np.empty(len(y), np.int64), np.empty(len(y), np.bool_)
    for b in range(n_boxes):
        for a in range(dim):
            part[a], size[a] = ranks[columns[b, a]], sizes[columns[b, a]]
        for i in range(len(y)):
            gains[i] = (own[i] if y[i] == answers[b] else 0) - cost[i]
        figures[b, :] = 0
        figures[b, 0] = improve_box(part, size, gains, facet, lower[b], upper[b])
        for a in range(dim):
            figures[b, 1] += (lower[b, a] > 0) + (upper[b, a] < size[a] - 1)
        inside[:] = True
        for a in range(dim):
            low, high = np.int32(lower[b, a]), np.int32(upper[b, a])
            for i in range(len(y)):
                inside[i] &= low <= part[a, i] <= high
        for i in range(len(y)):
            if inside[i]:
                figures[b, 2] += units[i]
                figures[b, 3] += units[i] if y[i] == answers[b] else 0
                figures[b, 4] += held[i]


@allocating
def best_boxes(codes, starts, subsets, bound, y, own, cost, facet, only, values, chosen, answers,
               lower, upper):  # fmt: skip
    """The boxes of the largest values on a grid, at most one per projection and class.

    Projections and classes are tried in descending order of `bound`, until none is above the lowest
    value found. With two columns or more, a box has finite ends in two of them. With `only` ≥ 0,
    boxes are of this class. The result is their number. Filled in are `values` in descending order,
    `chosen` projections, `answers` (n_wanted), and the ranks `lower` and `upper` (n_wanted, dim).
    """
    n_wanted, dim = lower.shape
    n_bins, n_classes, n = starts.shape[1] - 1, bound.shape[1], 0
    gains, zeros = np.empty(len(y), np.int64), np.zeros(len(y), np.uint8)
    box = np.zeros(4, np.int64)
    low, high = np.empty(dim, np.int64), np.empty(dim, np.int64)
    for order in np.argsort(-bound.copy().reshape(-1), kind="mergesort"):
        s, c = order // n_classes, order % n_classes
        if only >= 0 and c != only:
            continue
        least = values[n_wanted - 1] if n == n_wanted else 0
        if bound[s, c] <= least:
            break
        for i in range(len(y)):
            gains[i] = (own[i] if y[i] == c else 0) - cost[i]
        best = least
        for b in range(min(1, dim - 1), dim):
            for a in range(max(b, 1)):
                j, k = subsets[s, a], subsets[s, b]
                first, n_first = (zeros, 1) if dim == 1 else (codes[j], n_bins)
                shape = n_first, n_bins
                found = best_grid_box(first, codes[k], gains, shape, facet, dim > 1, best, box)
                if found > best:
                    best = found
                    low[:] = 0
                    for other in range(dim):
                        high[other] = starts[subsets[s, other], n_bins] - 1
                    if dim > 1:
                        low[a], high[a] = starts[j, box[0]], starts[j, box[1] + 1] - 1
                    low[b], high[b] = starts[k, box[2]], starts[k, box[3] + 1] - 1
        if best <= least:
            continue
        p = n if n < n_wanted else n_wanted - 1
        while p > 0 and values[p - 1] < best:
            values[p], chosen[p], answers[p] = values[p - 1], chosen[p - 1], answers[p - 1]
            lower[p], upper[p] = lower[p - 1], upper[p - 1]
            p -= 1
        values[p], chosen[p], answers[p] = best, s, c
        lower[p], upper[p] = low, high
        n = min(n + 1, n_wanted)
    return n
