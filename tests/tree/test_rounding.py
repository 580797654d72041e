"""The threshold that is shown lies in its interval, and no rounder number does."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pellucid.tree.rounding import choose_threshold


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (53987.312, 54211.9, 54000.0),
        (12.74, 12.86, 12.8),
        (0.5, 95.0, 50.0),
        (9.5, 12.0, 10.0),
        (-1.0, 1.0, 0.0),
        (0.0, 1.0, 0.0),
        (3.0, 4.0, 3.0),
        (-54211.9, -53987.312, -54000.0),
        (1e-9, 3e-9, 2e-9),
        (0.1234567, 0.1234569, 0.1234568),
        (1999.0, 2001.0, 2000.0),
        (1e300, 3e300, 2e300),
        (-4.0, -3.0, -4.0),
    ],
)
def test_the_roundest_number(low, high, expected):
    assert choose_threshold(low, high, "round") == expected


def digits(value):
    return len(f"{abs(value):.17e}".split("e")[0].replace(".", "").strip("0"))


intervals = st.tuples(
    st.floats(allow_nan=False, allow_infinity=False, width=64),
    st.floats(allow_nan=False, allow_infinity=False, width=64),
).filter(lambda pair: pair[0] < pair[1])


@given(intervals, st.sampled_from(["round", "midpoint", "data"]))
def test_always_inside(interval, style):
    low, high = interval
    assert low <= choose_threshold(low, high, style) < high


@given(st.floats(0.001, 1000), st.floats(0.001, 1000))
def test_no_number_of_fewer_digits_lies_inside(low, width):
    high = low + width
    chosen = choose_threshold(low, high, "round")
    count = len(f"{chosen:.12g}".replace(".", "").strip("0").split("e")[0])
    for fewer in range(1, min(count, 5)):
        exponent = math.floor(math.log10(high)) - fewer + 1
        for scale in (10.0**exponent, 10.0 ** (exponent - 1)):
            first = math.ceil(low / scale - 1e-9)
            number = float(f"{first * scale:.{fewer}g}")
            assert not low < number < high


def test_neighbouring_floats_have_one_threshold():
    low = 1.1
    high = math.nextafter(low, 2)
    for style in ("round", "midpoint", "data"):
        assert choose_threshold(low, high, style) == low


def roundest_by_fractions(low, high):
    """The multiple of the largest power of ten in the interval, nearest to its middle."""
    if low <= 0 < high:
        return 0.0
    first, last = Fraction(low), Fraction(high)
    finest = math.floor(math.log10(max(abs(low), abs(high)))) - 17
    for exponent in range(finest + 18, finest - 1, -1):
        step = Fraction(10) ** exponent
        begin, end = math.ceil(first / step), math.ceil(last / step) - 1
        if begin <= end:
            value = float(min(max(round((first + last) / 2 / step), begin), end) * step)
            if low <= value < high:
                return value
    return low


@given(intervals)
def test_the_same_number_by_fractions(interval):
    assert choose_threshold(*interval, "round") == roundest_by_fractions(*interval)


@given(st.integers(-(10**6), 10**6), st.integers(1, 100), st.sampled_from([1, 2, 4, 8, 10, 1000]))
def test_the_same_number_by_fractions_on_grids(start, width, parts):
    low, high = start / parts, (start + width) / parts
    assert choose_threshold(low, high, "round") == roundest_by_fractions(low, high)
