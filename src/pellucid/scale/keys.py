"""Floating-point numbers as integers of the same order.

The key of a number is its position in the order of all float64 numbers, so that a range of numbers
can be divided into parts that hold equally many of them, whatever its magnitude.
"""

from __future__ import annotations

import numpy as np


def to_keys(values: np.ndarray) -> np.ndarray:
    """Keys of numbers: int64, ascending with the numbers; -0.0 and 0.0 have the same key.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.scale.keys import to_keys
    >>> to_keys(np.array([-5e-324, 0.0, 5e-324])).tolist()
    [-1, 0, 1]
    """
    bits = np.ascontiguousarray(values, dtype=np.float64).view(np.int64)
    return np.where(bits >= 0, bits, np.int64(-(2**63)) - bits)
