"""Values and conditions as text: units, years, dates and integers with few values."""

import math
from datetime import date, datetime, timedelta, timezone

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid.tables.column_formats import ColumnFormat, as_datetime, date_text, format_number

DAY = ColumnFormat("date")
TIME = ColumnFormat("datetime")
CYLINDERS = ColumnFormat("integer", values=(4, 6, 8))
FLAG = ColumnFormat("integer", values=(0, 1))


@pytest.mark.parametrize(
    ("written", "value", "text"),
    [
        (ColumnFormat(), 12.8, "12.8"),
        (ColumnFormat(), 1e20, "1e+20"),
        (ColumnFormat(prefix="$"), 15000.0, "$15000"),
        (ColumnFormat(prefix="$"), -2.5, "-$2.5"),
        (ColumnFormat(suffix="%"), 39.0, "39%"),
        (ColumnFormat(suffix=" kg"), -3.0, "-3 kg"),
        (ColumnFormat("year"), 1950.0, "1950"),
        (DAY, 18701.0, "2021-03-15"),
        (DAY, -1.0, "1969-12-31"),
        (DAY, 18701.5, "2021-03-15 12:00"),
        (DAY, 1e9, "1000000000"),
        (TIME, 18701.0, "2021-03-15 00:00"),
        (TIME, TIME.days("2021-03-15 14:30"), "2021-03-15 14:30"),
        (TIME, TIME.days("2021-03-15 14:30:07"), "2021-03-15 14:30:07"),
        (TIME, TIME.days("2021-03-15 14:30:07.25"), "2021-03-15 14:30:07.250000"),
    ],
)
def test_values(written, value, text):
    assert written.text(value) == text


@pytest.mark.parametrize(
    ("written", "low", "high", "text"),
    [
        (ColumnFormat(), None, 2.5, "x ≤ 2.5"),
        (ColumnFormat(), 2.5, None, "x > 2.5"),
        (ColumnFormat(), 1.0, 2.5, "1 < x ≤ 2.5"),
        (ColumnFormat(prefix="$"), 10.0, 20.0, "$10 < x ≤ $20"),
        (FLAG, 0.0, None, "x = 1"),
        (FLAG, None, 0.0, "x = 0"),
        (CYLINDERS, 5.0, 7.0, "x = 6"),
        (CYLINDERS, None, 7.0, "x ≤ 6"),
        (CYLINDERS, 4.0, None, "x ≥ 6"),
        (CYLINDERS, 7.0, None, "x = 8"),
        (CYLINDERS, 4.0, 8.0, "6 ≤ x ≤ 8"),
        (CYLINDERS, 6.5, 7.0, "6.5 < x ≤ 7"),
        (ColumnFormat("integer"), None, 2.0, "x ≤ 2"),
        (ColumnFormat("integer"), 2.0, None, "x > 2"),
        (ColumnFormat("integer"), 2.0, 3.0, "x = 3"),
        (ColumnFormat("integer"), 2.0, 5.0, "2 < x ≤ 5"),
        (ColumnFormat("year"), 1989.0, 1990.0, "x = 1990"),
        (ColumnFormat("year", values=(1952, 1957)), 1952.0, None, "x = 1957"),
        (DAY, 18262.0, 18701.0, "2020-01-01 < x ≤ 2021-03-15"),
        (DAY, 18700.0, 18701.0, "x = 2021-03-15"),
        (TIME, 18700.0, 18701.0, "2021-03-14 00:00 < x ≤ 2021-03-15 00:00"),
    ],
)
def test_conditions(written, low, high, text):
    assert written.condition("x", low=low, high=high) == text
    before, after = written.around(low=low, high=high)
    assert f"{before}x{after}" == text


@given(
    st.lists(st.integers(-50, 50), min_size=1, max_size=8, unique=True),
    st.none() | st.floats(-60, 60),
    st.none() | st.floats(-60, 60),
)
def test_the_text_of_an_integer_condition_holds_for_the_same_values(values, low, high):
    """The text is read back and compared with the bounds on every known value."""
    written = ColumnFormat("integer", values=tuple(sorted(values)))
    text = written.condition("x", low=low, high=high)
    for x in values:
        inside = (low is None or low < x) and (high is None or x <= high)
        python = text.replace(" = ", " == ").replace("≤", "<=").replace("≥", ">=")
        assert eval(python, {"x": x}) == inside or text == "x"


