"""Labels and categories as values that every format can represent."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

SCALARS = (str, int, float, bool)


def plain_value(value: Any, what: str) -> str | int | float | bool:
    """Convert a label or a category to a plain string, number or boolean, or raise an error.

    Parameters
    ----------
    value : object
    what : str
        Description of the value for the error message.
    """
    value = value.item() if isinstance(value, np.generic) else value
    if type(value) not in SCALARS or (isinstance(value, float) and not math.isfinite(value)):
        raise TypeError(
            f"{what} is {value!r}, which cannot be exported; use strings, booleans or finite "
            "numbers: convert it to a string before fitting"
        )
    return value
