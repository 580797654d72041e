"""A time column as numpy times, and times in steps of equal length."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

FREQUENCIES = ("hour", "day", "week", "month", "year")
_UNITS = {"hour": "h", "day": "D", "month": "M", "year": "Y"}
# numpy would read "20200101" as the year 20,200,101.
_ISO = re.compile(r"\d{4}-\d{2}(-\d{2}([T ].+)?)?")
# 1 January 1970, day 0 of numpy, was a Thursday; weeks start on Monday here.
_TO_MONDAY = 3


def read_times(column) -> np.ndarray:
    """A narwhals column of dates, times, numbers or ISO text as datetime64 or as numbers."""
    import narwhals as nw

    name, dtype = column.name, column.dtype
    empty = np.flatnonzero(column.is_null().to_numpy())
    if len(empty):
        raise ValueError(f"column {name!r} has no time at row {empty[0]}; drop such rows")
    if dtype == nw.Datetime:
        if dtype.time_zone is not None:
            column = column.dt.replace_time_zone(None)
        return column.to_numpy().astype("datetime64[us]")
    if dtype == nw.Date:
        return column.to_numpy().astype("datetime64[D]")
    if dtype.is_numeric():
        times = column.to_numpy()
        bad = np.flatnonzero(~np.isfinite(times))
        if len(bad):
            raise ValueError(f"column {name!r} has no time at row {bad[0]}; drop such rows")
        return times
    return _read_text(column.to_list(), name)


def to_steps(times: np.ndarray, frequency: Any, name: str) -> np.ndarray:
    """Each time as the start of its hour, day, week (Monday), month or year, or of its step.

    Parameters
    ----------
    times : ndarray of datetime64 or numbers
    frequency : {"hour", "day", "week", "month", "year"} or number
        A number for times that are numbers: steps of that length, counted from 0.
    name : str
        Of the column, for messages.
    """
    if times.dtype.kind == "M":
        if frequency not in FREQUENCIES:
            raise ValueError(
                f"frequency={frequency!r}, but column {name!r} holds dates: choose one of "
                f"{', '.join(FREQUENCIES)}"
            )
        if frequency != "week":
            return times.astype(f"datetime64[{_UNITS[frequency]}]")
        days = times.astype("datetime64[D]").astype(np.int64)
        return (days - (days + _TO_MONDAY) % 7).astype("datetime64[D]")
    if isinstance(frequency, str) or not frequency > 0:
        raise ValueError(
            f"frequency={frequency!r}, but column {name!r} holds numbers: give a step above 0"
        )
    return np.floor(times / frequency) * frequency


def all_steps(times: np.ndarray, frequency: Any) -> tuple[np.ndarray, np.ndarray]:
    """Every step from the first of `times` to the last, and which of them each of `times` is."""
    first, last = times[0], times[-1]
    if times.dtype.kind == "M":
        step = np.timedelta64(7 if frequency == "week" else 1, np.datetime_data(times.dtype)[0])
        return np.arange(first, last + step, step), ((times - first) // step).astype(np.intp)
    place = np.rint((times - first) / frequency).astype(np.intp)
    return first + frequency * np.arange(place[-1] + 1), place


def as_numbers(times: np.ndarray) -> np.ndarray:
    """Times on a line, to interpolate along."""
    if times.dtype.kind == "M":
        return times.astype("datetime64[us]").astype(np.int64).astype(np.float64)
    return times.astype(np.float64)


def _read_text(values: list, name: str) -> np.ndarray:
    """Text or date objects as datetime64; each distinct one is read once."""
    distinct: dict[Any, int] = {}
    codes = [distinct.setdefault(value, len(distinct)) for value in values]
    for value in distinct:
        if isinstance(value, str) and not _ISO.fullmatch(value):
            _refuse(value, name)
    texts = [value.replace(" ", "T") if isinstance(value, str) else value for value in distinct]
    read = np.empty(len(texts), dtype="datetime64[us]")
    for i, text in enumerate(texts):
        try:
            read[i] = np.datetime64(text, "us")
        except (ValueError, TypeError):
            _refuse(text, name)
    if np.array_equal(read, read.astype("datetime64[D]")):
        read = read.astype("datetime64[D]")
    return read[np.array(codes, dtype=np.intp)]


def _refuse(value: Any, name: str) -> None:
    raise ValueError(
        f"column {name!r} holds {value!r}, which is neither a number nor a date such as "
        "'2020-01-31' or '2020-01-31T18:00'; turn the column into dates or numbers first, for "
        "example with pandas.to_datetime or polars' str.to_datetime"
    )
