"""Rows that stay with their own center: mistakes by bin, bins looked into, the two sides of a cut.

The children of a cell share its centers out between them, and with a center all its rows but those
that are cut off. So each center c has a place of its own in `rows`, from begins[c] up to, not
including, ends[c], and in `counts`, the weight of these rows by column, center and bin; `members`
are the centers of the cell in question. With N[c, b] the counts of a column and e[c] the code of a
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
def judge_counts(features, members, counts, center_code, position, inside, amount, least, found):
    """found[j, g] = least amount over the edges of gap g, the lowest edge that has it, a bound.

    Besides, amount[j, t] at the edges, and least[j, b], the bound for all thresholds strictly inside
    bin b: there, rows may go left whose centers are left, and others stay. Elsewhere it is `NEVER`.
    `position` has the codes between which the gaps lie, the first and the last those of members.
    """
    for f in range(len(features)):
        j = features[f]
        n_gaps = position.shape[1] - 1
        first, last = position[j, 0], position[j, n_gaps]
        spent, fall = amount[j], least[j]
        for t in range(len(spent)):
            spent[t] = 0
            fall[t] = 0 if first < t <= last else NEVER
        for i in range(len(members)):
            mine, e = counts[j, members[i]], center_code[j, members[i]]
            below, total = np.int64(0), np.int64(0)
            for t in range(len(mine)):
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
        for g in range(n_gaps):
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
def open_owned(members, rows, begins, ends, column, values, code_of, weight, least, limit,
               codes, found, change):  # fmt: skip
    """Codes and values of the rows in bins that could reach a limit, and what they add to the
    amount as they go left; returns their number.

    `column` and `values` are of all rows, code_of[c] is the code of a center. `codes` takes row
    numbers first: there is room for one more than needed, since every row is written and stays
    where its turn has come.
    """
    n = np.uint64(0)
    for i in range(len(members)):
        c, start = members[i], n
        for p in range(begins[c], ends[c]):
            codes[n] = rows[p]
            n += np.uint64(least[column[np.uint64(rows[p])]] <= limit)
        for p in range(start, n):
            row = np.uint64(codes[p])
            codes[p], found[p] = column[row], values[row]
            change[p] = -weight[row] if column[row] > code_of[c] else weight[row]
    return n


@compiled
def divide_owned(members, rows, begins, ends, passive, column, values, edges, at, places, off,
                 sizes):  # fmt: skip
    """Cut a cell at `at` in a column; returns the ends of the interval of thresholds that do so.

    The rows of a center, which lies at places[c], that are on its side stay in its place, and
    ends[c] becomes their end. off[0] is filled with the rows that go left without their center, and
    then with the `passive` ones that go left; off[1] with those on the right. Passive rows are cut
    by the lowest threshold of the interval, and bound it from above. `sizes` are the numbers of
    rows cut off to the left and to the right, and of all in either half of `off`.

    `column` has the codes of all rows, `values` their values; these are looked up only in the bin
    of the threshold and in the nearest bins so far that hold any row. Every row is written to both
    of its possible places, and stays where its turn has come.
    """
    code, n = np.int64(0), np.int64(len(members))
    while edges[code] < at:
        code += 1
    low, high, n_near, n_far = -np.inf, np.inf, np.int64(0), np.int64(0)
    below, above = np.int64(-1), np.int64(1 << 30)  # less than any code, and more
    least_far, most_near = np.inf, -np.inf
    for i in range(n + 1):
        if i < n:
            c, source, kept = members[i], rows, rows
            begin, end, goes_left = begins[c], ends[c], places[c] <= at
            p, (lost, q) = begin, (off[1], n_far) if goes_left else (off[0], n_near)
            most_near = max(most_near, places[c]) if goes_left else most_near
            least_far = least_far if goes_left else min(least_far, places[c])
        else:
            low, least_far = max(low, most_near), min(high, least_far)
            at = low
            while code > 0 and edges[code - 1] >= at:
                code -= 1
            below, above, high = code, np.int64(1 << 30), np.inf
            sizes[0], sizes[1] = n_near, n_far
            source, begin, end, goes_left = passive, np.int64(0), np.int64(len(passive)), True
            kept, p, lost, q = off[0], n_near, off[1], n_far
        for r in range(begin, end):
            row = np.uint64(source[r])
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
            kept[p] = lost[q] = source[r]
            stays = np.int64(is_left == goes_left)
            p += stays
            q += 1 - stays
        if i == n:
            n_near, n_far = p, q
        else:
            ends[c] = p
            n_near, n_far = (n_near, q) if goes_left else (q, n_far)
    sizes[2], sizes[3] = n_near, n_far
    return low, min(high, least_far)