def test_dates_of_every_type_are_days():
    moment = datetime(2021, 3, 15, 14, 30)
    assert DAY.days(date(2021, 3, 15)) == DAY.days("2021-03-15") == 18701.0
    expected = 18701 + 14.5 / 24
    eastern = timezone(timedelta(hours=2))
    for value in (
        moment,
        pd.Timestamp(moment),
        np.datetime64(moment),
        "2021-03-15 14:30",
        "2021-03-15T14:30:00Z",
        moment.replace(hour=16, tzinfo=eastern),
    ):
        assert TIME.days(value) == pytest.approx(expected, abs=1e-12)
    german = ColumnFormat("date", date_format="%d.%m.%Y")
    column = np.array(["15.03.2021", "2021-03-15", None, date(2021, 3, 16), pd.NaT], dtype=object)
    np.testing.assert_array_equal(german.read(column), [18701, 18701, math.nan, 18702, math.nan])
    np.testing.assert_array_equal(
        TIME.read(np.array(["2021-03-15", "NaT"], dtype="datetime64[ns]")), [18701, math.nan]
    )
    numbers = np.array([1.0, 2.0])
    assert german.read(numbers) is numbers
    assert ColumnFormat().read(column) is column
    with pytest.raises(ValueError, match="'soon' is not a date in the format '%d.%m.%Y' or in ISO"):
        german.days("soon")
    with pytest.raises(ValueError, match="'soon' is not a date in ISO format"):
        DAY.days("soon")
    assert ColumnFormat("date", date_format="%Y%Y").days("2021-03-15") == 18701.0


@settings(deadline=None)  # a busy computer is no failure
@given(st.datetimes(datetime(1800, 1, 1), datetime(2140, 1, 1)))
def test_times_read_back(moment):
    days = TIME.days(moment)
    assert as_datetime(days) == moment
    assert TIME.days(TIME.text(days)) == days
    assert as_datetime(np.nextafter(days, -math.inf)) < moment


@given(*[st.datetimes(max_value=datetime(9999, 12, 30))] * 2)
def test_times_compare_as_their_numbers_of_days(moment, other):
    at_most = as_datetime(TIME.days(other))
    for time in (moment, other, at_most, at_most + timedelta(microseconds=1)):
        assert (time <= at_most) == (TIME.days(time) <= TIME.days(other))


def test_a_number_that_is_no_date_is_written_as_a_number():
    assert as_datetime(1e300) is as_datetime(math.inf) is as_datetime(3e6) is None
    assert date_text(3e6) == format_number(3e6)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        ("2019-11-20", "2020-03-15", "2020-01-01"),  # the first day of a decade
        ("2020-11-20", "2023-03-15", "2022-01-01"),
        ("2021-01-02", "2021-03-15", "2021-02-01"),
        ("2021-01-02", "2021-01-31", "2021-01-02"),
        ("2021-01-01", "2021-01-02", "2021-01-01"),
        ("2020-12-31", "2021-01-01", "2020-12-31"),
    ],
)
def test_round_dates(low, high, expected):
    low, high = DAY.days(low), DAY.days(high)
    threshold = DAY.choose_threshold(low, high, "round")
    assert low <= threshold < high
    assert DAY.text(threshold) == expected


def test_round_times():
    def chosen(low, high):
        return TIME.text(TIME.choose_threshold(TIME.days(low), TIME.days(high), "round"))

    assert chosen("2021-03-15 14:30", "2021-03-17 03:00") == "2021-03-16 00:00"
    assert chosen("2021-03-15 14:30", "2021-03-15 17:40") == "2021-03-15 16:00"
    assert chosen("2021-03-15 14:30:10", "2021-03-15 14:31:10") == "2021-03-15 14:31"
    assert chosen("2021-03-15 14:30:10.5", "2021-03-15 14:30:11.5") == "2021-03-15 14:30:11"


@given(st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)), st.floats(1e-9, 1e5))
def test_round_thresholds_are_in_the_gap(moment, gap):
    low = TIME.days(moment)
    assert low <= TIME.choose_threshold(low, low + gap, "round") < low + gap
    first, last = float(math.floor(low)), float(math.floor(low) + math.ceil(gap))
    for style in ("round", "midpoint", "data"):
        threshold = DAY.choose_threshold(first, last, style)
        assert first <= threshold < last
        assert threshold == math.floor(threshold)


def test_thresholds_of_integers():
    assert CYLINDERS.choose_threshold(4.0, 6.0, "round") == 4.0
    assert ColumnFormat("integer").choose_threshold(96.0, 104.0, "round") == 100.0
    assert ColumnFormat("integer").choose_threshold(1.0, 2.0, "midpoint") == 1.0
    assert ColumnFormat().choose_threshold(1.0, 2.0, "midpoint") == 1.5


def test_as_a_dictionary():
    assert ColumnFormat().as_dict() == {"kind": "number"}
    assert CYLINDERS.as_dict() == {"kind": "integer", "values": [4, 6, 8]}
    assert ColumnFormat("date", date_format="%d.%m.%y").as_dict() == {
        "kind": "date",
        "date_format": "%d.%m.%y",
    }
