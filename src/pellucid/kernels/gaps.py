"""Cuts between centers: positions, objectives at the edges, bounds inside the bins, the sweep.

Words used throughout, for one feature of one cell. *Positions* are the distinct codes of the
cell's centers, ascending; gap g holds the thresholds from position g up to, not including,
position g + 1. An edge t with position[g] <= t < position[g + 1] is a threshold of gap g.
Bin b holds the values with code b; the thresholds strictly inside it lie in the same gap as
edge b - 1. An *amount* is what the criterion counts (mistakes, or cost), at every edge exact.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from pellucid.kernels._compile import compiled, inner

Columns = namedtuple(
    "Columns", "codes indices indptr zero_code edges n_edges inside center_code is_sparse"
)
"""All columns of the data as codes (see `pellucid.numeric.bins.Bins`).

Dense: codes is (n_features, n_rows). CSC: codes is (1, n_stored), with indices and indptr.
"""

Terms = namedtuple("Terms", "divisor penalty total least")
"""What an objective is made of besides the amount.

divisor : of the amount; where it is 0, an amount of 0 counts as 1 and any other as infinite
penalty : price of DExp
total : weight of all rows of the cell
least : weight that a side must hold for each of its centers
"""

Gaps = namedtuple("Gaps", "position rank n_at_or_below amount fall below depths")
"""One feature of one cell; scratch space that is filled anew for each feature.

position : codes of the cell's centers, ascending
rank : position of each center, -1 for the centers of other cells
n_at_or_below : number of the cell's centers at or below each position
amount, below : at each edge, the amount and the weight of the rows to the left
fall : in each bin, by how much the amount falls if only the rows go left that lower it
depths : for `average_depth`
"""


@inner
def new_gaps(width, n_clusters):
    """Scratch space for columns of `width` codes."""
    return Gaps(
        np.zeros(n_clusters + 1, dtype=np.int64),
        np.zeros(n_clusters, dtype=np.int64),
        np.zeros(n_clusters + 1, dtype=np.int64),
        np.zeros(width, dtype=np.int64),
        np.zeros(width, dtype=np.int64),
        np.zeros(width, dtype=np.int64),
        np.zeros(n_clusters + 1),
    )


@inner
def find_positions(code, centers, gaps):
    """Fill position, rank and n_at_or_below; the number of positions."""
    position, rank, n_at_or_below = gaps.position, gaps.rank, gaps.n_at_or_below
    n = 0
    for c in centers:
        p = n
        while p > 0 and position[p - 1] >= code[c]:
            p -= 1
        if p == n or position[p] != code[c]:
            for q in range(n, p, -1):
                position[q] = position[q - 1]
            position[p] = code[c]
            n += 1
    rank.fill(-1)
    n_at_or_below.fill(0)
    for c in centers:
        p = 0
        while position[p] < code[c]:
            p += 1
        rank[c] = p
        n_at_or_below[p] += 1
    for p in range(1, n):
        n_at_or_below[p] += n_at_or_below[p - 1]
    return n


@inner
def average_depth(n_centers, n_left, low_share, high_share, killer_left, killer_right, depths):
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
    left, right = depths[n_left] - killer_left, depths[n_right] - killer_right
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
    if above < n_left * terms.least or terms.total - below < (n_centers - n_left) * terms.least:
        return np.inf
    if terms.divisor > 0:
        return amount / terms.divisor
    return 1.0 if amount == 0 else np.inf


@inner
def depth_price(below, above, n_left, n_centers, terms, killers, depths):
    """Penalty * DExp, or a lower bound of it over a range of rows to the left; never negative."""
    if terms.penalty == 0.0:
        return 0.0
    low, high = (below / terms.total, above / terms.total) if terms.total > 0 else (0.0, 0.0)
    size = average_depth(n_centers, n_left, low, high, killers[0], killers[1], depths)
    return terms.penalty * size


@inner
def judge_edges(n_positions, inside, gaps, terms, killers, limit, wanted):
    """Least objective over the edges, the lowest edge that has it, and a bound for all the rest.

    The bound holds for every threshold strictly inside a bin. Bins inside which `limit` or less
    is possible are marked as `wanted`.
    """
    # Loops over a tuple's arrays take a reference at each look; over local names they do not.
    position, n_at_or_below, depths = gaps.position, gaps.n_at_or_below, gaps.depths
    amount, fall, below = gaps.amount, gaps.fall, gaps.below
    n_centers = n_at_or_below[n_positions - 1]
    best, at, bound = np.inf, -1, np.inf
    wanted.fill(False)
    for g in range(n_positions - 1):
        n_left = n_at_or_below[g]
        for t in range(position[g], position[g + 1]):
            low, high = below[t], below[t + 1]
            if t == position[g] or low != below[t - 1]:
                value = price(amount[t], low, low, n_left, n_centers, terms)
                if value < best:
                    value += depth_price(low, low, n_left, n_centers, terms, killers, depths)
                if value < best:
                    best, at = value, t
            if low != high and inside[t + 1]:
                value = price(amount[t] - fall[t + 1], low, high, n_left, n_centers, terms)
                if value < bound or value <= limit:
                    value += depth_price(low, high, n_left, n_centers, terms, killers, depths)
                    if terms.penalty != 0.0:
                        value -= 1e-12 * (1.0 + abs(value))  # a bound must survive rounding
                bound = min(bound, value)
                wanted[t + 1] = value <= limit and value < np.inf
    return best, at, bound


@compiled
def sweep_bins(values, codes, change, weight, n_positions, edges, gaps, terms, killers):
    """Best threshold strictly inside the bins of the given rows, which are sorted by value.

    The amount at edge b - 1 is known; going through the values of bin b in order, each row's
    `change` is added as it goes left. Returns the least objective and the lowest threshold that
    has it, (inf, nan) when there is none.
    """
    n_centers = gaps.n_at_or_below[n_positions - 1]
    best, at = np.inf, np.nan
    i = 0
    g = 0
    while i < len(values):
        b = codes[i]
        while gaps.position[g + 1] < b:
            g += 1
        amount, below = gaps.amount[b - 1], gaps.below[b - 1]
        while i < len(values) and codes[i] == b:
            value = values[i]
            while i < len(values) and values[i] == value:
                amount += change[i]
                below += weight[i]
                i += 1
            more = i < len(values) and codes[i] == b
            # Past the last value of a bin comes its edge; where a center sits on that edge, the
            # thresholds between the two are cuts of their own.
            if more or (b == gaps.position[g + 1] and value < edges[b]):
                n_left = gaps.n_at_or_below[g]
                found = price(amount, below, below, n_left, n_centers, terms)
                if found < best:
                    found += depth_price(
                        below, below, n_left, n_centers, terms, killers, gaps.depths
                    )
                if found < best:
                    best, at = found, value
    return best, at
