"""Row numbers, divided by kind."""

from __future__ import annotations

import numpy as np


def divide_rows(rows: np.ndarray, left: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows that go left and those that go right, in their order."""
    right, near = deal(rows, left.view(np.uint8), [len(rows) - np.count_nonzero(left)])
    return near, right


def deal(rows: np.ndarray, kind: np.ndarray, counts: list[int]) -> list[np.ndarray]:
    """The rows of kinds 0, 1, ..., in their order; all the kinds but the last are counted."""
    from pellucid.kernels.rows import deal_rows

    begins = np.cumsum([0, *counts])
    out = np.empty_like(rows)
    deal_rows(rows, kind, begins.copy(), out)
    return np.split(out, begins[1:])
