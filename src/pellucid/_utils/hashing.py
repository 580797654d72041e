"""Hashes of numbers, for samples that depend on the values of rows only."""

from __future__ import annotations

import numpy as np


def mixed(keys: np.ndarray) -> np.ndarray:
    """Integers whose bits depend on all bits of the keys (the last step of SplitMix64).

    Parameters
    ----------
    keys : ndarray of uint64
    """
    keys = keys + np.uint64(0x9E3779B97F4A7C15)
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))
