"""Costs in whole units, and sums over groups of rows."""

from __future__ import annotations

import numpy as np

from pellucid._utils.compilation import compiled, fused

BLOCK_ROWS = 4096
"""Rows that `dense_spread` is given together; fixed, so that sums do not depend on the threads."""


@compiled
def dense_costs(X, centers, scale, per_unit, out):
    """out[i, c] = sum over j of round(scale[i] (X[i, j] - centers[c, j])^2 per_unit).

    `per_unit` is a power of two.
    """
    n_centers, n_features = centers.shape
    for i in range(X.shape[0]):
        factor = scale[i] * per_unit
        for c in range(n_centers):
            total = np.int64(0)
            for j in range(n_features):
                gap = X[i, j] - centers[c, j]
                total += np.int64(np.rint(gap * gap * factor))
            out[i, c] = total


@compiled
def unscaled_costs(X, centers, root, shift, line, place, out):
    """The same for rows that all have the scale 1, that of row i at out[place[i]]; returns whether
    it could be done.

    Rows and `centers` are multiplied by `root`, a power of two, which rounds nothing: `per_unit` is
    its square, or twice that. `shift` is 2^52 or, in the other case, 2^51. From there up to twice
    as much, floats are multiples of 1 or of 1/2, and their bits count these: a number is rounded by
    adding `shift`, to the same side as elsewhere. The bits of larger ones add up to less than they
    should, but to 2^52 or more. `line` is room for a row.
    """
    n_centers, n_features = centers.shape
    seen = np.int64(0)
    none = -n_features * np.float64(shift).view(np.int64)
    for i in range(X.shape[0]):
        for j in range(n_features):
            line[j] = X[i, j] * root
        row = np.uint64(place[i])
        for c in range(n_centers):
            total = none
            for j in range(n_features):
                gap = line[j] - centers[c, j]
                total += np.float64(gap * gap + shift).view(np.int64)
            out[row, c] = total
            seen |= total
    return seen >> 52 == 0


@compiled
def sparse_costs(data, indices, indptr, places, scale, per_unit, term, out):
    """The same for the rows of a CSR matrix, in time of the stored entries.

    places[j, c] is centers[c, j]. Whole numbers cancel exactly: start from the cost of an all-zero
    row, then replace the terms of the stored entries. `term` is room for those of 0, and for their
    sums: made outside, it need not be compiled.
    """
    n_features, n_centers = places.shape
    for i in range(len(indptr) - 1):
        factor = scale[i] * per_unit
        if i == 0 or scale[i] != scale[i - 1]:
            for c in range(n_centers):
                total = np.int64(0)
                for j in range(n_features):
                    term[j, c] = np.int64(np.rint(places[j, c] * places[j, c] * factor))
                    total += term[j, c]
                term[n_features, c] = total
        for c in range(n_centers):
            out[i, c] = term[n_features, c]
        for p in range(indptr[i], indptr[i + 1]):
            j, value = indices[p], np.float64(data[p])
            for c in range(n_centers):
                gap = value - places[j, c]
                out[i, c] += np.int64(np.rint(gap * gap * factor)) - term[j, c]


@fused
def dense_nearest(X, centers, half, top, unit, out):
    """out[i] = the center c of the largest X[i] . centers[c] - half[c]; -1 if it is in doubt.

    In doubt it is if the second comes as close as unit (|x|^2 + top). Two rows and two centers at a
    time, since each number that is read then serves twice; both rows get the larger doubt of the
    two together. Of an odd number of rows the last is looked at twice; the centers are even in
    number.
    """
    n, n_features = X.shape
    for i in range(0, n, 2):
        k = i + 1 if i + 1 < n else i
        size = top
        for j in range(n_features):
            size += X[i, j] * X[i, j] + X[k, j] * X[k, j]
        best = second = other_best = other_second = -np.inf
        at = other_at = -1
        for c in range(0, len(half), 2):
            a = other_a = -half[c]
            b = other_b = -half[c + 1]
            for j in range(n_features):
                x, y, left, right = X[i, j], X[k, j], centers[c, j], centers[c + 1, j]
                a += x * left
                b += x * right
                other_a += y * left
                other_b += y * right
            for turn in range(2):
                value, other = (b, other_b) if turn else (a, other_a)
                low = value if value < best else best
                second = low if low > second else second
                at = c + turn if value > best else at
                best = value if value > best else best
                low = other if other < other_best else other_best
                other_second = low if low > other_second else other_second
                other_at = c + turn if other > other_best else other_at
                other_best = other if other > other_best else other_best
        out[i] = at if best - second > unit * size else -1
        out[k] = other_at if other_best - other_second > unit * size else -1


