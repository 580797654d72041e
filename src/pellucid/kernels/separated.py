"""Rows that a threshold separates from their own center, and what that costs at least.

A row is separated when it and its own center lie on different sides. With each row at a price
(its weight, to count mistakes; its margin, to bound the induced cost from below), N[c, b] the
price of the rows of center c in bin b and e[c] the code of the center,

    amount(t) = base + sum over c of (N[c, 0 .. t] if t < e[c] else N[c, t + 1 ..]).
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from pellucid.kernels._compile import compiled, inner
from pellucid.kernels.gaps import find_positions, judge_edges, new_gaps

Owned = namedtuple("Owned", "rows slot own weight price by_weight sums base centers")
"""The rows of a cell with their own centers.

rows : row numbers
slot : place of every row of the data in `rows`, -1 for rows of other cells; for CSC columns
own, weight, price : of each of `rows`: its center (a place in `centers`), weight and price
by_weight : whether the prices are the weights; then only weights are added up
sums : weight and price of all rows of each center
base : amount when nothing is separated
centers : the centers of the cell
"""


@compiled
def sum_by_center(own, weight, price, sums):
    """Weight and price of the rows of each center."""
    for i in range(len(own)):
        sums[own[i], 0] += weight[i]
        sums[own[i], 1] += price[i]


@inner
def add_up(j, columns, cell, weights, prices):
    """Put the weight and the price of each row into weights[c, b] and prices[c, b], all 0 before.

    Of a CSC column only the stored entries are looked at; all other rows are counted at once.
    """
    codes, rows, own, weight, price = columns.codes, cell.rows, cell.own, cell.weight, cell.price
    if columns.is_sparse:
        slot, indices = cell.slot, columns.indices
        for p in range(columns.indptr[j], columns.indptr[j + 1]):
            i = slot[indices[p]]
            if i >= 0:
                b, c = codes[0, p], own[i]
                weights[c, b] += weight[i]
                prices[c, b] += price[i]
        zero = columns.zero_code[j]
        for c in range(len(cell.centers)):
            others, dearer = cell.sums[c, 0], cell.sums[c, 1]
            for b in range(columns.n_edges[j] + 1):
                others -= weights[c, b]
                dearer -= prices[c, b]
            weights[c, zero] += others
            prices[c, zero] += dearer
    elif cell.by_weight:
        for i in range(len(rows)):
            weights[own[i], codes[j, rows[i]]] += weight[i]
    else:
        for i in range(len(rows)):
            b, c = codes[j, rows[i]], own[i]
            weights[c, b] += weight[i]
            prices[c, b] += price[i]


@inner
def tally_separated(j, columns, cell, weights, prices, gaps):
    """Fill `gaps` for one feature from what was added up; the number of positions."""
    center_code = columns.center_code[j]
    n_positions = find_positions(center_code, cell.centers, gaps)
    if n_positions < 2:
        return n_positions
    last = gaps.position[n_positions - 1]
    amount, fall, below = gaps.amount, gaps.fall, gaps.below
    for t in range(last + 1):
        amount[t], fall[t], below[t] = cell.base, 0, 0
    for c in range(len(cell.centers)):
        lighter, cheaper, e = np.int64(0), np.int64(0), center_code[cell.centers[c]]
        for t in range(last + 1):
            lighter += weights[c, t]
            below[t] += lighter
        total = cell.sums[c, 1]
        for t in range(e):
            cheaper += prices[c, t]
            amount[t] += cheaper
        cheaper += prices[c, e]
        amount[e] += total - cheaper
        for t in range(e + 1, last + 1):
            cheaper += prices[c, t]
            amount[t] += total - cheaper
            fall[t] += prices[c, t]
    return n_positions


@compiled
def scan_separated(features, columns, cell, counts, terms, killers, limit, found):
    """found[j] = least objective over the edges, its edge, bound inside the bins.

    `counts` holds the weights of all features added up, or is empty. Of the last feature, returns
    the number of positions, the gaps, and the bins inside which `limit` could be reached.
    """
    width = columns.edges.shape[1]
    weights = np.zeros((len(cell.centers), width), dtype=np.int64)
    prices = np.zeros((len(cell.centers), width), dtype=np.int64)
    gaps = new_gaps(width, columns.center_code.shape[1])
    wanted = np.zeros(width, dtype=np.bool_)
    n_positions = 0
    for j in features:
        if len(counts) > 0:
            n_positions = tally_separated(j, columns, cell, counts[j], counts[j], gaps)
        else:
            for c in range(len(cell.centers)):
                for t in range(columns.n_edges[j] + 1):
                    weights[c, t] = prices[c, t] = 0
            add_up(j, columns, cell, weights, prices)
            spent = weights if cell.by_weight else prices
            n_positions = tally_separated(j, columns, cell, weights, spent, gaps)
        killer = (killers[0, j], killers[1, j])
        found[j, 0], found[j, 1], found[j, 2] = judge_edges(
            n_positions, columns.inside[j], gaps, terms, killer, limit, wanted
        )
    return n_positions, gaps, wanted


@compiled
def count_weights(features, codes, rows, own, weight, counts):
    """counts[j, c, b] += weight of the rows of center c in bin b of column j."""
    for j in features:
        for i in range(len(rows)):
            # Unsigned, so that no index is looked at for being counted from the end.
            c, b = np.uint64(own[i]), np.uint64(codes[j, np.uint64(rows[i])])
            counts[j, c, b] += weight[i]
