"""Normalised cuts of the label graph, in which every two rows of one cluster are joined.

For a set of rows with weight S[c] in cluster c, whose weight in all of the data is N[c],

    cut = sum over c of S[c] (N[c] - S[c]),  degree = sum over c of S[c] (N[c] - s),

and its cut ratio is cut / degree, 0 where the degree is 0. The self weight s is 1 if a row is not
joined to itself, else 0. The objective of a threshold is the sum of the cut ratios of its two
sides. Inside a bin, each S[c] of the left side lies between its values at the two edges; the
bounds below hold for all such S.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pellucid._utils.compilation import compiled, inner

_MARGIN = 1e-10
"""Subtracted from a bound so that it holds despite rounding; cut ratios are at most 1."""


class LabelGraph(NamedTuple):
    """Label graph, as seen from a node: weight of each cluster in the node, N, and s."""

    totals: np.ndarray
    whole: np.ndarray
    self_weight: float


class NormalizedCutWorkspace(NamedTuple):
    """Arrays that the loops overwrite.

    S at the two edges of a bin, weight of each bin, and for each edge the cut ratios of its left
    and right side and their degrees: edges[t + 1] belongs to the edge above bin t.
    """

    low: np.ndarray
    high: np.ndarray
    weight: np.ndarray
    edges: np.ndarray


@inner
def cut_ratio(cut, degree):
    """Cut / degree; 0 if nothing is joined."""
    return cut / degree if degree > 0.0 else 0.0


@inner
def evaluate(below, graph, edges, t):
    """Objective of a threshold with weight below[c] of each cluster on its left; fills edges[t]."""
    totals, whole, self_weight = graph
    cut = degree = right_cut = right_degree = 0.0
    for c in range(len(below)):
        left, right = below[c], totals[c] - below[c]
        cut += left * (whole[c] - left)
        degree += left * (whole[c] - self_weight)
        right_cut += right * (whole[c] - right)
        right_degree += right * (whole[c] - self_weight)
    edges[t, 0], edges[t, 1] = cut_ratio(cut, degree), cut_ratio(right_cut, right_degree)
    edges[t, 2], edges[t, 3] = degree, right_degree
    return edges[t, 0] + edges[t, 1]


@inner
def bound_by_slopes(low, high, graph, edges, t):
    """Lower bound of the objective inside bin t, tight where both sides are large.

    With cut ratios p, q and degrees D, E of the two sides at the upper edge, the objective at S
    exceeds p + q by h(S) / D(S) plus the same on the right, where
    h(S) = sum over c of S[c] (N[c] - S[c]) - p S[c] (N[c] - s). If the degrees were constant, the
    sum would be concave in each S[c] and least at one of its two ends. The error made by taking
    them as constant is bounded by the steepest slope of h times the width.
    """
    totals, whole, self_weight = graph
    p, q = edges[t + 1, 0], edges[t + 1, 1]
    degree, right_degree = edges[t + 1, 2], edges[t + 1, 3]
    if edges[t, 2] <= 0.0 or right_degree <= 0.0:
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
    change -= rise * (1.0 / edges[t, 2] - 1.0 / degree)
    change -= right_rise * (1.0 / right_degree - 1.0 / edges[t, 3])
    return p + q + change


@inner
def least_cut_ratio(low, high, graph):
    """Least cut ratio of all non-empty sets with low[c] <= S[c] <= high[c].

    For a guess p, cut - p degree is a sum of concave terms, each least at an end. If the sum can
    be negative, the cut ratio at those ends is a better guess (Dinkelbach's method).
    """
    _, whole, self_weight = graph
    cut = degree = least_degree = unjoined = 0.0
    for c in range(len(low)):
        cut += high[c] * (whole[c] - high[c])
        degree += high[c] * (whole[c] - self_weight)
        least_degree += low[c] * (whole[c] - self_weight)
        unjoined += high[c] if whole[c] == self_weight else 0.0
    if least_degree <= 0.0 and unjoined > 0.0:
        return 0.0
    p = cut_ratio(cut, degree)
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


@inner
def bound_by_side(low, high, graph):
    """Lower bound of the objective inside a bin, tight where a side is small.

    The sum of the least cut ratios of the two sides, each by itself.
    """
    least = least_cut_ratio(low, high, graph)
    for c in range(len(low)):
        low[c], high[c] = graph.totals[c] - high[c], graph.totals[c] - low[c]
    least += least_cut_ratio(low, high, graph)
    for c in range(len(low)):
        low[c], high[c] = graph.totals[c] - high[c], graph.totals[c] - low[c]
    return least


@inner
def scan_column(sums, inside, graph, bounds, workspace):
    """Least objective at the edges of a column, and the lowest such edge.

    bounds[t] becomes a lower bound of the objective inside bin t, or infinity if the bin has no
    thresholds inside or cannot reach the best edge.
    """
    low, high, weight, edges = workspace
    n_bins, k = sums.shape
    remaining = 0.0
    for c in range(k):
        high[c] = 0.0
        remaining += graph.totals[c]
    best, best_edge = np.inf, 0
    # int64, because a literal 0 would compile another version of the function.
    evaluate(high, graph, edges, np.int64(0))
    for t in range(n_bins):
        weight[t] = 0.0
        for c in range(k):
            high[c] += sums[t, c]
            weight[t] += sums[t, c]
        if weight[t] == 0.0:
            for i in range(4):
                edges[t + 1, i] = edges[t, i]
            continue
        remaining -= weight[t]
        value = evaluate(high, graph, edges, t + 1)
        if remaining > 0.0 and value < best:
            best, best_edge = value, t
    for c in range(k):
        high[c] = 0.0
    for t in range(n_bins):
        bounds[t] = np.inf
        if weight[t] == 0.0:
            continue
        for c in range(k):
            low[c] = high[c]
            high[c] += sums[t, c]
        if inside[t]:
            least = bound_by_slopes(low, high, graph, edges, t) - _MARGIN
            if least <= best:
                least = max(least, bound_by_side(low, high, graph) - _MARGIN)
            if least <= best:
                bounds[t] = least
    return best, best_edge


@compiled
def scan_columns(sums, inside, graph, bounds, best, edge, workspace):
    """Fill best, edge and bounds of some columns, see `scan_column`."""
    for f in range(len(sums)):
        best[f], edge[f] = scan_column(sums[f], inside[f], graph, bounds[f], workspace)
