"""Rows of a node: those in some of the bins, and those on either side of a threshold."""

from __future__ import annotations

import numpy as np

from pellucid._utils.compilation import compiled


@compiled
def partition_rows(
    rows, ends, center_is_left, column, values, edges, inside, code, threshold, sides, sizes, n_kept
):
    """Partition rows by whether values[row] <= threshold; returns the largest such value and the
    smallest of the others, or infinities.

    Rows of center c are ``rows[ends[c]:ends[c + 1]]``. Side 0 is the left. Rows on the side of
    their center go to ``sides[0, side]``, other rows to ``sides[1, side]``; ``sizes``, 0 before,
    becomes their numbers, and ``n_kept[c]`` the number of rows that a center keeps.

    `column` holds the codes of all rows and `values` their values; `code` is the code of the
    threshold. A value decides, and is read, only in the bin of the threshold and, to find the two
    neighbours of the threshold, in the nearest bins so far that hold any row. All values of bin b
    are edges[b] unless inside[b]. Every row is written to both of its possible places, which avoids
    a branch.
    """
    kept, separated = sides
    low, high = -np.inf, np.inf
    below, above = -1, 1 << 30  # below and above all codes
    for c in range(len(center_is_left)):
        center_left = center_is_left[c]
        side = 0 if center_left else 1
        p, q = np.uint64(sizes[0, side]), np.uint64(sizes[1, 1 - side])
        for r in range(ends[c], ends[c + 1]):
            row = np.uint64(rows[r])
            b = np.int64(column[row])
            is_left = b < code
            if b >= below and b <= above:
                value = np.float64(values[row]) if inside[b] else edges[b]
                is_left = value <= threshold
                if is_left:
                    low = value if b > below or value > low else low
                    below = b
                else:
                    high = value if b < above or value < high else high
                    above = b
            kept[side, p] = separated[1 - side, q] = rows[r]
            stays = np.uint64(is_left == center_left)
            p += stays
            q += np.uint64(1) - stays
        n_kept[c] = p - np.uint64(sizes[0, side])
        sizes[0, side], sizes[1, 1 - side] = p, q
    return low, high


@compiled
def select_bins(column, column_values, rows, is_wanted, places, codes, values):
    """Fill `places` with each i for which the bin of ``rows[i]`` is wanted, `codes` and `values`
    with the code and the value of that row; returns their number.

    `column` and `column_values` are those of all rows. `places` has one element more than needed,
    since every i is written before it is decided whether it counts.
    """
    n = np.uint64(0)
    for i in range(len(rows)):
        places[n] = i
        n += np.uint64(is_wanted[column[np.uint64(rows[i])]])
    for p in range(n):
        row = np.uint64(rows[places[p]])
        codes[p], values[p] = column[row], column_values[row]
    return n
