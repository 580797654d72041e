"""Compiled loops of the surrogate cost; the formulas are in `criteria.surrogate_cost`.

rows : row numbers of a node
costs : cost of each row of the data at each center, (n_samples, n_clusters)
losses : losses of rows at the candidate centers, (n_rows, n_candidates)
totals : sums of the losses over all rows of the node
sums : sums of the losses over the rows of each bin, (n_bins, n_candidates)
inside : whether two different values may share each bin
"""

from __future__ import annotations

import numpy as np

from pellucid._utils.compilation import compiled

INFINITE = 2**62
"""More than any cost."""

_ROWS_AT_ONCE = 4096
"""Rows whose losses stay in the cache while they are added to the sums of all columns."""


@compiled
def sum_center_gains(rows, costs, home, shift, ratio, block, table):
    """Add the sums of `CenterBounds` over some rows to `table`.

    With k centers, D[c] = costs[home] - costs[c], u the largest and m the mean D[c] of the centers
    other than home, v = min(0, (m + u) / 2) and x+ = max(0, x),

        table[0, c] -= D[c],            table[0, k] += costs[home],
        table[1, c] += D[c]+,           table[1, k] += u,
        table[2, c] += (D[c] - v)+,     table[2, k] += v.

    Any v is valid, so m may be rounded: it is the sum of all D[c] / 2**shift, which does not
    overflow, times `ratio`. Rows are copied to `block` first, so that the processor reads several
    from memory at the same time.
    """
    n_rows, (n_block, k) = len(rows), block.shape
    for start in range(0, n_rows, n_block):
        n = n_block if start + n_block < n_rows else n_rows - start
        # Unsigned indices are not checked for being negative.
        for i in range(np.uint64(n)):
            row = np.uint64(rows[np.uint64(start) + i])
            for c in range(np.uint64(k)):
                block[i, c] = costs[row, c]
        for i in range(np.uint64(n)):
            own, largest = block[i, home], -INFINITE
            block[i, home] = INFINITE + own  # so that D[home] is not the largest
            mean = INFINITE >> shift
            for c in range(np.uint64(k)):
                gain = own - block[i, c]
                block[i, c] = gain
                mean += gain >> shift
                largest = gain if gain > largest else largest
            block[i, home] = 0
            level = (np.int64(mean * ratio) + largest) >> 1
            level = level if level < 0 else 0
            for c in range(np.uint64(k)):
                gain = block[i, c]
                excess = gain - level
                table[0, c] -= gain
                table[1, c] += gain if gain > 0 else 0
                table[2, c] += excess if excess > 0 else 0
            table[0, k] += own
            table[1, k] += largest
            table[2, k] += level


@compiled
def row_losses(rows, costs, centers, losses):
    """losses[i, c] = cost at centers[c] - least cost at any of them; returns the sum of the least.

    `losses` has one line for each of the rows.
    """
    n_centers, total = np.uint64(len(centers)), np.int64(0)
    for i in range(len(rows)):
        row, least = np.uint64(rows[i]), np.int64(INFINITE)
        for c in range(n_centers):
            cost = costs[row, np.uint64(centers[c])]
            losses[i, c] = cost
            least = cost if cost < least else least
        for c in range(n_centers):
            losses[i, c] -= least
        total += least
    return total


@compiled
def add_losses(codes, rows, losses, sums):
    """sums[f, b] += losses of the rows in bin b of column f; the bin of row r is codes[f, r]."""
    n_rows, n_centers = losses.shape
    for start in range(0, n_rows, _ROWS_AT_ONCE):
        end = start + _ROWS_AT_ONCE if start + _ROWS_AT_ONCE < n_rows else n_rows
        for f in range(len(codes)):
            # Unsigned indices are not checked for being negative.
            for i in range(np.uint64(start), np.uint64(end)):
                b = np.uint64(codes[f, np.uint64(rows[i])])
                for c in range(np.uint64(n_centers)):
                    sums[f, b, c] += losses[i, c]


@compiled
def add_csc_losses(features, codes, indices, indptr, zero_code, place, losses, totals, sums):
    """The same from the stored entries of CSC columns: the losses of row r are losses[place[r]].

    Rows whose place is -1 do not count. The bin of 0 gets what the entries leave of the totals.
    """
    _, n_centers = losses.shape
    for f in range(len(features)):
        j = features[f]
        zero = np.uint64(zero_code[j])
        for c in range(n_centers):
            sums[f, zero, c] += totals[c]
        for p in range(np.uint64(indptr[j]), np.uint64(indptr[j + 1])):
            i = place[indices[p]]
            if i >= 0:
                b = np.uint64(codes[p])
                for c in range(n_centers):
                    sums[f, b, c] += losses[i, c]
                    sums[f, zero, c] -= losses[i, c]


