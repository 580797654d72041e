"""Threshold trees drawn at random from the reference centers alone.

For one column, sort the coordinates of all k centers: gap g lies between the g-th and the next.
Every cut is drawn from one measure over all gaps of all columns, which gives a gap of length h
the weight h (k-medians) or h^2 (k-means; within the gap the density is then proportional to the
distance to the nearer end). Only gaps that separate centers of some leaf may be drawn; the cut is
put into every leaf whose centers it separates.

    ends : (n_features, k), sorted coordinates
    rank : (n_features, k), how many coordinates lie strictly below that of each center
    distance : (k, k), measure of all cuts between two centers; empty where no cut is ruled out
    squared : whether a gap weighs the square of its length
    leaf : (k,), the leaf that holds each center
"""

from __future__ import annotations

import numpy as np

from pellucid._utils.compilation import compiled, inner


@compiled
def draw_trees(ends, rank, distance, squared, uniforms, begin, end, trees, lengths, room):
    """Draw trees begin .. end; uniforms[t, s] = (which gap, where in it) of the s-th cut of t.

    `trees` are the arrays of a `batch_tree_costs.Trees`; lengths, (n_features, k - 1), and
    room, four times 2 k whole numbers, are for the loops to fill.
    """
    feature, threshold, left, right, cluster = trees
    leaf, low, high, change = room
    k = ends.shape[1]
    for t in range(begin, end):
        for c in range(k):
            leaf[c] = 0
        n_nodes = np.int64(1)  # a plain 1 would have functions compiled for it alone
        for s in range(k - 1):
            find_open_gaps(ends, rank, leaf, n_nodes, low, high, change, lengths)
            if len(distance) > 0:
                rule_out_close_pairs(rank, distance, leaf, lengths)
            j, g = choose_gap(lengths, squared, uniforms[t, s, 0])
            if j < 0:  # centers that are left together coincide
                break
            a, b = ends[j, g], ends[j, g + 1]
            at = choose_place(a, b, squared, uniforms[t, s, 1])
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
    """Least and greatest rank of the centers of each node in column j; low > high without any."""
    for node in range(n_nodes):
        low[node], high[node] = rank.shape[1], -1
    for c in range(rank.shape[1]):
        low[leaf[c]] = min(low[leaf[c]], rank[j, c])
        high[leaf[c]] = max(high[leaf[c]], rank[j, c])


@inner
def find_open_gaps(ends, rank, leaf, n_nodes, low, high, change, lengths):
    """Length of each gap that separates centers of some leaf; 0 for the others."""
    n_features, k = ends.shape
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
            lengths[j, g] = ends[j, g + 1] - ends[j, g] if n_open > 0 else 0.0


@inner
def rule_out_close_pairs(rank, distance, leaf, lengths):
    """Close the gaps between two centers of a leaf at most D / k^3 apart.

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
def choose_gap(lengths, squared, u):
    """The gap at which the share u of the whole measure is reached, column after column.

    (-1, -1) where there is no gap.
    """
    n_features, n_gaps = lengths.shape
    longest = total = 0.0
    for j in range(n_features):
        for g in range(n_gaps):
            longest = max(longest, lengths[j, g])
    for j in range(n_features):
        for g in range(n_gaps):
            share = lengths[j, g] / longest  # so that no square is lost
            total += share * share if squared else share
    target, reached = u * total, 0.0
    column, gap = -1, -1
    for j in range(n_features):
        for g in range(n_gaps):
            if lengths[j, g] > 0.0:
                share = lengths[j, g] / longest
                reached += share * share if squared else share
                column, gap = j, g
                if reached > target:
                    return column, gap
    return column, gap


@inner
def choose_place(a, b, squared, u):
    """The share u of the measure of the gap from a to b, as a threshold: at least a, below b."""
    if not squared:
        at = a + (b - a) * u
    elif u < 0.5:
        at = a + (b - a) * np.sqrt(u / 2.0)
    else:
        at = b - (b - a) * np.sqrt((1.0 - u) / 2.0)
    return max(a, min(at, np.nextafter(b, -np.inf)))
