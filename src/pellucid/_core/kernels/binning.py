"""Columns as small integers.

The code of a value is the number of its column's edges strictly below it, so that
``x <= edges[t]`` exactly if ``code(x) <= t``: a split at an edge needs only the codes.
"""

from __future__ import annotations

import numpy as np

from pellucid._utils.compilation import compiled, inner

BLOCK_ROWS, BLOCK_COLUMNS = 256, 32
"""Values that `dense_codes` transposes together: few enough for the first-level cache. The number
of rows is even.
"""


@inner
def code_block(values, n_rows, j, at, lookup, has_all, codes, is_mixed, cells):
    """Codes of a block of values of column j, the first of row `at`.

    Unsigned indices are not checked for being negative.
    """
    edges, n_edges, low, scale, table = lookup
    _, n_cells = table.shape
    offset, factor, last_cell = low[j], scale[j], float(n_cells - 1)
    for i in range(len(cells)):
        place = (values[i] - offset) * factor
        place = place if place > 0.0 else 0.0
        cells[i] = np.int32(place if place < last_cell else last_cell)
    for i in range(n_rows):
        code = table[j, np.uint32(cells[i])]
        if code < 0:
            value = values[i]
            many, code = (-1 - code) & 1, (-1 - code) >> 1
            last = n_edges[j] if many else code
            while code < last:
                middle = (code + last) >> 1
                if edges[j, middle] < value:
                    code = middle + 1
                else:
                    last = middle
            while edges[j, code] < value:  # the edges end with infinity
                code += 1
        codes[j, at + i] = code
    if has_all[j]:
        for i in range(n_rows):
            code = codes[j, at + i]
            if edges[j, code] != values[i]:
                is_mixed[j, code] = 1


@compiled
def dense_codes(X, begin, end, lookup, codes, has_all, is_mixed, columns, cells):
    """codes[j, i] = code of X[i, j] for the rows begin .. end; if has_all[j], is_mixed[j, b] = 1 if
    bin b holds a value that is not its edge.

    `X` is a `pellucid._core.data.arrays.FlatRows`, and `lookup` is (edges, n_edges, low, scale,
    table), the last three those of a `CellGrid`. Blocks of rows and columns are transposed into the
    scratch array `columns`, so that the values of a column are contiguous; `cells` is scratch for a
    column.
    """
    one, n_features = np.uint64(1), X.n_columns
    values, along_row, along_column = X.values, np.uint64(X.row_step), np.uint64(X.column_step)
    for start in range(begin, end, BLOCK_ROWS):
        size = end - start
        n_rows = np.uint64(size if size < BLOCK_ROWS else BLOCK_ROWS)
        at = np.uint64(start)
        for first in range(0, n_features, BLOCK_COLUMNS):
            size = n_features - first
            n_columns = np.uint64(size if size < BLOCK_COLUMNS else BLOCK_COLUMNS)
            corner = at * along_row + np.uint64(first) * along_column
            if along_column == 1:
                for i in range(np.uint64(0), n_rows, np.uint64(2)):
                    row = corner + i * along_row  # two rows, whose values are stored together
                    other = row + along_row if i + one < n_rows else row
                    for f in range(n_columns):
                        columns[f, i] = values[row + f]
                        columns[f, i + one] = values[other + f]
            else:
                for f in range(n_columns):
                    column = corner + f * along_column
                    for i in range(n_rows):
                        columns[f, i] = values[column + i * along_row]
            for f in range(n_columns):
                j = np.uint64(first) + f
                code_block(columns[f], n_rows, j, at, lookup, has_all, codes, is_mixed, cells)


@compiled
def column_codes(columns, order, lookup, codes, has_all, is_mixed, block, cells, out):
    """Values of the rows `order`, column by column, and their codes.

    Fills out[j, i] = columns[j, order[i]] and codes[j, i]. `block` and `cells` are scratch space
    for as many values as are worked on together.
    """
    n_features, n_rows, n_block = len(columns), len(order), len(block)
    for j in range(np.uint64(n_features)):
        for start in range(0, n_rows, n_block):
            size, at = n_rows - start, np.uint64(start)
            n = np.uint64(size if size < n_block else n_block)
            for i in range(at, at + n):
                out[j, i] = columns[j, np.uint64(order[i])]
            for i in range(n):
                block[i] = out[j, at + i]
            code_block(block, n, j, at, lookup, has_all, codes, is_mixed, cells)


@compiled
def entry_codes(data, indptr, edges, n_edges, codes, is_mixed):
    """Codes of the stored entries of a CSC matrix, in their order; `is_mixed` as in `dense_codes`,
    for all columns.
    """
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
                is_mixed[j, code] = 1
