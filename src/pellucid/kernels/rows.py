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
    near, far = np.empty(n_left, rows.dtype), np.empty(len(rows) - n_left, rows.dtype)
    p = q = 0
    for i in range(len(rows)):
        if left[i]:
            near[p] = rows[i]
            p += 1
        else:
            far[q] = rows[i]
            q += 1
    return near, far


@compiled
def divide_owned_rows(rows, left, labels, center_left):
    """The same, each side divided into rows whose own center is there too, and rows cut off.

    Returns the rows at home on the left, cut off on the left, at home on the right, cut off on
    the right.
    """
    count = np.zeros(4, dtype=np.int64)
    kind = np.empty(len(rows), dtype=np.uint8)
    for i in range(len(rows)):
        home = center_left[labels[rows[i]]] == left[i]
        kind[i] = (0 if left[i] else 2) + (0 if home else 1)
        count[kind[i]] += 1
    a, b = np.empty(count[0], rows.dtype), np.empty(count[1], rows.dtype)
    c, d = np.empty(count[2], rows.dtype), np.empty(count[3], rows.dtype)
    count[:] = 0
    for i in range(len(rows)):
        k = kind[i]
        if k == 0:
            a[count[0]] = rows[i]
        elif k == 1:
            b[count[1]] = rows[i]
        elif k == 2:
            c[count[2]] = rows[i]
        else:
            d[count[3]] = rows[i]
        count[k] += 1
    return a, b, c, d
