"""Rows of a cell, and the two sides of a cut."""

from __future__ import annotations

import numpy as np

from pellucid._utils.compilation import compiled


@compiled
def split_rows(column, values, rows, code, at, left):
    """left[i] = whether the value of row i is at most `at`, whose code is `code`; returns the
    largest value that is, and the smallest that is not.

    `column` has the codes of all rows, `values` their values. These are looked up only in the bin
    of the threshold and in the nearest bins so far that hold any row.
    """
    low, high = -np.inf, np.inf
    near, far = -1, 1 << 30  # less than any code, and more
    for i in range(len(rows)):
        row = np.uint64(rows[i])
        b = np.int64(column[row])
        goes = b < code
        if b >= near and b <= far:
            value = np.float64(values[row])
            goes = value <= at
            if goes:
                low = value if b > near or value > low else low
                near = b
            else:
                high = value if b < far or value < high else high
                far = b
        left[i] = goes
    return low, high
