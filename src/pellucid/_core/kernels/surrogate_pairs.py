"""Cuts that send one side to the one and the other side to the other of two centers.

Were each row sent to whichever of the two is cheaper for it, `most` would be gained. With d[i] what
row i saves at the first center, less than 0 if it prefers the second, a cut that sends its left
side to the first center loses of it

    loss(t) = sum of -d over the rows on the left with d < 0, and of d over those on the right with
              d > 0,

the other way round it loses what is left of the sum `both` of all |d|, and so

    gain(t) = most - min(loss(t), both - loss(t)).

Leaving rows out makes losses no larger, and gains no smaller: a column in which cuts of a sample
gain too little need not be looked at for the sake of the other rows.

    order, apart : rows, those of the sample first, and their d
    code : the codes of all rows of the data in a column
    part : of a column, at first, for the rows seen in bin b, part[0, b] is the sum of d > 0 and
        part[1, b] that of -d > 0; once all rows have been seen, the loss at the edge below b and a
        bound for the gains of all cuts inside b
"""

from __future__ import annotations

import numpy as np

from pellucid._core.kernels.sorting import shell_sort
from pellucid._utils.compilation import compiled, inner

SPARED = 8
"""Of the rows that do not prefer the first center, every which is in the sample; all others are."""


@inner
def compare_two(rows, lines, costs, first, second, order, apart):
    """Fill `order` and `apart`; returns the number of rows in the sample, the sum of all d > 0, and
    the sums of |d| in the sample and of all rows. Row i has line lines[i] of the costs.

    Every row is written to both of its possible places, and stays where its turn has come.
    """
    front, back = 0, len(rows) - 1
    gained, seen, whole = np.int64(0), np.int64(0), np.int64(0)
    for i in range(len(rows)):
        better = costs[lines[i], second] - costs[lines[i], first]
        is_in_sample = better > 0 or i % SPARED == 0
        order[front] = order[back] = rows[i]
        apart[front] = apart[back] = better
        front += is_in_sample
        back -= not is_in_sample
        gained += better if better > 0 else 0
        seen += better if is_in_sample else 0
        whole += better
    return front, gained, 2 * gained - seen, 2 * gained - whole


@inner
def look_inside(code, part, order, apart, most, both, best, values, start, step, opened, near):
    """The largest gain of all cuts inside bins whose bound reaches `best`, and the lowest value
    that has it; a row has the value values[start + row * step]. `opened` and `near` are room.

    Values are sorted here, and not by NumPy, so that threads need not take turns in the interpreter
    for each column; the sort of Numba takes long to compile.
    """
    m, gain, at = 0, np.int64(-1), np.inf
    for i in range(len(order)):
        opened[m] = i
        m += part[1, code[order[i]]] >= best
    for p in range(m):
        near[p] = values[start + order[opened[p]] * step]
    shell_sort(near[:m], opened[:m])
    loss, b = np.int64(0), -1
    for r in range(m - 1):
        t = code[order[opened[r]]]
        loss = (loss if t == b else part[0, t]) - apart[opened[r]]
        b = t
        gain_here = most - (loss if loss < both - loss else both - loss)
        # Above the last value of a bin lies its edge.
        if gain_here > gain and near[r + 1] > near[r] and code[order[opened[r + 1]]] == b:
            gain, at = gain_here, near[r]
    return gain, at


@compiled
def cut_between(
    features, pairs, bounds, gains, rows, lines, costs, codes, values, steps, inside, edges,
    best, feature, at, order, apart, opened, near, sums, states,
):  # fmt: skip
    """Gain, column and threshold of the best cut of some columns between any of some pairs of
    centers if it is better than those given, which are returned otherwise; of equals, the lowest
    column and threshold are the best.

    No cut between pairs[q] gains more than bounds[q], and gains[c] is what sending all rows to
    center c would gain. Row i, which is row rows[i] of the data, pays costs[lines[i], c] there, and
    has the value values[rows[i] * steps[0] + j * steps[1]] in column j. All else is room: sums[j]
    is `part` of column j, states[0, j] what no cut in it gains more than, as far as it has not been
    looked at, and states[1, j] how often it has been: in the sample, at the edges, inside bins.
    """
    n_features, width = len(features), edges.shape[1]
    for q in range(len(pairs)):
        if bounds[q] < best:
            continue
        first, second = pairs[q, 0], pairs[q, 1]
        n_sample, gained, seen, both = compare_two(rows, lines, costs, first, second, order, apart)
        most = gains[second] + gained
        for f in range(0, n_features, 2):  # two columns at a time, as in `kernels.separated`
            j, k = features[f], features[f + 1 if f + 1 < n_features else f]
            states[0, j] = states[0, k] = most
            states[1, j] = states[1, k] = 0
            for b in range(width):
                sums[j, 0, b] = sums[j, 1, b] = sums[k, 0, b] = sums[k, 1, b] = 0
            for i in range(n_sample):
                row, side = order[i], np.uint8(apart[i] < 0)
                size = -apart[i] if side else apart[i]
                in_j, in_k = codes[j, row], codes[k, row]
                sums[j, side, in_j] += size
                sums[k, side, in_k] += size if j != k else 0
        while True:
            column = features[0]
            for g in range(n_features):
                column = features[g] if states[0, features[g]] > states[0, column] else column
            if states[0, column] < best or (states[0, column] == best and column > feature):
                break
            turn, gain, value, limit = states[1, column], np.int64(-1), np.inf, np.int64(-1)
            code, part = codes[column], sums[column]
            if turn < 2:
                loss, whole = gained, both if turn else seen
                for r in range(n_sample, len(order) if turn else n_sample):
                    part[1, code[order[r]]] -= apart[r]
                for t in range(width):
                    ours, theirs = part[0, t], part[1, t]
                    low, high = loss - ours, whole - loss - theirs
                    most_inside = most - (low if low < high else high)
                    if turn:
                        most_inside = most_inside if inside[column, t] else -1
                        part[0, t], part[1, t] = loss, most_inside
                    limit = most_inside if most_inside > limit else limit
                    loss += theirs - ours
                    gain_here = most - (loss if loss < whole - loss else whole - loss)
                    if gain_here > gain and turn:
                        gain, value = gain_here, edges[column, t]
            else:
                here = (values, column * steps[1], steps[0], opened, near)
                gain, value = look_inside(code, part, order, apart, most, both, best, *here)
            states[0, column], states[1, column] = limit, turn + 1
            if gain > best or (
                gain == best and (column < feature or (column == feature and value < at))
            ):
                best, feature, at = gain, column, value
    return best, feature, at
