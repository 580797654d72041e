"""Row numbers, divided and put in order."""

from __future__ import annotations

import numpy as np


def divide_rows(rows: np.ndarray, left: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows that go left and those that go right, in their order."""
    return rows.compress(left), rows.compress(~left)


def order_by(groups: np.ndarray, n_groups: int) -> np.ndarray:
    """Row numbers by their groups 0 .. n_groups, those of a group in their order."""
    small = np.uint8 if n_groups <= 2**8 else np.uint16 if n_groups <= 2**16 else np.intp
    # Numbers of up to 16 bits are sorted in time of their number.
    return np.argsort(groups.astype(small, copy=False), kind="stable").astype(np.int32)


def places_in(order: np.ndarray) -> np.ndarray:
    """Where each row stands in an order of all rows."""
    places = np.empty_like(order)
    places[order] = np.arange(len(order), dtype=order.dtype)
    return places
