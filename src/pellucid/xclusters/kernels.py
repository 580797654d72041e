"""k-medoids on a matrix of distances: gains of further medoids, and swaps.

``D[c, o]`` is what row o pays for row c as its medoid, D being symmetric. In whole units that is
``u(c, o) = round(D[c, o] scale[o]) times[o]``: whole numbers held as floats, whose sums stay below
2**53 and are therefore exact, in any order.
"""

from __future__ import annotations

import numpy as np

from pellucid._utils.compilation import allocating, compiled, fused, fused_allocating


@fused
def gains(D, candidates, paid, scale, times, out):
    """out[c] = sum over o of max(paid[o] - u(c, o), 0), what c as one more medoid would save."""
    for c in candidates:
        saved = 0.0
        for o in range(len(paid)):
            saved += max(paid[o] - np.rint(D[c, o] * scale[o]) * times[o], 0.0)
        out[c] = saved


@compiled
def nearest_two(D, medoids, largest, near, to_near, second, to_second):
    """Nearest and second nearest medoid of each row and their distances, the lowest of equals.

    Where there is no second one, `largest` stands for its distance.
    """
    for o in range(len(near)):
        near[o] = second[o] = 0
        to_near[o] = to_second[o] = np.inf
    for i in range(len(medoids)):
        m = medoids[i]
        for o in range(len(near)):
            d = D[m, o]
            if d < to_near[o]:
                second[o], to_second[o] = near[o], to_near[o]
                near[o], to_near[o] = i, d
            elif d < to_second[o]:
                second[o], to_second[o] = i, d
    if len(medoids) == 1:
        for o in range(len(near)):
            to_second[o] = largest


@compiled
def exchange(D, medoids, i, largest, near, to_near, second, to_second):
    """The same after ``medoids[i]`` became another row, from what was known before."""
    c = medoids[i]
    for o in range(len(near)):
        d = D[c, o]
        if near[o] == i or second[o] == i:
            first, least, other, next_least = 0, np.inf, 0, np.inf
            for j in range(len(medoids)):
                d = D[medoids[j], o]
                if d < least:
                    other, next_least = first, least
                    first, least = j, d
                elif d < next_least:
                    other, next_least = j, d
            near[o], to_near[o] = first, least
            second[o], to_second[o] = other, next_least
        elif d < to_near[o]:
            second[o], to_second[o] = near[o], to_near[o]
            near[o], to_near[o] = i, d
        elif d < to_second[o]:
            second[o], to_second[o] = i, d
    if len(medoids) == 1:
        for o in range(len(near)):
            to_second[o] = largest


@allocating
def first_swap(
    D, order, begin, end, is_medoid, near, to_second, pays, next_pays, scale, times, removal, found
):
    """First candidate of ``order[begin:end]`` that can take the place of a medoid at a gain.

    Replacing medoid i by c changes the loss by

        removal[i] + sum over o of min(u(c, o) - pays[o], 0)
                   + sum over o of medoid i of min(max(u(c, o), pays[o]), next_pays[o])
                                               - next_pays[o],

    removal[i] being what the rows of i would pay more at their second nearest medoids: one look
    at the rows gives it for every i at once (Schubert and Rousseeuw 2021). Only rows that are
    nearer to c than to their second medoid have terms other than 0; they are listed first, without
    a branch that the processor would have to guess.

    found = (position in order or -1, the best i for it).
    """
    n, k = len(near), len(removal)
    change, closer = np.empty(k), np.empty(n + 1, dtype=np.int32)
    found[0] = -1
    for p in range(begin, end):
        c = order[p]
        if is_medoid[c]:
            continue
        n_closer = 0
        for o in range(n):
            closer[n_closer] = o
            n_closer += D[c, o] < to_second[o]
        for i in range(k):
            change[i] = removal[i]
        shared = 0.0
        for q in range(n_closer):
            o = closer[q]
            u = np.rint(D[c, o] * scale[o]) * times[o]
            now = pays[o]
            shared += min(u, now) - now
            change[near[o]] += max(u, now) - next_pays[o]
        best = 0
        for i in range(1, k):
            if change[i] < change[best]:
                best = i
        if change[best] + shared < 0.0:
            found[0], found[1] = p, best
            return


@fused_allocating
def asymmetry(D, begin, end):
    """Largest |D[i, j] - D[j, i]| of rows begin .. end from the diagonal on.

    A tile of one half is turned over while it is in cache, then compared line by line.
    """
    n, tile = D.shape[0], 64
    turned = np.empty((tile, tile), dtype=D.dtype)
    gap = 0.0
    for top in range(begin, end, tile):
        bottom = min(top + tile, end)
        for left in range(top, n, tile):
            right = min(left + tile, n)
            for j in range(left, right):
                for i in range(top, bottom):
                    turned[i - top, j - left] = D[j, i]
            for i in range(top, bottom):
                for j in range(left, right):
                    gap = max(gap, abs(np.float64(D[i, j]) - turned[i - top, j - left]))
    return gap
