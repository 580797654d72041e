"""Choice of a threshold among all that split the training rows in the same way."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal

ThresholdStyle = Literal["round", "midpoint", "data"]


def choose_threshold(low: float, high: float, style: ThresholdStyle) -> float:
    """A threshold in [low, high): the largest value that goes left, the smallest that goes right.

    ``"round"``: the number with the fewest significant digits, among these the one closest to the
    middle. ``"midpoint"``: the middle. ``"data"``: `low` itself.
    """
    if style == "data":
        return low
    if style == "midpoint":
        middle = low / 2 + high / 2
        return middle if low <= middle < high else low
    return _roundest(low, high)


def _roundest(low: float, high: float) -> float:
    """The multiple of the largest power of ten in [low, high), nearest to the middle.

    In an interval, coarser grids give numbers of fewer digits. Integers keep the arithmetic exact.
    If the float nearest to the decimal lies outside the interval, the next finer grid is searched.
    """
    if low <= 0 < high:
        return 0.0
    (a, b), (c, d) = low.as_integer_ratio(), high.as_integer_ratio()
    finest = math.floor(math.log10(max(abs(low), abs(high)))) - 17
    coarsest = finest + 18
    for exponent in range(coarsest, finest - 1, -1):
        if _is_between_multiples(low, high, exponent):
            continue
        # Multiples of up / down; one of the two is 1.
        up, down = 10 ** max(exponent, 0), 10 ** max(-exponent, 0)
        first, last = _ceil(a * down, b * up), _ceil(c * down, d * up) - 1
        if first <= last:
            middle = round(Fraction((a * d + c * b) * down, 2 * b * d * up))
            value = min(max(middle, first), last) * up / down
            if low <= value < high:
                return value
    return low


def _ceil(top: int, bottom: int) -> int:
    """Ceiling of a fraction."""
    return -(-top // bottom)


def _is_between_multiples(low: float, high: float, exponent: int) -> bool:
    """Whether [low, high] certainly has no multiple of a power of ten; quick, in floats."""
    try:
        scale = 10.0**exponent
        first, last = low / scale, high / scale
    except (OverflowError, ZeroDivisionError):
        return False
    margin = 1e-12 * max(abs(first), abs(last), 1.0)
    return math.ceil(first - margin) > last + margin
