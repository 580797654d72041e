"""Read a table from a file, standard input or a data frame."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from numbers import Integral, Number, Real
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import polars as pl

from pellucid._utils.notices import InputError
from pellucid.tables.reading.contents import read_bytes, read_stream, unpack
from pellucid.tables.reading.parsing import parse_columns
from pellucid.tables.reading.source import DETECT, ReadingOptions, TableSource
from pellucid.tables.reading.text_files import read_text
from pellucid.tables.reading.typed_files import read_typed
from pellucid.tables.suffixes import TEXT

STDIN = Path("-")
# What polars and pyarrow raise for values that they cannot convert.
FAILURES = (Exception, pl.exceptions.PanicException)
# Types of columns by what their values are; all other columns are text.
_TYPES: dict[frozenset[str], list[Any]] = {
    frozenset(): [pl.Null],
    frozenset(["boolean"]): [pl.Boolean],
    frozenset(["integer"]): [pl.Int64, pl.UInt64],
    frozenset(["number"]): [pl.Float64],
    frozenset(["integer", "number"]): [pl.Float64],
    frozenset(["date"]): [pl.Date],
    frozenset(["datetime"]): [pl.Datetime("us")],
    frozenset(["date", "datetime"]): [pl.Datetime("us")],
    frozenset(["duration"]): [pl.Duration("us")],
    frozenset(["time"]): [pl.Time],
}
_TIMES = {datetime: "datetime", date: "date", timedelta: "duration", time: "time"}
# Python types of missing values; the last two are of pandas.
_MISSING = ("NoneType", "NaTType", "NAType")
# A type of Arrow at which polars panics, which prints lines that cannot be caught.
_WIDE = "decimal256"


def read_source(
    file: Path, options: ReadingOptions = DETECT, hints: ReadingOptions = DETECT
) -> TableSource:
    """Read a table from a file, or from standard input, ``Path("-")``. What is None in `options` is
    detected. `hints` is how a similar file was read, for what the file itself leaves open, such as
    the decimal sign of ``1,234``.
    """
    if file == STDIN:
        name, path = "standard input", PurePath("")
        content = read_stream(name, sys.stdin.buffer)
    else:
        name, path, content = str(file), file, read_bytes(file)
    content, suffix = unpack(name, content, path)
    if not content[:1024].strip() and not content.strip():
        raise InputError(f"{name} is empty", hint="a table needs a header line and rows")
    try:
        if suffix in TEXT:
            source = read_text(name, content, suffix, options, hints)
        else:
            table = read_typed(name, content, suffix, options)
            table = pl.DataFrame([plain_column(column) for column in table])
            source = _of_typed(name, table, suffix, options, hints)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        why = next(iter(str(error).splitlines()), type(error).__name__)
        raise InputError(f"{name} cannot be read: {why}") from error
    if source.table.height == 0:
        raise InputError(f"{name} has column names but no rows")
    return source


def source_of(table: Any, name: str = "table", hints: ReadingOptions = DETECT) -> TableSource:
    """A data frame or an array, with columns x0, x1, ..., as a `TableSource`; text columns are
    parsed as in files.
    """
    found = as_polars(table, name)
    if 0 in found.shape:
        what = "rows" if found.width else "columns"
        raise InputError(f"{name} has no {what}")
    return _of_typed(name, found, "", DETECT, hints)


def _of_typed(
    name: str, table: pl.DataFrame, suffix: str, options: ReadingOptions, hints: ReadingOptions
) -> TableSource:
    parsed = parse_columns(table, options, hints)
    comma = "," if parsed.decimal == "," else None
    used = ReadingOptions(decimal=options.decimal or comma, na=parsed.na)
    return TableSource(name, parsed.table, parsed.formats, used, None, suffix, table)


def as_polars(table: Any, name: str) -> pl.DataFrame:
    """A table, 2-D array or list of rows as a polars data frame; its columns are plain."""
    from narwhals import dependencies

    if isinstance(table, pl.DataFrame):
        return pl.DataFrame([plain_column(column) for column in table])
    if isinstance(table, pl.LazyFrame):
        raise InputError(f"{name} is a lazy frame", hint="call its collect() first")
    if dependencies.is_pandas_dataframe(table):
        names = _texts_of_names(table.columns, name)
        columns = [_of_pandas(each, table.iloc[:, j]) for j, each in enumerate(names)]
    elif dependencies.is_pyarrow_table(table):
        names = _texts_of_names(table.column_names, name)
        columns = [_of_pyarrow(each, column) for each, column in zip(names, table.itercolumns())]
    elif isinstance(table, (list, tuple, np.ndarray)):
        array = _array(table, name)
        columns = [_of_array(f"x{j}", array[:, j]) for j in range(array.shape[1])]
    else:
        hint = "give a pandas, polars or pyarrow table, or an array of rows and columns"
        raise InputError(f"{name} is of type {type(table).__name__}", hint=hint)
    return pl.DataFrame(columns)


def plain_column(column: pl.Series) -> pl.Series:
    """A column without extension types, and without Python objects where they have a type."""
    if column.dtype == pl.Object:
        return of_objects(column.name, column.to_list())
    dtype: Any = column.dtype
    if dtype.is_float() and dtype not in (pl.Float32, pl.Float64):
        return column.cast(pl.Float32)  # few functions of polars take floats of 16 bits
    if not hasattr(dtype, "ext_storage"):
        return column
    if dtype.ext_name().startswith("pandas."):
        try:
            return _of_pandas(column.name, column.to_pandas())
        except ImportError:
            return pl.Series(column.name, column.to_list(), dtype=pl.Object)
    return column.ext.storage()


def of_objects(name: str, values: Sequence[Any]) -> pl.Series:
    """Python objects as a column of the type that all of them share, otherwise as text. The type is
    Object if a value has no text of its own, such as a list or a function.
    """
    readers = {kind: _reader(kind) for kind in set(map(type, values))}
    kinds = frozenset(kind for kind, _ in readers.values() if kind is not None)
    for dtype in [] if "object" in kinds else _TYPES.get(kinds, []):
        try:
            read = [readers[type(value)][1](value) for value in values]
            if dtype == pl.Datetime:
                read = _naive(read)
            return pl.Series(name, read, dtype=dtype, strict=True)
        except FAILURES:
            continue  # too large for the type
    try:
        if "object" not in kinds:
            texts = [None if _is_missing(value) else _text(value) for value in values]
            return pl.Series(name, texts, dtype=pl.String)
    except FAILURES:
        pass  # objects that cannot be written or compared
    # Their values are not used; polars looks into some of them.
    known = [None if value is None else type(value).__name__ for value in values]
    return pl.Series(name, known, dtype=pl.Object)


def _reader(kind: type) -> tuple[str | None, Callable[[Any], Any]]:
    """What the values of a Python type are, and the function that reads one of them."""
    if kind.__name__ in _MISSING:
        return None, lambda value: None
    if issubclass(kind, (bool, np.bool_)):
        return "boolean", bool
    if issubclass(kind, (np.datetime64, np.timedelta64)):
        return "text", _text
    if issubclass(kind, Integral):
        return "integer", int
    if issubclass(kind, (Real, Decimal)):
        return "number", lambda value: None if _is_missing(value) else float(value)
    if issubclass(kind, str):
        return "text", _text
    for base in (datetime, date, timedelta, time):
        if issubclass(kind, base):
            return _TIMES[base], lambda value: value
    has_text = kind.__str__ is not object.__str__ or kind.__repr__ is not object.__repr__
    others: tuple[Any, ...] = (Number, Iterable, Callable, memoryview)
    if has_text and not issubclass(kind, others):
        return "text", _text
    return "object", _text


def _is_missing(value: Any) -> bool:
    return type(value).__name__ in _MISSING or bool(value != value)


def _text(value: Any) -> str:
    """The text of a scalar; surrogates, which no file can hold, are escaped."""
    text = str.__str__(value) if isinstance(value, str) else str(value)
    return text.encode("utf-8", "backslashreplace").decode()


def _naive(values: list[Any]) -> list[Any]:
    """Dates and times without time zone, in UTC; a ValueError if only some have a time zone."""
    times = [
        value if value is None or isinstance(value, datetime) else datetime.combine(value, time())
        for value in values
    ]
    zoned = {value.utcoffset() is not None for value in times if value is not None}
    if len(zoned) > 1:
        raise ValueError("only some times have a time zone")
    return [t and t.astimezone(UTC).replace(tzinfo=None) for t in times] if True in zoned else times


def _texts_of_names(names: Any, table: str) -> list[str]:
    """Column names as text; names that are equal or no valid text are an error."""
    texts = [str(each) for each in names]
    if len({*texts}) < len(texts):
        twice = next(text for text, n in Counter(texts).items() if n > 1)
        raise InputError(
            f"{table}: column {twice!r} appears more than once", hint="rename one of them"
        )
    if wrong := [text for text in texts if text != _text(text)]:
        raise InputError(f"{table}: the name of column {wrong[0]!r} is not valid text")
    return texts


def _of_pandas(name: str, column: Any) -> pl.Series:
    dtype = column.dtype
    try:
        if getattr(dtype, "freq", None) is not None and dtype.name.startswith("period"):
            column = column.dt.to_timestamp()
        elif getattr(dtype, "kind", "") == "f" and dtype.itemsize > 8:
            column = column.astype(np.float64)
        if dtype.kind != "O" and _WIDE not in str(dtype):
            found = pl.Series(name, pl.from_pandas(column, include_index=False))
            if found.dtype != pl.Object and not hasattr(found.dtype, "ext_storage"):
                return plain_column(found)
    except FAILURES:
        pass
    return of_objects(name, column.astype(object).tolist())


def _of_pyarrow(name: str, column: Any) -> pl.Series:
    if _WIDE not in str(column.type):
        try:
            return plain_column(pl.Series(name, pl.from_arrow(column)))
        except FAILURES:
            pass
    return of_objects(name, column.to_pylist())


def _of_array(name: str, column: np.ndarray) -> pl.Series:
    if column.dtype.kind not in "OUS":
        wide = column.dtype.kind == "f" and column.dtype.itemsize > 8
        return plain_column(pl.Series(name, column.astype(np.float64) if wide else column))
    return of_objects(name, column.tolist())


def _array(table: Any, name: str) -> np.ndarray:
    try:
        array = table if isinstance(table, np.ndarray) else np.asarray(table)
    except ValueError:
        raise InputError(
            f"{name} is a list whose rows differ in length", hint="give rows of equal length"
        ) from None
    if array.ndim != 2 or array.dtype.kind not in "biufOUS":
        raise InputError(
            f"{name} is an array with {array.ndim} dimensions and type {array.dtype}",
            hint="a table needs rows and columns of numbers or text",
        )
    if isinstance(array, np.ma.MaskedArray):
        return np.ma.filled(array.astype(object), None)
    return np.asarray(array)
