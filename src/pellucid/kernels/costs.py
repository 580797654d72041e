"""Costs in whole units, and sums over groups of rows."""

from __future__ import annotations

import numpy as np

from pellucid.kernels._compile import compiled, fused, inner


@compiled
def dense_costs(X, centers, scale, per_unit, out):
    """out[i, c] = sum over j of round(scale[i] (X[i, j] - centers[c, j])^2 per_unit)."""
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
def sparse_costs(data, indices, indptr, places, scale, per_unit, out):
    """The same for the rows of a CSR matrix, in time of the stored entries.

    places[j, c] is centers[c, j]. Whole numbers cancel exactly: start from the cost of an all-zero
    row, then replace the terms of the stored entries.
    """
    n_features, n_centers = places.shape
    term = np.empty((n_features, n_centers), dtype=np.int64)
    origin = np.empty(n_centers, dtype=np.int64)
    for i in range(len(indptr) - 1):
        factor = scale[i] * per_unit
        if i == 0 or scale[i] != scale[i - 1]:
            origin[:] = 0
            for j in range(n_features):
                for c in range(n_centers):
                    term[j, c] = np.int64(np.rint(places[j, c] * places[j, c] * factor))
                    origin[c] += term[j, c]
        for c in range(n_centers):
            out[i, c] = origin[c]
        for p in range(indptr[i], indptr[i + 1]):
            j, value = indices[p], np.float64(data[p])
            for c in range(n_centers):
                gap = value - places[j, c]
                out[i, c] += np.int64(np.rint(gap * gap * factor)) - term[j, c]


@fused
def dense_nearest(X, centers, tiles, out):
    """Nearest center of each row, the lowest of equals.

    tiles[t, j, c] is centers[4 t + c, j], filled up with zeros. The center of the largest score
    x . c - |c|^2 / 2 is the nearest, but for rounding; where the second best comes closer than
    that, the squares are added up.
    """
    n_centers, n_features = centers.shape
    n_tiles = len(tiles)
    half = np.zeros(4 * n_tiles)
    largest = 0.0
    for c in range(n_centers):
        for j in range(n_features):
            half[c] += 0.5 * centers[c, j] * centers[c, j]
        largest = max(largest, half[c])
    score = np.empty((4, 4 * n_tiles))
    block = 1024
    for begin in range(0, len(X), block):
        end = min(begin + block, len(X))
        reach = 0.0
        for i in range(begin, end):
            for j in range(n_features):
                reach = max(reach, abs(X[i, j]))
        doubt = 1e-13 * (n_features + 8) * (n_features * reach * reach + largest)
        for i in range(begin, end - 3, 4):
            for t in range(n_tiles):
                a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = 0.0
                c0 = c1 = c2 = c3 = d0 = d1 = d2 = d3 = 0.0
                for j in range(n_features):
                    w0, w1, w2, w3 = tiles[t, j, 0], tiles[t, j, 1], tiles[t, j, 2], tiles[t, j, 3]
                    a, b, c, d = X[i, j], X[i + 1, j], X[i + 2, j], X[i + 3, j]
                    a0, a1, a2, a3 = a0 + a * w0, a1 + a * w1, a2 + a * w2, a3 + a * w3
                    b0, b1, b2, b3 = b0 + b * w0, b1 + b * w1, b2 + b * w2, b3 + b * w3
                    c0, c1, c2, c3 = c0 + c * w0, c1 + c * w1, c2 + c * w2, c3 + c * w3
                    d0, d1, d2, d3 = d0 + d * w0, d1 + d * w1, d2 + d * w2, d3 + d * w3
                p = 4 * t
                score[0, p], score[0, p + 1], score[0, p + 2], score[0, p + 3] = a0, a1, a2, a3
                score[1, p], score[1, p + 1], score[1, p + 2], score[1, p + 3] = b0, b1, b2, b3
                score[2, p], score[2, p + 1], score[2, p + 2], score[2, p + 3] = c0, c1, c2, c3
                score[3, p], score[3, p + 1], score[3, p + 2], score[3, p + 3] = d0, d1, d2, d3
            for r in range(4):
                best, second, at = -np.inf, -np.inf, 0
                for c in range(n_centers):
                    value = score[r, c] - half[c]
                    if value > best:
                        best, second, at = value, best, c
                    elif value > second:
                        second = value
                sure = best - second > doubt
                out[i + r] = at if sure else nearest_by_squares(X, i + r, centers)
        for i in range(end - (end - begin) % 4, end):
            out[i] = nearest_by_squares(X, i, centers)


