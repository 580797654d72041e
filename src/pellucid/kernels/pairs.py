"""Cuts that send one side to the one and the other side to the other of two centers.

Were each row sent to whichever of the two is cheaper for it, `most` would be gained. With d[i] the
difference of what row i pays at the two, a cut loses of it

    loss(t) = sum of d over the rows that go left but prefer the center of the right side,
              and over those that go right but prefer the center of the left side,

and the other way round it loses what is left of the sum `both` of all d, so that

    gain(t) = most - min(loss(t), both - loss(t)).

Leaving rows out makes losses no larger, and gains no smaller: a column in which cuts of a sample
gain too little need not be looked at for the sake of the other rows.
"""

from __future__ import annotations

import numpy as np

from pellucid.kernels._compile import compiled

SPARED = 8
"""Of the rows that prefer the second center, every which is in the sample; all others are."""

UNSEEN = 2**62
"""More than anything gains."""


@compiled
def cut_between(
    features, pairs, bounds, gains, rows, lines, costs, codes, values, steps, inside, edges,
    best, feature, at, order, apart, near, sums, states,
):  # fmt: skip
    """Gain, column and threshold of the best cut of some columns between any of some pairs of
    centers if it is better than those given, which are returned otherwise; of equals, the lowest
    column and threshold are the best.

    No cut between pairs[q] gains more than bounds[q], and gains[c] is what sending all rows to
    center c would gain. Row i, which is row rows[i] of the data, pays costs[lines[i], c] there, and
    has the value values[rows[i] * steps[0] + j * steps[1]] in column j. All else is room:

        order, apart, near : of each row; order[0] has those of the sample from the front and all
            others from the back, apart their d, negative if they prefer the second center;
            order[1] and near are about rows whose values are looked up
        sums : sums[j, c, b] is the sum of d over the rows seen in bin b that prefer center c of the
            pair; once all rows have been, the loss at the edge below b and, where c is 1, a bound
            for the gains of cuts inside b
        states : states[0, j] is what no cut of column j gains more than, as far as it has not been
            looked at; states[1, j] is how often it has been
    """
    n_rows, n_features, width = len(rows), len(features), edges.shape[1]
    for q in range(len(pairs)):
        if bounds[q] < best:
            continue
        first, second, front, back = pairs[q, 0], pairs[q, 1], 0, n_rows - 1
        gained, both = np.int64(0), np.int64(0)
        for i in range(n_rows):
            better = costs[lines[i], second] - costs[lines[i], first]
            # Every row is written to both of its possible places, and stays where its turn comes.
            order[0, front] = order[0, back] = rows[i]
            apart[front] = apart[back] = better
            gained += better if better > 0 else 0
            both += better if better > 0 else -better
            is_in_sample = better > 0 or i % SPARED == 0
            front += is_in_sample
            back -= not is_in_sample
        most = gains[second] + gained
        if most < best:
            continue
        for f in range(0, n_features, 2):  # two columns at a time, as in `kernels.separated`
            j, k = features[f], features[f + 1 if f + 1 < n_features else f]
            states[0, j], states[1, j], states[0, k], states[1, k] = UNSEEN, 0, UNSEEN, 0
            sums[j] = 0
            sums[k] = 0
            for i in range(front):
                row, more, c = order[0, i], apart[i], np.uint8(apart[i] < 0)
                more = -more if c else more
                in_j, in_k = codes[j, row], codes[k, row]
                sums[j, c, in_j] += more
                sums[k, c, in_k] += more if j != k else 0
        while True:
            j = features[0]
            for f in range(n_features):
                j = features[f] if states[0, features[f]] > states[0, j] else j
            if states[0, j] < best or (states[0, j] == best and j > feature):
                break
            turn = states[1, j]
            states[1, j] += 1
            if turn < 2:
                loss, whole = gained, both
                if turn == 0:
                    loss = whole = np.int64(0)
                    for t in range(width):
                        loss += sums[j, 0, t]
                        whole += sums[j, 0, t] + sums[j, 1, t]
                else:
                    for i in range(front, n_rows):
                        sums[j, 1, codes[j, order[0, i]]] -= apart[i]
                least, place, bound = whole, 0, np.int64(-1)
                for t in range(width):
                    a, b = sums[j, 0, t], sums[j, 1, t]
                    low, high = loss - a, whole - loss - b
                    gain = most - (low if low < high else high)
                    if turn:
                        gain = gain if inside[j, t] else -1
                        sums[j, 0, t], sums[j, 1, t] = loss, gain
                    bound = gain if gain > bound else bound
                    loss += b - a
                    low = loss if loss < whole - loss else whole - loss
                    place = t if low < least else place
                    least = low if low < least else least
                states[0, j], gain, value = bound, most - least, edges[j, place]
                if turn and (
                    gain > best or (gain == best and (j < feature or (j == feature and value < at)))
                ):
                    best, feature, at = gain, j, value
                continue
            states[0, j], m = -1, 0
            for i in range(n_rows):
                order[1, m] = i
                m += sums[j, 1, codes[j, order[0, i]]] >= best
            for p in range(m):
                near[p] = values[order[0, order[1, p]] * steps[0] + j * steps[1]]
            gap = m // 2
            while gap > 0:  # Shell's way to sort
                for p in range(gap, m):
                    value, i, u = near[p], order[1, p], p
                    while u >= gap and near[u - gap] > value:
                        near[u], order[1, u] = near[u - gap], order[1, u - gap]
                        u -= gap
                    near[u], order[1, u] = value, i
                gap //= 2
            loss, b = np.int64(0), -1
            for p in range(m - 1):
                i, value = order[1, p], near[p]
                t = codes[j, order[0, i]]
                loss = (loss if t == b else sums[j, 0, t]) - apart[i]
                b = t
                # Above the last value of a bin lies its edge.
                if near[p + 1] != value and codes[j, order[0, order[1, p + 1]]] == b:
                    gain = most - (loss if loss < both - loss else both - loss)
                    if gain > best or (
                        gain == best and (j < feature or (j == feature and value < at))
                    ):
                        best, feature, at = gain, j, value
    return best, feature, at
