"""Rows that a threshold separates from their own center, and what that costs at least.

A row is separated when it and its own center lie on different sides. With each row at a price
(its weight, to count mistakes; its margin, to bound the induced cost from below), N[c, b] the
price of the rows of center c in bin b and e[c] the code of the center,

    amount(t) = base + sum over c of (N[c, 0 .. t] if t < e[c] else N[c, t + 1 ..]).

Three ways to N, one for each form of the data: counts that are at hand, the rows of dense columns,
and the stored entries of CSC columns. Words are those of `pellucid.kernels.gaps`.

    rows, own, weight, prices : row numbers; own center of each, as a place among those of the
        cell; weight; price
    sums : weight and price of all rows of each center
    center_code, position : by feature, the codes of the cell's centers in their order, and
        ascending
"""

from __future__ import annotations

import numpy as np

from pellucid.kernels._compile import compiled, inner
from pellucid.kernels.gaps import judge_edges


@compiled
def sum_by_center(own, weight, prices, sums):
    """Weight and price of the rows of each center."""
    for i in range(len(own)):
        sums[own[i], 0] += weight[i]
        sums[own[i], 1] += prices[i]


@compiled
def count_weights(features, codes, rows, own, weight, counts):
    """counts[j, c, b] += weight of the rows of center c in bin b of column j."""
    for j in features:
        for i in range(len(rows)):
            # Unsigned, so that no index is looked at for being counted from the end.
            c, b = np.uint64(own[i]), np.uint64(codes[j, np.uint64(rows[i])])
            counts[j, c, b] += weight[i]


@inner
def clear(table, last):
    """Set to 0 what `tally_separated` will read."""
    for s in range(table.shape[0]):
        for c in range(table.shape[1]):
            for t in range(last + 1):
                table[s, c, t] = 0


@inner
def tally_separated(weights, prices, sums, base, center_code, last, amount, fall, below):
    """Amount, fall and below at the edges up to `last`, from sums by center and bin."""
    for t in range(last + 1):
        amount[t], fall[t], below[t] = base, 0, 0
    for c in range(len(center_code)):
        lighter, cheaper, e = np.int64(0), np.int64(0), center_code[c]
        for t in range(last + 1):
            lighter += weights[c, t]
            below[t] += lighter
        total = sums[c, 1]
        for t in range(e):
            cheaper += prices[c, t]
            amount[t] += cheaper
        cheaper += prices[c, e]
        amount[e] += total - cheaper
        for t in range(e + 1, last + 1):
            cheaper += prices[c, t]
            amount[t] += total - cheaper
            fall[t] += prices[c, t]


@compiled
def scan_counts(
    features, counts, sums, center_code, position, inside, terms, limit, found, amount, fall,
    below, wanted,
):  # fmt: skip
    """found[j, g] = least objective over the edges of gap g, its edge, bound inside the bins.

    From the weights of all features added up; price is weight, and depth has no price. Of the
    last feature, amount, fall, below and the wanted bins remain.
    """
    for j in features:
        last = position[j, len(sums) - 1]
        tally_separated(counts[j], counts[j], sums, 0, center_code[j], last, amount, fall, below)
        judge_edges(
            position[j], amount, fall, below, inside[j], terms, (0.0, 0.0), None, limit, found[j],
            wanted,
        )  # fmt: skip


@compiled
def scan_rows(
    features, codes, rows, own, weight, prices, sums, base, center_code, position, inside, terms,
    killers, depths, limit, found, amount, fall, below, wanted, table,
):  # fmt: skip
    """The same from the rows of dense columns; `table` is room for weights and prices."""
    for j in features:
        last = position[j, len(sums) - 1]
        clear(table, last)
        for i in range(len(rows)):
            c, b = np.uint64(own[i]), np.uint64(codes[j, np.uint64(rows[i])])
            table[0, c, b] += weight[i]
            table[1, c, b] += prices[i]
        tally_separated(table[0], table[1], sums, base, center_code[j], last, amount, fall, below)
        killer = (killers[0, j], killers[1, j])
        judge_edges(
            position[j], amount, fall, below, inside[j], terms, killer, depths, limit, found[j],
            wanted,
        )  # fmt: skip


@compiled
def scan_stored(
    features, codes, indices, indptr, zero_code, own, weight, prices, sums, base, center_code,
    position, inside, terms, killers, depths, limit, found, amount, fall, below, wanted, table,
):  # fmt: skip
    """The same from the stored entries of CSC columns; all other rows are counted at once.

    own, weight and prices are by row of the data here; `own` is -1 for the rows of other cells.
    Bins above the last center, of which nothing is asked, are counted together.
    """
    n_centers = len(sums)
    for j in features:
        last = position[j, n_centers - 1]
        clear(table, last + 1)
        for p in range(np.uint64(indptr[j]), np.uint64(indptr[j + 1])):
            row = np.uint64(indices[p])
            if own[row] >= 0:
                c, b = np.uint64(own[row]), np.uint64(min(np.int64(codes[p]), last + 1))
                table[0, c, b] += weight[row]
                table[1, c, b] += prices[row]
        zero = min(zero_code[j], last + 1)
        for s in range(2):
            for c in range(n_centers):
                rest = sums[c, s]
                for t in range(last + 2):
                    rest -= table[s, c, t]
                table[s, c, zero] += rest
        tally_separated(table[0], table[1], sums, base, center_code[j], last, amount, fall, below)
        killer = (killers[0, j], killers[1, j])
        judge_edges(
            position[j], amount, fall, below, inside[j], terms, killer, depths, limit, found[j],
            wanted,
        )  # fmt: skip
