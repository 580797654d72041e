"""Absolute distances: costs in whole units, nearest centers, totals, and medians of groups."""

from __future__ import annotations

import numpy as np

from pellucid._utils.compilation import allocating, compiled, fused, inner


@compiled
def dense_costs(X, centers, scale, per_unit, out):
    """out[i, c] = sum over j of round(scale[i] |X[i, j] - centers[c, j]| per_unit)."""
    n_centers, n_features = centers.shape
    for i in range(X.shape[0]):
        factor = scale[i] * per_unit
        for c in range(n_centers):
            total = np.int64(0)
            for j in range(n_features):
                total += np.int64(np.rint(abs(X[i, j] - centers[c, j]) * factor))
            out[i, c] = total


@compiled
def sparse_costs(data, indices, indptr, places, scale, per_unit, term, out):
    """The same for the rows of a CSR matrix, in time of the stored entries.

    places[j, c] is centers[c, j]. Whole numbers cancel exactly: start from the cost of an all-zero
    row, then replace the terms of the stored entries. `term` is room for those of 0, and for their
    sums.
    """
    n_features, n_centers = places.shape
    for i in range(len(indptr) - 1):
        factor = scale[i] * per_unit
        if i == 0 or scale[i] != scale[i - 1]:
            for c in range(n_centers):
                total = np.int64(0)
                for j in range(n_features):
                    term[j, c] = np.int64(np.rint(abs(places[j, c]) * factor))
                    total += term[j, c]
                term[n_features, c] = total
        for c in range(n_centers):
            out[i, c] = term[n_features, c]
        for p in range(indptr[i], indptr[i + 1]):
            j, value = indices[p], np.float64(data[p])
            for c in range(n_centers):
                out[i, c] += np.int64(np.rint(abs(value - places[j, c]) * factor)) - term[j, c]


@allocating
def dense_nearest(X, places, out):
    """Center of least sum over j of |X[i, j] - places[j, c]|, the lowest of equals.

    Each center's terms are added in the order of the columns, several centers at a time.
    """
    n_features, n_centers = places.shape
    cost = np.empty(n_centers)
    for i in range(X.shape[0]):
        for c in range(n_centers):
            cost[c] = 0.0
        for j in range(n_features):
            value = X[i, j]
            for c in range(n_centers):
                cost[c] += abs(value - places[j, c])
        least, at = cost[0], 0
        for c in range(1, n_centers):
            if cost[c] < least:
                least, at = cost[c], c
        out[i] = at


@allocating
def sparse_nearest(data, indices, indptr, places, out):
    """The same for the rows of a CSR matrix, to the bit.

    The cost of an all-zero row, put right for the stored entries, is the cost but for rounding;
    where two centers are closer to each other than that, all terms are added as for a dense row.
    """
    n_features, n_centers = places.shape
    origin = np.zeros(n_centers)
    for j in range(n_features):
        for c in range(n_centers):
            origin[c] += abs(places[j, c])
    cost, line = np.empty(n_centers), np.zeros(n_features)
    for i in range(len(indptr) - 1):
        size = origin.max()
        cost[:] = origin
        for p in range(indptr[i], indptr[i + 1]):
            j, value = indices[p], np.float64(data[p])
            size += abs(value)
            for c in range(n_centers):
                cost[c] += abs(value - places[j, c]) - abs(places[j, c])
        best = cost.min()
        limit = best + 1e-14 * (n_features + 8) * size
        near = 0
        for c in range(n_centers):
            near += cost[c] <= limit
        if near == 1:
            out[i] = np.argmin(cost)
            continue
        for p in range(indptr[i], indptr[i + 1]):
            line[indices[p]] = data[p]
        least, at = np.inf, 0
        for c in range(n_centers):
            if cost[c] <= limit:
                total = 0.0
                for j in range(n_features):
                    total += abs(line[j] - places[j, c])
                if total < least:
                    least, at = total, c
        out[i] = at
        for p in range(indptr[i], indptr[i + 1]):
            line[indices[p]] = 0.0


