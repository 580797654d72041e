"""Mistakes: weight of the rows that a threshold separates from their own center.

With H[c, b] the weight of the rows of center c in bin b of a column (see
`pellucid._core.kernels.histograms`) and e[c] the code of the center, the mistakes at edge t are

    amount(t) = sum over c of (H[c, 0] + ... + H[c, t] if t < e[c] else H[c, t + 1] + ...).

The terms are those of `pellucid._core.kernels.gap_objectives`.
"""

from __future__ import annotations

import numpy as np

from pellucid._utils.compilation import compiled

NEVER = 2**61
"""More than any amount."""


@compiled
def scan_mistakes(
    features,
    places,
    histogram,
    totals,
    center_code,
    sorted_code,
    inside,
    limit,
    amount,
    decrease,
    found,
    candidates,
):
    """found[j, g] = (least amount over the edges of gap g, the lowest edge that has it, bound).

    The bound holds for all thresholds of the gap strictly inside a bin. There the amount is at
    least that at the edge before the bin, minus the rows of the bin whose centers are on the left.
    Where it is no less than at that edge, the bin does not count: ties go to the lowest threshold.

    H of column ``features[f]`` is ``histogram[places[f]]``, and ``totals[c]`` the sum of H[c].
    Bins with a bound of at most `limit` are marked in `candidates`. After the call, ``amount[t]``
    has the amounts of the last column; `decrease` is scratch space.
    """
    n_gaps = sorted_code.shape[1] - 1
    for f in range(len(features)):
        j = features[f]
        n_edges = sorted_code[j, n_gaps] + 1
        for t in range(n_edges):
            amount[t] = decrease[t] = 0
        for c in range(len(totals)):
            weight, e, total, left = histogram[places[f], c], center_code[j, c], totals[c], 0
            for t in range(n_edges):
                left += weight[t]
                amount[t] += left if t < e else total - left
                decrease[t] += weight[t] if t > e else 0
        for g in range(n_gaps):
            best, edge, bound = NEVER, -1, NEVER
            for t in range(sorted_code[j, g], sorted_code[j, g + 1]):
                if amount[t] < best:
                    best, edge = amount[t], t
                if decrease[t + 1] > 0 and inside[j, t + 1]:
                    least = amount[t] - decrease[t + 1]
                    bound = least if least < bound else bound
                    if least <= limit:
                        candidates[t + 1] = True
            found[j, g, 0] = best if best < NEVER else np.inf
            found[j, g, 1] = edge
            found[j, g, 2] = bound if bound < NEVER else np.inf


@compiled
def sweep_mistakes(values, codes, change, sorted_code, edges, amount, best):
    """Least amounts strictly inside bins, from the rows of these bins, sorted by value.

    The amount at edge b - 1 is known. Going through the values of bin b in ascending order, each
    row's `change` is added as it moves to the left side. ``best[g]`` holds the least amount so far
    in gap g and its threshold; ties go to the lowest threshold.
    """
    n, g, b, current = len(values), 0, -1, np.int64(0)
    for i in range(n):
        if codes[i] != b:
            b = np.int64(codes[i])
            while sorted_code[g + 1] < b:
                g += 1
            current = amount[b - 1]
        current += change[i]
        value, has_next = values[i], i + 1 < n and codes[i + 1] == b
        # Above the last value of a bin comes its edge. If a center lies on that edge, thresholds
        # between the two are in the gap before the edge.
        if has_next and values[i + 1] == value:
            continue
        if not has_next and (b != sorted_code[g + 1] or value >= edges[b]):
            continue
        if current < best[g, 0] or (current == best[g, 0] and value < best[g, 1]):
            best[g, 0], best[g, 1] = current, value
