"""Compiled loops that route rows down a tree and check them for finite values, in one pass.

A tree is given by four arrays: `feature` and `threshold` of each node, `child` with the right child
at 2 * node and the left child at 2 * node + 1, and `leaf_values` with the result of each node. A
leaf is its own child, so that a row which has arrived stays where it is. Numbers of nodes and
columns are unsigned, so that the compiler omits the checks for negative indices.
"""

from __future__ import annotations

import numpy as np

from pellucid._utils.compilation import compiled, reordered

BLOCK_VALUES = 8192
"""Values of a block of rows, so that they are still in the first-level cache when routed.

For a column-major matrix, values of each column: short pieces are slow to read.
"""

_LOCKSTEP_LEVELS = 8
"""Levels down which all rows of a block move in step; below, few rows are left to move."""


@reordered
def _zero_if_finite(values, begin, end):
    """Sum of 0 * x: zero, or NaN if a value is NaN or infinite."""
    zero = values.dtype.type(0)
    total = zero
    for p in range(np.uint64(begin), np.uint64(end)):
        total += zero * values[p]
    return total


@compiled
def route_dense(values, n_columns, row_step, column_step, begin, end, check,
                feature, threshold, child, depth, leaf_values, out, node_of_row):  # fmt: skip
    """``out[i] = leaf_values[leaf of row i]`` for rows begin .. end: left if x <= threshold.

    Entry (i, j) is ``values[i * row_step + j * column_step]``; one of the steps is 1. `node_of_row`
    is scratch for BLOCK_VALUES nodes. Returns whether all values are finite, if `check`.
    """
    by_rows = column_step == 1
    step = max(16, BLOCK_VALUES // n_columns) if by_rows else BLOCK_VALUES
    pieces = 1 if by_rows else n_columns
    along_row, along_column = np.uint64(row_step), np.uint64(column_step)
    zero_sum = 0.0
    start = begin
    while start < end:
        n = min(step, end - start)
        if check:
            for piece in range(pieces):
                first = piece * column_step + start * row_step
                zero_sum += _zero_if_finite(values, first, first + n * row_step)
        corner, rows = np.uint64(start) * along_row, np.uint64(n)
        for i in range(rows):
            node_of_row[i] = 0
        for _ in range(min(depth, _LOCKSTEP_LEVELS)):
            for i in range(rows):
                node = node_of_row[i]
                x = values[corner + i * along_row + feature[node] * along_column]
                node_of_row[i] = child[np.uint64(2) * node + np.uint64(x <= threshold[node])]
        for i in range(rows):
            node = node_of_row[i]
            while child[np.uint64(2) * node] != node:
                x = values[corner + i * along_row + feature[node] * along_column]
                node = child[np.uint64(2) * node + np.uint64(x <= threshold[node])]
            out[np.uint64(start) + i] = leaf_values[node]
        start += n
    return zero_sum == 0


@compiled
def route_sparse(data, indices, indptr, begin, end,
                 feature, threshold, child, leaf_values, out, dense_row):  # fmt: skip
    """The same for rows of a CSR matrix, whose entries may be unsorted and duplicate.

    `dense_row` is scratch for one row, all zero. Duplicate entries are summed in the precision of
    the data, as in canonical form.
    """
    zero = data.dtype.type(0)
    zero_sum = zero
    for i in range(begin, end):
        first, last = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
        for p in range(first, last):
            j = np.uint64(indices[p])
            total = dense_row[j] + data[p]
            dense_row[j] = total
            zero_sum += zero * total
        node = np.uint64(0)
        while child[np.uint64(2) * node] != node:
            x = dense_row[feature[node]]
            node = child[np.uint64(2) * node + np.uint64(x <= threshold[node])]
        out[i] = leaf_values[node]
        for p in range(first, last):
            dense_row[np.uint64(indices[p])] = zero
    return zero_sum == 0
