"""Normalised cuts of the graph that joins all rows of one cluster with each other.

Of a set of rows with weight S[c] in cluster c, whose whole weight is N[c],

    cut = sum over c of S[c] (N[c] - S[c]),  degree = sum over c of S[c] (N[c] - lone),

and its share is cut / degree, 0 where there is no degree. `lone` is 1 where a row is not joined to
itself. The objective of a cut is the sum of the shares of its two sides. Inside a bin each S[c] of
the left side lies between its values at the two edges, and the bounds below hold for all such S.

    own, weight : cluster and weight of each row of the cell
    totals, whole : weight of each cluster in the cell and in all of the data
"""

from __future__ import annotations

import numpy as np

from pellucid._utils.compilation import compiled, inner

_MARGIN = 1e-10
"""By how much a bound is lowered, so that it survives rounding; shares are at most 1."""


@compiled
def add_dense(features, codes, rows, own, weight, sums):
    """sums[f, b, c] = weight of the rows of cluster c in bin b of the f-th feature."""
    sums[:] = 0
    for f in range(len(features)):
        j = features[f]
        for i in range(len(rows)):
            # Unsigned, so that no index is looked at for being counted from the end.
            b, c = np.uint64(codes[j, np.uint64(rows[i])]), np.uint64(own[i])
            sums[f, b, c] += weight[i]


@compiled
def add_stored(features, codes, indices, indptr, zero_code, slot, own, weight, totals, sums):
    """The same for CSC columns, of which only the stored entries are looked at.

    All other rows are counted at once. slot[row] is the place of a row among those of the cell, -1
    for the rows of others.
    """
    sums[:] = 0
    for f in range(len(features)):
        j = features[f]
        zero = zero_code[j]
        for c in range(len(totals)):
            sums[f, zero, c] = totals[c]
        for p in range(indptr[j], indptr[j + 1]):
            i = slot[indices[p]]
            if i >= 0:
                sums[f, codes[p], own[i]] += weight[i]
                sums[f, zero, own[i]] -= weight[i]


@inner
def share(cut, degree):
    """Share of the degree that is cut; nothing can be cut where nothing is joined."""
    return cut / degree if degree > 0.0 else 0.0


@inner
def judge_at(below, totals, whole, lone, judged, t):
    """judged[t] = shares of the two sides and their degrees, `below` of each cluster being left."""
    cut = degree = other_cut = other_degree = 0.0
    for c in range(len(below)):
        left, right = below[c], totals[c] - below[c]
        cut += left * (whole[c] - left)
        degree += left * (whole[c] - lone)
        other_cut += right * (whole[c] - right)
        other_degree += right * (whole[c] - lone)
    judged[t, 0], judged[t, 1] = share(cut, degree), share(other_cut, other_degree)
    judged[t, 2], judged[t, 3] = degree, other_degree
    return judged[t, 0] + judged[t, 1]


@inner
def bound_roughly(most, judged, t):
    """Lower bound of the objective between two edges that were judged as t and t + 1.

    `most` is by how much the cut of either side may change: the weight between the edges times
    that of the largest cluster.
    """
    degree, other_degree = judged[t + 1, 2], judged[t, 3]
    cut, other_cut = judged[t + 1, 0] * degree - most, judged[t, 1] * other_degree - most
    return share(max(cut, 0.0), degree) + share(max(other_cut, 0.0), other_degree)


@inner
def bound_together(low, high, totals, whole, lone, judged, t):
    """The same, good where no side is small.

    With shares p, q and degrees D, E of the two sides at the upper edge, the objective at S
    exceeds p + q by h(S) / D(S) plus the like on the right, where
    h(S) = sum over c of S[c] (N[c] - S[c]) - p S[c] (N[c] - lone). Were the degrees constant, each
    c would be least at one of its ends, the sum being concave. They are not, but nearly so, and h
    is at most its steepest slope times the width.
    """
    p, q = judged[t + 1, 0], judged[t + 1, 1]
    degree, other_degree = judged[t + 1, 2], judged[t + 1, 3]
    if judged[t, 2] <= 0.0 or other_degree <= 0.0:
        return -np.inf
    change = rise = other_rise = 0.0
    for c in range(len(low)):
        width = high[c] - low[c]
        if width > 0.0:
            n, joins = whole[c], whole[c] - lone
            first, last = n - 2.0 * low[c] - p * joins, n - 2.0 * high[c] - p * joins
            other_first = n - 2.0 * (totals[c] - high[c]) - q * joins
            other_last = n - 2.0 * (totals[c] - low[c]) - q * joins
            step = (other_first + other_last) / other_degree - (first + last) / degree
            change += 0.5 * width * min(step, 0.0)
            rise += width * max(abs(first), abs(last))
            other_rise += width * max(abs(other_first), abs(other_last))
    change -= rise * (1.0 / judged[t, 2] - 1.0 / degree)
    change -= other_rise * (1.0 / other_degree - 1.0 / judged[t, 3])
    return p + q + change


