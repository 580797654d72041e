"""Columns of a new table in the form that a saved model expects."""

from __future__ import annotations

import polars as pl

from pellucid._utils.notices import InputError
from pellucid.tables.column_formats import ColumnFormat
from pellucid.tables.reading.dates import days, parse_dates, read_dates
from pellucid.tables.reading.missing import MARKERS
from pellucid.tables.reading.numbers import read_numbers

_DATES = ("date", "datetime")


def as_format(
    column: pl.Series, column_format: ColumnFormat, *, decimal: str = "."
) -> tuple[pl.Series, int]:
    """A column as numbers, and the number of values that could not be read.

    Parameters
    ----------
    column : Series
        Numbers, dates, or text.
    column_format : ColumnFormat
        How the model reads the column. Dates become days since 1970-01-01, with a fraction for
        times. Numbers in text may have the prefix and suffix of the format, or none.
    decimal : {".", ","}
        Decimal sign of numbers in text.

    Returns
    -------
    numbers : Series of Float64
        Null where the value is missing or could not be read.
    n_unread : int
        Number of values that are neither numbers, or dates, nor missing.
    """
    name, dtype = column.name, column.dtype
    is_date = column_format.kind in _DATES
    if dtype == pl.String:
        return _from_text(column, column_format, decimal)
    if dtype == pl.Duration and not is_date:
        return column.dt.total_microseconds().cast(pl.Float64) / (24 * 60 * 60 * 1e6), 0
    if dtype.is_temporal():
        if not is_date or dtype not in (pl.Date, pl.Datetime):
            raise InputError(f"column {name!r} has dates, but the model expects numbers")
        return days(column).alias(name), 0
    if is_date and dtype != pl.Null:
        if dtype.is_integer() and column_format.date_format == "%Y%m%d":
            return _from_text(column.cast(pl.String), column_format, decimal)
        raise InputError(f"column {name!r} has numbers, but the model expects dates")
    if not (dtype.is_numeric() or dtype in (pl.Boolean, pl.Null)):
        raise InputError(f"column {name!r} is not numeric (its type is {dtype})")
    numbers = column.cast(pl.Float64)
    is_infinite = numbers.is_infinite().fill_null(False)
    finite = pl.select(pl.when(numbers.is_finite()).then(numbers)).to_series()
    return finite.alias(name), int(is_infinite.sum())


def _from_text(
    column: pl.Series, column_format: ColumnFormat, decimal: str
) -> tuple[pl.Series, int]:
    values = column.str.strip_chars()
    is_marker = values.str.to_lowercase().is_in([*MARKERS, ""]).fill_null(True)
    counts = pl.Series([1] * len(values), dtype=pl.Int64)
    if column_format.kind in _DATES:
        if column_format.date_format:
            parsed = parse_dates(values, column_format.date_format)
            numbers = days(parsed)
        else:
            found = read_dates(values.set(is_marker, None), counts, day_first=False)
            numbers = pl.Series([None] * len(values), dtype=pl.Float64)
            numbers = days(found.values) if found is not None else numbers
    else:
        found_numbers = read_numbers(values, counts, decimal)
        numbers = found_numbers.numbers
    numbers = pl.select(pl.when(numbers.is_finite()).then(numbers)).to_series()
    n_unread = int((numbers.is_null() & ~is_marker).sum())
    return numbers.set(is_marker, None).alias(column.name), n_unread
