"""Read a table from a file or standard input, and keep its text for output."""

from __future__ import annotations

import csv
import gzip
import io
import re
import sys
import zlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import polars.selectors as cs

from pellucid.cli import CommandError
from pellucid.cli.output import show_notice
from pellucid.cli.progress import working

SEPARATORS = {".csv": None, ".txt": None, ".tsv": "\t", ".tab": "\t"}
"""Suffixes of text files and their separators; None detects it from the first line."""

PARQUET = (".parquet", ".pq")
JSON_LINES = (".jsonl", ".ndjson", ".json")
STDIN = Path("-")

# Markers of missing values; polars itself recognises only the empty field.
MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?")

_GZIP = b"\x1f\x8b"
_SAMPLE_ROWS = 1000
_HEAD = 1 << 16
"""Bytes that are read to detect the format of a text."""

_POSSIBLE_SEPARATORS = ",;\t|"
_DECIMAL_COMMA = re.compile(r"(?:^|;)\s*-?\d+,\d+\s*(?=;|$)")
_DECIMAL_POINT = re.compile(r"(?:^|;)\s*-?\d+\.\d+\s*(?=;|$)")


@dataclass(frozen=True)
class TableSource:
    """A table with its original text.

    Attributes
    ----------
    name : str
        The file name as given.
    table : polars.DataFrame
    text : bytes or None
        The text of a delimited file. Output files repeat this text instead of the parsed
        numbers.
    separator : str
        Separator of the fields of `text`.
    """

    name: str
    table: pl.DataFrame
    text: bytes | None = None
    separator: str = ","

    def as_written(self) -> pl.DataFrame:
        """The table with the original text of every field."""
        if self.text is None:
            return self.table
        text = io.BytesIO(self.text)
        table = pl.read_csv(text, separator=self.separator, infer_schema_length=0)
        return table.rename(dict(zip(table.columns, self.table.columns)))


def read_source(file: Path) -> TableSource:
    """Read a table. The suffix, or for standard input the first bytes, gives the format."""
    name = "standard input" if file == STDIN else str(file)
    with working(f"reading {name}"):
        return _read(file)


def _read(file: Path) -> TableSource:
    if file == STDIN:
        content = sys.stdin.buffer.read()
        if content.startswith(_GZIP):
            content = _decompress("standard input", content)
        return _read_bytes("standard input", content, _sniff)
    suffix, is_compressed = _suffix(file)
    if suffix not in {*SEPARATORS, *PARQUET, *JSON_LINES}:
        raise CommandError(
            f"{file}: unknown file type {suffix!r}",
            hint=f"use one of {', '.join([*SEPARATORS, *PARQUET, *JSON_LINES])}, also with .gz",
        )
    content = file.read_bytes()
    if is_compressed:
        content = _decompress(str(file), content)
    return _read_bytes(str(file), content, lambda _: suffix)


def _decompress(name: str, content: bytes) -> bytes:
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise CommandError(f"{name} cannot be decompressed: {error}") from error


def _suffix(file: Path) -> tuple[str, bool]:
    is_compressed = file.suffix.lower() == ".gz"
    return (file.with_suffix("") if is_compressed else file).suffix.lower(), is_compressed


def _sniff(content: bytes) -> str:
    if content.startswith(b"PAR1"):
        return ".parquet"
    return ".jsonl" if content.lstrip().startswith(b"{") else ".csv"


def _read_bytes(name: str, content: bytes, find_suffix) -> TableSource:
    if not content or (content[:_HEAD].isspace() and not content.strip()):
        raise CommandError(f"{name} is empty", hint="a table needs a header line and rows")
    suffix = find_suffix(content)
    try:
        if suffix in PARQUET:
            source = TableSource(name, pl.read_parquet(io.BytesIO(content)))
        elif suffix in JSON_LINES:
            source = TableSource(name, _read_json_lines(name, content))
        else:
            source = _read_text(name, content, SEPARATORS[suffix])
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        why = next(iter(str(error).splitlines()), type(error).__name__)
        hint = "save the file as UTF-8" if "utf-8" in why.lower() else None
        raise CommandError(f"{name} cannot be read: {why}", hint=hint) from error
    if source.table.height == 0:
        raise CommandError(f"{name} has column names but no rows")
    return source


