"""Mistakes: weight of the rows that a threshold separates from their own center.

A row in bin b whose center lies at edge e is separated at the edges b <= t < e or e <= t < b. So
with two sums for each bin of a column,

    sums[t, 0] = weight of the rows with b = t and b <= e
               + weight of the rows with e = t and b > e - weight of the rows with e = t and b <= e,
    sums[t, 1] = weight of the rows with b = t and b > e,

the mistakes at edge t are

    amount(t) = sum over u <= t of (sums[u, 0] - sums[u, 1]),

and sums[t, 1] is the most by which they decrease inside bin t. Rows are added to the sums and
subtracted from them in any order.

Objectives of splits between centers are exact at the edges and bounded inside the bins. Terms used
for one column of one node:

    sorted_code : codes of the node's centers, ascending. Gap g holds the thresholds from the g-th
        up to, not including, the next one; g + 1 centers lie on its left. Centers with the same
        coordinate have an empty gap between them.
    edge t : a threshold of gap g if sorted_code[g] <= t < sorted_code[g + 1]
    bin b : the values with code b. Thresholds strictly inside it are in the gap of edge b - 1.
    amount[t] : what the criterion minimises (mistakes, or cost) at edge t
    decrease[b] : by how much the amount decreases in bin b if only the rows move to the left that
        lower it
    weight_left[t] : weight of the rows on the left of edge t

The objective is amount / divisor + penalty * DExp, with these terms:

    divisor : one for each gap; where it is 0, an amount of 0 counts as 1 and any other as infinite
    penalty : lambda of the ExShallow paper; DExp is left out where it is 0
    total : weight of all rows of the node
    min_weight : weight that a side must have for each of its centers
    killer_left, killer_right : by column, 1 if that side makes a condition above redundant
    is_amount : whether the objective is the amount alone, and the amount is exact; weights on the
        left are then not used
"""

from __future__ import annotations

import numpy as np

from pellucid._utils.compilation import compiled, inner


@compiled
def add_mistakes(features, codes, rows, labels, weights, center_code, sums):
    """Add rows to the sums of some columns.

    labels[i] is the center of rows[i]. The weights at the edge of a center are added together as
    long as the center stays the same, so that rows grouped by center are fastest.
    """
    for f in range(len(features)):
        j = features[f]
        label, e, at_center = -1, 0, np.int64(0)
        for i in range(len(rows)):
            if labels[i] != label:
                sums[j, e, 0] += at_center
                label, at_center = labels[i], np.int64(0)
                e = center_code[j, label]
            # Unsigned indices need no check for negative values.
            b, weight = np.uint64(codes[j, np.uint64(rows[i])]), weights[i]
            is_past = np.int64(b) > e
            sums[j, b, np.uint64(is_past)] += weight
            at_center += weight if is_past else -weight
        sums[j, e, 0] += at_center


@compiled
def add_csc_mistakes(
    features, codes, indices, indptr, zero_code, group, weights, totals, center_code, sums
):
    """The same from the stored entries of CSC columns; see `hist_csc`. ``sums[f]`` is 0 before.

    All rows are added as if they had no entry; an entry then moves its row to another bin.
    """
    for f in range(len(features)):
        j = features[f]
        zero, at_zero, past_zero = np.int64(zero_code[j]), np.int64(0), np.int64(0)
        for c in range(len(totals)):
            e, weight = np.int64(center_code[j, c]), totals[c]
            at_zero += 0 if zero > e else weight
            past_zero += weight if zero > e else 0
            sums[f, e, 0] += weight if zero > e else -weight
        for p in range(indptr[j], indptr[j + 1]):
            row = np.uint64(indices[p])
            if group[row] >= 0:
                e, b = np.int64(center_code[j, group[row]]), np.int64(codes[p])
                weight = weights[row]
                at_zero -= 0 if zero > e else weight
                past_zero -= weight if zero > e else 0
                sums[f, b, np.int64(b > e)] += weight
                if (b > e) != (zero > e):
                    sums[f, e, 0] += 2 * (weight if b > e else -weight)
        sums[f, zero, 0] += at_zero
        sums[f, zero, 1] += past_zero


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
        pooled = np.int64(last[j] + 1)
        zero = np.uint64(zero_code[j] if zero_code[j] < pooled else pooled)
        for g in range(len(totals)):
            for b in range(pooled + 1):
                out[f, g, b] = 0
            out[f, g, zero] = totals[g]
        for p in range(np.uint64(indptr[j]), np.uint64(indptr[j + 1])):
            row = np.uint64(indices[p])
            if group[row] >= 0:
                g, b = np.uint64(group[row]), np.uint64(codes[p] if codes[p] < pooled else pooled)
                out[f, g, b] += weights[row]
                out[f, g, zero] -= weights[row]


