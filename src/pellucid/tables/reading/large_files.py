"""Files that are read in batches, because they do not fit into memory: Parquet and text."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from pellucid._utils.notices import InputError
from pellucid.tables.reading.contents import errors_of
from pellucid.tables.reading.source import ReadingOptions
from pellucid.tables.reading.text_columns import as_integers
from pellucid.tables.reading.text_files import read_text
from pellucid.tables.suffixes import PARQUET, TEXT

# Bytes of a text file from which its layout and its columns of numbers are found.
_HEAD_BYTES = 1 << 20
# Bytes of a value, and copies of a table that are in memory while it is explained.
_BYTES_PER_VALUE, _COPIES = 8, 4

_UTF8 = ("utf-8", "utf-8-sig", "ascii")


@dataclass(frozen=True)
class LargeTable:
    """The columns of numbers of a file that is read in batches."""

    name: str
    frame: Any  # all columns; those of numbers are typed
    columns: list[str]  # numbers and booleans
    others: list[str]  # the other columns
    whole: list[str]  # integers, as long as no value has decimals
    n_rows: int
    options: ReadingOptions
    suffix: str

    def batches(self, columns: Sequence[str], n_rows: int) -> Iterator[pl.DataFrame]:
        """All rows of some columns, in their order."""
        chosen = self.frame.select(columns)
        with errors_of(self.name):
            yield from chosen.collect_batches(chunk_size=n_rows, maintain_order=True)

    def sample(self, columns: Sequence[str], n_rows: int) -> pl.DataFrame:
        """Every s-th row from the first on, with the smallest s that gives at most `n_rows`."""
        step, start, parts = max(1, -(-self.n_rows // n_rows)), 0, []
        for batch in self.batches(columns, _HEAD_BYTES // _BYTES_PER_VALUE):
            parts.append(batch[-start % step :: step])
            start += batch.height
        table = pl.concat(parts, how="vertical_relaxed")
        return table.with_columns(as_integers(table[n]) for n in self.whole if n in columns)


def memory_needed(file: Path) -> int | None:
    """Bytes that the table takes in memory, about; None for files that cannot be streamed."""
    suffix = file.suffix.lower()
    if not file.is_file() or suffix not in (*PARQUET, *TEXT):
        return None
    if suffix in TEXT:
        return _COPIES * file.stat().st_size
    with errors_of(str(file)):
        frame = pl.scan_parquet(file, glob=False)
        return memory_of(frame.select(pl.len()).collect().item(), len(frame.collect_schema()))


def memory_of(n_rows: int, n_columns: int) -> int:
    """Bytes that a table takes in memory while it is explained, about."""
    return _COPIES * _BYTES_PER_VALUE * n_rows * n_columns


def open_large(file: Path, options: ReadingOptions) -> LargeTable:
    """Open a Parquet or text file; its columns of numbers are found, and its rows counted."""
    name, suffix = str(file), file.suffix.lower()
    with errors_of(name):
        found = (_open_parquet if suffix in PARQUET else _open_text)(name, suffix, options)
    if not found.n_rows:
        raise InputError(f"{name} has column names but no rows")
    return found


def _open_parquet(name: str, suffix: str, options: ReadingOptions) -> LargeTable:
    frame = pl.scan_parquet(name, glob=False)
    schema = frame.collect_schema()
    columns = [n for n, dtype in schema.items() if dtype.is_numeric() or dtype == pl.Boolean]
    decimals = [n for n in columns if schema[n].is_decimal()]
    frame = frame.with_columns(pl.col(decimals).cast(pl.Float64))
    others = [n for n in schema if n not in columns]
    n_rows = frame.select(pl.len()).collect().item()
    used = ReadingOptions(decimal=options.decimal, na=options.na)
    return LargeTable(name, frame, columns, others, [], n_rows, used, suffix)


def _open_text(name: str, suffix: str, options: ReadingOptions) -> LargeTable:
    with open(name, "rb") as file:
        head = file.read(_HEAD_BYTES)
        if file.read(1):
            head = head[: head.rfind(b"\n") + 1]
    if not head.strip():
        raise InputError(f"{name} is empty", hint="a table needs a header line and rows")
    known = read_text(name, head, suffix, options, ReadingOptions())
    used = known.options
    if used.encoding not in _UTF8:
        raise InputError(
            f"{name} has the encoding {used.encoding}; a file that does not fit into memory is "
            "read in UTF-8 only",
            hint=f"convert it: iconv -f {used.encoding} -t utf-8",
        )
    names = known.table.columns
    layout: dict[str, Any] = {"has_header": False, "truncate_ragged_lines": True}
    layout |= {"separator": used.separator, "skip_lines": (used.skip or 0) + bool(used.header)}
    layout["schema"] = dict.fromkeys(names, pl.String)
    texts = pl.read_csv(io.BytesIO(head), **layout)
    typed = {}
    for column in known.table:
        numbers = _as_numbers(column, used.decimal == ",")
        if numbers is None:
            continue
        # A column with units or thousands separators has more values than plain numbers.
        if texts.select(numbers).to_series().null_count() <= column.null_count():
            typed[column.name] = numbers
    whole = [name for name in typed if known.table[name].dtype.is_integer()]
    frame = pl.scan_csv(name, glob=False, **layout).with_columns(typed.values())
    others = [n for n in names if n not in typed]
    n_rows = frame.select(pl.len()).collect(engine="streaming").item()
    return LargeTable(name, frame, [*typed], others, whole, n_rows, used, suffix)


def _as_numbers(known: pl.Series, has_comma: bool) -> pl.Expr | None:
    """The text of a column as numbers or booleans; None for other columns."""
    text = pl.col(known.name).str.strip_chars()
    if known.dtype == pl.Boolean:
        lower = text.str.to_lowercase()
        return pl.when(lower.is_in(["true", "false"])).then(lower == "true").alias(known.name)
    if not known.dtype.is_numeric():
        return None
    text = text.str.replace(",", ".", literal=True) if has_comma else text
    return text.cast(pl.Float64, strict=False).alias(known.name)
