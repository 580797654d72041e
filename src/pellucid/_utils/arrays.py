"""Finite values, weighted draws and hashes of arrays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pellucid._utils.threads import ThreadPool

_FEW = 2**14
"""Values for which a mask costs less than the care that a sum needs."""

_VALUES_A_THREAD = 2**20
"""Values worth a thread of their own."""


def all_finite(values: np.ndarray, count_threads: Callable[[], int]) -> bool:
    """Whether no value is NaN or infinite; `count_threads` is called only for large arrays.

    If the sum is finite, all values are, and no mask was needed to see it.
    """
    if values.size < _FEW:
        return bool(np.isfinite(values).all())

    def has_finite_sum(block: tuple[int, int]) -> bool:
        with np.errstate(over="ignore", invalid="ignore"):
            return bool(np.isfinite(values[slice(*block)].sum()))

    if values.size < 2 * _VALUES_A_THREAD:
        is_finite = has_finite_sum((0, len(values)))
    else:
        with ThreadPool(min(count_threads(), values.size // _VALUES_A_THREAD)) as pool:
            is_finite = all(pool.map(has_finite_sum, pool.blocks(len(values), 1)))
    return is_finite or bool(np.isfinite(values).all())


def draw_weighted(weights: np.ndarray, size: int, random: np.random.RandomState) -> np.ndarray:
    """Draw indices with replacement, with probabilities proportional to the weights.

    Indices of weight 0 are never drawn. If all weights are 0, index 0 is returned.
    """
    cumulative = np.cumsum(weights)
    drawn = np.searchsorted(cumulative, random.uniform(size=size) * cumulative[-1], side="right")
    positive = np.flatnonzero(weights)
    return drawn.clip(max=positive[-1] if len(positive) else 0)


def mixed(keys: np.ndarray) -> np.ndarray:
    """Integers whose bits depend on all bits of the keys (the last step of SplitMix64)."""
    keys = keys + np.uint64(0x9E3779B97F4A7C15)
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))
