"""Weighted random sampling of rows."""

from __future__ import annotations

import numpy as np


def draw_weighted(weights: np.ndarray, size: int, random: np.random.RandomState) -> np.ndarray:
    """Draw indices with replacement, with probabilities proportional to the weights.

    Indices of weight 0 are never drawn. If all weights are 0, index 0 is returned.
    """
    cumulative = np.cumsum(weights)
    drawn = np.searchsorted(cumulative, random.uniform(size=size) * cumulative[-1], side="right")
    positive = np.flatnonzero(weights)
    return drawn.clip(max=positive[-1] if len(positive) else 0)
