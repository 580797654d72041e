"""Rows that a threshold separates from their own center, and what that costs at least.

A row is separated when it and its own center lie on different sides. With each row at a price
(its weight, to count mistakes; its margin, to bound the induced cost from below), N[c, b] the
price of the rows of center c in bin b and e[c] the code of the center,

    amount(t) = base + sum over c of (N[c, 0 .. t] if t < e[c] else N[c, t + 1 ..]).

Three ways to N, one for each form of the data: counts that are at hand, the rows of dense columns,
and the stored entries of CSC columns. Words are those of `pellucid._core.kernels.gap_objectives`.

    rows, own, weight, prices : row numbers; own center of each, as a place among those of the
        cell; weight; price
    sums : weight and price of all rows of each center
    center_code, position : by feature, the codes of the cell's centers in their order, and
        ascending
    weights, costs : N with weights and with prices, by place in `features`, center and bin; bins
        above the last center do not matter
"""

from __future__ import annotations

import numpy as np

from pellucid._utils.compilation import compiled

NEVER = 2**61
"""More than any amount."""


@compiled
def count_weights(features, codes, rows, own, weight, counts):
    """counts[j, c, b] += weight of the rows of center c in bin b of column j.

    Two columns at a time: while one sum is on its way back to memory, the other can go on. Codes
    are read before any sum is written, since it might have been written over them.
    """
    n = len(features)
    for f in range(0, n, 2):
        j, k = features[f], features[f + 1 if f + 1 < n else f]
        for i in range(len(rows)):
            # Unsigned, so that no index is looked at for being counted from the end.
            row, c, more = np.uint64(rows[i]), np.uint64(own[i]), weight[i]
            in_j, in_k = np.uint64(codes[j, row]), np.uint64(codes[k, row])
            counts[j, c, in_j] += more
            counts[k, c, in_k] += more if f + 1 < n else 0


@compiled
def judge_histogram(
    features, histogram, totals, center_code, position, inside, amount, bound, found
):
    """found[j, g] = least amount over the edges of gap g, the lowest edge that has it, a bound.

    N[c, b] is ``histogram[j, c, b]``, and totals[c] the weight of all rows of a center. Also fills
    amount[j, t], the amount at edge t, and bound[j, b], the lower bound for all thresholds strictly
    inside bin b: the amount at edge b - 1 minus the rows whose centers are on the left. Both are
    zero before.
    """
    n_gaps = position.shape[1] - 1
    for f in range(len(features)):
        j = features[f]
        spent, fall = amount[j], bound[j]
        for c in range(len(totals)):
            weight, e, total, below = histogram[j, c], center_code[j, c], totals[c], np.int64(0)
            for t in range(position[j, n_gaps] + 1):
                below += weight[t]
                spent[t] += below if t < e else total - below
                fall[t] += weight[t] if t > e else 0
        for g in range(n_gaps):
            best, at, lowest = np.inf, -1, np.inf
            for t in range(position[j, g], position[j, g + 1]):
                if spent[t] < best:
                    best, at = np.float64(spent[t]), t
                least = spent[t] - fall[t + 1] if inside[j, t + 1] else NEVER
                fall[t + 1] = least
                lowest = least if least < lowest else lowest
            found[j, g, 0], found[j, g, 1] = best, at
            found[j, g, 2] = lowest if lowest < NEVER else np.inf


@compiled
def count_rows(features, codes, rows, own, weight, prices, weights, costs):
    """Add up weights and prices by center and bin, from the rows of dense columns."""
    for f in range(0, len(features), 2):
        j, has_next = features[f], f + 1 < len(features)
        g = f + 1 if has_next else f
        k = features[g]
        for i in range(len(rows)):
            row, c, more, price = np.uint64(rows[i]), np.uint64(own[i]), weight[i], prices[i]
            in_j, in_k = np.uint64(codes[j, row]), np.uint64(codes[k, row])
            weights[f, c, in_j] += more
            costs[f, c, in_j] += price
            if has_next:
                weights[g, c, in_k] += more
                costs[g, c, in_k] += price


@compiled
def count_stored(
    features, codes, indices, indptr, zero_code, own, weight, prices, sums, position, weights, costs
):
    """The same from the stored entries of CSC columns; all other rows are counted at once.

    own, weight and prices are by row of the data here; `own` is -1 for the rows of other cells.
    Bins above the last center are counted together. Where prices are weights there are no `costs`
    to be filled.
    """
    n_centers, is_priced = len(sums), len(costs) > 0
    for f in range(len(features)):
        j = features[f]
        after = position[j, n_centers - 1] + 1
        for c in range(n_centers):
            for t in range(after + 1):
                weights[f, c, t] = 0
                if is_priced:
                    costs[f, c, t] = 0
        for p in range(np.uint64(indptr[j]), np.uint64(indptr[j + 1])):
            row = np.uint64(indices[p])
            if own[row] >= 0:
                c, b = np.uint64(own[row]), np.uint64(codes[p] if codes[p] < after else after)
                weights[f, c, b] += weight[row]
                if is_priced:
                    costs[f, c, b] += prices[row]
        zero = zero_code[j] if zero_code[j] < after else after
        for c in range(n_centers):
            lighter, cheaper = sums[c, 0], sums[c, 1]
            for t in range(after + 1):
                lighter -= weights[f, c, t]
                if is_priced:
                    cheaper -= costs[f, c, t]
            weights[f, c, zero] += lighter
            if is_priced:
                costs[f, c, zero] += cheaper


@compiled
def tally_separated(
    features, lines, weights, costs, sums, center_code, position, amount, fall, below
):
    """Amount, fall and below at the edges up to the last center; lines[f] is where N stands.

    To be added: the amounts are `base`, all others 0 before.
    """
    n_centers = len(sums)
    for f in range(len(features)):
        j, line = features[f], lines[f]
        last = position[j, n_centers - 1]
        for c in range(n_centers):
            e, total = center_code[j, c], sums[c, 1]
            lighter, cheaper = np.int64(0), np.int64(0)
            for t in range(last + 1):
                cost = costs[line, c, t]
                lighter += weights[line, c, t]
                cheaper += cost
                below[f, t] += lighter
                amount[f, t] += cheaper if t < e else total - cheaper
                fall[f, t] += cost if t > e else 0


@compiled
def sweep_weights(values, codes, change, position, edges, amount, cuts):
    """Least amounts strictly inside the bins of the given rows, which are sorted by value.

    The amount at edge b - 1 is known; going through the values of bin b in order, each row's
    `change` is added as it goes left. Where one is less than cuts[g], the amount and threshold of
    gap g, or as little at a lower threshold, it takes its place.
    """
    n, g, b, spent = len(values), 0, -1, np.int64(0)
    for i in range(n):
        if codes[i] != b:
            b = np.int64(codes[i])
            while position[g + 1] < b:
                g += 1
            spent = amount[b - 1]
        spent += change[i]
        value, more = values[i], i + 1 < n and codes[i + 1] == b
        # Past the last value of a bin comes its edge; where a center sits on that edge, the
        # thresholds between the two are cuts of their own.
        if more and values[i + 1] == value:
            continue
        if not more and (b != position[g + 1] or value >= edges[b]):
            continue
        if spent < cuts[g, 0] or (spent == cuts[g, 0] and value < cuts[g, 1]):
            cuts[g, 0], cuts[g, 1] = spent, value
