"""Blocks of rows of a dense matrix; row numbers divided and sorted."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

_COPIED_ROWS = 2048
"""Rows per block if they must be copied: few enough to stay in cache."""

_TWO_STEP_VALUES = 512
"""Values from which on `stable_argsort` is faster in two steps."""


def row_major(
    X: np.ndarray,
    begin: int,
    end: int,
    columns: slice = slice(None),
) -> Iterator[tuple[slice, np.ndarray]]:
    """Rows begin .. end (and some columns) in row-major float64 blocks, each with its row range.

    Rows that must be copied come in blocks that stay in cache, others in a single block.
    """
    is_ready = X.flags.c_contiguous and X.dtype == np.float64 and columns == slice(None)
    step = end - begin if is_ready else _COPIED_ROWS
    for start in range(begin, end, max(step, 1)):
        rows = slice(start, min(start + step, end))
        yield rows, np.ascontiguousarray(X[rows, columns], dtype=np.float64)


def divide_rows(rows: np.ndarray, left: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows that go left and those that go right, in their order."""
    return rows.compress(left), rows.compress(~left)


def order_by(groups: np.ndarray, n_groups: int) -> np.ndarray:
    """Row numbers sorted by group 0 .. n_groups, those of a group in their order."""
    small = np.uint8 if n_groups <= 2**8 else np.uint16 if n_groups <= 2**16 else np.intp
    # NumPy sorts integers of up to 16 bits in linear time.
    return np.argsort(groups.astype(small, copy=False), kind="stable").astype(np.int32)


def stable_argsort(values: np.ndarray) -> np.ndarray:
    """Positions of the values in ascending order, equal ones in their order.

    NumPy sorts 16-bit integers and nearly sorted values in linear time. So the values are sorted
    by their position in 2**16 equal parts of the range first, and then by themselves.
    """
    if len(values) >= _TWO_STEP_VALUES:
        low = float(values.min())
        span = float(values.max()) - low
        scale = 65535 / span if span > 0 else 0.0
        if 0 < scale < np.inf:
            nearly = ((values - low) * scale).astype(np.uint16).argsort(kind="stable")
            return nearly.take(values.take(nearly).argsort(kind="stable"))
    return values.argsort(kind="stable")
