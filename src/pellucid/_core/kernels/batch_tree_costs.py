"""What it costs when trees move rows out of their reference clusters.

With g = x - s_y the gap of row x to its own center s_y, in whole units, a tree that moves rows from
their clusters y to others c is described by sums over the moved rows alone:

    net[c] = sum of g over the rows that come to c, less that over the rows that leave c,
    weight[y, c] = weight of the rows that go from y to c.

    labels, units : own cluster and weight of each row
    scale, times : a gap counts times * round(scale * gap * per_unit); one of the two is 1
        throughout
    trees : the arrays of a `pellucid._core.data.batch_tree_costs.Trees`
    net, weight : the sums, for many trees: (n_trees, k + 1, n_features), (n_trees, k + 1, k + 1)
"""

from __future__ import annotations

import numpy as np

from pellucid._utils.compilation import allocating, inlined

_BLOCK = 2**15
"""Gaps that are kept at hand for all trees."""


@inlined
def in_units(value, center, scale, times, per_unit):
    """The gap between a value and a coordinate of the center."""
    return times * np.int64(np.rint((value - center) * scale * per_unit))


@allocating
def dense_moves(X, labels, scale, times, units, centers, per_unit, trees, begin, end, net, weight):
    """Add up the rows that trees begin .. end move; the first sums are those of tree `begin`."""
    feature, threshold, left, right, cluster = trees
    n, n_features = X.shape
    block = max(16, _BLOCK // n_features)
    gaps = np.empty((block, n_features), dtype=np.int64)
    for start in range(0, n, block):
        size = min(block, n - start)
        for i in range(size):
            y, factor, repeats = labels[start + i], scale[start + i], times[start + i]
            for j in range(n_features):
                gaps[i, j] = in_units(X[start + i, j], centers[y, j], factor, repeats, per_unit)
        for t in range(begin, end):
            for i in range(size):
                node = 0
                while left[t, node] >= 0:
                    if X[start + i, feature[t, node]] <= threshold[t, node]:
                        node = left[t, node]
                    else:
                        node = right[t, node]
                y, c = labels[start + i], cluster[t, node]
                if c != y:
                    weight[t - begin, y, c] += units[start + i]
                    for j in range(n_features):
                        net[t - begin, y, j] -= gaps[i, j]
                    for j in range(n_features):
                        net[t - begin, c, j] += gaps[i, j]


@allocating
def sparse_moves(
    data, indices, indptr, whole, labels, scale, times, units, centers, per_unit, trees, begin, end,
    net, weight,
):  # fmt: skip
    """The same for all rows of a CSR matrix, to the bit.

    Under whole weights as if all entries were 0 first, then each stored one put right.
    """
    feature, threshold, left, right, cluster = trees
    k, n_features = centers.shape
    line = np.zeros(n_features)
    column = np.arange(n_features)
    gaps = np.empty(n_features, dtype=np.int64)
    for i in range(len(indptr) - 1):
        y, first = labels[i], indptr[i]
        for p in range(first, indptr[i + 1]):
            line[indices[p]] = data[p]
        n_gaps = indptr[i + 1] - first if whole else n_features
        for q in range(n_gaps):
            j = indices[first + q] if whole else q
            column[q] = j
            gaps[q] = in_units(line[j], centers[y, j], scale[i], times[i], per_unit)
            if whole:
                gaps[q] -= in_units(0.0, centers[y, j], scale[i], times[i], per_unit)
        for t in range(begin, end):
            node = 0
            while left[t, node] >= 0:
                if line[feature[t, node]] <= threshold[t, node]:
                    node = left[t, node]
                else:
                    node = right[t, node]
            c = cluster[t, node]
            if c != y:
                weight[t - begin, y, c] += units[i]
                for q in range(n_gaps):
                    net[t - begin, y, column[q]] -= gaps[q]
                    net[t - begin, c, column[q]] += gaps[q]
        for p in range(first, indptr[i + 1]):
            line[indices[p]] = 0.0
    if whole:
        for t in range(end - begin):
            for y in range(k):
                for c in range(k + 1):
                    if weight[t, y, c] > 0:
                        for j in range(n_features):
                            g = in_units(0.0, centers[y, j], 1.0, weight[t, y, c], per_unit)
                            net[t, y, j] -= g
                            net[t, c, j] += g
