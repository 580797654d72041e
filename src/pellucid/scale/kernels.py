"""Compiled loops over the rows of a batch."""

from __future__ import annotations

import numpy as np

from pellucid._utils.compilation import compiled


@compiled
def route(columns, slot, threshold, left, right, out):
    """Move row i from the node out[i] to a leaf.

    columns[slot[node], i] is the value of the column by which a node is split. `left` and `right`
    are -1 for leaves.
    """
    for i in range(len(out)):
        node = out[i]
        while left[node] >= 0:
            is_left = columns[slot[node], i] <= threshold[node]
            node = left[node] if is_left else right[node]
        out[i] = node


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
