"""Read text tables: CSV and its relatives."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import polars.selectors as cs

from pellucid._utils.notices import InputError, notice
from pellucid._utils.texts import Message
from pellucid.tables.reading.decoding import to_utf8
from pellucid.tables.reading.layout import TextTable, find_table
from pellucid.tables.reading.numbers import as_integers, decimal_evidence
from pellucid.tables.reading.parsing import parse_columns
from pellucid.tables.reading.records import has_leading_zeros, is_regular
from pellucid.tables.reading.source import ReadingOptions, TableSource, read_fields

_SAMPLE_ROWS = 1000


def read_text(
    name: str, content: bytes, suffix: str, options: ReadingOptions, hints: ReadingOptions
) -> TableSource:
    """Read a text table."""
    if options.decimal not in (None, ".", ","):
        raise InputError(f"decimal sign {options.decimal!r} is unknown", hint="use '.' or ','")
    content, encoding = to_utf8(name, content, options.encoding, hints.encoding)
    layout = find_table(name, content, suffix, options, hints)
    layout, table = _read(layout, options)
    separator = layout.dialect.separator
    usual_decimal = "," if separator == ";" else "."
    parsed = parse_columns(
        table,
        decimal=options.decimal,
        na=options.na,
        default_decimal=hints.decimal or usual_decimal,
        known_markers=hints.na or (),
    )
    table = _without_empty_last(parsed.table, separator)
    used = replace(
        options,
        separator=separator,
        decimal=parsed.decimal,
        encoding=encoding,
        na=parsed.na,
        skip=layout.skip,
        header=layout.has_header,
    )
    formats = {each: parsed.formats[each] for each in table.columns if each in parsed.formats}
    return TableSource(name, table, formats, used, layout.content, suffix)


def _read(layout: TextTable, options: ReadingOptions) -> tuple[TextTable, pl.DataFrame]:
    """Let polars parse the table; all columns are text if numbers need more care.

    polars infers types from the first rows and reads a clean file several times as fast as a file
    of text columns. It cannot read numbers with blanks, markers of missing values, decimal
    commas, or codes with leading zeros. It reads missing fields at the end of a line as missing
    values, so that lines are checked only if the last column has missing values.
    """
    separator, is_checked = layout.dialect.separator, False
    table = _try_numbers(layout, options)
    if table is None:
        try:
            table = read_fields(layout.content, separator, infer_schema_length=0)
        except pl.exceptions.PolarsError:
            layout, is_checked = layout.regular(), True
            table = read_fields(layout.content, separator, infer_schema_length=0)
    if is_checked or not table.to_series(table.width - 1).null_count():
        return layout, table
    if is_regular(layout.body, separator, table.width):
        return layout, table
    layout = layout.regular()
    return layout, read_fields(layout.content, separator, infer_schema_length=0)


def _try_numbers(layout: TextTable, options: ReadingOptions) -> pl.DataFrame | None:
    """The table with the types that polars finds; None if they are not reliable."""
    separator = layout.dialect.separator
    if options.decimal == "," or has_leading_zeros(layout.content, layout.start, separator):
        return None
    for read in (_read_typed, _read_floats):
        try:
            table = read(layout.content, separator)
        except pl.exceptions.PolarsError:
            continue
        return None if _has_decimal_commas(table) else table
    return None


def _read_typed(content: bytes, separator: str, dtypes: list[Any] | None = None) -> pl.DataFrame:
    """The table with the types of its first rows; an error if a later row does not fit."""
    return read_fields(
        content, separator, infer_schema_length=_SAMPLE_ROWS, schema_overrides=dtypes
    )


def _read_floats(content: bytes, separator: str) -> pl.DataFrame:
    """The same, where columns of integers may have decimals in later rows."""
    head = read_fields(content, separator, n_rows=_SAMPLE_ROWS).dtypes
    dtypes = [pl.Float64 if dtype == pl.Int64 else dtype for dtype in head]
    table = _read_typed(content, separator, dtypes)
    return table.with_columns(
        as_integers(column) for column, dtype in zip(table, head) if dtype == pl.Int64
    )


def _has_decimal_commas(table: pl.DataFrame) -> bool:
    """Whether a text column has numbers with a decimal comma, while others are numeric."""
    if not any(dtype.is_float() for dtype in table.dtypes):
        return False
    for column in table.select(cs.string()):
        texts = column.drop_nulls().head(_SAMPLE_ROWS).str.strip_chars().alias("value")
        found = texts.value_counts(name="n")
        comma, point, _ = decimal_evidence(found["value"], found["n"])
        if comma > max(point, 0.5 * int(found["n"].sum())):
            return True
    return False


def _without_empty_last(table: pl.DataFrame, separator: str) -> pl.DataFrame:
    """The table without a last column that has neither a name nor values."""
    last = table.columns[-1]
    if table.width < 2 or last != f"column {table.width}":
        return table
    if table[last].null_count() < table.height:
        return table
    notice(Message("emptyLastColumn", separator=repr(separator)))
    return table.drop(last)
