"""The compiled loops of the cut search: plain arrays in, plain arrays out.

Imported when a model is fitted, never before: importing this module imports Numba. Nothing is
compiled until a function is called, and the result is kept on disk for the next process.

Words used throughout, for one feature of one cell: *positions* are the distinct coordinates of
the cell's centers in ascending order; gap g is [positions[g], positions[g + 1]), the thresholds
between two neighbouring positions. A row strictly inside a gap is *moving*: it changes sides as
the threshold passes it. For the thresholds of every other gap its side is fixed.
"""

from __future__ import annotations

import numpy as np
from numba import njit

compiled = njit(nogil=True, cache=True)


@compiled
def dense_costs(X, centers, scale, unit, out):
    """out[i, c] = sum over j of scale[i] (X[i, j] - centers[c, j])^2, each term rounded to units.

    Adding and subtracting 1.5 * 2^52 units rounds a term to whole units; sums of whole units
    below 2^53 are exact in float64, whatever the order.
    """
    magic = 1.5 * 2.0**52 * unit
    n_centers, n_features = centers.shape
    for i in range(X.shape[0]):
        for c in range(n_centers):
            total = 0.0
            for j in range(n_features):
                gap = X[i, j] - centers[c, j]
                total += (scale[i] * (gap * gap) + magic) - magic
            out[i, c] = np.int64(total / unit)


@compiled
def sparse_costs(data, indices, indptr, centers, scale, unit, out):
    """The same as `dense_costs` for the rows of a CSR matrix, in time of the stored entries.

    Whole units cancel exactly: start from the cost of an all-zero row, then replace the terms
    of the stored entries.
    """
    magic = 1.5 * 2.0**52 * unit
    n_centers, n_features = centers.shape
    n_rows = len(indptr) - 1
    origin = np.zeros(n_centers)
    for i in range(n_rows):
        for c in range(n_centers):
            if i == 0 or scale[i] != scale[i - 1]:
                origin[c] = 0.0
                for j in range(n_features):
                    origin[c] += (scale[i] * (centers[c, j] * centers[c, j]) + magic) - magic
            total = origin[c]
            for p in range(indptr[i], indptr[i + 1]):
                at = centers[c, indices[p]]
                gap = np.float64(data[p]) - at
                total -= (scale[i] * (at * at) + magic) - magic
                total += (scale[i] * (gap * gap) + magic) - magic
            out[i, c] = np.int64(total / unit)


@compiled
def mistake_gaps(values, own, weight, positions):
    """Mistakes of each gap's lowest threshold, and what every moving row changes.

    A row is a mistake when it and its own center, at positions[own], lie on different sides.

    Returns
    -------
    base : mistakes at threshold positions[g]
    left : weight of the rows at or below positions[g]
    change : change in mistakes when row i goes from right to left; 0 for rows not moving
    moving : whether the row is strictly inside a gap
    """
    n_gaps = len(positions) - 1
    base = np.zeros(n_gaps + 1, dtype=np.int64)
    left = np.zeros(n_gaps, dtype=np.int64)
    change = np.zeros(len(values), dtype=np.int64)
    moving = np.zeros(len(values), dtype=np.bool_)
    for i in range(len(values)):
        at = np.searchsorted(positions, values[i], side="right") - 1
        first_left = at if at >= 0 and values[i] == positions[at] else at + 1
        if first_left < n_gaps:
            left[first_left] += weight[i]
        if own[i] > first_left:
            base[first_left] += weight[i]
            base[own[i]] -= weight[i]
        if own[i] < at:
            base[own[i]] += weight[i]
            base[at] -= weight[i]
        if first_left > at and 0 <= at < n_gaps:
            moving[i] = True
            if own[i] <= at:
                base[at] += weight[i]
                base[at + 1] -= weight[i]
                change[i] = -weight[i]
            else:
                change[i] = weight[i]
    return np.cumsum(base)[:n_gaps], np.cumsum(left), change, moving


@compiled
def cost_gaps(values, costs, order, n_at_or_below, weight, positions):
    """Induced cost of each gap's lowest threshold, and what every moving row changes.

    A row pays the least of its costs to the centers on its own side.

    Parameters
    ----------
    costs : cost of each row to each center of the cell
    order : the cell's centers by ascending coordinate
    n_at_or_below : how many of them lie at or below positions[g]

    Returns
    -------
    As `mistake_gaps`, with costs in place of mistakes.
    """
    n_gaps = len(positions) - 1
    base = np.zeros(n_gaps, dtype=np.int64)
    left = np.zeros(n_gaps, dtype=np.int64)
    change = np.zeros(len(values), dtype=np.int64)
    moving = np.zeros(len(values), dtype=np.bool_)
    nearest_left = np.empty(n_gaps, dtype=np.int64)
    nearest_right = np.empty(n_gaps, dtype=np.int64)
    n_centers = len(order)
    for i in range(len(values)):
        least = np.int64(2**63 - 1)
        c = 0
        for g in range(n_gaps):
            while c < n_at_or_below[g]:
                least = min(least, costs[i, order[c]])
                c += 1
            nearest_left[g] = least
        least = np.int64(2**63 - 1)
        c = n_centers
        for g in range(n_gaps - 1, -1, -1):
            while c > n_at_or_below[g]:
                c -= 1
                least = min(least, costs[i, order[c]])
            nearest_right[g] = least
        at = np.searchsorted(positions, values[i], side="right") - 1
        first_left = at if at >= 0 and values[i] == positions[at] else at + 1
        if first_left < n_gaps:
            left[first_left] += weight[i]
        for g in range(min(first_left, n_gaps)):
            base[g] += nearest_right[g]
        for g in range(first_left, n_gaps):
            base[g] += nearest_left[g]
        if first_left > at and 0 <= at < n_gaps:
            moving[i] = True
            change[i] = nearest_left[at] - nearest_right[at]
    return base, np.cumsum(left), change, moving


