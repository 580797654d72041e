"""Finite values, weighted draws and hashes of arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid._utils.threads import ThreadPool

_VALUES_A_THREAD = 2**20  # values worth a thread of their own
ROWS_A_THREAD = 2**16  # rows worth a thread of their own if one number is computed for each


def all_finite(values: np.ndarray, count_threads: Callable[[], int]) -> bool:
    """Whether no value is NaN or infinite; `count_threads` is called only for large arrays."""
    if values.size < 2 * _VALUES_A_THREAD:
        return bool(np.isfinite(values).all())
    with ThreadPool(min(count_threads(), values.size // _VALUES_A_THREAD)) as pool:
        blocks = pool.blocks(len(values), 1)
        return all(pool.map(lambda block: np.isfinite(values[slice(*block)]).all(), blocks))


def filled(
    shape: int | tuple[int, ...], dtype: Any, pool: ThreadPool, values: Callable[[slice], Any]
) -> np.ndarray:
    """An array that is ``values(rows)`` for each block of rows, made by all threads."""
    array = np.empty(shape, dtype=dtype)

    def fill(block: tuple[int, int]) -> None:
        array[slice(*block)] = values(slice(*block))

    least = max(1, ROWS_A_THREAD * len(array) // max(array.size, 1))
    pool.map(fill, pool.blocks(len(array), least, per_thread=1))
    return array


def places_where(n: int, pool: ThreadPool, holds: Callable[[slice], np.ndarray]) -> np.ndarray:
    """The places of n rows where ``holds(rows)``, which is computed by blocks, is true."""

    def find(block: tuple[int, int]) -> np.ndarray:
        return np.flatnonzero(holds(slice(*block))) + block[0]

    parts = pool.map(find, pool.blocks(n, ROWS_A_THREAD, per_thread=1))
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


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
