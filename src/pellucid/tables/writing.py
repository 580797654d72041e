"""Write tables in the format of a suffix, such that Pellucid reads the same table again."""

from __future__ import annotations

import codecs
import gzip
import io
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO, Any

import polars as pl
import polars.selectors as cs

from pellucid._utils.files import replacing
from pellucid._utils.imports import import_optional
from pellucid._utils.notices import InputError
from pellucid.tables.reading.source import BOM_ENCODING, ReadingOptions, TableSource, neutralise
from pellucid.tables.suffixes import FEATHER, JSON, JSON_LINES, PARQUET, TEXT, written_format

MAX_EXCEL_ROWS = 1_048_575
# The same table gives the same file: the time of the members of the archive, too.
_CREATED = datetime(1980, 1, 1)


def write_table(
    path: Path,
    frame: pl.DataFrame,
    source: TableSource | None = None,
    *,
    bom: bool = False,
    keep_formulas: bool = False,
) -> None:
    """Write a table, completely or not at all, in the format of the suffix, or else of the source.
    A text file repeats the original text of the columns of `source`, its separator, its decimal
    sign and its byte order mark, which Excel needs for characters other than ASCII (`bom`). Text
    that a spreadsheet executes, such as ``=1+1``, is written after an apostrophe, unless
    `keep_formulas`; typed cells need none.
    """
    suffix, is_compressed = written_format(path, source.suffix if source is not None else ".csv")
    with ExitStack() as stack:
        unfinished = stack.enter_context(replacing(path))
        stack.enter_context(_system_errors())
        file: Any = stack.enter_context(open(unfinished, "wb"))
        if is_compressed:
            file = stack.enter_context(gzip.GzipFile("", "wb", fileobj=file, mtime=0))
        if suffix in TEXT:
            if bom or (source is not None and source.options.encoding == BOM_ENCODING):
                file.write(codecs.BOM_UTF8)
            texts, separator = _as_fields(frame, source, suffix, keep_formulas)
            texts.write_csv(file, separator=separator)
        elif suffix in PARQUET:
            frame.write_parquet(file)
        elif suffix in FEATHER:
            frame.write_ipc(file)
        elif suffix in JSON_LINES:
            # As text, because polars ignores an error of the last write to a file.
            file.write(frame.write_ndjson().encode())
        elif suffix in JSON:
            file.write(frame.write_json().encode())
        else:
            _write_excel(file, path, frame)


@contextmanager
def _system_errors() -> Iterator[None]:
    """Raise errors of the system that polars gives as its own."""
    try:
        yield
    except pl.exceptions.ComputeError as error:
        if "os error" not in str(error):
            raise
        raise OSError(str(error)) from error


def refuse_nested(frame: pl.DataFrame, target: str, hint: str) -> None:
    """Fail if a column has a type that cannot be written to a target, such as "as text"."""
    for name, dtype in frame.schema.items():
        if dtype.is_nested() or dtype in (pl.Binary, pl.Object):
            what = f"column {name!r} (its type is {dtype})"
            raise InputError(f"{what} cannot be written {target}", hint=hint)


def to_text(frame: pl.DataFrame, source: TableSource | None, *, keep_formulas: bool = False) -> str:
    """A table as delimited text, with the separator and the decimal sign of the source."""
    suffix = source.suffix if source is not None and source.suffix in TEXT else ".csv"
    texts, separator = _as_fields(frame, source, suffix, keep_formulas)
    return texts.write_csv(separator=separator)


def _as_fields(
    frame: pl.DataFrame, source: TableSource | None, suffix: str, keep_formulas: bool
) -> tuple[pl.DataFrame, str]:
    """The table with the text of its fields, and the separator."""
    refuse_nested(frame, "as text", "use .parquet or .jsonl, or remove the column")
    separator, decimal = _signs(source, suffix)
    if source is not None and source.text is not None and source.table.height == frame.height:
        texts = source.as_written()
        # The columns that have the values that were read.
        typed = [read for read in source.table if frame.schema.get(read.name) == read.dtype]
        same = [read.name for read in typed if frame[read.name].equals(read, null_equal=True)]
        frame = frame.with_columns(texts.select(same))
    if decimal == ",":
        frame = frame.with_columns(cs.float().cast(pl.String).str.replace(".", ",", literal=True))
    return frame if keep_formulas else neutralise(frame), separator


def _signs(source: TableSource | None, suffix: str) -> tuple[str, str]:
    """The separator and the decimal sign of a text file."""
    options = ReadingOptions() if source is None else source.options
    separator, decimal = options.separator or ",", options.decimal or "."
    if suffix in (".tsv", ".tab"):
        return "\t", decimal
    if separator == "\t" and suffix == ".csv" and source is not None and source.suffix != ".csv":
        separator = ";" if decimal == "," else ","
    return separator, decimal


def _write_excel(file: IO[bytes], path: Path, frame: pl.DataFrame) -> None:
    xlsxwriter = import_optional("xlsxwriter", f"writing {path}", "a CSV file")
    if frame.height > MAX_EXCEL_ROWS:
        raise InputError(
            f"{path}: Excel files have at most {MAX_EXCEL_ROWS:,} rows, the table has "
            f"{frame.height:,}",
            hint="use .csv or .parquet",
        )
    texts_stay = ("strings_to_formulas", "strings_to_urls", "strings_to_numbers")
    # An archive or a temporary file that cannot be written to the disk would stay open.
    options = {"in_memory": True, "nan_inf_to_errors": True, **dict.fromkeys(texts_stay, False)}
    numbers: dict[Any, str] = dict.fromkeys((pl.Float64, pl.Float32, pl.Int64), "General")
    texts = frame.with_columns(cs.nested().cast(pl.String))
    content = io.BytesIO()
    with xlsxwriter.Workbook(content, options) as workbook:
        workbook.set_properties({"created": _CREATED})
        texts.write_excel(workbook, dtype_formats=numbers)
    file.write(content.getbuffer())
