"""Tables of any kind as named columns."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Number
from typing import Any

import numpy as np


class Columns:
    """Columns of a table, each a 1-D array of numbers or objects.

    Parameters
    ----------
    names : list of str
    values : list of ndarray
    are_named : bool
        Whether the table itself has column names, so that columns are found by name.
    """

    names: list[str]
    values: list[np.ndarray]
    are_named: bool

    def __init__(self, names: list[str], values: list[np.ndarray], are_named: bool) -> None:
        self.names, self.values, self.are_named = names, values, are_named

    @classmethod
    def of(cls, table: Any) -> Columns:
        """The columns of a pandas, polars or pyarrow table, or of a 2-D array.

        Numeric columns become arrays of numbers; all others, including booleans, arrays of
        objects. The columns of an array are named ``x0, x1, ...``.
        """
        from pellucid.tables.frames import as_table

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
