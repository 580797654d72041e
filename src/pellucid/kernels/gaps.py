"""Cuts between centers: objectives at the edges, bounds inside the bins, the sweep.

Words used throughout, for one feature of one cell. *Positions* are the codes of the cell's
centers, ascending; gap g holds the thresholds from position g up to, not including, position
g + 1, and g + 1 centers lie on its left. (Centers at one place leave an empty gap between them.)
An edge t with position[g] <= t < position[g + 1] is a threshold of gap g. Bin b holds the values
with code b; the thresholds strictly inside it lie in the same gap as edge b - 1. An *amount* is
what the criterion counts (mistakes, or cost), at every edge exact.

    amount[t], below[t] : at edge t, the amount and the weight of the rows to the left
    fall[b] : by how much the amount falls in bin b if only the rows go left that lower it

An objective is price + depth price, from four terms:

    divisor : of the amount; where it is 0, an amount of 0 counts as 1 and any other as infinite
    penalty : price of DExp
    total : weight of all rows of the cell
    least : weight that a side must hold for each of its centers

`killers` says for either side whether going there makes a condition above redundant. Where
`depths` is None there is no depth price, and nothing of it is compiled.
"""

from __future__ import annotations

import numpy as np

from pellucid.kernels._compile import compiled, inner


@inner
def average_depth(n_centers, n_left, low_share, high_share, killers, depths):
    """Least DExp over all shares of rows going left from low_share to high_share.

    For one share r: depth(1) = 0, depth(m) = 1 + r depth(l) + (1 - r) depth(m - l) with
    l = ceil(m n_left / n_centers) kept within 1 .. m - 1; DExp is depth(n_centers) less the
    shares of rows on killer sides. Each step is linear in r, so over a range its least value,
    given least values below it, is at an end.
    """
    depths[1] = 0.0
    n_right = n_centers - n_left
    for m in range(2, max(n_left, n_right) + 1):
        part = min(max((m * n_left + n_centers - 1) // n_centers, 1), m - 1)
        depths[m] = 1.0 + mixed(depths[part], depths[m - part], low_share, high_share)
    left, right = depths[n_left] - killers[0], depths[n_right] - killers[1]
    return 1.0 + mixed(left, right, low_share, high_share)


@inner
def mixed(left, right, low_share, high_share):
    """Least of r left + (1 - r) right over the range of r."""
    at_low = low_share * left + (1.0 - low_share) * right
    if low_share == high_share:
        return at_low
    return min(at_low, high_share * left + (1.0 - high_share) * right)


@inner
def price(amount, below, above, n_left, n_centers, terms):
    """Amount / divisor; infinite where a side has too few rows for its centers.

    `below` and `above` are the least and the greatest weight of the rows to the left.
    """
    divisor, _, total, least = terms
    if above < n_left * least or total - below < (n_centers - n_left) * least:
        return np.inf
    if divisor > 0:
        return amount / divisor
    return 1.0 if amount == 0 else np.inf


@inner
def depth_price(below, above, n_left, n_centers, terms, killers, depths):
    """Penalty * DExp, or a lower bound of it over a range of rows to the left; never negative."""
    _, penalty, total, _ = terms
    low, high = (below / total, above / total) if total > 0 else (0.0, 0.0)
    return penalty * average_depth(n_centers, n_left, low, high, killers, depths)


@inner
def judge_edges(
    position, amount, fall, below, inside, terms, killers, depths, limit, found, wanted
):
    """found[g] = least objective over the edges of gap g, the lowest edge that has it, and a bound.

    The bound holds for every threshold of the gap strictly inside a bin. Bins inside which `limit`
    or less is possible are marked as `wanted`.
    """
    n_centers = len(position)
    for t in range(len(wanted)):
        wanted[t] = False
    for g in range(n_centers - 1):
        n_left = g + 1
        best, at, bound = np.inf, -1, np.inf
        for t in range(position[g], position[g + 1]):
            low, high = below[t], below[t + 1]
            if t == position[g] or low != below[t - 1]:
                value = price(amount[t], low, low, n_left, n_centers, terms)
                if depths is not None and value < best:
                    value += depth_price(low, low, n_left, n_centers, terms, killers, depths)
                if value < best:
                    best, at = value, t
            if low != high and inside[t + 1]:
                value = price(amount[t] - fall[t + 1], low, high, n_left, n_centers, terms)
                if depths is not None and (value < bound or value <= limit):
                    value += depth_price(low, high, n_left, n_centers, terms, killers, depths)
                    value -= 1e-12 * (1.0 + abs(value))  # a bound must survive rounding
                bound = min(bound, value)
                wanted[t + 1] = value <= limit and value < np.inf
        found[g, 0], found[g, 1], found[g, 2] = best, at, bound


@compiled
def judge(position, amount, fall, below, inside, terms, killers, depths, limit, found, wanted):
    """`judge_edges` for one feature."""
    judge_edges(position, amount, fall, below, inside, terms, killers, depths, limit, found, wanted)


@compiled
def sweep_bins(
    values, codes, change, weight, position, edges, amount, below, terms, killers, depths, cuts
):
    """Best thresholds strictly inside the bins of the given rows, which are sorted by value.

    The amount at edge b - 1 is known; going through the values of bin b in order, each row's
    `change` is added as it goes left. Where one is better than cuts[g], the objective and
    threshold of gap g, it takes its place.
    """
    n_centers = len(position)
    i, g = 0, 0
    while i < len(values):
        b = codes[i]
        while position[g + 1] < b:
            g += 1
        n_left = g + 1
        spent, passed = amount[b - 1], below[b - 1]
        while i < len(values) and codes[i] == b:
            value = values[i]
            while i < len(values) and values[i] == value:
                spent += change[i]
                passed += weight[i]
                i += 1
            more = i < len(values) and codes[i] == b
            # Past the last value of a bin comes its edge; where a center sits on that edge, the
            # thresholds between the two are cuts of their own.
            if more or (b == position[g + 1] and value < edges[b]):
                found = price(spent, passed, passed, n_left, n_centers, terms)
                if depths is not None and found <= cuts[g, 0]:
                    found += depth_price(passed, passed, n_left, n_centers, terms, killers, depths)
                if found < cuts[g, 0] or (found == cuts[g, 0] and value < cuts[g, 1]):
                    cuts[g, 0], cuts[g, 1] = found, value
