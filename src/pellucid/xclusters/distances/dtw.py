"""Dynamic time warping, by the package dtaidistance."""

from __future__ import annotations

from contextlib import AbstractContextManager
from numbers import Integral
from typing import Any

import numpy as np

from pellucid._utils.optional import MissingPackageError, import_optional
from pellucid.xclusters.distances.numeric import Distance, Tile
from pellucid.xclusters.reading import read_series

_CELLS = 2**26
"""Cells of the alignment tables per thread and tile: some tenths of a second until Ctrl-C acts."""

_ROWS_PER_THREAD = 16
"""Rows of a tile per thread; dtaidistance assigns whole rows to threads."""


class DTW(Distance):
    """Square root of the sum of squared differences along the best alignment of two series.

    Parameters
    ----------
    window : int, optional
        Maximum |i - j| of aligned steps i and j, in addition to the difference of the lengths.
    """

    name = "dtw"
    releases_gil = False

    def __init__(self, window: int | None = None) -> None:
        if window is not None and (not isinstance(window, Integral) or window < 0):
            raise ValueError(f"window={window!r} must be a nonnegative integer or None")
        self._window = window
        # Pruning would lose pairs that meet its bound exactly, because the bound is rounded.
        self._settings = {"use_pruning": False, "compact": True}
        if window is not None:
            # dtaidistance counts from 1.
            self._settings["window"] = int(window) + 1
        self._library = _find_library()

    def read(self, X: Any, name: str) -> np.ndarray | list[np.ndarray]:
        return read_series(X, name)

    def tile_shape(self, rows: Any, others: Any, n_threads: int) -> tuple[int, int]:
        length, band = max(map(len, rows)), max(map(len, others))
        if self._window is not None:
            band = min(band, 2 * self._window + 1 + abs(length - band))
        height = min(len(rows), _ROWS_PER_THREAD * n_threads)
        width = _CELLS * n_threads // (height * length * band)
        # Tiles on the diagonal must contain the diagonal of all their rows.
        return height, max(height, min(width, len(others)))

    def threads(self, n_threads: int) -> AbstractContextManager:
        from threadpoolctl import threadpool_limits

        return threadpool_limits(n_threads, user_api="openmp")

    def tile(self, rows: Any, others: Any, tile: Tile, *, same: bool) -> np.ndarray:
        top, bottom, left, right = tile
        distances = np.zeros((bottom - top, right - left))
        series, block = _stack(rows, others, tile, same)
        # dtaidistance computes pairs (i, j) with i < j only, row by row.
        (first, last), (begin, end) = block
        is_computed = np.arange(begin, end) > np.arange(first, last)[:, None]
        if is_computed.any():
            distances[is_computed] = self._library(
                series, block=block, parallel=True, **self._settings
            )
        return distances


def _stack(rows: Any, others: Any, tile: Tile, same: bool) -> tuple[Any, tuple]:
    """Concatenate the series of a tile; return them with the tile's index ranges."""
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
    """The compiled distance function of dtaidistance, or an error with the pip command."""
    import_optional("dtaidistance", "dtaidistance", "the distance dtw", "euclidean")
    from dtaidistance import dtw

    if dtw.dtw_cc is None:
        raise MissingPackageError(
            "the distance dtw requires the compiled part of dtaidistance, which is missing",
            hint="install a C compiler, then pip install --force-reinstall --no-binary "
            "dtaidistance dtaidistance, or use euclidean, which works without it",
        )
    return dtw.distance_matrix_fast
