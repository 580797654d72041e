"""Columns as small whole numbers.

The code of a value is the number of its column's edges that lie strictly below it, so that
``x <= edges[t]`` exactly when ``code(x) <= t``: a cut at an edge needs the code alone.
"""

from __future__ import annotations

import numpy as np

from pellucid._utils.compilation import compiled

ROWS_TOGETHER, COLUMNS_TOGETHER = 256, 32
"""Values that `dense_codes` turns on their side together: few enough to stay in the nearest cache.
The rows are even in number.
"""


@compiled
def dense_codes(X, begin, edges, n_edges, low, scale, table, codes, few, mixed, lines, slots):
    """codes[j, begin + i] for rows i; in columns of `few` values, mixed[j, b] = 1 where a value of
    bin b is not its edge.

    Blocks of rows and columns are transposed, so that the values of a column are contiguous.
    `lines` and `slots` are workspaces of the caller. Unsigned indices avoid a test for negative
    values in the inner loop.
    """
    one = np.uint64(1)
    top = float(table.shape[1] - 1)
    n_features = X.shape[1]
    for start in range(0, len(X), ROWS_TOGETHER):
        size = len(X) - start
        n_rows = np.uint64(size if size < ROWS_TOGETHER else ROWS_TOGETHER)
        at = np.uint64(begin + start)
        for first in range(0, n_features, COLUMNS_TOGETHER):
            size = n_features - first
            n_columns = np.uint64(size if size < COLUMNS_TOGETHER else COLUMNS_TOGETHER)
            for i in range(np.uint64(0), n_rows, np.uint64(2)):
                row = np.uint64(start) + i  # two rows, whose numbers are stored together
                other = row + one if i + one < n_rows else row
                for f in range(n_columns):
                    lines[f, i] = X[row, np.uint64(first) + f]
                    lines[f, i + one] = X[other, np.uint64(first) + f]
            for f in range(n_columns):
                j = np.uint64(first) + f
                bottom, factor = low[j], scale[j]
                for i in range(ROWS_TOGETHER):
                    place = (lines[f, i] - bottom) * factor
                    place = place if place > 0.0 else 0.0
                    slots[i] = np.int32(place if place < top else top)
                for i in range(n_rows):
                    code = table[j, np.uint32(slots[i])]
                    if code < 0:
                        value = lines[f, i]
                        many, code = (-1 - code) & 1, (-1 - code) >> 1
                        if many:
                            last = n_edges[j]
                            while code < last:
                                middle = (code + last) >> 1
                                if edges[j, middle] < value:
                                    code = middle + 1
                                else:
                                    last = middle
                        while edges[j, code] < value:  # the edges end with infinity
                            code += 1
                    codes[j, at + i] = code
                if few[j]:
                    for i in range(n_rows):
                        code = codes[j, at + i]
                        if edges[j, code] != lines[f, i]:
                            mixed[j, code] = 1


@compiled
def entry_codes(data, indptr, edges, n_edges, codes, mixed):
    """Codes of the stored entries of a CSC matrix, in their order; `mixed` as in `dense_codes`."""
    for j in range(len(indptr) - 1):
        for p in range(indptr[j], indptr[j + 1]):
            value = np.float64(data[p])
            code, last = 0, n_edges[j]
            while code < last:
                middle = (code + last) >> 1
                if edges[j, middle] < value:
                    code = middle + 1
                else:
                    last = middle
            codes[p] = code
            if edges[j, code] != value:
                mixed[j, code] = 1
