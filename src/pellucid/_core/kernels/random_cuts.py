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
"""

from __future__ import annotations

import numpy as np

from pellucid._utils.compilation import compiled, inner


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
