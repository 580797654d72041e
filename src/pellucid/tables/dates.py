"""Dates among the columns of a table, as numbers of days."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import date, datetime

import numpy as np

from pellucid.tables.column_formats import PLAIN, ColumnFormat
from pellucid.tables.columns import Columns, is_numeric
from pellucid.tables.encoding import as_category


def date_formats(columns: Columns, categorical: Collection[int] = ()) -> dict[str, ColumnFormat]:
    """Formats of the columns of dates or times, by name.

    A column holds dates if all its values are dates or missing. The columns at the positions
    `categorical` are left out.

    Examples
    --------
    >>> from datetime import date
    >>> from pellucid.tables.columns import Columns
    >>> from pellucid.tables.dates import date_formats
    >>> table = Columns.of([[date(2020, 1, 31), "f"], [date(2021, 5, 1), "m"]])
    >>> {name: found.kind for name, found in date_formats(table).items()}
    {'x0': 'date'}
    """
    found = {}
    for i, (name, column) in enumerate(zip(columns.names, columns.values)):
        if i in categorical or is_numeric(column):
            continue
        values = {as_category(value) for value in set(column.tolist())} - {None}
        if values and all(isinstance(value, date) for value in values):
            has_times = any(isinstance(value, datetime) and _has_time(value) for value in values)
            found[name] = ColumnFormat("datetime" if has_times else "date")
    return found


def dates_as_days(columns: Columns, formats: Mapping[str, ColumnFormat]) -> Columns:
    """The columns with dates as days since 1970-01-01."""
    if not formats:
        return columns
    values = [_read(*part, formats) for part in zip(columns.names, columns.values)]
    return Columns(columns.names, values, columns.are_named)


def _read(name: str, column: np.ndarray, formats: Mapping[str, ColumnFormat]) -> np.ndarray:
    try:
        return formats.get(name, PLAIN).read(column)
    except (TypeError, ValueError) as error:
        raise ValueError(f"column {name!r} holds dates, but {error}") from None


def _has_time(value: datetime) -> bool:
    return bool(value.hour or value.minute or value.second or value.microsecond)
