"""Rows of a cell, divided between the two sides of a cut."""

from __future__ import annotations

from pellucid.kernels._compile import compiled


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
def find_wanted(column, rows, wanted, places):
    """Fill `places` with those in `rows` of the rows in wanted bins; how many there are.

    There is one place more than there are rows: each is written down, and stays if it is wanted.
    """
    n = 0
    for i in range(len(rows)):
        places[n] = i
        n += wanted[column[rows[i]]]
    return n
