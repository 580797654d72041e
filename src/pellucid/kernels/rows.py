"""Rows of a cell, divided between the two sides of a cut."""

from __future__ import annotations

from pellucid.kernels._compile import compiled


@compiled
def deal_rows(rows, kind, ends, out):
    """Put the rows of each kind next to each other, in their order; ends[k] is where kind k goes.

    Afterwards it is where the rows of kind k end.
    """
    for i in range(len(rows)):
        k = kind[i]
        out[ends[k]] = rows[i]
        ends[k] += 1


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
