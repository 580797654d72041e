"""Rows whose cost depends on the side of a cut, and the cost of all rows, with fixed centers."""

from __future__ import annotations

import numpy as np

from pellucid._utils.compilation import compiled


@compiled
def find_contested(rows, left, right, cluster, costs, contested, difference):
    """Fill in the rows of a node with d != 0 and their d; return the number and two sums of d.

    left[i] and right[i] are the leaves that row i of the data reaches on either side. The sums are
    those of the negative and of the positive d.
    """
    n = 0
    negative = positive = np.int64(0)
    for i in range(len(rows)):
        row = rows[i]
        a, b = cluster[left[row]], cluster[right[row]]
        if a != b:
            d = costs[row, a] - costs[row, b]
            if d != 0:
                contested[n], difference[n] = row, d
                n += 1
                if d < 0:
                    negative += d
                else:
                    positive += d
    return n, negative, positive


@compiled
def total_cost(leaf, cluster, costs):
    """Sum over rows of the cost at the cluster of their leaf."""
    total = np.int64(0)
    for i in range(len(leaf)):
        total += costs[i, cluster[leaf[i]]]
    return total
