"""Rows of a dense matrix as the compiled loops read them: row-major and float64."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

_COPIED_ROWS = 2048
"""Rows that are copied together, when they must be: few enough to stay in cache."""


def row_major(
    X: np.ndarray,
    begin: int,
    end: int,
    columns: slice = slice(None),
) -> Iterator[tuple[slice, np.ndarray]]:
    """Rows begin .. end (and some columns) in row-major float64 blocks, each with its row range.

    Rows that are copied come in blocks that stay in cache, others in one.
    """
    is_ready = X.flags.c_contiguous and X.dtype == np.float64 and columns == slice(None)
    step = end - begin if is_ready else _COPIED_ROWS
    for start in range(begin, end, max(step, 1)):
        rows = slice(start, min(start + step, end))
        yield rows, np.ascontiguousarray(X[rows, columns], dtype=np.float64)