def _read_json_lines(name: str, content: bytes) -> pl.DataFrame:
    if content.lstrip().startswith(b"["):
        raise CommandError(
            f"{name} is a JSON list; JSON lines (one object per line) are expected",
            hint="convert it with jq -c '.[]'",
        )
    return pl.read_ndjson(io.BytesIO(content), infer_schema_length=None)


def _read_text(name: str, content: bytes, separator: str | None) -> TableSource:
    content = content.removeprefix(b"\xef\xbb\xbf")
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        content = content.decode("utf-16").encode()
    try:
        head = content[:_HEAD].decode(errors="strict" if len(content) < _HEAD else "ignore")
    except UnicodeDecodeError as error:
        raise CommandError(
            f"{name} is not UTF-8 text: byte {error.start} is {content[error.start]:#04x}",
            hint="save the file as UTF-8",
        ) from error
    lines = head.splitlines()
    header = next(line for line in lines if line.strip())
    if separator is None:
        separator = _find_separator(header)
        if separator != ",":
            show_notice(f"fields are separated by {separator!r}")
    comma = separator == ";" and _has_decimal_commas(lines[1:])
    if comma:
        show_notice("numbers are written with a decimal comma")
    table = _parse(content, separator, comma)
    names = _distinct_names(next(csv.reader([header], delimiter=separator)), table.columns)
    return TableSource(name, table.rename(dict(zip(table.columns, names))), content, separator)


def _parse(content: bytes, separator: str, comma: bool) -> pl.DataFrame:
    """Parse the table; a column is numeric if all of its values are numbers."""
    options = {"separator": separator, "decimal_comma": comma}
    # Types are inferred from the first rows. Only if a later row does not fit, all rows are used,
    # which takes several times as long. Markers of missing values are slow too, so they are used
    # only if a column contains one.
    try:
        table = pl.read_csv(io.BytesIO(content), infer_schema_length=_SAMPLE_ROWS, **options)
        if not _has_missing_markers(table):
            return table
    except pl.exceptions.ComputeError:
        pass
    options["null_values"] = list(MISSING)
    try:
        return pl.read_csv(io.BytesIO(content), infer_schema_length=_SAMPLE_ROWS, **options)
    except pl.exceptions.ComputeError:
        return pl.read_csv(io.BytesIO(content), infer_schema_length=None, **options)


def _has_missing_markers(table: pl.DataFrame) -> bool:
    """Whether a column contains a marker of missing values, or NaN."""
    texts, numbers = table.select(cs.string()), table.select(cs.float())
    return any(column.is_in(MISSING).any() for column in texts) or any(
        column.is_nan().any() for column in numbers
    )


def _find_separator(header: str) -> str:
    outside = re.sub(r'"[^"]*"', "", header)
    counts = Counter(sign for sign in outside if sign in _POSSIBLE_SEPARATORS)
    return counts.most_common(1)[0][0] if counts else ","


def _has_decimal_commas(lines: list[str]) -> bool:
    return any(map(_DECIMAL_COMMA.search, lines)) and not any(map(_DECIMAL_POINT.search, lines))


def _distinct_names(written: list[str], read: list[str]) -> list[str]:
    """Unique column names: a second 'a' becomes 'a (2)', an empty name 'column 3'."""
    if len(written) != len(read):
        return read
    names: list[str] = []
    doubled: list[str] = []
    for position, name in enumerate(written, start=1):
        base = name.strip() or f"column {position}"
        new, copy = base, 1
        while new in names:
            copy += 1
            new = f"{base} ({copy})"
        if copy > 1 and name.strip():
            doubled.append(new)
        names.append(new)
    if doubled:
        show_notice(f"columns with the same name are renamed: {', '.join(doubled)}")
    return names
