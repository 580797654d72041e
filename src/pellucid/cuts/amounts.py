"""Edges judged by amounts and nothing else, for many columns at a time.

What `pellucid.kernels.gaps` does for any objective, NumPy does as well where there is no price on
depth and no least weight: one loop less to compile before the first tree.
"""

from __future__ import annotations

import numpy as np

from pellucid.cuts.separated import Objective

_NEVER = 2**61
"""More than any amount, and a power of two, so that floats can hold it."""


class AmountsAlone(Objective):
    """An objective that is an amount over the divisor, which is positive."""

    def judge(self, features, position, levels, inside, limit, found, wanted):
        """See `judge_edges`; besides, returns bounds for the inside of the bin after each edge.

        Bins are marked as wanted in the last column only.
        """
        (amount, fall, below), places = levels, position[features]
        (n, top), one = amount.shape, self.terms[0]
        shift = top.bit_length()
        if int(self.terms[2]).bit_length() + shift > 61:
            return super().judge(features, position, levels, inside, limit, found, wanted)
        # Inside a bin, rows are left out that raise the amount at the edge before it.
        least = np.empty((n, top), dtype=np.int64)
        least.fill(_NEVER)
        is_open = inside[features, 1:top] & (below[:, 1:] > below[:, :-1])
        np.subtract(amount[:, :-1], fall[:, 1:], out=least[:, :-1], where=is_open)
        # An amount and where it is in one number, so that the least has the lowest place.
        keys = (amount << shift) | np.arange(top)
        begins = (places + top * np.arange(n)[:, None]).ravel()
        keys, bounds = (
            np.minimum.reduceat(numbers.ravel(), begins).reshape(places.shape)[:, :-1]
            for numbers in (keys, least)
        )
        lines = np.empty((*keys.shape, 3))
        lines[:, :, 0], lines[:, :, 2] = keys >> shift, bounds
        lines[:, :, 1] = keys & (2**shift - 1)
        lines[:, :, ::2] /= one
        np.copyto(lines[:, :, 2], np.inf, where=bounds == _NEVER)
        lines[places[:, :-1] == places[:, 1:]] = (np.inf, -1, np.inf)
        found[features] = lines
        first, last = places[-1, [0, -1]]
        wanted[first + 1 : last + 1] |= least[-1, first:last] <= limit * one
        return least
