"""Columns, intervals and boxes as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from pellucid._utils.texts import rule_words, say
from pellucid.tables.column_formats import PLAIN, ColumnFormat
from pellucid.tables.encoding import Indicator


class ColumnName(str):
    """Name of a column with the format of its values; a string, for shapes of users."""

    written: ColumnFormat

    def __new__(cls, name: str, written: ColumnFormat = PLAIN) -> ColumnName:
        found = super().__new__(cls, name)
        found.written = written
        return found


def format_of(name: str) -> ColumnFormat:
    """The format of the values of a column."""
    return name.written if isinstance(name, ColumnName) else PLAIN


def with_formats(
    names: Iterable[str | Indicator], formats: Mapping[str, ColumnFormat]
) -> list[str | Indicator]:
    """Descriptions of columns with the formats of their values."""
    return [n if isinstance(n, Indicator) else ColumnName(n, formats.get(n, PLAIN)) for n in names]


def column_texts(names: Iterable[str | Indicator]) -> list[str]:
    """Descriptions of columns as strings, which keep their format."""
    return [name if isinstance(name, str) else str(name) for name in names]


def short_number(value: float, scale: float, name: str) -> str:
    """A value of a column, rounded to about two significant digits of `scale`; dates to days."""
    digits = 1 - int(np.floor(np.log10(scale))) if scale > 0 else 6
    written = format_of(name)
    if written.is_date:
        digits = 0 if written.kind == "date" else max(digits, 0)
    return written.text(float(np.round(value, digits)))


def short_distance(distance: float, name: str) -> str:
    """A distance in a column, rounded to about two significant digits; of dates, in days."""
    if format_of(name).is_date:
        days = float(short_number(distance, distance, ""))
        return say("days", n=int(days) if days.is_integer() else days)
    return short_number(distance, distance, name)


def describe_extents(ends: Iterable[tuple[str, float, float]]) -> str:
    """Text of an interval per column, rounded to about two significant digits of its length."""
    return f" {rule_words().and_} ".join(
        f"{short_number(low, high - low, name)} ≤ {name} ≤ {short_number(high, high - low, name)}"
        for name, low, high in ends
    )


def describe_interval(low: float, high: float, name: str | Indicator) -> str:
    """Text of an interval; empty if it has no finite end."""
    if isinstance(name, Indicator):
        is_one, is_zero = low >= 0, high < 1
        return str(name) if is_one else name.negation if is_zero else ""
    ends = {"low": low, "high": high}
    bounds = {side: float(end) for side, end in ends.items() if not np.isinf(end)}
    return format_of(name).condition(name, **bounds) if bounds else ""


def describe_box(lower: np.ndarray, upper: np.ndarray, names: Sequence[str | Indicator]) -> str:
    """Text of a box."""
    parts = [describe_interval(*ends) for ends in zip(lower, upper, names)]
    return f" {rule_words().and_} ".join(filter(None, parts)) or rule_words().everywhere
