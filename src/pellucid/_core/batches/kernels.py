"""Compiled loops over the rows of a batch."""

from __future__ import annotations

import numpy as np

from pellucid._core.batches.batch import ALL, PASSIVE
from pellucid._utils.compilation import compiled

ROWS_AT_ONCE = 4096
"""Rows whose terms stay in the cache while they are added to the sums of all columns."""


@compiled
def route_node(node, left, right, values, threshold, out):
    """Move the rows of one node to its children; the processor works on many rows at once."""
    for i in range(len(out)):
        child = left if values[i] <= threshold else right
        out[i] = child if out[i] == node else out[i]


@compiled
def find_neighbours(leaf, labels, members, request_of_leaf, columns, feature, threshold, out):
    """out[r] = minus the largest value up to threshold[r], and the least above it, in a leaf.

    request_of_leaf[leaf] is the request of a leaf. Only rows that count are used: `members` is
    (kind, leaf_of_center), where the kind is one of ALL, ACTIVE and PASSIVE. The last line of
    `out` is for rows of no request.
    """
    kind, leaf_of_center = members
    takes_all, takes_passive = np.uint64(kind == ALL), np.uint64(kind == PASSIVE)
    one, unused = np.uint64(1), np.uint64(len(out) - 1)
    for i in range(np.uint64(len(leaf))):
        is_own = np.uint64(leaf_of_center[np.uint64(labels[i])] == leaf[i])
        is_member = takes_all | (is_own ^ takes_passive)
        r = request_of_leaf[np.uint64(leaf[i])] if is_member == one else unused
        value = np.float64(columns[feature[r], i])
        is_left = value <= threshold[r]
        side, key = np.uint64(not is_left), -value if is_left else value
        if key < out[r, side]:  # a branch, since it is rarely taken
            out[r, side] = key


@compiled
def separated_rows(starts, last_leaf, leaf, last_leaf_of_center, leaf_of_center, rows):
    """Fill `rows` with the rows that left the leaf of their own center; returns their number.

    Before, row i was in last_leaf[i] and center c in last_leaf_of_center[c], now they are in
    leaf[i] and leaf_of_center[c]. Centers in no open leaf have -1; their rows do not count. The
    rows of center c are starts[c] .. starts[c + 1].
    """
    n = np.uint64(0)
    for c in range(len(leaf_of_center)):
        before, after = last_leaf_of_center[c], leaf_of_center[c]
        if after >= 0:
            for i in range(np.uint64(starts[c]), np.uint64(starts[c + 1])):
                rows[n] = i
                n += np.uint64(last_leaf[i] == before) & np.uint64(leaf[i] != after)
    return np.int64(n)


@compiled
def add_values_by_part(parts, values, sums):
    """sums[parts[i]] += values[i], for lines of values."""
    n_channels = values.shape[1]
    for i in range(len(parts)):
        for c in range(n_channels):
            sums[parts[i], c] += values[i, c]


@compiled
def extremes_by_part(parts, values, lowest, highest):
    """Least and largest value of each part."""
    for i in range(len(parts)):
        p, value = parts[i], np.float64(values[i])
        lowest[p] = value if value < lowest[p] else lowest[p]
        highest[p] = value if value > highest[p] else highest[p]


@compiled
def margin_histograms(codes, rows, nearest, weight, margin, out):
    """out[f, g, b, 0] += weight[i] and out[f, g, b, 1] += margin[i], where g = nearest[i] and
    b = codes[f, rows[i]].
    """
    n_rows = len(rows)
    for start in range(0, n_rows, ROWS_AT_ONCE):
        end = start + ROWS_AT_ONCE if start + ROWS_AT_ONCE < n_rows else n_rows
        for f in range(len(codes)):
            # Unsigned indices are not checked for being negative.
            for i in range(np.uint64(start), np.uint64(end)):
                b, g = np.uint64(codes[f, np.uint64(rows[i])]), np.uint64(nearest[i])
                out[f, g, b, 0] += weight[i]
                out[f, g, b, 1] += margin[i]


@compiled
def count_by_leaf(starts, leaf, units, out):
    """out[0, l, c] += 1 and out[1, l, c] += units[i] for the rows i of center c in leaf l."""
    for c in range(len(starts) - 1):
        for i in range(np.uint64(starts[c]), np.uint64(starts[c + 1])):
            out[0, np.uint64(leaf[i]), c] += 1
            out[1, np.uint64(leaf[i]), c] += units[i]


@compiled
def rows_elsewhere(starts, leaf, home, rows):
    """Fill `rows` with the rows of each center c that are not in the leaf home[c]; returns their
    number. `rows` has space for one more.
    """
    n = np.uint64(0)
    for c in range(len(home)):
        for i in range(np.uint64(starts[c]), np.uint64(starts[c + 1])):
            rows[n] = i
            n += np.uint64(leaf[i] != home[c])
    return np.int64(n)
