"""How a table is read, the table with the text of its fields, and text that is no formula."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import polars as pl
import polars.selectors as cs

from pellucid._utils.notices import InputError
from pellucid.tables.column_formats import ColumnFormat

BOM_ENCODING = "utf-8-sig"  # name of UTF-8 with a byte order mark at the start, which Excel needs
_START = r"^'*[=+\-@\t\r]"
_ESCAPED = r"^'+[=+\-@\t\r]"
_NUMBER = r"[+-]?\s?[$€£¥]?\s?(\d[\d.,'  ]*|[.,]\d+)([eE][+-]?\d+)?\s?[$€£¥%]?"
_INTERVAL = "-[^\\s\"'\\[|!]+ < [^\"'\\[|!]*≤[^\"'\\[|!]*"
# Numbers with a sign; dashes, which often stand for missing values; and rules that start with a
# negative number: outside of quotes, no formula has the sign ≤.
_HARMLESS = rf"^(-+|{_NUMBER}|{_INTERVAL})$"


@dataclass(frozen=True)
class ReadingOptions:
    """How a file is read; None detects the value."""

    separator: str | None = None  # " " also stands for several blanks
    decimal: str | None = None
    encoding: str | None = None
    na: tuple[str, ...] | None = None  # the missing values instead of those of `text_columns`
    skip: int | None = None  # number of lines above the header
    header: bool | None = None  # whether there is one
    # By column, values and what they are read as: None for sentinels, or a spelling.
    replaced: dict[str, list[list[Any]]] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The options that are not None, for JSON."""
        values = {name: value for name, value in vars(self).items() if value is not None}
        return values | ({} if self.na is None else {"na": list(self.na)})

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ReadingOptions:
        """The inverse of `to_dict`; values of wrong types are refused, unknown names ignored."""
        known = {each.name for each in fields(cls)}
        given = {name: value for name, value in values.items() if name in known}
        for name, value in given.items():
            if value is not None and not _IS_VALID[name](value):
                raise InputError(
                    f"the model file has {value!r:.60} as reading.{name}, which cannot be",
                    hint="make the model again, or correct the file",
                )
        if given.get("na") is not None:
            given["na"] = tuple(given["na"])
        return cls(**given)


# Whether a value of each option is possible.
_IS_VALID: dict[str, Callable[[Any], bool]] = {
    "separator": lambda value: isinstance(value, str) and len(value) == 1,
    "decimal": lambda value: value in (".", ","),
    "encoding": lambda value: isinstance(value, str),
    "na": lambda value: (
        isinstance(value, (list, tuple)) and all(isinstance(word, str) for word in value)
    ),
    "skip": lambda value: type(value) is int and value >= 0,
    "header": lambda value: isinstance(value, bool),
    "replaced": lambda value: (
        isinstance(value, dict)
        and all(isinstance(pairs, list) for pairs in value.values())
        and all(
            isinstance(pair, list) and len(pair) == 2 for each in value.values() for pair in each
        )
    ),
}


DETECT = ReadingOptions()  # everything is detected


@dataclass(frozen=True)
class TableSource:
    """A table with the format of its columns and the text of its fields."""

    name: str  # the file name as given
    table: pl.DataFrame  # numbers, booleans, dates, datetimes and text
    formats: dict[str, ColumnFormat] = field(default_factory=dict)
    # All are set for a text file, but `na` only if a text column has a marker.
    options: ReadingOptions = field(default_factory=ReadingOptions)
    text: bytes | None = None  # the fields of a text file as UTF-8 with a header line
    suffix: str = ""  # that of the format; empty for a data frame
    # A table that is no text file, before its text columns were parsed.
    given: pl.DataFrame | None = None

    def as_written(self) -> pl.DataFrame:
        """The table with the original text of every field; as given if it was not a text file."""
        if self.text is None:
            return self.table if self.given is None else self.given
        table = read_fields(self.text, self.options.separator or ",", infer_schema_length=0)
        return table.select(self.table.columns)


def read_fields(text: bytes, separator: str, **options: Any) -> pl.DataFrame:
    """Let polars read a text table with a header line."""
    table = pl.read_csv(io.BytesIO(text), separator=separator, **options)
    # polars keeps the quotes inside of quoted names.
    end = text.find(b"\n") + 1 or len(text)
    if b'"' in text[:end]:
        names = next(csv.reader([text[:end].decode()], delimiter=separator))
        table = table.rename(dict(zip(table.columns, names)))
    return restore(table)


def neutralise(frame: pl.DataFrame) -> pl.DataFrame:
    """A table in which no text and no column name is a formula: those that start with ``=``, ``+``,
    ``-``, ``@``, a tab or a carriage return follow an apostrophe, which reading removes.
    """
    changed = []
    for column in frame.select(cs.string() | cs.categorical() | cs.enum()):
        text = column.cast(pl.String)
        is_formula = text.str.contains(_START) & ~text.str.contains(_HARMLESS)
        if is_formula.any():
            changed.append(_choose(is_formula, pl.concat_str(pl.lit("'"), pl.lit(text)), text))
    formulas = [n for n in frame.columns if re.search(_START, n) and not re.search(_HARMLESS, n)]
    return frame.with_columns(changed).rename({name: f"'{name}" for name in formulas})


def _choose(mask: pl.Series, chosen: pl.Expr, others: pl.Series) -> pl.Series:
    # Series, not names of columns: polars reads a name such as "^a$" as a pattern.
    return pl.select(pl.when(mask).then(chosen).otherwise(others).alias(others.name)).to_series()


def restore(frame: pl.DataFrame) -> pl.DataFrame:
    """The table that `neutralise` was given."""
    changed = []
    for column in frame.select(cs.string()):
        is_escaped = column.str.contains(_ESCAPED)
        if is_escaped.any():
            changed.append(_choose(is_escaped, pl.lit(column.str.slice(1)), column))
    frame = frame.with_columns(changed)
    names = {name: name[1:] for name in frame.columns if re.search(_ESCAPED, name)}
    is_unique = len({names.get(name, name) for name in frame.columns}) == frame.width
    return frame.rename(names) if names and is_unique else frame
