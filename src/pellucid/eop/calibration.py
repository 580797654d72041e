"""The calibration split."""

from __future__ import annotations

import numpy as np


def hold_out(
    y: np.ndarray, n_classes: int, share: float, random: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Split rows at random into training and held-out rows, stratified by class.

    Each class keeps at least one training row.

    Parameters
    ----------
    y : ndarray of int
        Class indices.
    n_classes : int
    share : float
        Fraction of the rows to hold out.
    random : RandomState

    Returns
    -------
    fitted, held : ndarray of int
        Indices of the training rows and of the held-out rows, in ascending order.
    """
    is_held = np.zeros(len(y), dtype=bool)
    for class_index in range(n_classes):
        rows = np.flatnonzero(y == class_index)
        n_held = min(round(share * len(rows)), len(rows) - 1)
        if n_held > 0:
            is_held[random.permutation(rows)[:n_held]] = True
    return np.flatnonzero(~is_held), np.flatnonzero(is_held)
