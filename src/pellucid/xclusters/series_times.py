"""Times of series: time columns, names of the columns of wide tables, and equal steps."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from os.path import commonprefix
from typing import Any, NamedTuple, NoReturn

import numpy as np

from pellucid._utils.notices import InputError, option
from pellucid.xclusters.features import format_names

FREQUENCIES = ("hour", "day", "week", "month", "year")
_UNITS = {"hour": "h", "day": "D", "month": "M", "year": "Y"}
# NumPy would parse "20200101" as the year 20,200,101.
_ISO = re.compile(r"\d{4}-\d{2}(-\d{2}([T ].+)?)?")
# Formats in which day and month cannot be confused.
_FORMATS = (
    *("%b %d %Y", "%B %d %Y", "%b %d, %Y", "%B %d, %Y", "%d %b %Y", "%d %B %Y", "%d. %B %Y"),
    *("%d-%b-%Y", "%d-%B-%Y", "%b %Y", "%B %Y", "%Y/%m/%d", "%Y.%m.%d", "%Y/%m"),
)
# Day 0 of NumPy, 1 January 1970, was a Thursday; weeks start on Monday.
_DAYS_SINCE_MONDAY = 3

_YEAR = re.compile(r"(?P<prefix>\D{0,12})(?P<year>1[5-9]\d\d|2[01]\d\d)(?P<suffix>\D.*)?")

_NUMBER = re.compile(r"-?\d+(\.\d+)?")

FEWEST_TIMES = 3  # fewer columns with names of times are not taken for a series


def read_times(column: Any) -> np.ndarray:
    """Convert a narwhals column of dates, times, numbers or text to datetime64 or numbers."""
    import narwhals as nw

    name, dtype = column.name, column.dtype
    is_missing = column.is_null().to_numpy()
    if dtype.is_numeric():
        is_missing = is_missing | ~np.isfinite(column.to_numpy())
    if len(missing := np.flatnonzero(is_missing)):
        raise ValueError(f"column {name!r} has no time at row {missing[0]}; drop such rows")
    if dtype == nw.Datetime:
        if dtype.time_zone is not None:
            column = column.dt.replace_time_zone(None)
        return column.to_numpy().astype("datetime64[us]")
    if dtype == nw.Date:
        return column.to_numpy().astype("datetime64[D]")
    return column.to_numpy() if dtype.is_numeric() else _read_text(column.to_list(), name)


def parse_dates(texts: Sequence[str]) -> np.ndarray | None:
    """Parse dates of one format in which day and month cannot be confused; None if none fits."""
    if all(map(_ISO.fullmatch, texts)):
        try:
            return np.array([text.replace(" ", "T") for text in texts], dtype="datetime64[D]")
        except ValueError:
            return None
    for form in _FORMATS:
        try:
            dates = [dt.datetime.strptime(text.strip(), form).date() for text in texts]
        except ValueError:
            continue
        return np.array(dates, dtype="datetime64[D]")
    return None


def time_axis(times: np.ndarray, frequency: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    """All times or steps in ascending order, and the index of each of `times` among them."""
    if frequency is None:
        return np.unique(times, return_inverse=True)
    times = _to_steps(times, frequency, name)
    first, last = times.min(), times.max()
    if times.dtype.kind == "M":
        unit: Any = np.datetime_data(times.dtype)[0]
        step = np.timedelta64(7 if frequency == "week" else 1, unit)
        return np.arange(first, last + step, step), ((times - first) // step).astype(np.intp)
    position = np.rint((times - first) / frequency).astype(np.intp)
    return first + frequency * np.arange(position.max() + 1), position


def _to_steps(times: np.ndarray, frequency: Any, name: str) -> np.ndarray:
    """Round each time down to the start of its step; weeks start on Monday, numeric steps at 0."""
    if times.dtype.kind == "M":
        if frequency not in FREQUENCIES:
            raise ValueError(
                f"frequency={frequency!r}, but column {name!r} contains dates: choose one of "
                f"{', '.join(FREQUENCIES)}"
            )
        if frequency != "week":
            return times.astype(f"datetime64[{_UNITS[frequency]}]")
        days = times.astype("datetime64[D]").astype(np.int64)
        return (days - (days + _DAYS_SINCE_MONDAY) % 7).astype("datetime64[D]")
    if isinstance(frequency, str) or not frequency > 0:
        raise ValueError(
            f"frequency={frequency!r}, but column {name!r} contains numbers: use a positive number"
        )
    return np.floor(times / frequency) * frequency


def _read_text(values: list[Any], name: str) -> np.ndarray:
    """Convert text or date objects to datetime64; each distinct value is parsed once."""
    distinct: dict[Any, int] = {}
    codes = np.array([distinct.setdefault(v, len(distinct)) for v in values], dtype=np.intp)
    for value in distinct:
        if isinstance(value, str) and not _ISO.fullmatch(value):
            dates = parse_dates([v for v in distinct if isinstance(v, str)])
            if dates is None or len(dates) < len(distinct):
                _raise_unreadable(value, name)
            return dates[codes]
    texts = [value.replace(" ", "T") if isinstance(value, str) else value for value in distinct]
    times = np.empty(len(texts), dtype="datetime64[us]")
    for i, text in enumerate(texts):
        try:
            times[i] = np.datetime64(text, "us")
        except (ValueError, TypeError):
            _raise_unreadable(text, name)
    if np.array_equal(times, times.astype("datetime64[D]")):
        times = times.astype("datetime64[D]")
    return times[codes]


def _raise_unreadable(value: Any, name: str) -> NoReturn:
    raise ValueError(
        f"column {name!r} contains {value!r}, which is neither a number nor a date such as "
        "'2020-01-31' or '2020-01-31T18:00'; convert the column to dates or numbers first, for "
        "example by pandas.to_datetime or polars' str.to_datetime"
    )


class TimeColumns(NamedTuple):
    """Columns of one series and the prefix that their names share."""

    names: list[str]
    prefix: str


def find_time_columns(names: Sequence[str]) -> TimeColumns | None:
    """Numeric columns named by times, such as ``y1952`` or ``2020-01-31``; None if few."""
    groups: dict[str, list[str]] = {}
    for name in names:
        if parse_dates([name]) is not None:
            groups.setdefault("", []).append(name)
        elif (match := _YEAR.fullmatch(name)) is not None:
            groups.setdefault(match["prefix"], []).append(name)
    found = [TimeColumns(g, prefix) for prefix, g in groups.items() if len(g) >= FEWEST_TIMES]
    if len(found) > 1:
        first, second = (f"'{group.prefix}*'" for group in found[:2])
        raise InputError(
            f"the columns of the times form several series, such as {first} and {second}",
            hint=f"choose one by {option('times')} {first}",
        )
    return found[0] if found else None


def match_columns(names: Sequence[str], selection: Sequence[str]) -> list[str]:
    """Columns given by name, by a pattern such as ``y19*``, or by a range ``first:last``."""
    names = list(names)
    chosen: set[str] = set()
    for item in selection:
        if item in names:
            chosen.add(item)
            continue
        matched = [name for name in names if fnmatchcase(name, item)]
        first, colon, last = item.partition(":")
        if not matched and colon and first in names and last in names:
            matched = names[names.index(first) : names.index(last) + 1]
        if not matched:
            raise InputError(
                f"no column has the name, pattern or range {item!r}",
                hint=f"the columns are {format_names(names)}",
            )
        chosen.update(matched)
    return [name for name in names if name in chosen]


def read_column_times(names: Sequence[str]) -> np.ndarray:
    """Times from the names of columns without a shared prefix: numbers or dates, else 1, 2, ..."""
    prefix = re.sub(r"[\d./:-]+$", "", commonprefix(list(names)))  # noqa: RUF071
    for texts in (list(names), [name.removeprefix(prefix).strip() for name in names]):
        if (dates := parse_dates(texts)) is not None:
            return dates
        if all(map(_NUMBER.fullmatch, texts)):
            numbers = np.array(texts, dtype=np.float64)
            return numbers.astype(np.int64) if (numbers == np.rint(numbers)).all() else numbers
    years = [match["year"] for match in map(_YEAR.fullmatch, names) if match is not None]
    if len(set(years)) == len(names):
        return np.array(years, dtype=np.int64)
    return np.arange(1, len(names) + 1)
