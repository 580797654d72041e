"""Rows of a cell, and the two sides of a cut."""

from __future__ import annotations

import numpy as np

from pellucid.kernels._compile import compiled


@compiled
def look_up_codes(column, rows, table, found):
    """found[i] = table[b] with b the code of row i, `column` having the codes of all rows."""
    for i in range(len(rows)):
        found[i] = table[column[np.uint64(rows[i])]]


@compiled
def share_owned(rows, left, labels, center_left, near, far, off):
    """Fill `near` with the rows that go left with their own center, `far` with those that go right
    with it, and `off` with those that do not go where it goes.

    Each has one place more than it needs: every row is written to all three, and stays where its
    turn has come. Returns how many there are of each.
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
def note_leaf(rows, number, leaf):
    """leaf[row] = number for some rows."""
    for i in range(len(rows)):
        leaf[np.uint64(rows[i])] = number
