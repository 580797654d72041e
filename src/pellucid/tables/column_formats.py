"""How the values of a numeric column are read and written: dates, units, years, small integers."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal

import numpy as np

from pellucid.tree.rounding import ThresholdStyle, choose_threshold

Kind = Literal["number", "integer", "year", "date", "datetime"]

_EPOCH = date(1970, 1, 1).toordinal()
_MICROSECONDS = 86_400_000_000  # microseconds per day
_MONTHS = (120, 12, 1)  # a round date is the first day of a decade, a year or a month
_PARTS_OF_A_DAY = (24, 24 * 60, 24 * 60 * 60)  # a round time is a whole hour, minute or second


def format_number(value: float) -> str:
    """Shortest text that reads back as exactly `value`, without a trailing ``.0``."""
    value += 0.0  # -0.0 becomes 0
    if value != 0 and not 1e-5 <= abs(value) < 1e16:
        return np.format_float_scientific(value, trim="-")
    return np.format_float_positional(value, trim="-")


@dataclass(frozen=True)
class ColumnFormat:
    """How the numbers of one column of a table are read and written.

    A date or a time is a number of days since 1970-01-01; a time has a fraction.

    Attributes
    ----------
    kind : {"number", "integer", "year", "date", "datetime"}
        A year is an integer that is written without thousands separators.
    prefix, suffix : str
        Text around each number in the file, such as ``$`` or ``%``.
    values : tuple of int
        All values of an integer column that has few of them, in increasing order; otherwise empty.
    date_format : str
        Format of dates in the file, as for ``datetime.strptime``; empty if the column has a date
        type.

    Examples
    --------
    >>> from pellucid.tables.column_formats import ColumnFormat
    >>> ColumnFormat(prefix="$").text(15000.0)
    '$15000'
    >>> ColumnFormat("date").condition("signup", high=18701.0)
    'signup ≤ 2021-03-15'
    >>> cylinders = ColumnFormat("integer", values=(4, 6, 8))
    >>> cylinders.condition("cyl", low=5.0, high=7.0)
    'cyl = 6'
    >>> cylinders.condition("cyl", low=5.0)
    'cyl ≥ 6'
    """

    kind: Kind = "number"
    prefix: str = ""
    suffix: str = ""
    values: tuple[int, ...] = ()
    date_format: str = ""

    @property
    def is_date(self) -> bool:
        """Whether the numbers are days since 1970-01-01."""
        return self.kind in ("date", "datetime")

    @property
    def is_whole(self) -> bool:
        return self.kind in ("integer", "year", "date")

    def as_dict(self) -> dict[str, Any]:
        """The attributes that differ from the defaults, as strings and lists."""
        found = {f.name: getattr(self, f.name) for f in fields(self)}
        found["values"] = list(self.values)
        return {"kind": found.pop("kind"), **{name: v for name, v in found.items() if v}}

    def text(self, value: float) -> str:
        if self.is_date:
            return date_text(value, with_time=self.kind == "datetime")
        sign = "-" if value < 0 and self.prefix else ""
        return f"{sign}{self.prefix}{format_number(abs(value) if sign else value)}{self.suffix}"

    def condition(self, name: str, *, low: float | None = None, high: float | None = None) -> str:
        """The text of ``low < name <= high``, in which one bound may be left out."""
        before, after = self.around(low=low, high=high)
        return f"{before}{name}{after}"

    def around(self, *, low: float | None = None, high: float | None = None) -> tuple[str, str]:
        """The text of :meth:`condition` before and after the name of the column: an equation if
        only one integer or day is between the bounds. Known values of integers replace the bounds.
        """
        inside = self._inside(low, high)
        if len(inside) == 1:
            return "", f" = {self.text(inside[0])}"
        after = "" if high is None else f" ≤ {self.text(inside[-1] if inside else high)}"
        if low is None:
            return "", after
        first, sign, swapped = (inside[0], "≤", "≥") if inside else (low, "<", ">")
        if high is None:
            return "", f" {swapped} {self.text(first)}"
        return f"{self.text(first)} {sign} ", after

    def _inside(self, low: float | None, high: float | None) -> list[int]:
        """The known values between the bounds; without known values, a single integer or none."""
        if self.values and self.kind in ("integer", "year"):
            at_least = -math.inf if low is None else low
            at_most = math.inf if high is None else high
            return [value for value in self.values if at_least < value <= at_most]
        if self.is_whole and low is not None and high is not None:
            first, last = math.floor(low) + 1, math.floor(high)
            return [first] if first == last else []
        return []

    def read(self, column: np.ndarray) -> np.ndarray:
        """A column of dates (days, ``datetime64``, or objects as in `days`) as days; any other as
        it is.
        """
        if not self.is_date or column.dtype.kind in "fiu":
            return column
        if column.dtype.kind == "M":
            return _as_days(column.astype("datetime64[us]"))
        cells = column.tolist()
        days = {cell: math.nan if cell is None else self.days(cell) for cell in set(cells)}
        return np.array([days[cell] for cell in cells], np.float64)

    def days(self, value: Any) -> float:
        """Days since 1970-01-01 of a date, a time, in UTC, or its text; a number as it is."""
        if isinstance(value, str):
            value = self._parse(value.strip())
        if isinstance(value, datetime):
            if value != value:  # pandas' NaT
                return math.nan
            if value.tzinfo is not None:
                value = value.astimezone(UTC).replace(tzinfo=None)
            since = value - datetime(1970, 1, 1)
            seconds = since.days * 86_400 + since.seconds
            return (seconds * 1_000_000 + since.microseconds) / _MICROSECONDS
        if isinstance(value, date):
            return float(value.toordinal() - _EPOCH)
        if isinstance(value, np.datetime64):
            return float(_as_days(np.array([value], "datetime64[us]"))[0])
        return float(value)

    def _parse(self, text: str) -> datetime:
        if self.date_format:
            # A format that repeats a directive raises re.error.
            with suppress(ValueError, re.error):
                return datetime.strptime(text, self.date_format)
        try:
            return datetime.fromisoformat(text.removesuffix("Z"))
        except ValueError:
            own = f"the format {self.date_format!r} or in " if self.date_format else ""
            raise ValueError(f"{text!r} is not a date in {own}ISO format") from None

    def choose_threshold(self, low: float, high: float, style: ThresholdStyle) -> float:
        """A threshold in the interval [low, high) that is short in this format. For dates,
        ``"round"`` is the first day of a decade, year or month, a whole hour, minute or second.
        """
        if style == "round" and self.is_date:
            return self._round_date(low, high)
        if style == "round" and self.values:
            return low
        threshold = choose_threshold(low, high, style)
        return max(low, float(math.floor(threshold))) if self.is_whole else threshold

    def _round_date(self, low: float, high: float) -> float:
        middle = low / 2 + high / 2
        for months in _MONTHS:
            if found := list(_first_days(low, high, months)):
                return min(found, key=lambda day: abs(day - middle))
        if self.kind == "datetime":
            for parts in (1, *_PARTS_OF_A_DAY):
                first, last = math.ceil(low * parts), math.ceil(high * parts) - 1
                day = min(max(round(middle * parts), first), last) / parts
                if first <= last and low <= day < high:
                    return day
        return low


PLAIN = ColumnFormat()  # the format of a column of numbers without units


def date_text(days: float, *, with_time: bool = False) -> str:
    """ISO text of a number of days since 1970-01-01, without seconds, fractions and (unless
    `with_time`) a time that are 0. A number outside the years 1 to 9999 is written as a number.
    """
    moment = as_datetime(days)
    if moment is None:
        return format_number(days)
    if not with_time and days == math.floor(days):
        return moment.date().isoformat()
    parts = "microseconds" if moment.microsecond else "seconds" if moment.second else "minutes"
    return moment.isoformat(" ", parts)


def as_datetime(days: float) -> datetime | None:
    """The last microsecond that is at most `days` after 1970-01-01, which so compares like them
    with any time; None outside the years 1-9999.
    """
    days = float(days)
    if not abs(days) < 1e7:
        return None
    microseconds = round(days * _MICROSECONDS)
    while microseconds / _MICROSECONDS > days:
        microseconds -= 1
    while (microseconds + 1) / _MICROSECONDS <= days:
        microseconds += 1
    try:
        return datetime(1970, 1, 1) + timedelta(microseconds=microseconds)
    except OverflowError:
        return None


def _as_days(column: np.ndarray) -> np.ndarray:
    days = column.astype(np.int64) / _MICROSECONDS
    return np.where(np.isnat(column), math.nan, days)


def _first_days(low: float, high: float, months: int) -> Iterator[float]:
    """First days of periods of so many months in the interval [low, high)."""
    first, last = as_datetime(low), as_datetime(high)
    if first is None or last is None:
        return
    start = (12 * first.year + first.month - 1) // months
    for period in range(start, (12 * last.year + last.month - 1) // months + 1):
        year, month = divmod(period * months, 12)
        if year >= 1:
            day = float(date(year, month + 1, 1).toordinal() - _EPOCH)
            if low <= day < high:
                yield day
