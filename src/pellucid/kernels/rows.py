"""Rows of a cell, divided between the two sides of a cut."""

from __future__ import annotations

import numpy as np

from pellucid.kernels._compile import compiled


@compiled
def divide_rows(rows, left):
    """The rows that go left and those that go right."""
    n_left = 0
    for i in range(len(rows)):
        n_left += left[i]
    # One place more than needed: every row is written to both, and stays where its turn has come.
    near = np.empty(n_left + 1, rows.dtype)
    far = np.empty(len(rows) - n_left + 1, rows.dtype)
    p = q = 0
    for i in range(len(rows)):
        near[p] = rows[i]
        far[q] = rows[i]
        p += left[i]
        q += not left[i]
    return near[:p], far[:q]


@compiled
def divide_owned_rows(rows, left, labels, center_left):
    """The same, each side divided into rows whose own center is there too, and rows cut off.

    Returns the rows at home on the left, cut off on the left, at home on the right, cut off on
    the right.
    """
    n = len(rows)
    kind = np.empty(n, dtype=np.uint8)
    n_left, n_off, n_off_left = 0, 0, 0
    for i in range(n):
        is_left = left[i]
        is_off = center_left[labels[rows[i]]] != is_left
        n_left += is_left
        n_off += is_off
        n_off_left += is_left & is_off
        kind[i] = 2 * is_left + is_off
    # One place more than there are rows of a kind: every row is written to all four, and stays
    # where its turn has come.
    a, b = np.empty(n_left - n_off_left + 1, rows.dtype), np.empty(n_off_left + 1, rows.dtype)
    n_off_right = n_off - n_off_left
    c, d = np.empty(n - n_left - n_off_right + 1, rows.dtype), np.empty(n_off_right + 1, rows.dtype)
    p = q = r = s = 0
    for i in range(n):
        row, k = rows[i], kind[i]
        a[p] = row
        b[q] = row
        c[r] = row
        d[s] = row
        p += k == 2
        q += k == 3
        r += k == 0
        s += k == 1
    return a[:p], b[:q], c[:r], d[:s]


@compiled
def code_range(codes, code, lowest, highest):
    """The largest code up to `code`, and the smallest above it; the extremes if there is none.

    All of one small type, so that many codes are compared at a time.
    """
    low, high = lowest, highest
    for i in range(len(codes)):
        c = codes[i]
        low = max(low, c if c <= code else lowest)
        high = min(high, c if c > code else highest)
    return low, high


@compiled
def find_wanted(column, rows, wanted):
    """Places in `rows` of the rows in wanted bins."""
    places = np.empty(len(rows) + 1, dtype=np.int32)
    n = 0
    for i in range(len(rows)):
        places[n] = i
        n += wanted[column[rows[i]]]
    return places[:n].copy()
