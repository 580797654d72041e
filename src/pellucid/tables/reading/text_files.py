"""Read text tables, CSV and its relatives: encodings, line ends, and types of columns."""

from __future__ import annotations

import codecs
import re
from contextlib import suppress
from dataclasses import replace
from typing import Any

import polars as pl
import polars.selectors as cs

from pellucid._utils.imports import import_optional
from pellucid._utils.notices import InputError, notice, option
from pellucid._utils.texts import Message
from pellucid.tables.reading.layout import TextTable, find_table, has_leading_zeros, is_regular
from pellucid.tables.reading.parsing import parse_columns
from pellucid.tables.reading.source import BOM_ENCODING, ReadingOptions, TableSource, read_fields
from pellucid.tables.reading.text_columns import as_integers, decimal_evidence

_SAMPLE_ROWS = 1000
UTF_8 = "utf-8"
_SAMPLE = 1 << 16
_HIGH_BYTES = bytes(range(0x80, 0x100))
_BYTE_PAIRS = re.compile(rb"[A-Za-z]*[\x80-\xff][\x40-\x7e\x80-\xff]*")
_HIGH_WORDS = re.compile(rb"[A-Za-z]*[\x80-\xff][A-Za-z\x80-\xff]*")
# Encodings in which words consist of bytes above 127.
_NOT_WESTERN = (
    *("cp1251", "koi8_r", "iso8859_5", "cp866", "cp1253", "cp1255", "cp1256", "cp874"),
    *("cp932", "euc_jp", "gb18030", "big5", "cp949", "johab"),
)
_BOMS = (
    (codecs.BOM_UTF8, BOM_ENCODING),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def read_text(
    name: str, content: bytes, suffix: str, options: ReadingOptions, hints: ReadingOptions
) -> TableSource:
    if options.decimal not in (None, ".", ","):
        raise InputError(f"decimal sign {options.decimal!r} is unknown", hint="use '.' or ','")
    content, encoding = to_utf8(name, content, options.encoding, hints.encoding)
    layout = find_table(name, content, suffix, options, hints)
    layout, table = _read(layout, options)
    separator = layout.dialect.separator
    parsed = parse_columns(table, options, hints, "," if separator == ";" else ".")
    table = _without_empty_last(parsed.table, separator)
    used = replace(options, separator=separator, decimal=parsed.decimal, encoding=encoding)
    used = replace(used, na=parsed.na, skip=layout.skip, header=layout.has_header)
    formats = {each: parsed.formats[each] for each in table.columns if each in parsed.formats}
    return TableSource(name, table, formats, used, layout.content, suffix)


def _read(layout: TextTable, options: ReadingOptions) -> tuple[TextTable, pl.DataFrame]:
    """Let polars parse the table, which infers types from the first rows and is several times as
    fast for numbers as for text. All columns are text if numbers need more care. Missing fields at
    the end of a line become missing values, so that lines are checked only if the last column has
    some.
    """
    separator = layout.dialect.separator
    table = _try_numbers(layout, options)
    with suppress(pl.exceptions.PolarsError):
        if table is None:
            table = read_fields(layout.content, separator, infer_schema_length=0)
        has_gaps = table.to_series(table.width - 1).null_count() > 0
        if not has_gaps or is_regular(layout.body, separator, table.width):
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


def _read_typed(text: bytes, separator: str, dtypes: list[Any] | None = None) -> pl.DataFrame:
    """The table with the types of its first rows; an error if a later row does not fit."""
    return read_fields(text, separator, infer_schema_length=_SAMPLE_ROWS, schema_overrides=dtypes)


def _read_floats(text: bytes, separator: str) -> pl.DataFrame:
    """The same, where columns of integers may have decimals in later rows."""
    head = read_fields(text, separator, n_rows=_SAMPLE_ROWS).dtypes
    dtypes = [pl.Float64 if dtype == pl.Int64 else dtype for dtype in head]
    table = _read_typed(text, separator, dtypes)
    return table.with_columns(as_integers(c) for c, t in zip(table, head) if t == pl.Int64)


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
    is_named = table.width < 2 or last != f"column {table.width}"
    if is_named or table[last].null_count() < table.height:
        return table
    notice(Message("emptyLastColumn", separator=repr(separator)))
    return table.drop(last)


def to_utf8(
    name: str, content: bytes, encoding: str | None, usual: str | None = None
) -> tuple[bytes, str]:
    r"""Text as UTF-8 with ``\n`` or ``\r\n`` at the end of lines, and its former encoding, which is
    detected if it is None. If the text is not Unicode, `usual` is tried first.
    """
    found = encoding or _unicode_encoding(content)
    if found is None:
        found = _other_encoding(name, content, usual)
        notice(Message("encoding", encoding=found, option=option("encoding")))
    if found == BOM_ENCODING:
        content = content.removeprefix(codecs.BOM_UTF8)
    if found not in (UTF_8, BOM_ENCODING) or encoding is not None:
        content = _decode(name, content, found).removeprefix("\ufeff").encode()
    if b"\n" not in content:
        content = content.replace(b"\r", b"\n")
    if (at := content.find(b"\0")) >= 0:
        line = content.count(b"\n", 0, at) + 1
        raise InputError(
            f"{name}: line {line} has a NUL character, so the file is damaged or not text",
            hint="remove it, or export the table again",
        )
    return content, found


def _unicode_encoding(content: bytes) -> str | None:
    for mark, encoding in _BOMS:
        if content.startswith(mark):
            return encoding
    sample = content[:_SAMPLE]
    for start, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        # Every second byte of ASCII text in UTF-16 is zero.
        if len(sample) > 3 and sample[start::2].count(0) > 0.8 * len(sample[start::2]):
            return encoding
    if content.isascii():
        return UTF_8
    try:
        codecs.utf_8_decode(content, "strict", True)
    except UnicodeDecodeError:
        return None
    return UTF_8


def _other_encoding(name: str, content: bytes, usual: str | None) -> str:
    """The encoding of text that is not Unicode. Western words have more ASCII letters than other
    bytes, and are read as cp1252, of which latin-1 is a part. The rest is left to a library.
    """
    if 0 in content[:_SAMPLE]:
        hint = "CSV, Excel, Parquet, Feather and JSON can be read"
        raise InputError(f"{name} is not a text file, and its format is not known", hint=hint)
    if usual is not None and _can_decode(content, usual):
        return usual
    words = b"".join(_HIGH_WORDS.findall(content)[:10_000])
    n_high = len(words) - len(words.translate(None, _HIGH_BYTES))
    if len(words) >= 2 * n_high and _can_decode(content, "cp1252"):
        return "cp1252"
    library = import_optional("charset_normalizer", "text that is not UTF-8", "UTF-8")
    sample = b"\n".join(_BYTE_PAIRS.findall(content)[:10_000])
    best = library.from_bytes(sample, cp_isolation=list(_NOT_WESTERN)).best()
    candidates = ([best.encoding] if best is not None else []) + ["cp1252", "latin-1"]
    return next(each for each in candidates if _can_decode(content, each))


def _can_decode(content: bytes, encoding: str) -> bool:
    with suppress(UnicodeDecodeError, LookupError):
        content.decode(encoding)
        return True
    return False


def _decode(name: str, content: bytes, encoding: str) -> str:
    try:
        return content.decode(encoding)
    except LookupError as error:
        raise InputError(
            f"unknown encoding {encoding!r}", hint="examples: utf-8, cp1252, latin-1, utf-16"
        ) from error
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        hint = f"{option('encoding')} sets another encoding"
        raise InputError(f"{name}: line {line} is not {encoding} text", hint=hint) from error
