"""Cuts between centers: objectives at the edges, bounds inside the bins.

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
`depths` is None there is no depth price, and nothing of it is compiled. Loops stand whole, with
next to no functions called in them: what a loop calls is compiled twice, by itself and in it.
"""

from __future__ import annotations

import numpy as np

from pellucid._utils.compilation import inner, pruned


@inner
def depth_price(low, high, n_left, n_centers, penalty, left_killer, right_killer, depths):
    """Penalty * least DExp over all shares of rows going left from low to high; never negative.

    For one share r: depth(1) = 0, depth(m) = 1 + r depth(l) + (1 - r) depth(m - l) with
    l = ceil(m n_left / n_centers) kept within 1 .. m - 1; DExp is depth(n_centers) less the
    shares of rows on killer sides. Each step is linear in r, so over a range its least value,
    given least values below it, is at an end.
    """
    depths[1] = 0.0
    n_right = n_centers - n_left
    top = n_left if n_left > n_right else n_right
    for m in range(2, top + 2):  # the last turn is for n_centers itself
        if m <= top:
            part = (m * n_left + n_centers - 1) // n_centers  # 1 or more
            part = part if part < m else m - 1
            left, right = depths[part], depths[m - part]
        else:
            left, right = depths[n_left] - left_killer, depths[n_right] - right_killer
        mixed = low * left + (1.0 - low) * right
        if low != high:
            other = high * left + (1.0 - high) * right
            mixed = mixed if mixed < other else other
        depths[m] = 1.0 + mixed
    return penalty * depths[top + 1]


@pruned
def judge_edges(
    features, position, amount, fall, below, inside, terms, killers, depths, limit, found, wanted
):
    """found[j, g] = least objective over the edges of gap g, the lowest edge that has it, a bound.

    The bound holds for every threshold of the gap strictly inside a bin. Lines of amount, fall and
    below are by place in `features`. Bins inside which `limit` or less is possible are marked as
    `wanted`, of whatever feature. An objective is infinite where a side has too few rows for its
    centers.
    """
    divisor, penalty, total, least = terms
    n_centers, whole = position.shape[1], total if total > 0 else 1.0
    for f in range(len(features)):
        j = features[f]
        for n_left in range(1, n_centers):
            g = n_left - 1
            best, at, bound = np.inf, -1, np.inf
            start = position[j, g]
            # By turns an edge t and the inside of the bin after it.
            for u in range(2 * start, 2 * position[j, n_left]):
                t, is_inside = u >> 1, u & 1 == 1
                low = below[f, t]
                high, spent, rival = low, amount[f, t], best
                if is_inside:
                    high = below[f, t + 1]
                    if low == high or not inside[j, t + 1]:
                        continue
                    spent -= fall[f, t + 1]
                    rival = bound if bound > limit else limit
                elif t > start and low == below[f, t - 1]:
                    continue
                if high < n_left * least or total - low < (n_centers - n_left) * least:
                    continue
                if divisor > 0:
                    value = spent / divisor
                elif spent == 0:
                    value = 1.0
                else:
                    continue
                if value > rival:
                    continue
                if depths is not None:
                    a, b = killers[0, j], killers[1, j]
                    value += depth_price(
                        low / whole, high / whole, n_left, n_centers, penalty, a, b, depths
                    )
                    if is_inside:  # a bound must survive rounding
                        value -= 1e-12 * (1.0 + abs(value))
                if not is_inside:
                    if value < best:
                        best, at = value, t
                elif value <= limit:
                    wanted[t + 1] = True
                if is_inside and value < bound:
                    bound = value
            found[j, g, 0], found[j, g, 1], found[j, g, 2] = best, at, bound