@inner
def least_share(low, high, whole, lone):
    """Least share of all sets with `low` to `high` of each cluster, the empty set apart.

    For a guess p, cut - p degree is a sum of concave terms, each least at an end; if it can be
    negative, the share of the ends where it is least is a better guess (Dinkelbach's method).
    """
    cut = degree = least_degree = unjoined = 0.0
    for c in range(len(low)):
        cut += high[c] * (whole[c] - high[c])
        degree += high[c] * (whole[c] - lone)
        least_degree += low[c] * (whole[c] - lone)
        unjoined += high[c] if whole[c] == lone else 0.0
    if least_degree <= 0.0 and unjoined > 0.0:
        return 0.0
    p = share(cut, degree)
    for _ in range(50):
        cut = degree = 0.0
        for c in range(len(low)):
            n, joins = whole[c], whole[c] - lone
            at_low = low[c] * (n - low[c] - p * joins)
            at_high = high[c] * (n - high[c] - p * joins)
            end = low[c] if at_low <= at_high else high[c]
            cut += end * (n - end)
            degree += end * joins
        if degree <= 0.0 or cut >= p * degree:
            return p
        p = cut / degree
    return 0.0


@inner
def bound_apart(low, high, totals, whole, lone):
    """The same, good where a side is small: the least of each side by itself."""
    least = least_share(low, high, whole, lone)
    for c in range(len(low)):
        low[c], high[c] = totals[c] - high[c], totals[c] - low[c]
    least += least_share(low, high, whole, lone)
    for c in range(len(low)):
        low[c], high[c] = totals[c] - high[c], totals[c] - low[c]
    return least


@inner
def judge_labels(sums, n_codes, inside, totals, whole, lone, limit, wanted, room):
    """Least objective over the edges, the lowest such edge, and a bound for the inside of the bins.

    Bins that could reach both `limit` and the best edge are marked as `wanted`; without any, the
    bound is infinite.
    """
    low, high, weight, judged = room
    k = len(totals)
    rest = largest = 0.0
    for c in range(k):
        high[c] = 0.0
        rest += totals[c]
        largest = max(largest, whole[c])
    best, at, bound = np.inf, -1, np.inf
    # A plain 0 would have the function compiled for it alone.
    judge_at(high, totals, whole, lone, judged, np.int64(0))
    for t in range(n_codes):
        weight[t] = 0.0
        for c in range(k):
            high[c] += sums[t, c]
            weight[t] += sums[t, c]
        if weight[t] == 0.0:
            for i in range(4):
                judged[t + 1, i] = judged[t, i]
            continue
        rest -= weight[t]
        value = judge_at(high, totals, whole, lone, judged, t + 1)
        if rest > 0.0 and value < best:
            best, at = value, t
    reach = min(best, limit)
    for c in range(k):
        high[c] = 0.0
    for t in range(n_codes):
        wanted[t] = False
        if weight[t] == 0.0:
            continue
        for c in range(k):
            low[c] = high[c]
            high[c] += sums[t, c]
        if inside[t]:
            least = bound_roughly(weight[t] * largest, judged, t) - _MARGIN
            if least <= reach:
                least = max(
                    least, bound_together(low, high, totals, whole, lone, judged, t) - _MARGIN
                )
            if least <= reach:
                least = max(least, bound_apart(low, high, totals, whole, lone) - _MARGIN)
            if least <= reach:
                wanted[t] = True
                bound = min(bound, least)
    return best, at, bound


@compiled
def scan_labels(features, sums, n_edges, inside, totals, whole, lone, limit, found, wanted, room):
    """found[j, 0] = least objective over the edges, its edge, bound inside the bins.

    `sums` is by place in `features`. Bins of the last feature that could reach `limit` are marked
    as `wanted`. In `room` there is place for two numbers a cluster, one a bin, four an edge.
    """
    for f in range(len(features)):
        j = features[f]
        found[j, 0, 0], found[j, 0, 1], found[j, 0, 2] = judge_labels(
            sums[f], n_edges[j] + 1, inside[j], totals, whole, lone, limit, wanted, room
        )


@compiled
def sweep_labels(values, codes, own, weight, sums, totals, whole, lone, room):
    """Least objective strictly inside the bins of the given rows, sorted by value, and where."""
    k = len(totals)
    below, _, _, judged = room
    for c in range(k):
        below[c] = 0.0
    best, at = np.inf, np.nan
    i, done = 0, 0
    while i < len(values):
        b = codes[i]
        while done < b:  # up to the edge before the bin
            for c in range(k):
                below[c] += sums[done, c]
            done += 1
        done += 1
        while i < len(values) and codes[i] == b:
            value = values[i]
            while i < len(values) and values[i] == value:
                below[own[i]] += weight[i]
                i += 1
            if i < len(values) and codes[i] == b:
                found = judge_at(below, totals, whole, lone, judged, np.int64(0))
                if found < best:
                    best, at = found, value
    return best, at
