"""Row numbers, divided in two."""

from __future__ import annotations

import numpy as np


def divide_rows(rows: np.ndarray, left: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows that go left and those that go right, in their order."""
    return rows.compress(left), rows.compress(~left)
