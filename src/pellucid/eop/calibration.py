"""Rows that are held out to check the regions on."""

from __future__ import annotations

import numpy as np


def hold_out(
    y: np.ndarray, n_classes: int, share: float, random: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Divide rows at random, every class by the same share.

    A class keeps at least one row to learn from, so a class of a single row holds out none.

    Parameters
    ----------
    y : ndarray of int
        Classes as positions.
    n_classes : int
    share : float
        Share of the rows to hold out.
    random : RandomState

    Returns
    -------
    fitted, held : ndarray of int
        Numbers of the rows to learn from and of those held out, in ascending order.
    """
    is_held = np.zeros(len(y), dtype=bool)
    for position in range(n_classes):
        rows = np.flatnonzero(y == position)
        wanted = min(round(share * len(rows)), len(rows) - 1)
        if wanted > 0:
            is_held[random.permutation(rows)[:wanted]] = True
    return np.flatnonzero(~is_held), np.flatnonzero(is_held)