@compiled
def average_depth(n_centers, n_left, share_left, depths):
    """Average depth of an imagined tree that divides rows and centers alike at every node.

    depth(1) = 0; depth(m) = 1 + r depth(l) + (1 - r) depth(m - l) with r the share of rows
    that go left and l = ceil(m n_left / n_centers), kept within 1 .. m - 1. `depths` is scratch
    space for n_centers + 1 numbers.
    """
    depths[1] = 0.0
    for m in range(2, n_centers):
        part = min(max((m * n_left + n_centers - 1) // n_centers, 1), m - 1)
        depths[m] = 1.0 + share_left * depths[part] + (1.0 - share_left) * depths[m - part]
    right = n_centers - n_left
    return 1.0 + share_left * depths[n_left] + (1.0 - share_left) * depths[right]


@compiled
def sweep_gaps(
    values,
    change,
    weight,
    positions,
    base,
    left,
    n_at_or_below,
    divisor,
    total,
    penalty,
    killers,
    least_per_center,
):
    """The best threshold of one feature, from what `mistake_gaps` or `cost_gaps` found.

    objective = amount / divisor[g] + penalty * (average depth - share of rows on killer sides),
    with the amount swept from base[g] over the moving rows in ascending order.

    Parameters
    ----------
    values, change, weight : of the moving rows, sorted by value
    divisor : of each gap; where it is 0, an amount of 0 counts as 1 and any other as infinite
    total : weight of all rows
    killers : share of the left (right) rows to take off the depth, 1 or 0 each
    least_per_center : weight that a side must hold for each of its centers

    Returns
    -------
    best : objective, low, high of the best cut that leaves enough rows on both sides
    spare : the same without that demand
    """
    best = np.array([np.inf, np.nan, np.nan])
    spare = np.array([np.inf, np.nan, np.nan])
    n_gaps = len(positions) - 1
    n_centers = n_at_or_below[n_gaps]
    depths = np.zeros(n_centers + 1)
    i = 0
    for g in range(n_gaps):
        amount, below, low = base[g], left[g], positions[g]
        n_left = n_at_or_below[g]
        more = True
        while more:
            more = i < len(values) and values[i] < positions[g + 1]
            high = values[i] if more else positions[g + 1]
            if divisor[g] > 0:
                objective = amount / divisor[g]
            else:
                objective = 1.0 if amount == 0 else np.inf
            if penalty != 0.0:
                share = below / total if total > 0 else 0.0
                size = average_depth(n_centers, n_left, share, depths)
                size -= killers[0] * share + killers[1] * (1.0 - share)
                objective += penalty * size
            enough = (
                below >= n_left * least_per_center
                and total - below >= (n_centers - n_left) * least_per_center
            )
            if enough and objective < best[0]:
                best[0], best[1], best[2] = objective, low, high
            if objective < spare[0]:
                spare[0], spare[1], spare[2] = objective, low, high
            if more:
                low = high
                while i < len(values) and values[i] == low:
                    amount += change[i]
                    below += weight[i]
                    i += 1
    return best, spare


@compiled
def sweep_surrogate(values, costs):
    """The cut that minimises (least column sum left) + (least column sum right).

    Parameters
    ----------
    values : sorted values of a feature
    costs : cost of each row to each center, in the same order

    Returns
    -------
    cost, low, high : of the best cut; the cost is -1 when all values are equal
    """
    n, k = costs.shape
    left = np.zeros(k, dtype=np.int64)
    right = np.zeros(k, dtype=np.int64)
    for i in range(n):
        for c in range(k):
            right[c] += costs[i, c]
    best, low, high = np.int64(-1), np.nan, np.nan
    for i in range(n - 1):
        for c in range(k):
            left[c] += costs[i, c]
            right[c] -= costs[i, c]
        if values[i] < values[i + 1]:
            cost = left.min() + right.min()
            if best < 0 or cost < best:
                best, low, high = cost, values[i], values[i + 1]
    return best, low, high
