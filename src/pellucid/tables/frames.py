"""Data frames as arrays of numbers, tables of any kind as named columns, and dates as days.

narwhals reads the data frames of all libraries. scikit-learn's `check_array` would read a table of
mixed columns as objects; columns are therefore converted one by one, so that an error names one.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from numbers import Number
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from pellucid._utils.notices import InputError
from pellucid.tables.column_formats import PLAIN, ColumnFormat


class PlainTable(NamedTuple):
    """Column names and values of a numeric table."""

    names: list[Any]
    numbers: np.ndarray


def read_plain_table(X: Any) -> PlainTable | None:
    """The names and the numbers of a pandas, polars or pyarrow table that can be converted as a
    whole, else None. Conversion by column dominates the time of a prediction for few rows.
    """
    if isinstance(X, (np.ndarray, list)) or sparse.issparse(X):
        return None
    from narwhals import dependencies

    if dependencies.is_pandas_dataframe(X):
        dtypes = set(X.dtypes)
        if all(isinstance(dtype, np.dtype) and dtype.kind in "fiub" for dtype in dtypes):
            single = dtypes == {np.dtype(np.float32)}
            return PlainTable(X.columns.tolist(), X.to_numpy(np.float32 if single else np.float64))
    elif dependencies.is_polars_dataframe(X):
        if {str(dtype) for dtype in set(X.dtypes)} in ({"Float64"}, {"Float32"}):
            return PlainTable(X.columns, X.to_numpy())
    elif dependencies.is_pyarrow_table(X) and {str(t) for t in X.schema.types} == {"double"}:
        numbers = np.empty(X.shape, order="F")
        for position, column in enumerate(X.itercolumns()):
            numbers[:, position] = column.to_numpy()
        return PlainTable(X.column_names, numbers)
    return None


def as_table(X: Any) -> Any:
    """`X` as a narwhals data frame, or None if it is not a data frame."""
    if isinstance(X, np.ndarray) or sparse.issparse(X):
        return None
    refuse_scan(X)
    import narwhals as nw

    try:
        table = nw.from_native(X, pass_through=True)
    except nw.exceptions.DuplicateError:
        names = [str(name) for name in getattr(X, "column_names", X.columns)]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(
            f"column {twice!r} appears more than once; column names must be unique"
        ) from None
    if isinstance(table, nw.LazyFrame):
        raise TypeError("X is a lazy frame; call its collect() first")
    return table if isinstance(table, nw.DataFrame) else None


def is_scan(X: Any) -> bool:
    """Whether X is a result of `pellucid.scan`, without loading the module if it is not."""
    return type(X).__module__.startswith("pellucid.scale")


def refuse_scan(X: Any) -> None:
    if is_scan(X):
        raise InputError(
            "rows in memory are needed here, not a scan",
            hint="fit and predict of IMM, EMN, BSIMM, ExGreedy, ExShallow, ExKMC and "
            "ExplainableKMeans take scans",
        )


class _Names:
    """The shape and the column names of a table, in a form that scikit-learn can read."""

    def __init__(self, table: Any) -> None:
        self.shape, self.column_names = table.shape, lambda: table.columns

    def __dataframe__(self) -> _Names:
        return self


def with_names(X: Any, table: Any) -> Any:
    """`X` itself, or a proxy if scikit-learn cannot read the column names of its type. Older
    versions use the data frame interchange protocol, which newer polars does not support.
    """
    probe = BaseEstimator()
    validate_data(probe, X, skip_check_array=True)
    return X if hasattr(probe, "feature_names_in_") else _Names(table)


def table_to_array(table: Any) -> np.ndarray:
    """A table of any numeric types as an array, converted column by column. Objects that are
    numbers, such as `Decimal`, and sparse columns of pandas are numeric too.
    """
    import narwhals as nw

    single = all(dtype == nw.Float32 for dtype in table.schema.values())
    array = np.empty(table.shape, dtype=np.float32 if single else np.float64, order="F")
    for position, (name, dtype) in enumerate(table.schema.items()):
        column = table.get_column(name)
        if dtype.is_numeric() or dtype == nw.Boolean:
            array[:, position] = column.cast(nw.Float32 if single else nw.Float64).to_numpy()
            continue
        numbers = _numbers_of_objects(column) if dtype in (nw.Object, nw.Unknown) else None
        if numbers is None:
            remedy = "encode it first, for example with sklearn.preprocessing.OneHotEncoder"
            if dtype.is_temporal():
                days = "the days since its first value"
                remedy = f"convert it to a number first, for example to {days}"
            raise ValueError(
                f"column {name!r} is not numeric (its type is {dtype}); drop it, or {remedy}; "
                "for tables of mixed columns use pellucid.explain"
            )
        array[:, position] = numbers
    return array


def _numbers_of_objects(column: Any) -> np.ndarray | None:
    """The values of a column as float64, or None unless all are numbers or missing."""
    values = np.asarray(column.to_native())
    if values.dtype == object and any(isinstance(value, (str, bytes)) for value in values):
        return None
    try:
        return values.astype(np.float64) if values.dtype.kind in "Ofiub" else None
    except (TypeError, ValueError):
        return None


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
        """The columns of a data frame, or of a 2-D array, which are named ``x0, x1, ...``. Numeric
        columns become arrays of numbers; all others, including booleans, arrays of objects.
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
        return [is_numeric(column) for column in self.values]

    def take(self, positions: Iterable[int]) -> Columns:
        positions = list(positions)
        names = [self.names[i] for i in positions]
        return Columns(names, [self.values[i] for i in positions], self.are_named)

    def take_rows(self, rows: np.ndarray) -> Columns:
        return Columns(self.names, [column[rows] for column in self.values], self.are_named)

    def like(self, names: list[str]) -> Columns:
        """The columns with the given names; without own names, all columns under these names."""
        if not self.are_named:
            if len(self.names) != len(names):
                n, known = len(self.names), ", ".join(map(repr, names))
                raise ValueError(f"X has {n} columns, but fit had {len(names)}: {known}")
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
    """Formats of the columns of which all values are dates, times or missing, by name; without the
    columns at the positions `categorical`.
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
