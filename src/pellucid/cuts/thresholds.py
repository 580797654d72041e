"""Which number to show for a cut, out of all that split the training rows alike."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal

ThresholdStyle = Literal["round", "midpoint", "data"]


def choose_threshold(low: float, high: float, style: ThresholdStyle) -> float:
    """A threshold in the interval [low, high).

    Parameters
    ----------
    low, high : float
        The largest value that goes left and the smallest that goes right.
    style : {"round", "midpoint", "data"}
        ``"round"``: the number with the fewest significant digits, among these the one
        closest to the middle. ``"midpoint"``: the middle. ``"data"``: `low` itself.

    Examples
    --------
    >>> from pellucid.cuts.thresholds import choose_threshold
    >>> choose_threshold(53987.312, 54211.9, "round")
    54000.0
    >>> choose_threshold(1.0, 2.0, "midpoint")
    1.5
    """
    if style == "data":
        return low
    if style == "midpoint":
        middle = low / 2 + high / 2
        return middle if low <= middle < high else low
    return _roundest(low, high)


def _roundest(low: float, high: float) -> float:
    """The multiple of the largest power of ten in [low, high), nearest to the middle.

    A number on a coarser power of ten never has more significant digits than one on a finer
    one, within one interval, so the coarsest grid that meets the interval has the answer.
    Fractions keep the arithmetic exact; the float nearest to the decimal may still fall
    outside a very narrow interval, which then is looked at on the next finer grid.
    """
    if low <= 0 < high:
        return 0.0
    exact_low, exact_high = Fraction(low), Fraction(high)
    middle = (exact_low + exact_high) / 2
    finest = math.floor(math.log10(max(abs(low), abs(high)))) - 17
    coarsest = finest + 18
    for exponent in range(coarsest, finest - 1, -1):
        if _is_between_multiples(low, high, exponent):
            continue
        step = Fraction(10) ** exponent
        first, last = math.ceil(exact_low / step), math.ceil(exact_high / step) - 1
        if first <= last:
            multiple = min(max(round(middle / step), first), last)
            value = float(multiple * step)
            if low <= value < high:
                return value
    return low


def _is_between_multiples(low: float, high: float, exponent: int) -> bool:
    """Whether [low, high] surely holds no multiple of a power of ten: floats are quick, and
    come near enough to rule most grids out.
    """
    try:
        scale = 10.0**exponent
        first, last = low / scale, high / scale
    except (OverflowError, ZeroDivisionError):
        return False
    doubt = 1e-12 * max(abs(first), abs(last), 1.0)
    return math.ceil(first - doubt) > last + doubt
