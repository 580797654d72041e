"""Tables of any kind as named columns, and dates among them as numbers of days."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from numbers import Number
from typing import Any

import numpy as np

from pellucid.tables.column_formats import PLAIN, ColumnFormat
from pellucid.tables.frames import as_table


@dataclass(eq=False)
class Columns:
    """Columns of a table, each a 1-D array of numbers or objects.

    `are_named` says whether the table itself has column names, so that columns are found by name.
    """

    names: list[str]
    values: list[np.ndarray]
    are_named: bool

    @classmethod
    def of(cls, table: Any) -> Columns:
        """The columns of a pandas, polars or pyarrow table, or of a 2-D array.

        Numeric columns become arrays of numbers; all others, including booleans, arrays of
        objects. The columns of an array are named ``x0, x1, ...``.
        """
        if isinstance(table, Columns):
            return table
        frame = None if isinstance(table, (list, tuple)) else as_table(table)
        if frame is not None:
            names = [str(name) for name in frame.columns]
            return cls(names, [frame_column(frame, name) for name in frame.columns], True)
        array = table if isinstance(table, np.ndarray) else np.array(table, dtype=object)
        if array.ndim != 2:
            raise ValueError(
                f"expected a 2-D table, got an array of shape {array.shape}; "
                "reshape a single column with .reshape(-1, 1)"
            )
        names = [f"x{i}" for i in range(array.shape[1])]
        return cls(names, [_plain(column) for column in array.T], False)

    def __len__(self) -> int:
        return len(self.values[0]) if self.values else 0

    @property
    def are_numeric(self) -> list[bool]:
        """For each column, whether it holds numbers."""
        return [is_numeric(column) for column in self.values]

    def take(self, positions: Iterable[int]) -> Columns:
        """The columns at the given positions."""
        positions = list(positions)
        names = [self.names[i] for i in positions]
        return Columns(names, [self.values[i] for i in positions], self.are_named)

    def take_rows(self, rows: np.ndarray) -> Columns:
        """The columns at the given rows."""
        return Columns(self.names, [column[rows] for column in self.values], self.are_named)

    def like(self, names: list[str]) -> Columns:
        """The columns with the given names; without own names, all columns under these names."""
        if not self.are_named:
            if len(self.names) != len(names):
                raise ValueError(
                    f"X has {len(self.names)} columns, but fit had {len(names)}: "
                    f"{', '.join(map(repr, names))}"
                )
            return Columns(names, self.values, False)
        for name in names:
            if name not in self.names:
                raise ValueError(
                    f"X has no column {name!r}, which was in fit; its columns are "
                    f"{', '.join(map(repr, self.names))}"
                )
        return self.take(map(self.names.index, names))


def is_numeric(column: np.ndarray) -> bool:
    """Whether a column of `Columns` holds numbers rather than categories."""
    return column.dtype.kind in "fiu"


def frame_column(frame: Any, name: Any) -> np.ndarray:
    """One column of a narwhals data frame as in `Columns`; its name need not be a string."""
    column, dtype = frame.get_column(name), frame.schema[name]
    if dtype.is_numeric():
        import narwhals as nw

        return column.cast(nw.Float64).to_numpy() if column.null_count() else column.to_numpy()
    values = np.empty(len(column), dtype=object)
    values[:] = column.to_list()
    return values


def _plain(column: np.ndarray) -> np.ndarray:
    """A column of an array: numbers if all values are numbers or missing, else objects."""
    if column.dtype.kind in "fiu":
        return column
    if column.dtype == object and all(map(_is_number, column)):
        return np.array([np.nan if v is None else v for v in column], dtype=np.float64)
    return column.astype(object)


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, Number) and not isinstance(value, (bool, np.bool_)))


def as_category(value: Any) -> Any:
    """A value as a hashable Python object; None if it is missing."""
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or (value != value) is not False:  # NaN, NaT and pandas' NA
        return None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, Hashable) else str(value)


def date_formats(columns: Columns, categorical: Collection[int] = ()) -> dict[str, ColumnFormat]:
    """Formats of the columns of which all values are dates, times or missing, by name.

    The columns at the positions `categorical` are left out.
    """
    found = {}
    for i, (name, column) in enumerate(zip(columns.names, columns.values)):
        if i in categorical or is_numeric(column):
            continue
        values = {as_category(value) for value in set(column.tolist())} - {None}
        if values and all(isinstance(value, date) for value in values):
            has_times = any(isinstance(v, datetime) and v.time() != time() for v in values)
            found[name] = ColumnFormat("datetime" if has_times else "date")
    return found


def dates_as_days(columns: Columns, formats: Mapping[str, ColumnFormat]) -> Columns:
    """The columns with dates as days since 1970-01-01."""
    if not formats:
        return columns
    values = [read_dates(*part, formats) for part in zip(columns.names, columns.values)]
    return Columns(columns.names, values, columns.are_named)


def read_dates(name: str, column: np.ndarray, formats: Mapping[str, ColumnFormat]) -> np.ndarray:
    """A column with dates as days; any other column as it is."""
    try:
        return formats.get(name, PLAIN).read(column)
    except (TypeError, ValueError) as error:
        raise ValueError(f"column {name!r} holds dates, but {error}") from None
