"""Read files that have types: Parquet, Feather, Excel and JSON."""

from __future__ import annotations

import io
from collections import Counter

import polars as pl

from pellucid._utils.notices import InputError, notice, option
from pellucid.tables.reading.dates import is_midnight
from pellucid.tables.reading.layout import distinct_names
from pellucid.tables.reading.source import ReadingOptions
from pellucid.tables.suffixes import EXCEL, FEATHER, PARQUET

_SAMPLE_ROWS = 200


def read_typed(name: str, content: bytes, suffix: str, options: ReadingOptions) -> pl.DataFrame:
    """Read a file that is not a text table."""
    source = io.BytesIO(content)
    if suffix in PARQUET:
        return pl.read_parquet(source)
    if suffix in FEATHER:
        return pl.read_ipc(source)
    if suffix in EXCEL:
        return _read_excel(name, content, options)
    return _read_json(name, content)


def _read_json(name: str, content: bytes) -> pl.DataFrame:
    content = content.removeprefix(b"\xef\xbb\xbf").strip()
    if not content.startswith(b"["):
        return pl.read_ndjson(io.BytesIO(content), infer_schema_length=None)
    if not content[1:].lstrip().startswith(b"{"):
        raise InputError(
            f"{name} is a JSON list, but not of objects",
            hint='a list such as [{"a": 1, "b": 2}, {"a": 3, "b": 4}] is expected',
        )
    return pl.read_json(io.BytesIO(content), infer_schema_length=None)


def _read_excel(name: str, content: bytes, options: ReadingOptions) -> pl.DataFrame:
    """Read the first sheet that has cells; lines above the header are skipped."""
    import fastexcel

    workbook = fastexcel.read_excel(content)
    for sheet in workbook.sheet_names:
        raw = workbook.load_sheet(sheet, header_row=None, dtypes="string", n_rows=_SAMPLE_ROWS)
        sample = raw.to_polars()
        if sample.height:
            break
    else:
        raise InputError(f"{name} has no cells")
    if len(workbook.sheet_names) > 1:
        others = ", ".join(repr(each) for each in workbook.sheet_names if each != sheet)
        notice(f"sheet {sheet!r} is read; the file also has {others}")
    skip = options.skip
    if skip is None:
        skip = _find_header(sample)
        if skip:
            title = next(each for each in sample.row(0) if each is not None)
            lines = "line 1 skipped" if skip == 1 else f"lines 1 to {skip} skipped"
            notice(f'{lines}: a title ("{title}") ({option("skip", 0)} keeps it)')
    if skip >= sample.height - 1:
        raise InputError(f"{name} has column names but no rows")
    header = [str(each or "").strip() for each in sample.row(skip)]
    table = workbook.load_sheet(
        sheet, header_row=None, skip_rows=skip + 1, column_names=None
    ).to_polars()
    names = list(distinct_names(header[: table.width] + [""] * (table.width - len(header))))
    table = table.rename(dict(zip(table.columns, names)))
    empty = [
        each
        for each, given in zip(names, [*header, *[""] * table.width])
        if not given and table[each].null_count() == table.height
    ]
    return table.drop(empty).with_columns(map(_narrow, table.drop(empty)))


def _narrow(column: pl.Series) -> pl.Series:
    """Integers and dates; Excel keeps all numbers as floats, and all dates as times."""
    if column.dtype == pl.Datetime and is_midnight(column):
        return column.cast(pl.Date)
    if column.dtype != pl.Float64 or not column.is_finite().all():
        return column
    is_whole = (column == column.round()).all() and (column.abs() < 2**53).all()
    return column.cast(pl.Int64) if is_whole else column


def _find_header(sample: pl.DataFrame) -> int:
    """The first row that has as many cells as most rows."""
    widths = [sum(each is not None for each in row) for row in sample.iter_rows()]
    counts = Counter(widths)
    usual = max(counts, key=lambda each: (counts[each], each))
    # A header can be complete where most rows have gaps.
    return next(i for i, width in enumerate(widths) if width >= usual)
