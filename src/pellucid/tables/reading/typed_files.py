"""Read files that have types: Parquet, Feather, Excel and JSON."""

from __future__ import annotations

import io
import re
import zipfile
from collections import Counter

import numpy as np
import polars as pl

from pellucid._utils.imports import import_optional
from pellucid._utils.notices import InputError, notice
from pellucid._utils.texts import Message
from pellucid.tables.reading.contents import check_bytes, check_columns, errors_of
from pellucid.tables.reading.layout import (
    distinct_names,
    find_header,
    numbered_names,
    report_skipped,
)
from pellucid.tables.reading.source import ReadingOptions
from pellucid.tables.reading.text_columns import as_integers, is_midnight
from pellucid.tables.suffixes import EXCEL, FEATHER, PARQUET

_SAMPLE_ROWS = 200
_BYTES_PER_VALUE = 8
_CHUNK, _LONGEST_KEY = 1 << 20, 1000
_FEW_KEYS = 1000
_KEY = re.compile(rb'"([^"\\]{0,1000})"\s*:')
# Levels of JSON; older versions of polars end the process on JSON of thousands of levels.
_MAX_DEPTH = 100
_STEPS = np.zeros(256, dtype=np.int32)
_STEPS[list(b"[{")], _STEPS[list(b"]}")] = 1, -1
_OTHER_SIGNS = bytes(set(range(256)) - set(b'[]{}"'))
MIN_CELLS = 10_000_000
# The rectangle may have `MIN_CELLS` cells, or this multiple of the cells that have values.
MAX_RATIO = 10
_CELL = re.compile(rb'<(?:\w+:)?c\s[^>]*?\br\s*=\s*["\']\$?([A-Za-z]+)\$?(\d+)["\']')


def read_typed(name: str, content: bytes, suffix: str, options: ReadingOptions) -> pl.DataFrame:
    """Read a file that is not a text table."""
    if suffix in EXCEL:
        with errors_of(name, hint="open it in a spreadsheet and save it again"):
            return _read_excel(name, content, options)
    source = io.BytesIO(content)
    with errors_of(name):
        if suffix in PARQUET:
            _check_size(name, pl.scan_parquet(source))
            return pl.read_parquet(source)
        if suffix in FEATHER:
            _check_size(name, pl.scan_ipc(source))
            return pl.read_ipc(source)
        return _read_json(name, content)


def _check_size(name: str, table: pl.LazyFrame) -> None:
    """Fail if a table is large, which a small compressed file can be; only its footer is read."""
    n_columns = len(table.collect_schema())
    check_columns(name, n_columns)
    check_bytes(name, _BYTES_PER_VALUE * table.select(pl.len()).collect().item() * n_columns)


def _check_keys(name: str, content: bytes) -> None:
    """Fail if the objects have too many different keys; each becomes a column of all rows."""
    keys: set[bytes] = set()
    for begin in range(0, len(content), _CHUNK):
        keys.update(_KEY.findall(content, begin, begin + _CHUNK + _LONGEST_KEY))
        check_columns(name, len(keys))
    if len(keys) > _FEW_KEYS:
        check_bytes(name, _BYTES_PER_VALUE * len(keys) * content.count(b"{"))


def _check_depth(name: str, content: bytes) -> None:
    """Fail if objects and lists are nested in too many levels; brackets in text do not count."""
    depth, n_quotes = 0, 0
    text = content.replace(rb"\\", b"").replace(rb"\"", b"") if b"\\" in content else content
    for begin in range(0, len(text), _CHUNK):
        found = text[begin : begin + _CHUNK].translate(None, _OTHER_SIGNS)
        signs = np.frombuffer(b'""' + found, np.uint8)
        quotes = n_quotes + np.cumsum(signs == ord('"'))
        depths = depth + np.cumsum(np.where(quotes % 2, 0, _STEPS[signs]))
        if depths.max() > _MAX_DEPTH:
            raise InputError(
                f"{name} cannot be read: its lists or objects have more than {_MAX_DEPTH} levels"
            )
        depth, n_quotes = int(depths[-1]), int(quotes[-1])


