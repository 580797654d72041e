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
from pellucid._core.kernels.sorting import insertion_sort
from pellucid._utils.compilation import allocating, compiled, inner


class RankedData(NamedTuple):
    """The whole problem. An item is a row or, after all rows, a center.

    Attributes
    ----------
    rank : ndarray of shape (n_columns, n_items)
        Number of different smaller values in the column.
    order : ndarray of shape (n_columns, n_items)
        Items by rank.
    costs : ndarray of shape (n_rows, n_centers), int64
    nearest, margin : ndarray of shape (n_items,)
        Position of the nearest center among the centers of the current subproblem, -1 for items
        outside of it; and the margin. Set by `assign_rows`.
    """

    rank: np.ndarray
    order: np.ndarray
    costs: np.ndarray
    nearest: np.ndarray
    margin: np.ndarray


class CutTable(NamedTuple):
    """Cuts of a subproblem. The cuts of one gap are contiguous.

    A gap is the range of thresholds of one column between two neighbouring centers.

    Attributes
    ----------
    gap : ndarray of int64
        Column times number of centers, plus the position of the center at which the gap starts.
    rank : ndarray of int64
        Rank of the largest value that goes left.
    base : ndarray of int64
        Sum over rows of the least cost on their side.
    left_spread, right_spread : ndarray of int64
        Sums over the rows that went left since the start of the gap of the greatest minus the
        least cost on the left, and on the right.
    left_excess, right_excess : ndarray of int64
        Lower bound of what the side costs more than its part of `base`.
    lower : ndarray of int64
        Lower bound of the cost after the cut.
    """

    gap: np.ndarray
    rank: np.ndarray
    base: np.ndarray
    left_spread: np.ndarray
    right_spread: np.ndarray
    left_excess: np.ndarray
    right_excess: np.ndarray
    lower: np.ndarray


class _ColumnScan(NamedTuple):
    """One column of a subproblem with n centers.

    Attributes
    ----------
    center, center_rank : ndarray of shape (n,)
        The centers by rank, and their ranks.
    position : ndarray of shape (n,)
        Position of each center of the subproblem in that order.
    base : ndarray of shape (n,)
        base(t) at the coordinate of each center.
    lost : ndarray of shape (n, n)
        lost[p, a] = lost[a](t) at the coordinate of the p-th center.
    inside : ndarray of shape (n_rows, 6)
        The rows strictly inside gaps, by rank: row, gap, least cost left minus least cost right,
        spread left, spread right, and flags: 1 if the row costs at most as much in every leaf on
        the left as in any on the right, 2 for the reverse.
    """

    center: np.ndarray
    center_rank: np.ndarray
    position: np.ndarray
    base: np.ndarray
    lost: np.ndarray
    inside: np.ndarray


@compiled
def assign_rows(rows, centers, data):
    """Set nearest center and margin of the items of a subproblem; return the sum of least costs."""
    costs, nearest, margin = data.costs, data.nearest, data.margin
    base = np.int64(0)
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


@compiled
def unassign_rows(rows, centers, data):
    """Reset what `assign_rows` has set."""
    for i in rows:
        data.nearest[i] = -1
    for c in centers:
        data.nearest[len(data.costs) + c] = -1


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
def _sort_centers(j, centers, data, scan):
    """Sort the centers of a subproblem by their rank in column j."""
    center, center_rank = scan.center, scan.center_rank
    rank, first = data.rank, len(data.costs)
    n = len(centers)
    for p in range(n):
        center[p], center_rank[p] = centers[p], rank[j, first + centers[p]]
    insertion_sort(center_rank[:n], center[:n])
    for p in range(n):
        scan.position[data.nearest[first + center[p]]] = p


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
def list_cuts(j, rows, centers, data, pairs, cuts):
    """List the cuts of a subproblem from column j on, without those that another cut dominates.

    A cut is dominated if the next row to cross it costs no more on the other side, whatever the
    trees of the two sides are: its greatest cost there is at most its least cost here.

    Parameters
    ----------
    j : int
    rows, centers : ndarray of int
        The subproblem, for which `assign_rows` has been called.
    data : RankedData
    pairs : ndarray of shape (n_pairs, 3)
        Two centers a < b and pair[a, b], costliest first.
    cuts : CutTable
        Buffer that is filled.

    Returns
    -------
    j : int
        The next column, for which the buffer has no space.
    n_cuts : int
    """
    n = len(centers)
    center, center_rank, position, base = np.empty((4, n), np.int64)
    mate, excess = np.empty((2, n), np.int64)
    lost, inside = np.empty((n, n), np.int64), np.empty((len(rows), 6), np.int64)
    scan = _ColumnScan(center, center_rank, position, base, lost, inside)
    n_cuts = 0
    while j < len(data.rank) and n_cuts + len(rows) + n <= len(cuts.gap):
        _sort_centers(j, centers, data, scan)
        n_inside = _scan_column(j, data, scan)
        z = 0
        for g in range(n - 1):
            if center_rank[g] < center_rank[g + 1]:
                z, n_cuts = _sweep_gap(
                    j, g, z, n_inside, data, scan, pairs, mate, excess, cuts, n_cuts
                )
        j += 1
    return j, n_cuts


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


@compiled
def two_least(values):
    """Position of the least value, and the least of all others."""
    best, second = 0, np.int64(INFINITE_COST)
    for p in range(1, len(values)):
        if values[p] < values[best]:
            second, best = values[best], p
        elif values[p] < second:
            second = values[p]
    return best, second


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
def pack_rows(rows, bits):
    """Set bit i % 64 of bits[i // 64] for every row i; all bits are 0 before."""
    for i in rows:
        bits[i >> 6] |= np.uint64(1) << np.uint64(i & 63)


@allocating
def unpack_rows(bits):
    """The rows whose bits are set, ascending."""
    rows, n = np.empty(64 * len(bits), np.int32), 0
    for w in range(len(bits)):
        word, i = bits[w], w << 6
        while word != 0:
            rows[n] = i
            n += word & np.uint64(1) == 1
            word >>= np.uint64(1)
            i += 1
    return rows[:n]


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