@inner
def nearest_by_squares(X, i, centers):
    """Nearest center of one row, squares added in the order of the columns."""
    least, at = np.inf, 0
    for c in range(centers.shape[0]):
        cost = 0.0
        for j in range(centers.shape[1]):
            gap = X[i, j] - centers[c, j]
            cost += gap * gap
        if cost < least:
            least, at = cost, c
    return at


@compiled
def sparse_nearest(data, indices, indptr, centers, places, out):
    """The same for the rows of a CSR matrix, to the bit; places[j, c] is centers[c, j].

    Norms give the distances in time of the stored entries, but for rounding; where two centers
    are closer to each other than that, the squares are added up as for a dense row.
    """
    n_centers, n_features = centers.shape
    norms = np.zeros(n_centers)
    for c in range(n_centers):
        for j in range(n_features):
            norms[c] += centers[c, j] * centers[c, j]
    score, line = np.empty(n_centers), np.zeros(n_features)
    for i in range(len(indptr) - 1):
        size = 0.0
        score[:] = norms
        for p in range(indptr[i], indptr[i + 1]):
            j, value = indices[p], np.float64(data[p])
            size += value * value
            for c in range(n_centers):
                score[c] -= 2.0 * value * places[j, c]
        best = score.min()
        doubt = 1e-13 * (n_features + 8) * (size + norms.max())
        near = 0
        for c in range(n_centers):
            near += score[c] <= best + doubt
        if near == 1:
            out[i] = np.argmin(score)
            continue
        for p in range(indptr[i], indptr[i + 1]):
            line[indices[p]] = data[p]
        least = np.inf
        for c in range(n_centers):
            if score[c] <= best + doubt:
                cost = 0.0
                for j in range(n_features):
                    gap = line[j] - centers[c, j]
                    cost += gap * gap
                if cost < least:
                    least = cost
                    out[i] = c
        for p in range(indptr[i], indptr[i + 1]):
            line[indices[p]] = 0.0


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
def dense_spread(X, labels, others, weight, origins, totals, sums):
    """Add up, about the origin o of a row's group: weight, squares, and first moments.

    totals[s, g] = (weight, weight |x - o|^2), sums[s, g, j] = weight (x_j - o_j). A row is in two
    groups, by `labels` and by `others`: where these are the same, it is added to s = 0 alone, else
    to s = 1 and to s = 2. Label -1 is in no group.
    """
    n_features = X.shape[1]
    for i in range(X.shape[0]):
        same = labels[i] == others[i]
        for turn in range(1 if same else 2):
            g = labels[i] if turn == 0 else others[i]
            if g < 0:
                continue
            s = 0 if same else turn + 1
            for j in range(n_features):
                sums[s, g, j] += weight[i] * (X[i, j] - origins[g, j])
            square = 0.0
            for j in range(n_features):
                gap = X[i, j] - origins[g, j]
                square += gap * gap
            totals[s, g, 0] += weight[i]
            totals[s, g, 1] += weight[i] * square


@compiled
def sparse_spread(data, indices, indptr, labels, weight, origins, totals, sums):
    """The same for all rows of a CSC matrix, in time of its stored entries.

    As if all entries were 0 first, then each stored one put right.
    """
    for i in range(len(labels)):
        if labels[i] >= 0:
            totals[labels[i], 0] += weight[i]
    for g in range(len(origins)):
        for j in range(origins.shape[1]):
            at = origins[g, j]
            totals[g, 1] += totals[g, 0] * at * at
            sums[g, j] = -totals[g, 0] * at
    for j in range(len(indptr) - 1):
        for p in range(indptr[j], indptr[j + 1]):
            i = indices[p]
            g = labels[i]
            if g >= 0:
                value, at = np.float64(data[p]), origins[g, j]
                totals[g, 1] += weight[i] * ((value - at) * (value - at) - at * at)
                sums[g, j] += weight[i] * value


@fused
def dense_size(X, weight, origin):
    """Sum of weighted squared distances of all rows to one point."""
    n_features = X.shape[1]
    total = 0.0
    for i in range(X.shape[0]):
        square = 0.0
        for j in range(n_features):
            gap = X[i, j] - origin[j]
            square += gap * gap
        total += weight[i] * square
    return total
