"""Histograms of binned columns: weight by group of rows and bin.

H[f, g, b] = sum of the weights of the rows of group g with code b in the f-th column
"""

from __future__ import annotations

import numpy as np

from pellucid._utils.compilation import compiled


@compiled
def hist_dense(features, codes, rows, group, weights, out):
    """out[f, g, b] += weights[i] for all i with group[i] = g and codes[features[f], rows[i]] = b.

    Two columns at a time: the processor adds to one while the sum of the other is written. Codes
    are read before any sum is written, since the compiler must assume that both overlap.
    """
    n = len(features)
    for f in range(0, n, 2):
        has_second = f + 1 < n
        s = f + 1 if has_second else f
        first, second = features[f], features[s]
        for i in range(len(rows)):
            # Unsigned indices need no check for negative values.
            row, g, weight = np.uint64(rows[i]), np.uint64(group[i]), weights[i]
            b, b_second = np.uint64(codes[first, row]), np.uint64(codes[second, row])
            out[f, g, b] += weight
            out[s, g, b_second] += weight if has_second else 0


@compiled
def hist_csc(features, codes, indices, indptr, zero_code, group, weights, totals, last, out):
    """The same from the stored entries of CSC columns; fills `out`.

    Rows without an entry in a column are in the bin ``zero_code[j]``: a group has there what the
    other bins leave of ``totals[g]``, its total weight. ``group`` and ``weights`` are indexed by
    row of the data; the group of rows that do not count is -1. Bins above ``last[j]`` are pooled
    in bin ``last[j] + 1``.
    """
    for f in range(len(features)):
        j = features[f]
        pooled = last[j] + 1
        for g in range(len(totals)):
            for b in range(pooled + 1):
                out[f, g, b] = 0
        for p in range(np.uint64(indptr[j]), np.uint64(indptr[j + 1])):
            row = np.uint64(indices[p])
            if group[row] >= 0:
                g, b = np.uint64(group[row]), np.uint64(codes[p] if codes[p] < pooled else pooled)
                out[f, g, b] += weights[row]
        zero = zero_code[j] if zero_code[j] < pooled else pooled
        for g in range(len(totals)):
            rest = totals[g]
            for b in range(pooled + 1):
                rest -= out[f, g, b]
            out[f, g, zero] += rest
