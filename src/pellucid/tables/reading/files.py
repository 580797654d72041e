"""Read a table from a file, standard input or a data frame."""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import Any

import polars as pl

from pellucid._utils.notices import InputError
from pellucid.tables.reading.data_frames import as_polars, plain_column
from pellucid.tables.reading.limits import read_bytes, read_standard_input
from pellucid.tables.reading.parsing import parse_columns
from pellucid.tables.reading.source import ReadingOptions, TableSource
from pellucid.tables.reading.text_files import read_text
from pellucid.tables.reading.typed_files import read_typed
from pellucid.tables.reading.unpacking import unpack
from pellucid.tables.suffixes import TEXT

STDIN = Path("-")


def read_source(
    file: Path,
    options: ReadingOptions = ReadingOptions(),  # noqa: B008
    hints: ReadingOptions = ReadingOptions(),  # noqa: B008
) -> TableSource:
    """Read a table from a file.

    Every decision that is unusual is printed in one line. CSV and other text tables, Excel,
    Parquet, Feather and JSON are read, also compressed by gzip, bzip2, xz, zstd or zip.

    Parameters
    ----------
    file : Path
        ``Path("-")`` is standard input.
    options : ReadingOptions
        How the file is read; what is None is detected.
    hints : ReadingOptions
        How a similar file was read. Used where the file itself leaves a question open, such as
        the decimal sign of ``1,234``.
    """
    if file == STDIN:
        name = "standard input"
        content = read_standard_input(name)
        unpacked = unpack(name, content, PurePath(""))
    else:
        name, content = str(file), read_bytes(file)
        unpacked = unpack(name, content, file)
    content, suffix = unpacked
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


def source_of(
    table: Any,
    name: str = "table",
    options: ReadingOptions = ReadingOptions(),  # noqa: B008
    hints: ReadingOptions = ReadingOptions(),  # noqa: B008
) -> TableSource:
    """A data frame or an array as a `TableSource`; text columns are parsed as in files.

    Parameters
    ----------
    table : pandas, polars or pyarrow data frame, 2-D array or list of rows
        The columns of an array are named x0, x1, ...
    name : str
        Name for errors.
    options : ReadingOptions
        Only `decimal` and `na` apply.
    hints : ReadingOptions
        As in :func:`read_source`.
    """
    found = as_polars(table, name)
    if 0 in found.shape:
        what = "rows" if found.width else "columns"
        raise InputError(f"{name} has no {what}")
    return _of_typed(name, found, "", options, hints)


def _of_typed(
    name: str, table: pl.DataFrame, suffix: str, options: ReadingOptions, hints: ReadingOptions
) -> TableSource:
    parsed = parse_columns(
        table,
        decimal=options.decimal,
        na=options.na,
        default_decimal=hints.decimal or ".",
        known_markers=hints.na or (),
    )
    comma = "," if parsed.decimal == "," else None
    used = ReadingOptions(decimal=options.decimal or comma, na=parsed.na)
    return TableSource(name, parsed.table, parsed.formats, used, None, suffix, table)
