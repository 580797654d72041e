"""Absolute distances: nearest centers, and medians of groups."""

from __future__ import annotations

import numpy as np

from pellucid._utils.compilation import allocating, inner


@allocating
def dense_nearest(X, coordinates, out):
    """out[i] = the center c of the least sum over j of |X[i, j] - coordinates[j, c]|.

    Ties go to the lowest. The terms of a center are added in the order of the columns, for several
    centers at a time.
    """
    n_features, n_centers = coordinates.shape
    cost = np.empty(n_centers)
    for i in range(X.shape[0]):
        for c in range(n_centers):
            cost[c] = 0.0
        for j in range(n_features):
            value = X[i, j]
            for c in range(n_centers):
                cost[c] += abs(value - coordinates[j, c])
        least, at = cost[0], 0
        for c in range(1, n_centers):
            if cost[c] < least:
                least, at = cost[c], c
        out[i] = at


@allocating
def sparse_nearest(data, indices, indptr, coordinates, out):
    """The same for the rows of a CSR matrix, to the bit.

    The cost of an all-zero row, corrected by the stored entries, is the cost up to rounding errors.
    If the costs of two centers differ by less, all their terms are added as for a dense row.
    """
    n_features, n_centers = coordinates.shape
    origin = np.zeros(n_centers)
    for j in range(n_features):
        for c in range(n_centers):
            origin[c] += abs(coordinates[j, c])
    cost, dense_row = np.empty(n_centers), np.zeros(n_features)
    for i in range(len(indptr) - 1):
        size = origin.max()
        cost[:] = origin
        for p in range(indptr[i], indptr[i + 1]):
            j, value = indices[p], np.float64(data[p])
            size += abs(value)
            for c in range(n_centers):
                cost[c] += abs(value - coordinates[j, c]) - abs(coordinates[j, c])
        best = cost.min()
        limit = best + 1e-14 * (n_features + 8) * size
        n_near = 0
        for c in range(n_centers):
            n_near += cost[c] <= limit
        if n_near == 1:
            out[i] = np.argmin(cost)
            continue
        for p in range(indptr[i], indptr[i + 1]):
            dense_row[indices[p]] = data[p]
        least, at = np.inf, 0
        for c in range(n_centers):
            if cost[c] <= limit:
                total = 0.0
                for j in range(n_features):
                    total += abs(dense_row[j] - coordinates[j, c])
                if total < least:
                    least, at = total, c
        out[i] = at
        for p in range(indptr[i], indptr[i + 1]):
            dense_row[indices[p]] = 0.0


@inner
def lower_median(values, units, begin, end):
    """The least of values[begin:end] with at least half of their weight at or below it.

    NaN if there is no weight. Quickselect: partition the values by a pivot, then continue in the
    part in which half of the weight is reached. Values and units are reordered.
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

    The columns are reordered.
    """
    carried = np.empty_like(units)
    for j in range(len(columns)):
        carried[:] = units
        for g in range(len(starts) - 1):
            out[g, first + j] = lower_median(columns[j], carried, starts[g], starts[g + 1])


@allocating
def sparse_medians(data, indices, indptr, first, last, labels, units, group_units, out):
    """The same for the columns first .. last of a CSC matrix.

    group_units[g] is the weight of all rows of group g, in units. All entries of a group that are
    not stored are one entry of value 0.
    """
    n_groups = len(group_units)
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
            values[starts[g]], carried[starts[g]] = 0.0, group_units[g]
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
