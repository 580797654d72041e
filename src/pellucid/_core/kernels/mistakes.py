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