def _read_json(name: str, content: bytes) -> pl.DataFrame:
    content = content.removeprefix(b"\xef\xbb\xbf").strip()
    _check_keys(name, content)
    _check_depth(name, content)
    if not content.startswith(b"["):
        return pl.read_ndjson(io.BytesIO(content), infer_schema_length=None)
    if not content[1:].lstrip().startswith(b"{"):
        hint = 'a list such as [{"a": 1, "b": 2}, {"a": 3, "b": 4}] is expected'
        raise InputError(f"{name} is a JSON list, but not of objects", hint=hint)
    return pl.read_json(io.BytesIO(content), infer_schema_length=None)


def _read_excel(name: str, content: bytes, options: ReadingOptions) -> pl.DataFrame:
    """Read the first sheet that has cells; lines above the header are skipped."""
    fastexcel = import_optional("fastexcel", f"reading {name}", "a CSV file")
    check_sheets(name, content)
    workbook = fastexcel.read_excel(content)
    n_sampled = _SAMPLE_ROWS + (options.skip or 0)
    for sheet in workbook.sheet_names:
        sample = workbook.load_sheet(
            sheet, header_row=None, skip_rows=0, n_rows=n_sampled, dtypes="string"
        ).to_polars()
        if sample.height:
            break
    else:
        raise InputError(f"{name} has no cells")
    if len(workbook.sheet_names) > 1:
        others = [repr(each) for each in workbook.sheet_names if each != sheet]
        notice(Message("sheet", sheet=repr(sheet), others=others))
    skip = options.skip
    if skip is None:
        skip = _find_header(sample)
        titles = [cell for row in sample.rows()[:skip] for cell in row if cell is not None]
        if titles:
            report_skipped("titleLines", 1, skip, str(titles[0]))
    cells = [[(each or "").strip() for each in row] for row in sample.rows()[skip:]]
    has_header = bool(cells) and find_header(cells, options.header)
    if len(cells) <= has_header:
        raise InputError(f"{name} has column names but no rows" if cells else f"{name} is empty")
    header = cells[0] if has_header else numbered_names(sample.width)
    table = workbook.load_sheet(sheet, header_row=None, skip_rows=skip + has_header).to_polars()
    header = header[: table.width] + [""] * (table.width - len(header))
    return pl.DataFrame(
        _narrow(column.alias(name))
        for name, given, column in zip(distinct_names(header), header, table)
        if given or column.null_count() < table.height
    )


def _narrow(column: pl.Series) -> pl.Series:
    """Integers and dates; Excel keeps all numbers as floats, and all dates as times."""
    if column.dtype == pl.Datetime and is_midnight(column):
        return column.cast(pl.Date)
    return as_integers(column) if column.dtype == pl.Float64 else column


def _find_header(sample: pl.DataFrame) -> int:
    """The first row that has as many cells as most rows."""
    widths = [sum(each is not None for each in row) for row in sample.iter_rows()]
    counts = Counter(widths)
    usual = max(counts, key=lambda each: (counts[each], each))
    # A header can be complete where most rows have gaps.
    return next(i for i, width in enumerate(widths) if width >= usual)


def check_sheets(name: str, content: bytes) -> None:
    """Fail if few cells of a sheet of an ``.xlsx`` file are spread over a very large rectangle: the
    reader allocates all of it, for two cells in opposite corners more than 500 GB.
    """
    if not content.startswith(b"PK"):
        return
    with errors_of(name, "decompressed"):
        archive = zipfile.ZipFile(io.BytesIO(content))
        for member in archive.namelist():
            is_sheet = re.fullmatch("xl/.*sheet.*[.]xml", member.lower(), re.DOTALL)
            if is_sheet and (cells := _CELL.findall(archive.read(member))):
                _check_rectangle(name, cells)


def _check_rectangle(name: str, cells: list[tuple[bytes, bytes]]) -> None:
    columns = [_column(letters) for letters in {letters for letters, _ in cells}]
    rows = [int(digits[:9]) for digits in {digits for _, digits in cells}]
    height, width = max(rows) - min(rows) + 1, max(columns) - min(columns) + 1
    if height * width > max(MIN_CELLS, MAX_RATIO * len(cells)):
        raise InputError(
            f"{name}: {len(cells):,} cells are spread over {height:,} rows and {width:,} columns",
            hint="delete the cells that are far from the table, or save it as CSV",
        )


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters.upper()[:4]:
        number = 26 * number + letter - 64
    return number