@fused
def dense_total(X, labels, weight, centers, total):
    """total[0] += sum of weight |X[i, j] - centers[labels[i], j]|; label -1 is free."""
    n_features = X.shape[1]
    for i in range(X.shape[0]):
        g = labels[i]
        if g >= 0:
            line = 0.0
            for j in range(n_features):
                line += abs(X[i, j] - centers[g, j])
            total[0] += weight[i] * line


@allocating
def sparse_total(data, indices, indptr, first, last, labels, weight, places, heft, total):
    """total[j] = the same for one column of a CSC matrix; heft[g] is the weight of group g."""
    n_groups = len(heft)
    zeros = np.empty(n_groups)
    for j in range(first, last):
        zeros[:] = heft
        cost = 0.0
        for p in range(indptr[j], indptr[j + 1]):
            i = indices[p]
            g = labels[i]
            if g >= 0:
                cost += weight[i] * abs(np.float64(data[p]) - places[j, g])
                zeros[g] -= weight[i]
        for g in range(n_groups):
            cost += max(zeros[g], 0.0) * abs(places[j, g])
        total[j] = cost


@inner
def lower_median(values, units, begin, end):
    """The least of values[begin:end] with half of their weight at or below it, or more.

    NaN where there is no weight. Puts the values below a pivot before it and those above it
    behind, then goes on in the part where half of the weight is reached.
    """
    total = np.int64(0)
    for p in range(begin, end):
        total += units[p]
    if total == 0:
        return np.nan
    missing = (total + 1) // 2
    while end - begin > 1:
        quarter = (end - begin) // 4
        a, b, c = values[begin + quarter], values[(begin + end) // 2], values[end - 1 - quarter]
        pivot = max(min(a, b), min(max(a, b), c))
        less, p, more = begin, begin, end
        below = level = np.int64(0)
        while p < more:
            value, unit = values[p], units[p]
            if value < pivot:
                values[p], units[p] = values[less], units[less]
                values[less], units[less] = value, unit
                below += unit
                less += 1
                p += 1
            elif value > pivot:
                more -= 1
                values[p], units[p] = values[more], units[more]
                values[more], units[more] = value, unit
            else:
                level += unit
                p += 1
        if missing <= below:
            end = less
        elif missing <= below + level:
            return pivot
        else:
            missing -= below + level
            begin = more
    return values[begin]


@allocating
def dense_medians(columns, units, starts, first, out):
    """out[g, first + j] = lower weighted median of columns[j, starts[g]:starts[g + 1]].

    The columns are put in another order.
    """
    carried = np.empty_like(units)
    for j in range(len(columns)):
        carried[:] = units
        for g in range(len(starts) - 1):
            out[g, first + j] = lower_median(columns[j], carried, starts[g], starts[g + 1])


@allocating
def sparse_medians(data, indices, indptr, first, last, labels, units, heft, out):
    """The same for columns of a CSC matrix; heft[g] is the weight of group g, in whole units.

    All entries of a group that are not stored are one entry of value 0.
    """
    n_groups = len(heft)
    starts = np.empty(n_groups + 1, dtype=np.int64)
    filled = np.empty(n_groups, dtype=np.int64)
    longest = 0
    for j in range(first, last):
        longest = max(longest, indptr[j + 1] - indptr[j])
    values = np.empty(longest + n_groups)
    carried = np.empty(longest + n_groups, dtype=np.int64)
    for j in range(first, last):
        filled[:] = 0
        for p in range(indptr[j], indptr[j + 1]):
            g = labels[indices[p]]
            if g >= 0:
                filled[g] += 1
        starts[0] = 0
        for g in range(n_groups):
            starts[g + 1] = starts[g] + filled[g] + 1
            values[starts[g]], carried[starts[g]] = 0.0, heft[g]
            filled[g] = starts[g] + 1
        for p in range(indptr[j], indptr[j + 1]):
            i = indices[p]
            g = labels[i]
            if g >= 0:
                values[filled[g]], carried[filled[g]] = np.float64(data[p]), units[i]
                carried[starts[g]] -= units[i]
                filled[g] += 1
        for g in range(n_groups):
            out[g, j] = lower_median(values, carried, starts[g], starts[g + 1])
