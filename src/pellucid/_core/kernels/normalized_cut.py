"""Normalised cuts of the label graph, in which every two rows of one cluster are joined.

For a set of rows with weight S[c] in cluster c, whose weight in all of the data is N[c],

    cut = sum over c of S[c] (N[c] - S[c]),  degree = sum over c of S[c] (N[c] - s),

and its cut ratio is cut / degree, 0 where the degree is 0. The self weight s is 1 if a row is not
joined to itself, else 0. The objective of a threshold is the sum of the cut ratios of its two
sides.
"""

from __future__ import annotations

import numpy as np

from pellucid._utils.compilation import compiled, inner

_MARGIN = 1e-10
"""Subtracted from a bound so that it holds despite rounding; cut ratios are at most 1."""


@inner
def _evaluate(below, totals, whole, self_weight, sides, t):
    """Objective of a threshold with weight below[c] of each cluster on its left.

    Fills sides[t] with the cut ratios of the left and the right side, and their degrees.
    """
    cut = degree = right_cut = right_degree = 0.0
    for c in range(len(below)):
        left, right = below[c], totals[c] - below[c]
        cut += left * (whole[c] - left)
        degree += left * (whole[c] - self_weight)
        right_cut += right * (whole[c] - right)
        right_degree += right * (whole[c] - self_weight)
    sides[t, 0] = cut / degree if degree > 0.0 else 0.0
    sides[t, 1] = right_cut / right_degree if right_degree > 0.0 else 0.0
    sides[t, 2], sides[t, 3] = degree, right_degree
    return sides[t, 0] + sides[t, 1]


@inner
def _bound_by_slopes(low, high, totals, whole, self_weight, sides, t):
    """Lower bound of the objective inside bin t, tight where both sides are large.

    With cut ratios p, q and degrees D, E of the two sides at the upper edge, the objective at S
    exceeds p + q by h(S) / D(S) plus the same on the right, where
    h(S) = sum over c of S[c] (N[c] - S[c]) - p S[c] (N[c] - s). If the degrees were constant, the
    sum would be concave in each S[c] and least at one of its two ends. The error made by taking
    them as constant is bounded by the steepest slope of h times the width.
    """
    p, q, degree, right_degree = sides[t + 1]
    if sides[t, 2] <= 0.0 or right_degree <= 0.0:
        return -np.inf
    change = rise = right_rise = 0.0
    for c in range(len(low)):
        width = high[c] - low[c]
        if width > 0.0:
            n, joined = whole[c], whole[c] - self_weight
            first, last = n - 2.0 * low[c] - p * joined, n - 2.0 * high[c] - p * joined
            right_first = n - 2.0 * (totals[c] - high[c]) - q * joined
            right_last = n - 2.0 * (totals[c] - low[c]) - q * joined
            step = (right_first + right_last) / right_degree - (first + last) / degree
            change += 0.5 * width * min(step, 0.0)
            rise += width * max(abs(first), abs(last))
            right_rise += width * max(abs(right_first), abs(right_last))
    change -= rise * (1.0 / sides[t, 2] - 1.0 / degree)
    change -= right_rise * (1.0 / right_degree - 1.0 / sides[t, 3])
    return p + q + change - _MARGIN


@inner
def _least_ratio(low, high, whole, self_weight):
    """Least cut ratio of all non-empty sets with low[c] <= S[c] <= high[c].

    For a guess p, cut - p degree is a sum of concave terms, each least at an end. If the sum can
    be negative, the cut ratio at those ends is a better guess (Dinkelbach's method).
    """
    cut = degree = least_degree = unjoined = 0.0
    for c in range(len(low)):
        cut += high[c] * (whole[c] - high[c])
        degree += high[c] * (whole[c] - self_weight)
        least_degree += low[c] * (whole[c] - self_weight)
        unjoined += high[c] if whole[c] == self_weight else 0.0
    if least_degree <= 0.0 and unjoined > 0.0:
        return 0.0
    p = cut / degree if degree > 0.0 else 0.0
    for _ in range(50):
        cut = degree = 0.0
        for c in range(len(low)):
            n, joined = whole[c], whole[c] - self_weight
            at_low = low[c] * (n - low[c] - p * joined)
            at_high = high[c] * (n - high[c] - p * joined)
            end = low[c] if at_low <= at_high else high[c]
            cut += end * (n - end)
            degree += end * joined
        if degree <= 0.0 or cut >= p * degree:
            return p
        p = cut / degree
    return 0.0


@compiled
def scan_columns(sums, inside, totals, whole, self_weight, ends, sides, best, edge, bounds):
    """Least objective at the edges of some columns, the lowest such edge, and bounds inside bins.

    A bound is infinite if the bin has no thresholds inside or cannot reach the best edge. It is
    that by slopes or, where a side is small, the sum of the least cut ratios of both sides. `ends`,
    the weights left of the two edges of a bin and right of them, and `sides`, of each edge, are
    scratch space.
    """
    _, n_bins, k = sums.shape
    low, high, right_low, right_high = ends[0], ends[1], ends[2], ends[3]
    for f in range(len(sums)):
        remaining = 0.0
        for c in range(k):
            high[c] = 0.0
            remaining += totals[c]
        best[f], edge[f] = np.inf, 0
        _evaluate(high, totals, whole, self_weight, sides, np.int64(0))
        for t in range(n_bins):
            weight = 0.0
            for c in range(k):
                high[c] += sums[f, t, c]
                weight += sums[f, t, c]
            bounds[f, t] = weight
            if weight == 0.0:
                for i in range(4):
                    sides[t + 1, i] = sides[t, i]
                continue
            remaining -= weight
            value = _evaluate(high, totals, whole, self_weight, sides, t + 1)
            if remaining > 0.0 and value < best[f]:
                best[f], edge[f] = value, t
        for c in range(k):
            high[c] = 0.0
        for t in range(n_bins):
            weight = bounds[f, t]
            bounds[f, t] = np.inf
            if weight > 0.0:
                for c in range(k):
                    low[c] = high[c]
                    high[c] += sums[f, t, c]
                    right_low[c], right_high[c] = totals[c] - high[c], totals[c] - low[c]
                if not inside[f, t]:
                    continue
                least = _bound_by_slopes(low, high, totals, whole, self_weight, sides, t)
                if least <= best[f]:
                    by_side = _least_ratio(low, high, whole, self_weight)
                    by_side += _least_ratio(right_low, right_high, whole, self_weight)
                    least = max(least, by_side - _MARGIN)
                bounds[f, t] = least if least <= best[f] else np.inf
