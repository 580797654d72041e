"""Which subsets of the columns are tried."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np

MOST = 2_000_000
"""Subsets that are listed at the most; more are a matter of sampling."""


def list_projections(
    features: np.ndarray,
    max_dim: int,
    projections: str | int,
    random: np.random.RandomState,
) -> list[np.ndarray]:
    """Subsets of the columns, by size.

    Parameters
    ----------
    features : ndarray of int
        Columns to choose from.
    max_dim : int
        Columns in a subset at the most.
    projections : "all" or int
        All subsets, or so many of them drawn at random, the same number of each size as long as
        there are enough.
    random : RandomState

    Returns
    -------
    list of ndarray of shape (n_subsets, size), int64
        For size 1, 2, ...; every subset in ascending order, and so are the subsets.
    """
    sizes = range(1, min(max_dim, len(features)) + 1)
    counts = [comb(len(features), size) for size in sizes]
    if projections == "all":
        if sum(counts) > MOST:
            raise ValueError(
                f"there are {sum(counts):,} subsets of up to {max_dim} of the {len(features):,} "
                "columns; set projections to a number, for example projections=5000, to try "
                "that many of them drawn at random"
            )
        return [
            np.array(list(combinations(features.tolist(), size)), dtype=np.int64) for size in sizes
        ]
    quotas = _shares(int(projections), counts)
    return [
        features[_draw(len(features), size, quota, count, random)]
        for size, quota, count in zip(sizes, quotas, counts)
    ]


def _shares(wanted: int, counts: list[int]) -> list[int]:
    """Divide a number evenly, as far as the counts allow, the rest going to the larger ones."""
    shares = [0] * len(counts)
    ascending = sorted(range(len(counts)), key=lambda i: counts[i])
    for done, position in enumerate(ascending):
        shares[position] = min(counts[position], (wanted - sum(shares)) // (len(counts) - done))
    return shares


def _draw(n: int, size: int, quota: int, count: int, random) -> np.ndarray:
    """Different subsets of 0 .. n - 1, in order."""
    if quota * 2 >= count:
        everything = np.array(list(combinations(range(n), size)), dtype=np.int64)
        chosen = np.sort(random.choice(count, quota, replace=False))
        return everything[chosen].reshape(quota, size)
    found: set[tuple[int, ...]] = set()
    while len(found) < quota:
        found.add(tuple(sorted(random.choice(n, size, replace=False).tolist())))
    return np.array(sorted(found), dtype=np.int64).reshape(quota, size)
