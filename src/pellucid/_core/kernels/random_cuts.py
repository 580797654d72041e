"""Threshold trees drawn at random from the reference centers alone.

In one column, sort the coordinates of all k centers: gap g lies between the g-th and the next.
Every cut is drawn from one distribution over all gaps of all columns. A gap of length h has the
weight h (k-medians) or h^2 (k-means; within the gap the density is then proportional to the
distance to the nearer end). Only gaps that separate centers of some leaf may be drawn; the cut is
put into every leaf whose centers it separates.

    coordinates : (n_features, k), sorted
    rank : (n_features, k), number of coordinates strictly below that of each center
    distance : (k, k), weight of all cuts between two centers; empty if no cut is ruled out
    squared : whether the weight of a gap is the square of its length
    leaf : (k,), leaf of each center
    lengths : (n_features, k - 1), length of each gap that may be drawn, 0 for the others

What it costs when trees move rows out of their reference clusters.

With g = x - s_y the gap of row x to its own center s_y, in whole units, a tree that moves rows from
their clusters y to others c is described by sums over the moved rows alone:

    net[c] = sum of g over the rows that come to c, less that over the rows that leave c,
    weight[y, c] = weight of the rows that go from y to c.

    labels, units : own cluster and weight of each row
    scale, times : a gap counts times * round(scale * gap * per_unit); one of the two is 1
        throughout
    trees : the arrays of a `pellucid._core.criteria.random_cuts.Trees`
    net, weight : the sums, for many trees: (n_trees, k + 1, n_features), (n_trees, k + 1, k + 1)
"""

from __future__ import annotations

import numpy as np

from pellucid._utils.compilation import allocating, compiled, inlined, inner


@compiled
def draw_trees(coordinates, rank, distance, squared, uniforms, begin, end, trees, lengths, scratch):
    """Draw trees begin .. end - 1.

    uniforms[t, s] are two numbers in [0, 1) for the s-th cut of tree t: one for the gap, one for
    the place within it. `trees` are the arrays of a `batch_tree_costs.Trees`. `lengths` and
    `scratch`, four arrays of 2 k integers, are overwritten.
    """
    feature, threshold, left, right, cluster = trees
    leaf, low, high, change = scratch
    k = coordinates.shape[1]
    for t in range(begin, end):
        for c in range(k):
            leaf[c] = 0
        n_nodes = np.int64(1)  # a literal 1 would compile another version of the functions
        for s in range(k - 1):
            find_open_gaps(coordinates, rank, leaf, n_nodes, low, high, change, lengths)
            if len(distance) > 0:
                exclude_close_pairs(rank, distance, leaf, lengths)
            j, g = draw_gap(lengths, squared, uniforms[t, s, 0])
            if j < 0:  # the centers of each leaf coincide
                break
            at = draw_threshold(
                coordinates[j, g], coordinates[j, g + 1], squared, uniforms[t, s, 1]
            )
            find_spans(rank, j, leaf, n_nodes, low, high)
            for node in range(n_nodes):
                if low[node] <= g < high[node]:
                    feature[t, node], threshold[t, node] = j, at
                    left[t, node], right[t, node] = n_nodes, n_nodes + 1
                    for c in range(k):
                        if leaf[c] == node:
                            leaf[c] = n_nodes + (rank[j, c] > g)
                    n_nodes += 2
        for c in range(k - 1, -1, -1):
            cluster[t, leaf[c]] = c


@inner
def find_spans(rank, j, leaf, n_nodes, low, high):
    """Least and greatest rank of the centers per node in column j; low > high if it has none."""
    for node in range(n_nodes):
        low[node], high[node] = rank.shape[1], -1
    for c in range(rank.shape[1]):
        low[leaf[c]] = min(low[leaf[c]], rank[j, c])
        high[leaf[c]] = max(high[leaf[c]], rank[j, c])


@inner
def find_open_gaps(coordinates, rank, leaf, n_nodes, low, high, change, lengths):
    """Fill `lengths`: the gaps that separate centers of some leaf."""
    n_features, k = coordinates.shape
    for j in range(n_features):
        find_spans(rank, j, leaf, n_nodes, low, high)
        for g in range(k):
            change[g] = 0
        for node in range(n_nodes):
            if low[node] < high[node]:
                change[low[node]] += 1
                change[high[node]] -= 1
        n_open = 0
        for g in range(k - 1):
            n_open += change[g]
            lengths[j, g] = coordinates[j, g + 1] - coordinates[j, g] if n_open > 0 else 0.0


@inner
def exclude_close_pairs(rank, distance, leaf, lengths):
    """Set to 0 the lengths of the gaps between two centers of a leaf at most D / k^3 apart.

    D is the greatest distance between two centers that share a leaf.
    """
    n_features, k = rank.shape
    farthest = 0.0
    for a in range(k):
        for b in range(a):
            if leaf[a] == leaf[b]:
                farthest = max(farthest, distance[a, b])
    if farthest == 0.0:
        return
    close = farthest / float(k) ** 3
    for a in range(k):
        for b in range(a):
            if leaf[a] == leaf[b] and distance[a, b] <= close:
                for j in range(n_features):
                    first, last = min(rank[j, a], rank[j, b]), max(rank[j, a], rank[j, b])
                    for g in range(first, last):
                        lengths[j, g] = 0.0


@inner
def draw_gap(lengths, squared, u):
    """Gap at which the cumulative weight, column by column, passes u times the total weight.

    (-1, -1) if all lengths are 0.
    """
    n_features, n_gaps = lengths.shape
    longest = total = 0.0
    for j in range(n_features):
        for g in range(n_gaps):
            longest = max(longest, lengths[j, g])
    for j in range(n_features):
        for g in range(n_gaps):
            ratio = lengths[j, g] / longest  # so that the square of no length underflows
            total += ratio * ratio if squared else ratio
    target, reached = u * total, 0.0
    column, gap = -1, -1
    for j in range(n_features):
        for g in range(n_gaps):
            if lengths[j, g] > 0.0:
                ratio = lengths[j, g] / longest
                reached += ratio * ratio if squared else ratio
                column, gap = j, g
                if reached > target:
                    return column, gap
    return column, gap


@inner
def draw_threshold(a, b, squared, u):
    """Threshold t, a <= t < b, at quantile u of the density in the gap from a to b."""
    if not squared:
        at = a + (b - a) * u
    elif u < 0.5:
        at = a + (b - a) * np.sqrt(u / 2.0)
    else:
        at = b - (b - a) * np.sqrt((1.0 - u) / 2.0)
    return max(a, min(at, np.nextafter(b, -np.inf)))


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
