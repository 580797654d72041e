"""Dynamic time warping, by the package dtaidistance."""

from __future__ import annotations

from contextlib import AbstractContextManager
from numbers import Integral
from typing import Any

import numpy as np

from pellucid.xclusters.distances.numeric import Measure, Tile
from pellucid.xclusters.reading import read_series

_CELLS = 2**26
"""Steps of alignments, for each thread, between two looks at Ctrl-C: some tenths of a second."""

_ROWS_A_THREAD = 16
"""Rows of a tile for each thread; the package gives each thread whole rows."""


class Warping(Measure):
    """Root of the sum of squared differences along the best alignment of two series.

    Parameters
    ----------
    window : int, optional
        Step i of one series may meet step j of the other for |i - j| up to this, beyond the
        difference of the lengths.
    """

    name = "dtw"
    releases_lock = False

    def __init__(self, window: int | None = None) -> None:
        if window is not None and (not isinstance(window, Integral) or window < 0):
            raise ValueError(f"window={window!r}: a whole number of steps, at least 0, or None")
        self._window = window
        # Pruning is left alone: its bound is rounded, and loses pairs that just meet it.
        self._settings = {"use_pruning": False, "compact": True}
        if window is not None:
            # The package counts from 1.
            self._settings["window"] = int(window) + 1
        self._library = _find_library()

    def read(self, X: Any, name: str) -> np.ndarray | list[np.ndarray]:
        return read_series(X, name)

    def tile_shape(self, rows: Any, others: Any, n_threads: int) -> tuple[int, int]:
        length, other = max(len(one) for one in rows), max(len(one) for one in others)
        if self._window is not None:
            other = min(other, 2 * self._window + 1 + abs(length - other))
        height = min(len(rows), _ROWS_A_THREAD * n_threads)
        width = _CELLS * n_threads // (height * length * other)
        # Tiles on the diagonal must reach over it.
        return height, max(height, min(width, len(others)))

    def threads(self, n_threads: int) -> AbstractContextManager:
        from threadpoolctl import threadpool_limits

        return threadpool_limits(n_threads, user_api="openmp")

    def tile(self, rows: Any, others: Any, tile: Tile, *, same: bool) -> np.ndarray:
        top, bottom, left, right = tile
        distances = np.zeros((bottom - top, right - left))
        series, block = _stack(rows, others, tile, same)
        # Only pairs of a lower with a higher number are worked out, row by row.
        (first, last), (begin, end) = block
        wanted = np.arange(begin, end) > np.arange(first, last)[:, None]
        if wanted.any():
            found = self._library(series, block=block, parallel=True, **self._settings)
            distances[wanted] = found
        return distances


def _stack(rows: Any, others: Any, tile: Tile, same: bool) -> tuple[Any, tuple]:
    """The series of a tile one after the other, and the tile's place among them."""
    top, bottom, left, right = tile
    if same and top == left:
        width = max(bottom, right) - top
        return rows[top : max(bottom, right)], ((0, bottom - top), (0, width))
    a, b = rows[top:bottom], others[left:right]
    block = (0, len(a)), (len(a), len(a) + len(b))
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.shape[1] == b.shape[1]:
        return np.concatenate([a, b]), block
    return [*a, *b], block


def _find_library():
    """The compiled part of dtaidistance, or an error that says how to get it."""
    try:
        from dtaidistance import dtw
    except ImportError:
        raise ImportError(
            "metric='dtw' needs the package dtaidistance: pip install 'pellucid[xclusters]'"
        ) from None
    if dtw.dtw_cc is None:
        raise ImportError(
            "metric='dtw' needs the compiled part of dtaidistance, which is missing here: install "
            "a C compiler, then pip install --force-reinstall --no-binary dtaidistance "
            "dtaidistance"
        )
    return dtw.distance_matrix_fast