@compiled
def pick_nearest(scores, half, doubt, out):
    """out[i] = the center c of the largest scores[i, c] - half[c]; -1 if it is in doubt."""
    for i in range(len(out)):
        best, second, at = -np.inf, -np.inf, -1
        for c in range(len(half)):
            value = scores[i, c] - half[c]
            if value > best:
                second = best
                best = value
                at = c
            elif value > second:
                second = value
        out[i] = at if best - second > doubt[i] else -1


@compiled
def dense_sums(X, labels, weight, first, sums):
    """sums[g, first + j] = sum of weight X[i, j] over the rows of group g.

    Rows are added in order, whatever the storage, so the bits are always the same.
    """
    for i in range(X.shape[0]):
        g = labels[i]
        if g >= 0:
            for j in range(X.shape[1]):
                sums[g, first + j] += weight[i] * X[i, j]


@compiled
def sparse_sums(data, indices, indptr, first, last, labels, weight, sums):
    """The same for columns of a CSC matrix."""
    for j in range(first, last):
        for p in range(indptr[j], indptr[j + 1]):
            i = indices[p]
            g = labels[i]
            if g >= 0:
                sums[g, j] += weight[i] * np.float64(data[p])


@fused
def dense_spread(X, rows, labels, others, weight, origins, heft, squares, sums):
    """Add up, about the origin o of a row's group: weight, squares, and first moments.

    For each block b of BLOCK_ROWS of the `rows` by itself, heft[b, p] = weight, squares[b, p] =
    weight |x - o|^2, sums[b, p, j] = weight (x_j - o_j). The rows that both groupings put into
    group g have the place p = g; those that only `labels` does come after all groups, then those
    that only `others` does. Label -1 is in no group.
    """
    n_groups, n_features = origins.shape
    for b in range(len(heft)):
        begin, end = b * BLOCK_ROWS, (b + 1) * BLOCK_ROWS
        for r in range(np.uint64(begin), np.uint64(end if end < len(rows) else len(rows))):
            i = np.uint64(rows[r])
            own, other, factor = labels[i], others[i], weight[i]
            apart = own != other
            for turn in range(1 + apart):
                g = other if turn else own
                if g >= 0:
                    group = np.uint64(g)
                    place, square = group + np.uint64((apart + turn) * n_groups), 0.0
                    for j in range(n_features):
                        gap = X[i, j] - origins[group, j]
                        square += gap * gap
                        sums[b, place, j] += factor * gap
                    heft[b, place] += factor
                    squares[b, place] += factor * square


@compiled
def sparse_spread(data, indices, indptr, labels, weight, origins, totals, sums, stored):
    """The same for all rows of a CSC matrix, in time of its stored entries.

    Of each group: totals[g, 0] = weight, totals[g, 1] = squares. `stored` is room, all 0, for the
    weight and the number of the entries of each group in a column, and for its rows: all others
    are 0, and none where there are as many entries as rows, whatever rounding leaves.
    """
    for i in range(len(labels)):
        if labels[i] >= 0:
            totals[labels[i], 0] += weight[i]
            stored[labels[i], 2] += 1
    for j in range(len(indptr) - 1):
        for p in range(indptr[j], indptr[j + 1]):
            i = indices[p]
            g = labels[i]
            if g >= 0:
                gap = np.float64(data[p]) - origins[g, j]
                totals[g, 1] += weight[i] * gap * gap
                sums[g, j] += weight[i] * gap
                stored[g, 0] += weight[i]
                stored[g, 1] += 1
        for g in range(len(origins)):
            if stored[g, 1] < stored[g, 2]:
                rest, at = totals[g, 0] - stored[g, 0], origins[g, j]
                totals[g, 1] += rest * at * at
                sums[g, j] -= rest * at
            stored[g, 0] = stored[g, 1] = 0
