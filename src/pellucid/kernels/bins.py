"""Columns as small whole numbers.

The code of a value is the number of its column's edges that lie strictly below it, so that
``x <= edges[t]`` exactly when ``code(x) <= t``: a cut at an edge needs the code alone.
"""

from __future__ import annotations

import numpy as np

from pellucid.kernels._compile import compiled, inner


@compiled
def dense_codes(X, begin, edges, n_edges, low, scale, table, codes, few, mixed):
    """codes[j, begin + i] for rows i; in columns of `few` values, mixed[j, b] = 1 where a value of
    bin b is not its edge.

    A block of rows and a cache line of columns at a time: turned on their side, the values of a
    column are next to each other.
    """
    top = float(table.shape[1] - 1)
    block, group = 256, 8
    lines = np.zeros((group, block))
    slots = np.empty(block, dtype=np.int32)
    n_features = X.shape[1]
    for start in range(0, len(X), block):
        size = min(block, len(X) - start)
        at = begin + start
        for first in range(0, n_features, group):
            n_columns = min(group, n_features - first)
            if n_columns == group:  # a loop of known length is unrolled
                for i in range(size):
                    for f in range(group):
                        lines[f, i] = X[start + i, first + f]
            else:
                for i in range(size):
                    for f in range(n_columns):
                        lines[f, i] = X[start + i, first + f]
            for f in range(n_columns):
                j = first + f
                bottom, factor = low[j], scale[j]
                for i in range(block):
                    place = (lines[f, i] - bottom) * factor
                    place = place if place > 0.0 else 0.0
                    slots[i] = np.int32(place if place < top else top)
                for i in range(size):
                    code = table[j, np.uint32(slots[i])]
                    if code < 0:
                        many, code = (-1 - code) & 1, (-1 - code) >> 1
                        value = lines[f, i]
                        if many:
                            code = find_code(edges, n_edges, j, value, code)
                        while edges[j, code] < value:  # the edges end with infinity
                            code += 1
                    codes[j, at + i] = code
                if few[j]:
                    for i in range(size):
                        code = codes[j, at + i]
                        if edges[j, code] != lines[f, i]:
                            mixed[j, code] = 1


@inner
def find_code(edges, n_edges, j, value, code):
    """Code of a value, which is `code` or more."""
    last = n_edges[j]
    while code < last:
        middle = (code + last) >> 1
        if edges[j, middle] < value:
            code = middle + 1
        else:
            last = middle
    return code


@compiled
def entry_codes(data, indptr, edges, n_edges, codes, mixed):
    """Codes of the stored entries of a CSC matrix, in their order; `mixed` as in `dense_codes`."""
    for j in range(len(indptr) - 1):
        for p in range(indptr[j], indptr[j + 1]):
            value = np.float64(data[p])
            code = find_code(edges, n_edges, j, value, 0)
            codes[p] = code
            if edges[j, code] != value:
                mixed[j, code] = 1