@compiled
def separation_sums(
    features, weights, margins, totals, center_code, sorted_code, amount, decrease, weight_left
):
    """Amounts, decreases and weights at the edges, if each separated row costs its margin.

    With M[c, b] the margins of the rows of center c in bin b (``margins[f]``, and ``totals[c]``
    their sum) and e[c] the code of the center,

        amount(t) = base + sum over c of (M[c, 0] + .. + M[c, t] if t < e[c] else M[c, t + 1] + ..)

    up to the last center. Amounts are `base` before, all other outputs 0.
    """
    n_centers = len(totals)
    for f in range(len(features)):
        j = features[f]
        for c in range(n_centers):
            e, weight, margin = center_code[j, c], np.int64(0), np.int64(0)
            for t in range(sorted_code[j, n_centers - 1] + 1):
                cost = margins[f, c, t]
                weight += weights[f, c, t]
                margin += cost
                weight_left[f, t] += weight
                amount[f, t] += margin if t < e else totals[c] - margin
                decrease[f, t] += cost if t > e else 0


@inner
def depth_cost(low, high, n_left, n_centers, penalty, killer_left, killer_right, depths):
    """Penalty * least DExp over all shares r of rows on the left, low <= r <= high.

    For one share: depth(1) = 0, depth(m) = 1 + r depth(l) + (1 - r) depth(m - l) with
    l = ceil(m n_left / n_centers) kept within 1 .. m - 1. DExp is depth(n_centers) minus the
    shares of rows on killer sides. Each step is linear in r, so over a range its
    least value, given least values below it, is at an end. `depths` is scratch space.
    """
    depths[1] = 0.0
    n_right = n_centers - n_left
    top = n_left if n_left > n_right else n_right
    for m in range(2, top + 2):  # the last step is for n_centers itself
        if m <= top:
            part = (m * n_left + n_centers - 1) // n_centers  # 1 or more
            part = part if part < m else m - 1
            left, right = depths[part], depths[m - part]
        else:
            left, right = depths[n_left] - killer_left, depths[n_right] - killer_right
        mixed = low * left + (1.0 - low) * right
        if low != high:
            other = high * left + (1.0 - high) * right
            mixed = mixed if mixed < other else other
        depths[m] = 1.0 + mixed
    return penalty * depths[top + 1]


@compiled
def judge_edges(features, sorted_code, sums, inside, terms, limit, depths, found, candidates):
    """found[j, g] = (least objective over the edges of gap g, the lowest edge that has it, bound).

    The bound holds for every threshold of the gap strictly inside a bin; bins with a bound of at
    most `limit` are marked in `candidates`. The objective is infinite where a side has too little
    weight for its centers. ``sums`` is (amount, decrease, weight_left), each by place in
    `features`; `terms` are those above; `depths` is scratch space for n_centers + 1 numbers.
    """
    amount, decrease, weight_left = sums
    divisor, penalty, total, min_weight, killer_left, killer_right, is_amount = terms
    (_, n_centers), whole = sorted_code.shape, total if total > 0 else 1.0
    for f in range(len(features)):
        j = features[f]
        for n_left in range(1, n_centers):
            g = n_left - 1
            best, edge, bound = np.inf, -1, np.inf
            start = sorted_code[j, g]
            # Alternately an edge t and the inside of the bin after it.
            for u in range(2 * start, 2 * sorted_code[j, n_left]):
                t, is_inside = u >> 1, u & 1 == 1
                low = weight_left[f, t]
                high, cost, rival = low, amount[f, t], best
                if is_inside:
                    high = weight_left[f, t + 1]
                    # If the objective is the amount, ties go to the lowest threshold.
                    is_same = decrease[f, t + 1] == 0 if is_amount else low == high
                    if is_same or not inside[j, t + 1]:
                        continue
                    cost -= decrease[f, t + 1]
                    rival = bound if bound > limit else limit
                elif t > start and low == weight_left[f, t - 1] and not is_amount:
                    continue
                if high < n_left * min_weight or total - low < (n_centers - n_left) * min_weight:
                    continue
                if divisor[g] > 0:
                    value = cost / divisor[g]
                elif cost == 0:
                    value = 1.0
                else:
                    continue
                if value > rival:
                    continue
                if penalty > 0:
                    killers = killer_left[j], killer_right[j]
                    value += depth_cost(
                        low / whole, high / whole, n_left, n_centers, penalty, *killers, depths
                    )
                    if is_inside:  # a bound must hold in spite of rounding
                        value -= 1e-12 * (1.0 + abs(value))
                if not is_inside:
                    if value < best:
                        best, edge = value, t
                elif value <= limit:
                    candidates[t + 1] = True
                if is_inside and value < bound:
                    bound = value
            found[j, g, 0], found[j, g, 1], found[j, g, 2] = best, edge, bound
