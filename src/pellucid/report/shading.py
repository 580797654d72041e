"""Answers of a level on a coarse grid, for regions without an exact outline."""

from __future__ import annotations

from typing import Any

import numpy as np

_CELLS = (96, 64)
"""Cells of the grid across and upwards."""


def shade(level: Any, window: list[tuple[float, float]]) -> list[list[int]] | None:
    """The answer at the middle of each cell, -1 for none.

    Parameters
    ----------
    level : Level
    window : list of tuple
        From where to where each of its one or two columns reaches.

    Returns
    -------
    list of list of int, or None
        A list for each row of cells, from the bottom up: answer, number of cells, answer, number
        of cells and so on. None where a level has more columns than a picture.
    """
    if len(window) > 2:
        return None
    shape = _CELLS[: len(window)]
    axes = [low + (np.arange(n) + 0.5) * (high - low) / n for (low, high), n in zip(window, shape)]
    P = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, len(window))
    answer = np.full(len(P), -1)
    inside = np.asarray(level.regions.which(P)) >= 0
    if inside.any():
        answer[inside] = level.classifier.predict(P[inside])
    return [_runs(row) for row in answer.reshape(-1, _CELLS[0])]


def _runs(row: np.ndarray) -> list[int]:
    """Equal neighbours as a value and a length."""
    starts = np.flatnonzero(np.append(True, row[1:] != row[:-1]))
    lengths = np.diff(np.append(starts, len(row)))
    return np.column_stack([row[starts], lengths]).ravel().tolist()
