"""Compiled loops of the surrogate cost; the formulas are in `criteria.surrogate_cost`.

rows : row numbers of a node
costs : cost of each row of the data at each center, (n_samples, n_clusters)
losses : losses of rows at the candidate centers, (n_rows, n_candidates)
totals : sums of the losses over all rows of the node
sums : sums of the losses over the rows of each bin of a column, (n_bins, n_candidates)
inside : whether two different values may share each bin of a column
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pellucid._core.kernels.sorting import shell_sort
from pellucid._utils.compilation import allocating, compiled, inner

INFINITE = 2**62
"""More than any cost."""

_ROWS_AT_ONCE = 4096
"""Rows whose losses stay in the cache while they are added to the sums of all columns."""


class DenseColumns(NamedTuple):
    """A dense matrix and its bins; see `data.binning.Bins`.

    Attributes
    ----------
    codes, n_bins, inside, edges : ndarray
    values, strides : ndarray
        The value of row i in column j is ``values[i * strides[0] + j * strides[1]]``.
    """

    codes: np.ndarray
    n_bins: np.ndarray
    inside: np.ndarray
    edges: np.ndarray
    values: np.ndarray
    strides: np.ndarray


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
    k, n_rows = np.uint64(block.shape[1]), len(rows)
    for start in range(0, n_rows, len(block)):
        n = np.uint64(len(block) if start + len(block) < n_rows else n_rows - start)
        part = rows[start:]
        for i in range(n):
            row = np.uint64(part[i])
            for c in range(k):
                block[i, c] = costs[row, c]
        for i in range(n):
            own, largest = block[i, home], np.int64(-INFINITE)
            block[i, home] = INFINITE + own  # so that D[home] is not the largest
            mean = np.int64(INFINITE >> shift)
            for c in range(k):
                gain = own - block[i, c]
                block[i, c] = gain
                mean += gain >> shift
                largest = gain if gain > largest else largest
            block[i, home] = 0
            level = (np.int64(mean * ratio) + largest) >> 1
            level = level if level < 0 else np.int64(0)
            for c in range(k):
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


@inner
def least_loss(left, left_and_bin, totals):
    """Least left[c] + (totals - left_and_bin)[c'] over all pairs of different centers c, c'."""
    low = next_low = high = next_high = np.int64(INFINITE)
    low_center = high_center = 0
    for c in range(len(totals)):
        loss = left[c]
        if loss < low:
            low, next_low, low_center = loss, low, c
        elif loss < next_low:
            next_low = loss
        loss = totals[c] - left_and_bin[c]
        if loss < high:
            high, next_high, high_center = loss, high, c
        elif loss < next_high:
            next_high = loss
    if low_center != high_center:
        return low + high
    return min(low + next_high, next_low + high)


@inner
def scan_bins(sums, totals, inside, zeros):
    """Make the sums cumulative; return the least loss over the edges, its bin, and a bound.

    The bound is a lower bound for the losses of all thresholds inside bins. A bin without losses
    is skipped: its edge has the same loss as the edge below it.
    """
    least, edge, bound, left = np.int64(INFINITE), 0, np.int64(INFINITE), zeros
    for b in range(len(sums)):
        has_losses, here = False, sums[b]
        for c in range(len(totals)):
            has_losses |= here[c] != 0
            here[c] += left[c]
        if has_losses:
            if inside[b]:
                bound = min(bound, least_loss(left, here, totals))
            loss = least_loss(here, here, totals)
            if loss < least:
                least, edge = loss, b
        left = here
    return least, edge, bound


@inner
def open_bins(sums, totals, inside, limit, zeros, is_open):
    """is_open[b] = whether a threshold inside bin b may have at most the loss `limit`.

    The sums are cumulative.
    """
    left = zeros
    for b in range(len(sums)):
        is_open[b] = inside[b] and least_loss(left, sums[b], totals) <= limit
        left = sums[b]


@inner
def best_inside(values, places, bins, losses, sums, totals, left):
    """Least loss of the thresholds inside bins, and the lowest threshold that has it.

    Row places[p], in bin bins[places[p]], has the p-th value. On the left of a threshold are the
    rows of all lower bins, whose losses are in the cumulative sums, and rows of its own bin.
    `values` and `places` are sorted here, and `left` is overwritten.
    """
    shell_sort(values, places)
    least, threshold, last = np.int64(INFINITE), np.inf, -1
    for p in range(len(values) - 1):
        place = places[p]
        b = np.int64(bins[place])
        for c in range(len(totals)):
            if b != last:
                left[c] = sums[b - 1, c] if b > 0 else 0
            left[c] += losses[place, c]
        last = b
        # The threshold above the last value of a bin is its edge.
        if values[p + 1] > values[p] and bins[places[p + 1]] == b:
            loss = least_loss(left, left, totals)
            if loss < least:
                least, threshold = loss, values[p]
    return least, threshold


@inner
def better_split(a, b):
    """The smaller of two splits (loss, feature, threshold)."""
    if a[0] != b[0]:
        return a if a[0] < b[0] else b
    if a[1] != b[1]:
        return a if a[1] < b[1] else b
    return a if a[2] <= b[2] else b


@inner
def add_losses(features, codes, rows, losses, sums):
    """sums[f, b] += losses of the rows in bin b of the f-th feature."""
    n_centers, n_rows = losses.shape[1], len(rows)
    for start in range(0, n_rows, _ROWS_AT_ONCE):
        end = min(start + _ROWS_AT_ONCE, n_rows)
        for f in range(len(features)):
            code, part = codes[features[f]], sums[f]
            # Unsigned indices need no check for negative values.
            for i in range(np.uint64(start), np.uint64(end)):
                b = np.uint64(code[np.uint64(rows[i])])
                for c in range(np.uint64(n_centers)):
                    part[b, c] += losses[i, c]


@allocating
def search_dense(features, columns, rows, losses, totals, best):
    """The best split by some of the features: its loss, feature and threshold.

    `best` is returned if none is better. Smallest loss; ties go to the lowest feature, then to the
    lowest threshold.
    """
    n_features, n_rows, width = len(features), len(rows), columns.edges.shape[1]
    sums = np.zeros((n_features, width, len(totals)), np.int64)
    add_losses(features, columns.codes, rows, losses, sums)
    bounds, zeros = np.empty(n_features, np.int64), np.zeros_like(totals)
    for f in range(n_features):
        j = features[f]
        n_bins, inside = columns.n_bins[j], columns.inside[j]
        loss, edge, bounds[f] = scan_bins(sums[f, :n_bins], totals, inside, zeros)
        best = better_split(best, (loss, j, columns.edges[j, edge]))
    is_open, left = np.empty(width, np.bool_), np.empty_like(totals)
    bins, places, values = (
        np.empty(n_rows, np.uint16),
        np.empty(n_rows, np.uint32),
        np.empty(n_rows),
    )
    while n_features > 0:
        f = np.argmin(bounds)
        j = features[f]
        if bounds[f] > best[0] or (bounds[f] == best[0] and j > best[1]):
            break
        code, n = columns.codes[j], 0
        open_bins(sums[f, : columns.n_bins[j]], totals, columns.inside[j], best[0], zeros, is_open)
        for i in range(n_rows):
            bins[i] = code[rows[i]]
            if is_open[bins[i]]:
                places[n] = i
                values[n] = columns.values[rows[i] * columns.strides[0] + j * columns.strides[1]]
                n += 1
        loss, threshold = best_inside(values[:n], places[:n], bins, losses, sums[f], totals, left)
        best = better_split(best, (loss, j, threshold))
        bounds[f] = INFINITE
    return best


@compiled
def add_entries(rows, bins, first_bin, losses, sums):
    """sums[bins[p] - first_bin] += losses[rows[p]] for all stored entries p."""
    for p in range(len(rows)):
        row, b = rows[p], bins[p] - first_bin
        for c in range(sums.shape[1]):
            sums[b, c] += losses[row, c]


@compiled
def subtract_rows(rows, indptr, places, bins, losses, sums):
    """sums[bins[places[p]]] -= losses[row] for all entries p of some rows.

    Row i has the entries indptr[i] <= p < indptr[i + 1], at `places` of the CSC data.
    """
    for i in range(len(rows)):
        row = rows[i]
        for p in range(indptr[row], indptr[row + 1]):
            b = bins[places[p]]
            for c in range(sums.shape[1]):
                sums[b, c] -= losses[row, c]


@allocating
def scan_sparse(features, ends, codes, inside, sums, totals, floor, found):
    """found[j, 0] = least cost over the edges of column j, its bin, and a bound inside bins.

    The bins of the f-th feature, which hold the codes codes[s], are ends[f] <= s < ends[f + 1]. A
    cost is `floor` plus the loss.
    """
    zeros = np.zeros_like(totals)
    for f in range(len(features)):
        start, end = ends[f], ends[f + 1]
        loss, edge, bound = scan_bins(sums[start:end], totals, inside[start:end], zeros)
        found[features[f], 0, 0] = floor + loss if loss < INFINITE else INFINITE
        found[features[f], 0, 1] = codes[start + edge]
        found[features[f], 0, 2] = floor + bound if bound < INFINITE else INFINITE


@allocating
def refine_sparse(rows, bins, values, zero_bin, losses, sums, totals, inside, limit):
    """Least loss over the edges of a column and its bin; least loss inside bins and its threshold.

    `rows`, `bins` and `values` are those of the stored entries. Only bins whose bound is at most
    `limit` are searched inside.
    """
    n, zeros = len(rows), np.zeros_like(totals)
    least, edge, _ = scan_bins(sums, totals, inside, zeros)
    is_open = np.empty(len(sums), np.bool_)
    open_bins(sums, totals, inside, limit, zeros, is_open)
    # One more entry stands for all rows without one: their value is 0.
    entry_losses, entry_bins = np.empty((n + 1, len(totals)), np.int64), np.empty(n + 1, np.int64)
    entry_losses[n], entry_bins[n] = totals, zero_bin
    places, open_values, m = np.empty(n + 1, np.uint32), np.empty(n + 1), 0
    for p in range(n + 1):
        if p < n:
            entry_bins[p] = bins[p]
            for c in range(len(totals)):
                entry_losses[p, c] = losses[rows[p], c]
                entry_losses[n, c] -= losses[rows[p], c]
        if is_open[entry_bins[p]]:
            places[m], open_values[m] = p, values[p] if p < n else 0.0
            m += 1
    loss, threshold = best_inside(
        open_values[:m], places[:m], entry_bins, entry_losses, sums, totals, zeros
    )
    return least, edge, loss, threshold
