"""Loops of the exact search: the cuts of a subproblem, their lower bounds and their two sides.

A subproblem is a set of centers and a set of rows; its tree has one leaf per center, and row i
costs cost[i, c] in the leaf of center c (see `pellucid._core.exact.subproblem`). The *nearest*
center of a row is the center of least cost, its *margin* m[i] the second least cost minus the
least. A row that is separated from its nearest center costs at least m[i] more than its least cost.

Hence separating two centers a and b costs at least

    pair[a, b] = min over thresholds t between a and b of
                 sum of m[i] over the rows nearest to a or b that t separates from their center,

and rows nearest to different centers are different rows: the costs of pairs that have no center in
common can be added. A cut with threshold t sends centers and rows to two sides. It costs at least

    base(t) + sum over pairs (a, b) on one side of max(0, pair[a, b] - lost[a](t) - lost[b](t)),

where base(t) is the sum over rows of the least cost on their side, lost[a](t) the sum of m[i] over
the rows nearest to a on the other side (which base(t) contains), and each center is in at most one
pair.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pellucid._core.kernels import INFINITE_COST
from pellucid._utils.compilation import allocating, compiled, inner


class RankedData(NamedTuple):
    """The whole problem. An item is a row or, after all rows, a center."""

    rank: np.ndarray  # (n_columns, n_items), number of different smaller values in the column
    order: np.ndarray  # (n_columns, n_items), items by rank
    costs: np.ndarray  # (n_rows, n_centers), int64
    # Set by `assign_rows` for the items of one subproblem:
    nearest: np.ndarray  # (n_items,), position of the nearest center; -1 outside the subproblem
    margin: np.ndarray  # (n_items,)


class CutTable(NamedTuple):
    """Cuts of a subproblem, one int64 array per field. The cuts of one gap are contiguous.

    A gap is the range of thresholds of one column between two neighbouring centers.
    """

    gap: np.ndarray  # column * n_centers + position of the center at which the gap starts
    rank: np.ndarray  # rank of the largest value that goes left
    base: np.ndarray  # sum over rows of the least cost on their side
    # Sums of the spread (greatest minus least cost on a side) of rows left of the cut in its gap:
    left_spread: np.ndarray
    right_spread: np.ndarray
    # Lower bounds of what each side costs more than its part of `base`:
    left_excess: np.ndarray
    right_excess: np.ndarray
    lower: np.ndarray  # lower bound of the cost after the cut


class _ColumnScan(NamedTuple):
    """One column of a subproblem with n centers; t[p] is the coordinate of the p-th center."""

    center: np.ndarray  # (n,), centers by rank
    center_rank: np.ndarray  # (n,), their ranks
    position: np.ndarray  # (n,), position of each center of the subproblem in that order
    base: np.ndarray  # (n,), base(t[p])
    lost: np.ndarray  # (n, n), lost[p, a] = lost[a](t[p])
    # The rows strictly inside gaps, by rank: row, gap, least cost left minus least cost right,
    # spread left, spread right, and flags: 1 if the row costs at most as much in every leaf on the
    # left as in any on the right, 2 for the reverse.
    inside: np.ndarray  # (n_rows, 6)


@compiled
def assign_rows(rows, centers, data):
    """Set nearest center and margin of the items of a subproblem; return the sum of least costs."""
    costs, nearest, margin = data.costs, data.nearest, data.margin
    base = np.int64(0)
    nearest.fill(-1)
    for i in rows:
        least, second, at = np.int64(INFINITE_COST), np.int64(INFINITE_COST), 0
        for q in range(len(centers)):
            cost = costs[i, centers[q]]
            if cost < least:
                least, second, at = cost, least, q
            elif cost < second:
                second = cost
        nearest[i], margin[i] = at, second - least
        base += least
    for q in range(len(centers)):
        nearest[len(costs) + centers[q]] = q
    return base


@allocating
def separation_costs(rows, centers, data, pair):
    """Fill pair[a, b] with the least sum of margins over the cuts that separate centers a and b.

    With a on the left, the sum falls only where a row nearest to a goes left, or at the coordinate
    of a: only these thresholds are evaluated.
    """
    rank, order, nearest, margin = data.rank, data.order, data.nearest, data.margin
    n_rows, n = len(data.costs), len(centers)
    total, below = np.zeros(n, np.int64), np.zeros(n, np.int64)
    center_rank = np.empty(n, np.int64)
    for i in rows:
        total[nearest[i]] += margin[i]
    pair.fill(INFINITE_COST)
    for j in range(len(rank)):
        last = np.int64(0)
        for q in range(n):
            below[q], center_rank[q] = 0, rank[j, n_rows + centers[q]]
            last = max(last, center_rank[q])
        start = 0
        while rank[j, order[j, start]] < last:
            t, end = rank[j, order[j, start]], start
            while rank[j, order[j, end]] == t:
                i = order[j, end]
                if nearest[i] >= 0:
                    below[nearest[i]] += margin[i]
                end += 1
            for r in range(start, end):
                a = nearest[order[j, r]]
                if a >= 0 and center_rank[a] <= t:
                    above = total[a] - below[a]
                    for b in range(n):
                        if center_rank[b] > t and above + below[b] < pair[a, b]:
                            pair[a, b] = above + below[b]
            start = end
    for a in range(n):
        for b in range(a + 1):
            least = min(pair[a, b], pair[b, a])
            pair[a, b] = pair[b, a] = least if least < INFINITE_COST else 0


@inner
def _scan_column(j, data, scan):
    """Fill `base`, `lost` and `inside` of a column; return the number of rows inside gaps."""
    order, rank, costs = data.order, data.rank, data.costs
    nearest, margin = data.nearest, data.margin
    center, center_rank, position = scan.center, scan.center_rank, scan.position
    base, lost, inside = scan.base, scan.lost, scan.inside
    base.fill(0)
    lost.fill(0)
    n_rows, n = len(costs), len(center)
    n_inside = g = 0
    for r in range(order.shape[1]):
        i = order[j, r]
        if i >= n_rows or nearest[i] < 0:
            continue
        v = rank[j, i]
        while g < n and center_rank[g] < v:
            g += 1
        # The row is right of the centers before position g, and left of the others.
        low_left, high_left = np.int64(INFINITE_COST), np.int64(0)
        for q in range(g):
            cost = costs[i, center[q]]
            low_left, high_left = min(low_left, cost), max(high_left, cost)
        low = low_left
        for q in range(g, n - 1):
            low = min(low, costs[i, center[q]])
            base[q] += low
        low_right, high_right = np.int64(INFINITE_COST), np.int64(0)
        for q in range(n - 1, g - 1, -1):
            cost = costs[i, center[q]]
            low_right, high_right = min(low_right, cost), max(high_right, cost)
        low = low_right
        for q in range(g - 1, -1, -1):
            if q < n - 1:
                base[q] += low
            low = min(low, costs[i, center[q]])
        h = position[nearest[i]]
        for q in range(min(g, h), max(g, h)):
            lost[q, nearest[i]] += margin[i]
        if 0 < g < n and v < center_rank[g]:
            inside[n_inside, 0], inside[n_inside, 1] = i, g - 1
            inside[n_inside, 2] = low_left - low_right
            inside[n_inside, 3] = high_left - low_left
            inside[n_inside, 4] = high_right - low_right
            inside[n_inside, 5] = (high_left <= low_right) + 2 * (high_right <= low_left)
            n_inside += 1
    return n_inside


@inner
def _match_pairs(g, scan, pairs, mate, excess):
    """Match centers on the same side of the cut after position g, costliest pairs first.

    excess[a] = pair[a, b] - lost[a] - lost[b] for a matched pair a < b. Returns the sum of all
    that are positive.
    """
    mate.fill(-1)
    total, position, lost = np.int64(0), scan.position, scan.lost
    for p in range(len(pairs)):
        a, b = pairs[p, 0], pairs[p, 1]
        if mate[a] < 0 and mate[b] < 0 and (position[a] <= g) == (position[b] <= g):
            mate[a], mate[b] = b, a
            excess[a] = pairs[p, 2] - lost[g, a] - lost[g, b]
            total += max(excess[a], 0)
    return total


@inner
def _sweep_gap(j, g, z, n_inside, data, scan, pairs, mate, excess, cuts, n):
    """Append the cuts of gap g of column j to `cuts`; return the next row inside a gap and n."""
    rank, nearest, margin, inside = data.rank, data.nearest, data.margin, scan.inside
    total_excess = _match_pairs(g, scan, pairs, mate, excess)
    base, t, is_dominated = scan.base[g], scan.center_rank[g], False
    left_spread, right_spread = np.int64(0), np.int64(0)
    while True:
        # Flags that all rows of the next value have in common.
        y, flags = z, 3
        while y < n_inside and inside[y, 1] == g and rank[j, inside[y, 0]] == rank[j, inside[z, 0]]:
            flags &= inside[y, 5]
            y += 1
        if not is_dominated and (y == z or flags & 1 == 0):
            cuts.gap[n], cuts.rank[n], cuts.base[n] = j * data.costs.shape[1] + g, t, base
            cuts.left_spread[n], cuts.right_spread[n] = left_spread, right_spread
            cuts.left_excess[n] = cuts.right_excess[n] = 0
            cuts.lower[n] = base + total_excess
            n += 1
        if y == z:
            return y, n
        t, is_dominated = rank[j, inside[z, 0]], flags == 2
        for e in range(z, y):
            i, a = inside[e, 0], nearest[inside[e, 0]]
            base += inside[e, 2]
            left_spread += inside[e, 3]
            right_spread += inside[e, 4]
            if mate[a] >= 0:
                b = min(a, mate[a])
                total_excess -= max(excess[b], 0)
                excess[b] += margin[i] if scan.position[a] <= g else -margin[i]
                total_excess += max(excess[b], 0)
        z = y


@allocating
def list_cuts(rows, by_rank, data, pairs, cuts):
    """List the cuts of a subproblem without those that another cut dominates; return their number.

    A cut is dominated if the next row to cross it costs no more on the other side, whatever the
    trees of the two sides are: its greatest cost there is at most its least cost here.

    `assign_rows` has been called for the rows. `by_rank`, (n_columns, n), are the centers by rank
    in each column; `pairs`, (n_pairs, 3), two centers a < b and pair[a, b], costliest first; `cuts`
    a buffer for n_columns * (n_rows + n) cuts.
    """
    n, n_rows = by_rank.shape[1], len(data.costs)
    center_rank, position, base, mate, excess = np.empty((5, n), np.int64)
    lost, inside = np.empty((n, n), np.int64), np.empty((len(rows), 6), np.int64)
    n_cuts = 0
    for j in range(len(data.rank)):
        for p in range(n):
            center_rank[p] = data.rank[j, n_rows + by_rank[j, p]]
            position[data.nearest[n_rows + by_rank[j, p]]] = p
        scan = _ColumnScan(by_rank[j], center_rank, position, base, lost, inside)
        n_inside = _scan_column(j, data, scan)
        z = 0
        for g in range(n - 1):
            if center_rank[g] < center_rank[g + 1]:
                z, n_cuts = _sweep_gap(
                    j, g, z, n_inside, data, scan, pairs, mate, excess, cuts, n_cuts
                )
    return n_cuts


@compiled
def raise_gap(k, left, right, cuts):
    """Raise the lower bounds of all cuts in the gap of cut k, whose sides have excess left, right.

    The excess of a side is what it costs more than the sum of the least costs of its rows. It does
    not fall when rows are added, and falls by at most their spread when rows are removed.
    """
    gap, left_spread, right_spread = cuts.gap, cuts.left_spread, cuts.right_spread
    left_excess, right_excess, lower = cuts.left_excess, cuts.right_excess, cuts.lower
    p = k
    while p > 0 and gap[p - 1] == gap[k]:
        p -= 1
    while p < len(gap) and gap[p] == gap[k]:
        left_excess[p] = max(left_excess[p], left - max(left_spread[k] - left_spread[p], 0))
        right_excess[p] = max(right_excess[p], right - max(right_spread[p] - right_spread[k], 0))
        lower[p] = max(lower[p], cuts.base[p] + left_excess[p] + right_excess[p])
        p += 1


@allocating
def divide_subproblem(rows, ranks, rank, left_centers, right_centers, costs):
    """Rows of the two sides of a cut, and the sum of the costs that no tree can change.

    A row that costs the same at every center of its side is on neither side: its cost is fixed.
    """
    left, right = np.empty(len(rows), rows.dtype), np.empty(len(rows), rows.dtype)
    n_left = n_right = 0
    fixed_cost = np.int64(0)
    for i in rows:
        centers = left_centers if ranks[i] <= rank else right_centers
        cost, is_fixed = costs[i, centers[0]], True
        for q in range(1, len(centers)):
            is_fixed &= costs[i, centers[q]] == cost
        if is_fixed:
            fixed_cost += cost
        elif ranks[i] <= rank:
            left[n_left] = i
            n_left += 1
        else:
            right[n_right] = i
            n_right += 1
    return left[:n_left], right[:n_right], fixed_cost


@compiled
def transferred_excess(bits, n, peer_bits, excess, spread):
    """max(0, max over p < n of excess[p] - sum of spread[i] over rows i of peer p not in `bits`).

    The sum of a peer is left as soon as it is too great for the maximum.
    """
    best = np.int64(0)
    for p in range(n):
        rest, w = excess[p] - best, 0
        while rest > 0 and w < len(bits):
            missing, i = peer_bits[p, w] & ~bits[w], w << 6
            while missing != 0 and rest > 0:
                if missing & np.uint64(1) == 1:
                    rest -= spread[i]
                missing >>= np.uint64(1)
                i += 1
            w += 1
        best += max(rest, 0)
    return best
