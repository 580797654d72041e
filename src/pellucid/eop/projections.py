"""Enumerate or sample the projections: subsets of the columns."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np

MAX_SUBSETS = 2_000_000
"""Largest number of subsets that ``projections="all"`` enumerates."""


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
        Maximum number of columns in a subset.
    projections : "all" or int
        All subsets, or the number of subsets to draw at random. The number is divided evenly
        among the sizes, as far as there are enough subsets of each size.
    random : RandomState

    Returns
    -------
    list of ndarray of shape (n_subsets, size), int64
        One array per size 1, 2, ..., in lexicographic order.
    """
    sizes = range(1, min(max_dim, len(features)) + 1)
    counts = [comb(len(features), size) for size in sizes]
    if projections == "all":
        if sum(counts) > MAX_SUBSETS:
            raise ValueError(
                f"there are {sum(counts):,} subsets of up to {max_dim} of the {len(features):,} "
                "columns; set projections to a number, for example projections=5000, to draw "
                "that many at random"
            )
        return [
            np.array(list(combinations(features.tolist(), size)), dtype=np.int64) for size in sizes
        ]
    quotas = _split_evenly(int(projections), counts)
    return [
        features[_draw(len(features), size, quota, count, random)]
        for size, quota, count in zip(sizes, quotas, counts)
    ]


def _split_evenly(total: int, counts: list[int]) -> list[int]:
    """Divide `total` into equal parts of at most `counts`; the rest goes to larger counts."""
    quotas = [0] * len(counts)
    ascending = sorted(range(len(counts)), key=lambda i: counts[i])
    for done, size in enumerate(ascending):
        quotas[size] = min(counts[size], (total - sum(quotas)) // (len(counts) - done))
    return quotas


def _draw(n: int, size: int, quota: int, count: int, random: np.random.RandomState) -> np.ndarray:
    """Draw distinct subsets of 0 .. n - 1, in lexicographic order."""
    if quota * 2 >= count:
        subsets = np.array(list(combinations(range(n), size)), dtype=np.int64)
        chosen = np.sort(random.choice(count, quota, replace=False))
        return subsets[chosen].reshape(quota, size)
    drawn: set[tuple[int, ...]] = set()
    while len(drawn) < quota:
        drawn.add(tuple(sorted(random.choice(n, size, replace=False).tolist())))
    return np.array(sorted(drawn), dtype=np.int64).reshape(quota, size)
