"""Row numbers, divided in two."""

from __future__ import annotations

import numpy as np


def divide_rows(rows: np.ndarray, left: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows that go left and those that go right, in their order."""
    from pellucid.kernels.rows import share_rows

    n_left = np.count_nonzero(left)
    near, far = (np.empty(n + 1, rows.dtype) for n in (n_left, len(rows) - n_left))
    share_rows(rows, left, near, far)
    return near[:-1], far[:-1]
