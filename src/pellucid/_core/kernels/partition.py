"""Rows that stay with their own center: mistakes by bin, bins looked into, the two sides of a cut.

The children of a cell share its centers out between them, and with a center all its rows but those
that are cut off. So each center c has a place of its own in `rows`, from begins[c] up to, not
including, ends[c], and in `counts`, the weight of these rows by column, center and bin; `members`
are the centers of the cell in question. With N[c, b] the counts of a column and e[c] the code of a
center, a cut at edge t separates from their centers

    amount(t) = sum over c of (N[c, 0 .. t] if t < e[c] else N[c, t + 1 ..]).

Words are those of `pellucid._core.kernels.gap_objectives`.
"""

from __future__ import annotations

import numpy as np

from pellucid._utils.compilation import compiled

NEVER = 2**61
"""More than any amount."""


@compiled
def judge_counts(
    features, members, counts, totals, center_code, position, inside, amount, least, found
):
    """found[j, g] = least amount over the edges of gap g, the lowest edge that has it, a bound.

    Besides, amount[j, t] at the edges, and least[j, b], the bound for all thresholds strictly
    inside bin b: there, rows may go left whose centers are left, and others stay. `totals` are the
    weights of all rows of a center, and `position` has the codes between which the gaps lie, the
    first and the last those of members. What is to be filled is 0 before.
    """
    n_gaps = position.shape[1] - 1
    for f in range(len(features)):
        j = features[f]
        spent, fall = amount[j], least[j]
        for i in range(len(members)):
            c = members[i]
            mine, e, total, below = counts[j, c], center_code[j, c], totals[c], np.int64(0)
            for t in range(position[j, n_gaps] + 1):
                below += mine[t]
                spent[t] += below if t < e else total - below
                fall[t] += mine[t] if t > e else 0
        for g in range(n_gaps):
            best, at, lowest = np.inf, -1, np.inf
            for t in range(position[j, g], position[j, g + 1]):
                if spent[t] < best:
                    best, at = np.float64(spent[t]), t
                bound = spent[t] - fall[t + 1] if inside[j, t + 1] else NEVER
                fall[t + 1] = bound
                lowest = bound if bound < lowest else lowest
            found[j, g, 0], found[j, g, 1] = best, at
            found[j, g, 2] = lowest if lowest < NEVER else np.inf


@compiled
def open_owned(members, rows, begins, ends, column, values, code_of, weight, wanted,
               codes, found, change):  # fmt: skip
    """Codes and values of the rows in wanted bins, and what they add to the amount as they go left;
    returns their number.

    `column` and `values` are of all rows, code_of[c] is the code of a center. `codes` takes row
    numbers first: there is room for one more than needed, since every row is written and stays
    where its turn has come.
    """
    n = np.uint64(0)
    for i in range(len(members)):
        c, start = members[i], n
        for p in range(begins[c], ends[c]):
            codes[n] = rows[p]
            n += np.uint64(wanted[column[np.uint64(rows[p])]])
        for p in range(start, n):
            row = np.uint64(codes[p])
            codes[p], found[p] = column[row], values[row]
            change[p] = -weight[row] if column[row] > code_of[c] else weight[row]
    return n


@compiled
def divide_owned(members, rows, begins, ends, column, values, code, at, places, off, sizes):
    """Cut a cell at `at`, whose code is `code`, in a column; returns the largest value that goes
    left and the smallest that goes right.

    The rows of a center, which lies at places[c], that are on its side stay in its place, and
    ends[c] becomes their end. off[0] is filled with the rows that go left without their center,
    off[1] with those that go right, `sizes` with their numbers.

    `column` has the codes of all rows, `values` their values; these are looked up only in the bin
    of the threshold and in the nearest bins so far that hold any row. Every row is written to both
    of its possible places, and stays where its turn has come.
    """
    low, high = -np.inf, np.inf
    below, above = -1, 1 << 30  # less than any code, and more
    sizes[0] = sizes[1] = 0
    for i in range(len(members)):
        c = members[i]
        goes_left = places[c] <= at
        side = 1 if goes_left else 0
        lost, p, q = off[side], np.uint64(begins[c]), np.uint64(sizes[side])
        for r in range(begins[c], ends[c]):
            row = np.uint64(rows[r])
            b = np.int64(column[row])
            is_left = b < code
            if b >= below and b <= above:
                value = np.float64(values[row])
                is_left = value <= at
                if is_left:
                    low = value if b > below or value > low else low
                    below = b
                else:
                    high = value if b < above or value < high else high
                    above = b
            rows[p] = lost[q] = rows[r]
            stays = np.uint64(is_left == goes_left)
            p += stays
            q += np.uint64(1) - stays
        ends[c], sizes[side] = p, q
    return low, high
