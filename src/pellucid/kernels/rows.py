"""Rows of a cell, and the two sides of a cut.

`column` has the codes and `values` the values of one feature for all rows of the data; `code` is
that of the threshold, so that values are looked up in its bin alone.
"""

from __future__ import annotations

import numpy as np

from pellucid.kernels._compile import compiled


@compiled
def find_left(column, values, rows, code, threshold, left):
    """left[i] = whether row i has at most the threshold."""
    for i in range(len(rows)):
        row = np.uint64(rows[i])
        b = np.int64(column[row])
        left[i] = b < code
        if b == code:
            left[i] = values[row] <= threshold


@compiled
def share_rows(rows, left, near, far):
    """Fill `near` with the rows that go left, and `far` with those that go right.

    Each has one place more than it needs: every row is written to both, and stays where its turn
    has come.
    """
    p = q = 0
    for i in range(len(rows)):
        near[p] = rows[i]
        far[q] = rows[i]
        p += left[i]
        q += not left[i]


@compiled
def share_owned(rows, left, labels, center_left, near, far, off):
    """The same, but `off` has the rows whose own center goes the other way.

    Returns how many there are of each.
    """
    p = q = r = np.uint64(0)
    for i in range(len(rows)):
        row = rows[i]
        here, home = np.uint64(left[i]), np.uint64(center_left[labels[np.uint64(row)]])
        near[p] = far[q] = off[r] = row
        p += here & home
        q += np.uint64(1) - (here | home)
        r += here ^ home
    return p, q, r


@compiled
def find_wanted(column, rows, wanted, begin, places):
    """Fill `places` with those of the rows in wanted bins, counted from `begin`.

    There is one place more than there are rows: each is written down, and stays if it is wanted.
    Returns how many there are.
    """
    n = np.uint64(0)
    for i in range(len(rows)):
        places[n] = begin + i
        n += np.uint64(wanted[column[np.uint64(rows[i])]])
    return n


@compiled
def note_leaf(rows, number, leaf):
    """leaf[row] = number for some rows."""
    for i in range(len(rows)):
        leaf[np.uint64(rows[i])] = number
