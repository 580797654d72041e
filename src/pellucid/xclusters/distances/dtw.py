"""Dynamic time warping.

The loop is our own, compiled with Numba like all others: dtaidistance, the usual library, has no
wheels for Linux on ARM and needs a C compiler there.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from pellucid.xclusters.distances.numeric import Distance, Tile
from pellucid.xclusters.reading import read_series

_CELLS = 2**24
"""Cells of the alignment tables per tile: some tenths of a second until Ctrl-C acts."""

_HEIGHT = 8
"""Rows of a tile."""


class DTW(Distance):
    """Square root of the sum of squared differences along the best alignment of two series.

    Parameters
    ----------
    window : int, optional
        Maximum |i - j| of aligned steps i and j, in addition to the difference of the lengths.
    """

    name = "dtw"

    def __init__(self, window: int | None = None) -> None:
        if window is not None and (not isinstance(window, Integral) or window < 0):
            raise ValueError(f"window={window!r} must be a nonnegative integer or None")
        self._window = window

    def read(self, X: Any, name: str) -> np.ndarray | list[np.ndarray]:
        return read_series(X, name)

    def tile_shape(self, rows: Any, others: Any, n_threads: int) -> tuple[int, int]:
        length, band = max(map(len, rows)), max(map(len, others))
        if self._window is not None:
            band = min(band, 2 * self._window + 1 + abs(length - band))
        height = min(len(rows), _HEIGHT)
        width = _CELLS // (height * length * band)
        # Tiles on the diagonal must contain the diagonal of all their rows.
        return height, max(height, min(width, len(others)))

    def tile(self, rows: Any, others: Any, tile: Tile, *, same: bool) -> np.ndarray:
        from pellucid.xclusters.kernels import dtw_squares

        top, bottom, left, right = tile
        a, a_starts = _concatenate(rows[top:bottom])
        b, b_starts = _concatenate(others[left:right])
        squares = np.zeros((bottom - top, right - left))
        longest = int(np.diff(b_starts).max(initial=0))
        window = max(len(a), len(b)) if self._window is None else int(self._window)
        # Column of the first distance of the first row; one more in each further row.
        first = top + 1 - left if same else -len(a_starts)
        dtw_squares(a, a_starts, b, b_starts, window, first, np.empty(longest + 1), squares)
        return np.sqrt(squares)


def _concatenate(series: Any) -> tuple[np.ndarray, np.ndarray]:
    """The values of all series, and where each series begins, with the end of the last one."""
    starts = np.cumsum([0, *map(len, series)])
    return np.concatenate(list(series)) if len(series) else np.empty(0), starts
