"""Surrogate cost: each side of a cut pays at the one center that is cheapest for it.

All is told by how much better off a row would be at another center than at the one, called *star*,
that is cheapest for its whole cell: D[c] = (cost at star) - (cost at c). Only a few *rivals* of
star matter; they and star are the centers that a side may go to. With L[t, c] the sum of D[c] over
the rows at or below edge t and A[c] that over all rows,

    gain(t) = max(0, L[t, c] over c) + max(0, A[c] - L[t, c] over c),

and inside bin b, whose rows gain their own best or less,

    gain <= max(0, L[b - 1, c] over c) + max(0, A[c] - L[b, c] over c) + (bests of the rows in b).

The *line* of a row has D[c] for each rival, and then its best, max(0, D[c] over c), together with
a 1: the best is rounded up to a multiple of 2**shift, and below that there is room for as many ones
as there are rows. One sum so holds a bound and a number of rows.
"""

from __future__ import annotations

import numpy as np

from pellucid._utils.compilation import compiled

NOTHING = 2**62
"""More than any cost."""


@compiled
def weigh_centers(rows, ends, costs, star, shift, share, near, table):
    """Sums over some rows of what they pay at each center, and of what each center could gain.

    With D[c] as above, m their mean and u the largest of them (star apart), and x+ = max(0, x), for
    the rows of part p, rows[ends[p]] .. rows[ends[p + 1] - 1],

        table[p, 0, c] -= D[c],            table[p, 0, k] += cost at star,
        table[p, 1, c] += D[c]+,           table[p, 1, k] += u,
        table[p, 2, c] += (D[c] - v)+,     table[p, 2, k] += v,

    with k centers and v = min(0, (m + u) / 2), as good as any other number; m is the sum of all
    D[c] / 2**shift, which fits where that of D[c] might not, times `share`. A block of rows is
    copied together first, into `near`: many rows are on their way from memory at a time.
    """
    k, block = np.uint64(near.shape[1]), len(near)
    for p in range(len(table)):
        for start in range(ends[p], ends[p + 1], block):
            size = np.uint64(block if block < ends[p + 1] - start else ends[p + 1] - start)
            some = rows[start:]
            for i in range(size):
                row = np.uint64(some[i])
                for c in range(k):
                    near[i, c] = costs[row, c]
            for i in range(size):
                own, most = near[i, star], np.int64(-NOTHING)
                near[i, star] = NOTHING + own  # which is not the largest D
                mean = np.int64(NOTHING >> shift)
                for c in range(k):
                    better = own - near[i, c]
                    near[i, c] = better
                    mean += better >> shift
                    most = better if better > most else most
                near[i, star] = 0
                level = (np.int64(mean * share) + most) >> 1
                level = level if level < 0 else np.int64(0)
                for c in range(k):
                    better = near[i, c]
                    over = better - level
                    table[p, 0, c] -= better
                    table[p, 1, c] += better if better > 0 else 0
                    table[p, 2, c] += over if over > 0 else 0
                table[p, 2, k] += level
                table[p, 1, k] += most
                table[p, 0, k] += own


@compiled
def pair_centers(rows, costs, star, centers, first, second, near, sums):
    """sums[p] += max(D[a], D[b]) over some rows, a and b the centers numbered first[p], second[p].

    `near` is room for as many numbers of each center as there are rows to go through together.
    """
    block, n = near.shape[1], len(centers)
    for start in range(0, len(rows), block):
        some = rows[start : start + block]
        size = np.uint64(len(some))
        for i in range(size):
            row = np.uint64(some[i])
            own = costs[row, star]
            for c in range(n):
                near[c, i] = own - costs[row, centers[c]]
        for p in range(len(sums)):
            a, b, total = near[first[p]], near[second[p]], np.int64(0)
            for i in range(size):
                total += max(a[i], b[i])
            sums[p] += total


@compiled
def compare_prices(rows, costs, star, rivals, shift, lines):
    """lines[i] = line of rows[i]."""
    n = len(rivals)
    for i in range(len(rows)):
        row = np.uint64(rows[i])
        own, best = costs[row, star], np.int64(0)
        for c in range(n):
            better = own - costs[row, np.uint64(rivals[c])]
            lines[i, c] = better
            best = max(best, better)
        lines[i, n] = (((best + (1 << shift) - 1) >> shift) << shift) + 1


@compiled
def add_by_bin(features, codes, rows, lines, sums):
    """sums[f, b] += lines of the rows in bin b of the f-th feature; dense columns.

    Numbers of rows and bins are unsigned, so that none is looked at for being counted from the end.
    """
    width = np.uint64(lines.shape[1])
    for f in range(len(features)):
        code, part = codes[features[f]], sums[f]
        for i in range(np.uint64(len(rows))):
            b = np.uint64(code[np.uint64(rows[i])])
            for c in range(width):
                part[b, c] += lines[i, c]


@compiled
def add_stored(first, last, indices, indptr, entry, start, lines, sums):
    """sums[s - start] += lines of the stored entries in bin s; columns first .. last."""
    for p in range(indptr[first], indptr[last]):
        row, s = indices[p], entry[p] - start
        for c in range(sums.shape[1]):
            sums[s, c] += lines[row, c]


@compiled
def take_rows(rows, indptr, entry, lines, sums):
    """Take the stored entries of some rows, of CSR data, out of their bins."""
    for i in range(len(rows)):
        row = rows[i]
        for p in range(indptr[row], indptr[row + 1]):
            for c in range(sums.shape[1]):
                sums[entry[p], c] -= lines[row, c]


@compiled
def scan_surrogate(
    features, begins, which, sums, totals, shift, paid, inside, limit, below, found, wanted
):
    """found[j, 0] = least cost over the edges, the lowest such edge, bound inside the bins.

    Line s of `sums` is about bin which[s]; the bins of the f-th feature begin at begins[f]. Those
    of the last feature that could reach `limit` are marked as `wanted`. `paid` is the cost of the
    whole cell, and `below` is room for sums.
    """
    n, ones = len(totals) - 1, (1 << shift) - 1
    n_rows = totals[n] & ones
    for f in range(len(features)):
        j = features[f]
        best, at, bound = np.int64(-1), np.int64(-1), np.int64(-NOTHING)
        before, n_below = np.int64(0), np.int64(0)
        for c in range(n):
            below[c] = 0
        for s in range(begins[f], begins[f + 1]):
            t = which[s]
            wanted[t] = False
            count = sums[s, n] & ones
            if count == 0:
                continue
            left, right = np.int64(0), np.int64(0)
            for c in range(n):
                near = below[c] + sums[s, c]
                far = totals[c] - near
                below[c] = near
                left = near if near > left else left
                right = far if far > right else right
            n_below += count
            if count > 1 and inside[j, t]:
                most = before + right + (sums[s, n] - count)
                bound = most if most > bound else bound
                wanted[t] = paid - most <= limit
            if n_below < n_rows and left + right > best:
                best, at = left + right, np.int64(t)
            before = left
        found[j, 0, 0] = paid - best if at >= 0 else NOTHING
        found[j, 0, 1] = at
        found[j, 0, 2] = paid - bound if bound >= 0 else NOTHING
