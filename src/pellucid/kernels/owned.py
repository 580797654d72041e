"""Rows that stay with their own center: counts of them by bin, and the two sides of a cut.

The rows of a cell stand center by center: those of the c-th center are rows[ends[c]] up to, not
including, rows[ends[c + 1]]. With N[c, b] the weight of those in bin b and e[c] the code of the
center, a cut at edge t separates from their centers

    amount(t) = sum over c of (N[c, 0 .. t] if t < e[c] else N[c, t + 1 ..]).

Words are those of `pellucid.kernels.gaps`.
"""

from __future__ import annotations

import numpy as np

from pellucid.kernels._compile import compiled

NEVER = 2**61
"""More than any amount."""


@compiled
def judge_counts(features, counts, center_code, position, inside, amount, least, found):
    """found[j, g] = least amount over the edges of gap g, the lowest edge that has it, a bound.

    Besides, amount[j, t] at the edges, and least[j, b], the bound for all thresholds strictly inside
    bin b: there, rows may go left whose centers are left, and others stay. counts[j] is N, and
    `position` has the codes of the centers in ascending order. What is filled is 0 before.
    """
    n_centers, width = counts.shape[1:]
    for f in range(len(features)):
        j = features[f]
        first, last = position[j, 0], position[j, n_centers - 1]
        spent, fall = amount[j], least[j]
        for c in range(n_centers):
            mine, e = counts[j, c], center_code[j, c]
            below, total = np.int64(0), np.int64(0)
            for t in range(width):
                total += mine[t]
            for t in range(e):
                below += mine[t]
                spent[t] += below
            below += mine[e]
            spent[e] += total - below
            for t in range(e + 1, last + 1):
                below += mine[t]
                spent[t] += total - below
                fall[t] += mine[t]
        for g in range(n_centers - 1):
            best, at, lowest = np.int64(NEVER), -1, np.int64(NEVER)
            for t in range(position[j, g], position[j, g + 1]):
                if spent[t] < best:
                    best, at = spent[t], t
                bound = spent[t] - fall[t + 1] if inside[j, t + 1] else NEVER
                fall[t + 1] = bound
                lowest = bound if bound < lowest else lowest
            found[j, g, 0] = best if at >= 0 else np.inf
            found[j, g, 1] = at
            found[j, g, 2] = lowest if lowest < NEVER else np.inf


@compiled
def divide_owned(rows, ends, column, values, code, at, center_left,
                 near, far, off_near, off_far, kept):  # fmt: skip
    """The two sides of the cut at `at`, whose code is `code`, in a column.

    `column` has the codes of all rows, `values` their values; these are looked up only in the bin
    of the threshold and in the nearest bins so far that hold any row. Fills `near` with the rows
    that go left with their own center, `far` with those that go right with it, `off_near` and
    `off_far` with those that go left and right without it, and kept[c] with the number of rows that
    the c-th center keeps. Every row is written to two of them, and stays where its turn has come:
    there is room for one more than needed. Returns the largest value that goes left, the smallest
    that goes right, and how many rows are in either pair.
    """
    low, high = -np.inf, np.inf
    below, above = -1, 1 << 30  # less than any code, and more
    nothing = np.uint64(0)
    n_near = n_far = n_off_near = n_off_far = nothing
    for c in range(len(kept)):
        home = center_left[c]
        mine, others = (near, off_far) if home else (far, off_near)
        p, q = (n_near, n_off_far) if home else (n_far, n_off_near)
        before = p
        for i in range(ends[c], ends[c + 1]):
            row = np.uint64(rows[i])
            b = np.int64(column[row])
            goes = b < code
            if b >= below and b <= above:
                value = np.float64(values[row])
                goes = value <= at
                if goes:
                    low = value if b > below or value > low else low
                    below = b
                else:
                    high = value if b < above or value < high else high
                    above = b
            mine[p] = others[q] = rows[i]
            stays = np.uint64(goes == home)
            p += stays
            q += np.uint64(1) - stays
        kept[c] = p - before
        if home:
            n_near, n_off_far = p, q
        else:
            n_far, n_off_near = p, q
    return low, high, (n_near, n_far), (n_off_near, n_off_far)
