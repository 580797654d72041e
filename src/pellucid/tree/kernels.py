"""Rows down a tree, and whether they hold nothing but finite numbers, in one pass over them.

A tree is four arrays here: `feature` and `threshold` of each node, `child` with the node to its
right at 2 * node and the one to its left at 2 * node + 1, and `answers`, what to say of a row that
ends there. A leaf is its own child, so a row that has arrived stays however often it is moved on.
Numbers of nodes and columns are unsigned: the compiler then need not ask whether they count from
the end.
"""

from __future__ import annotations

import numpy as np

from pellucid._utils.compilation import compiled, reordered

VALUES_TOGETHER = 8192
"""Values of a block of rows, which are then still in the nearest cache when they are routed.

Of a matrix that lies column by column, values of each column: short pieces are slow to read.
"""

_LEVELS_TOGETHER = 8
"""Levels down which all rows of a block go in step; below, few rows may be left to move."""


@reordered
def _nothing(values, begin, end):
    """Sum of 0 * x: zero, or NaN where a value is NaN or infinite."""
    zero = values.dtype.type(0)
    total = zero
    for p in range(np.uint64(begin), np.uint64(end)):
        total += zero * values[p]
    return total


@compiled
def route_dense(values, n_columns, row_step, column_step, begin, end, check,
                feature, threshold, child, depth, answers, out, at):  # fmt: skip
    """``out[i] = answers[leaf of row i]`` for rows begin .. end: left where x <= threshold.

    Entry (i, j) is ``values[i * row_step + j * column_step]``; one of the two steps is 1.
    `at` is room for VALUES_TOGETHER nodes: made outside, it need not be compiled. Returns whether
    all values of the rows are finite, if `check`, and true otherwise.
    """
    by_rows = column_step == 1
    step = max(16, VALUES_TOGETHER // n_columns) if by_rows else VALUES_TOGETHER
    pieces = 1 if by_rows else n_columns
    along_row, along_column = np.uint64(row_step), np.uint64(column_step)
    nothing = 0.0
    start = begin
    while start < end:
        n = min(step, end - start)
        if check:
            for piece in range(pieces):
                first = piece * column_step + start * row_step
                nothing += _nothing(values, first, first + n * row_step)
        corner, rows = np.uint64(start) * along_row, np.uint64(n)
        for i in range(rows):
            at[i] = 0
        for _ in range(min(depth, _LEVELS_TOGETHER)):
            for i in range(rows):
                node = at[i]
                x = values[corner + i * along_row + feature[node] * along_column]
                at[i] = child[np.uint64(2) * node + np.uint64(x <= threshold[node])]
        for i in range(rows):
            node = at[i]
            while child[np.uint64(2) * node] != node:
                x = values[corner + i * along_row + feature[node] * along_column]
                node = child[np.uint64(2) * node + np.uint64(x <= threshold[node])]
            out[np.uint64(start) + i] = answers[node]
        start += n
    return nothing == 0


@compiled
def route_sparse(data, indices, indptr, begin, end,
                 feature, threshold, child, answers, out, line):  # fmt: skip
    """The same for rows of a CSR matrix, whose entries may be in any order and stored in parts.

    `line` is room for a row, of the type of the data and all zero. Takes time of the stored
    entries and of the paths. Parts are added up in the precision of the data, as they are when
    such a matrix is brought into canonical form.
    """
    zero = data.dtype.type(0)
    nothing = zero
    for i in range(begin, end):
        first, last = np.uint64(indptr[i]), np.uint64(indptr[i + 1])
        for p in range(first, last):
            j = np.uint64(indices[p])
            total = line[j] + data[p]
            line[j] = total
            nothing += zero * total
        node = np.uint64(0)
        while child[np.uint64(2) * node] != node:
            x = line[feature[node]]
            node = child[np.uint64(2) * node + np.uint64(x <= threshold[node])]
        out[i] = answers[node]
        for p in range(first, last):
            line[np.uint64(indices[p])] = zero
    return nothing == 0