@compiled
def add_entries(rows, bins, first_bin, losses, sums):
    """sums[bins[p] - first_bin] += losses[rows[p]] for all p."""
    _, n_centers = sums.shape
    for p in range(len(rows)):
        row, b = rows[p], bins[p] - first_bin
        for c in range(n_centers):
            sums[b, c] += losses[row, c]


@compiled
def number_bins(
    indptr, codes, zero_code, inside, counts, bins, zero_bin, ends, code_of_bin, is_inside
):
    """Number the bins of CSC columns that hold entries or 0; see `SparseLossSearch`.

    Column f has the entries indptr[f] <= p < indptr[f + 1]. Sets bins[p], zero_bin[f], and by bin
    its code and whether it may hold several values. `counts` is 0 for each code, before and after.
    """
    b = 0
    for f in range(len(zero_code)):
        last = zero_code[f]
        counts[last] = 1
        for p in range(indptr[f], indptr[f + 1]):
            counts[codes[p]] += 1
            last = max(last, codes[p])
        for code in range(last + 1):
            if counts[code] > 0:
                code_of_bin[b], is_inside[b] = code, inside[f, code] and counts[code] > 1
                counts[code] = b
                b += 1
        for p in range(indptr[f], indptr[f + 1]):
            bins[p] = counts[codes[p]]
        zero_bin[f], ends[f + 1] = counts[zero_code[f]], b
        for code in range(last + 1):
            counts[code] = 0


@compiled
def scan_bins(ends, inside, totals, sums, found, bounds):
    """Make the sums of each column cumulative and find the least loss over the edges of its bins.

    Column f has the bins ends[f] <= b < ends[f + 1]. found[f] = the least loss, the number of its
    bin in the column, and the least bound. bounds[b] is a lower bound for the losses of all
    thresholds inside bin b. A bin without losses is skipped: its edge has the same loss as the edge
    below it.

    A loss is the least sum of two terms of different centers, one of the left and one of the right
    side. Each term is added to the least of the other side among the centers before it.
    """
    n_centers = len(totals)
    for f in range(len(ends) - 1):
        start, least, edge, least_bound = ends[f], INFINITE, 0, INFINITE
        for b in range(start, ends[f + 1]):
            loss = bound = left = below = right = INFINITE
            any_loss = 0
            for c in range(n_centers):
                lower = sums[b - 1, c] if b > start else 0
                any_loss |= sums[b, c]
                upper = lower + sums[b, c]
                rest = totals[c] - upper
                loss = min(loss, upper + right, left + rest)
                bound = min(bound, lower + right, below + rest)
                left, below, right = min(left, upper), min(below, lower), min(right, rest)
                sums[b, c] = upper
            bounds[b] = bound if any_loss != 0 and inside[b] else INFINITE
            least_bound = min(least_bound, bounds[b])
            if any_loss != 0 and loss < least:
                least, edge = loss, b - start
        found[f, 0], found[f, 1], found[f, 2] = least, edge, least_bound


@compiled
def scan_rows(order, is_threshold, losses, totals, left, found):
    """Find the threshold of least loss: found = (its loss, its column, its place in `order`).

    order[f] are the rows of a node, ascending by column f, and is_threshold[f, i] says whether a
    threshold lies between its i-th row and the next. Both sides may have the same center here:
    such a split has no gain, so that it is not the best. `left` is scratch space.
    """
    n_columns, n_rows = order.shape
    n_centers = np.uint64(len(totals))
    least, column, place = INFINITE, -1, 0
    for f in range(n_columns):
        for c in range(n_centers):
            left[c] = 0
        for i in range(n_rows - 1):
            row, least_left, least_right = np.uint64(order[f, i]), INFINITE, INFINITE
            for c in range(n_centers):
                loss = left[c] + losses[row, c]
                rest = totals[c] - loss
                left[c] = loss
                least_left = loss if loss < least_left else least_left
                least_right = rest if rest < least_right else least_right
            if least_left + least_right < least and is_threshold[f, i]:
                least, column, place = least_left + least_right, f, i
    found[0], found[1], found[2] = least, column, place
