"""Costs in whole units, and sums over groups of rows."""

from __future__ import annotations

import numpy as np

from pellucid.kernels._compile import compiled


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
def sparse_costs(data, indices, indptr, centers, scale, per_unit, out):
    """The same for the rows of a CSR matrix, in time of the stored entries.

    Whole numbers cancel exactly: start from the cost of an all-zero row, then replace the terms
    of the stored entries.
    """
    n_centers, n_features = centers.shape
    origin = np.zeros(n_centers, dtype=np.int64)
    for i in range(len(indptr) - 1):
        factor = scale[i] * per_unit
        if i == 0 or scale[i] != scale[i - 1]:
            origin[:] = 0
            for c in range(n_centers):
                for j in range(n_features):
                    origin[c] += np.int64(np.rint(centers[c, j] * centers[c, j] * factor))
        for c in range(n_centers):
            total = origin[c]
            for p in range(indptr[i], indptr[i + 1]):
                at = centers[c, indices[p]]
                gap = np.float64(data[p]) - at
                total += np.int64(np.rint(gap * gap * factor))
                total -= np.int64(np.rint(at * at * factor))
            out[i, c] = total


@compiled
def dense_nearest(X, centers, out):
    """Nearest center of each row, the lowest of equals.

    Squares are added in the order of the columns, for many rows at a time side by side.
    """
    n_centers, n_features = centers.shape
    block = 64
    lines = np.zeros((n_features, block))
    cost, best = np.empty(block), np.empty(block)
    for start in range(0, len(X), block):
        size = min(block, len(X) - start)
        for i in range(size):
            for j in range(n_features):
                lines[j, i] = X[start + i, j]
        best[:] = np.inf
        for c in range(n_centers):
            cost[:] = 0.0
            for j in range(n_features):
                at = centers[c, j]
                for i in range(block):
                    gap = lines[j, i] - at
                    cost[i] += gap * gap
            for i in range(size):
                if cost[i] < best[i]:
                    best[i] = cost[i]
                    out[start + i] = c


@compiled
def sparse_nearest(data, indices, indptr, centers, out):
    """The same for the rows of a CSR matrix, to the bit.

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
            value = np.float64(data[p])
            size += value * value
            for c in range(n_centers):
                score[c] -= 2.0 * value * centers[c, indices[p]]
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


@compiled
def dense_spread(X, labels, weight, origins, totals, sums):
    """Add up, about origins[g]: weight and squares, and first moments.

    totals[g] = (weight, weight |x - o|^2), sums[g, j] = weight (x_j - o_j) for the rows x of
    group g with origin o; label -1 is in no group.
    """
    for i in range(X.shape[0]):
        g = labels[i]
        if g >= 0:
            square = 0.0
            for j in range(X.shape[1]):
                gap = X[i, j] - origins[g, j]
                square += gap * gap
                sums[g, j] += weight[i] * gap
            totals[g, 0] += weight[i]
            totals[g, 1] += weight[i] * square


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


@compiled
def dense_size(X, weight, origin):
    """Sum of weighted squared distances of all rows to one point."""
    n_features = X.shape[1]
    total = 0.0
    for i in range(X.shape[0]):
        even = odd = 0.0  # two sums side by side
        for j in range(0, n_features - 1, 2):
            a, b = X[i, j] - origin[j], X[i, j + 1] - origin[j + 1]
            even += a * a
            odd += b * b
        if n_features % 2:
            a = X[i, n_features - 1] - origin[n_features - 1]
            even += a * a
        total += weight[i] * (even + odd)
    return total
