"""Labels and categories that every format can write."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

SCALARS = (str, int, float, bool)


def plain_value(value: Any, what: str) -> str | int | float | bool:
    """A label or a category as a plain string, number or boolean, or an error that says which.

    Parameters
    ----------
    value : object
    what : str
        What it is, for the message.
    """
    value = value.item() if isinstance(value, np.generic) else value
    if type(value) not in SCALARS or (isinstance(value, float) and not math.isfinite(value)):
        raise TypeError(
            f"{what} is {value!r}, which cannot be exported; strings, booleans and finite numbers "
            "can: turn it into a string before fitting"
        )
    return value
