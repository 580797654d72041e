"""Types of text columns: numbers, dates, booleans, or text."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import polars as pl

from pellucid._utils.notices import InputError, notice, option
from pellucid._utils.texts import Message
from pellucid.tables.column_formats import ColumnFormat, Kind
from pellucid.tables.reading.source import ReadingOptions
from pellucid.tables.reading.text_columns import (
    ABBREVIATIONS,
    MARKERS,
    NEVER_WORDS,
    SHARE,
    STANDARD,
    DateReading,
    NumberReading,
    TextColumn,
    dates_in_integers,
    days,
    decimal_evidence,
    is_code,
    is_midnight,
    parse_dates,
    quoted,
    read_dates,
    read_numbers,
)

_YEAR_NAME = re.compile(r"year|jahr|ann[eé]e|\byr\b|año", re.IGNORECASE)
_BOOLEANS = ("true", "false")
_LONG_INTEGERS = [getattr(pl, name) for name in ("Int128", "UInt128") if hasattr(pl, name)]
_DATES = ("date", "datetime")


class ParsedColumns(NamedTuple):
    """The table, the formats of its columns, and the decimal sign of the numbers in text.

    `na` are the values that were missing in text columns by `ABBREVIATIONS` or by the option.
    """

    table: pl.DataFrame
    formats: dict[str, ColumnFormat]
    decimal: str
    na: tuple[str, ...] | None


def parse_columns(
    frame: pl.DataFrame,
    options: ReadingOptions = ReadingOptions(),  # noqa: B008
    hints: ReadingOptions = ReadingOptions(),  # noqa: B008
    usual_decimal: str = ".",
) -> ParsedColumns:
    """Find the types of the text columns of a table and print what is unusual.

    A column is one of numbers or dates if at least 90% of its present values (see `text_columns`)
    can be read as such. Codes stay text. Infinite numbers of other columns become missing. The
    decimal sign is that of the options, of each column, of all columns, of the hints, or the usual
    one. `na` of the options replaces the rules of missing values; that of the hints adds to them.
    """
    default_decimal, markers = hints.decimal or usual_decimal, hints.na or ()
    return _Parser(frame, options.decimal, options.na, default_decimal, markers).parse()


@dataclass
class _Parser:
    frame: pl.DataFrame
    decimal: str | None
    na: tuple[str, ...] | None
    default_decimal: str
    known_markers: tuple[str, ...]
    parsed: dict[str, pl.Series] = field(default_factory=dict)
    formats: dict[str, ColumnFormat] = field(default_factory=dict)
    strays: dict[tuple[Any, ...], list[str]] = field(default_factory=lambda: defaultdict(list))
    decorated: list[str] = field(default_factory=list)
    dates: list[str] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)
    markers_found: set[str] = field(default_factory=set)
    has_blanks: bool = False

    def parse(self) -> ParsedColumns:
        texts = {}
        for column in self.frame:
            if column.dtype in (pl.Categorical, pl.Enum):
                column = column.cast(pl.String)
            if column.dtype == pl.String:
                texts[column.name] = (column, TextColumn.of(column, self.na))
            else:
                self._keep(column)
        decimal = self._read_numbers(texts)
        self._read_dates(texts, day_first=decimal == ",")
        self._read_words(texts)
        self._report()
        table = self.frame.select(self.parsed[name] for name in self.frame.columns)
        na = self.na if self.na is not None else tuple(sorted(self.markers_found)) or None
        return ParsedColumns(table, self.formats, decimal, na)

    def _keep(self, column: pl.Series) -> None:
        """A column that has a type already."""
        name = column.name
        if column.dtype.is_float() and not column.is_finite().all():
            is_infinite = column.is_infinite().fill_null(False)
            if is_infinite.any():
                self._add_strays(name, "notFinite", int(is_infinite.sum()), ["inf"])
            column = pl.select(pl.when(column.is_finite()).then(column)).to_series().alias(name)
        elif column.dtype in _LONG_INTEGERS:
            column = column.cast(pl.String)
            self.codes.append(name)
        elif column.dtype.is_integer() and (found := dates_in_integers(column)) is not None:
            text, date = str(column.drop_nulls()[0]), found.drop_nulls()[0]
            self.dates.append(Message("dateOfInteger", column=name, text=text, date=date))
            self.formats[name] = ColumnFormat("date", date_format="%Y%m%d")
            self.parsed[name] = found
            return
        self.parsed[name] = column
        if (kind := _kind(column)) is not None:
            self.formats[name] = ColumnFormat(kind)

    def _read_numbers(self, texts: dict[str, tuple[pl.Series, TextColumn]]) -> str:
        """Parse numeric columns, remove them from `texts`, and return the decimal sign."""
        evidence = {}
        for name, (_, found) in texts.items():
            values, counts = found.present()
            total = int(counts.sum())
            if not found.may_be_numbers():
                continue
            comma, point, both = decimal_evidence(values, counts)
            if total and max(comma, point) + both >= SHARE * total:
                evidence[name] = comma, point
        default = self.decimal or self._usual_decimal(evidence)
        is_open = self.decimal is None and not self._has_floats()
        is_open = is_open and not any(any(each) for each in evidence.values())
        used = set()
        for name, (comma, point) in evidence.items():
            column, found = texts[name]
            values, counts = found.present()
            if is_code(values, counts):
                self.codes.append(name)
                continue
            sign = self.decimal or ("," if comma > point else "." if point > comma else default)
            reading = read_numbers(values, counts, sign)
            is_read = reading.numbers.is_finite().fill_null(False)
            if counts.filter(is_read).sum() < SHARE * int(counts.sum()):
                continue
            numbers = reading.numbers.set(~is_read, None)
            self._add_number(column, found, numbers, reading, sign, is_open)
            used.add(sign if comma or point else default)
            del texts[name]
        if "," in used and self.decimal is None:
            notice(Message("decimalComma", option=option("decimal")))
        return "," if used == {","} else default

    def _usual_decimal(self, evidence: dict[str, tuple[int, int]]) -> str:
        comma, point = (sum(each[i] for each in evidence.values()) for i in (0, 1))
        if comma == point == 0:
            return "." if self._has_floats() else self.default_decimal
        return "," if comma > point else "."

    def _has_floats(self) -> bool:
        """Whether a column was read with decimal points already."""
        return any(dtype.is_float() for dtype in self.frame.dtypes)

    def _add_number(
        self,
        column: pl.Series,
        found: TextColumn,
        numbers: pl.Series,
        reading: NumberReading,
        decimal: str,
        is_open: bool,
    ) -> None:
        name = column.name
        values, _ = found.present()
        kind: Kind = "number"
        if reading.is_integer and (numbers.abs() < 2**63).all():
            numbers = numbers.cast(pl.Int64)
            kind = "integer"
        self._add(column, found, numbers, "notNumbers")
        if kind == "integer" and (typed := _kind(self.parsed[name])) is not None:
            kind = typed
        self.formats[name] = ColumnFormat(kind, reading.prefix, reading.suffix)
        example: Any = reading.example
        if is_open and decimal == "," and not example:
            example = values.filter(values.str.contains(",", literal=True)).min() or ""
        if example:
            number = numbers.filter(values == example)[0]
            is_unclear = is_open and re.search(r"\d[.,]\d{3}(?!\d)", example)
            key = "unclearNumberExample" if is_unclear else "numberExample"
            shown = {"column": name, "text": example, "value": number}
            other = option("decimal", "," if decimal == "." else ".")
            self.decorated.append(Message(key, **shown, option=other))

    def _read_dates(self, texts: dict[str, tuple[pl.Series, TextColumn]], day_first: bool) -> None:
        """Parse columns of dates and remove them from `texts`."""
        readings: dict[str, DateReading] = {}
        for name, (_, found) in texts.items():
            values, counts = found.present()
            if len(values) and (each := read_dates(values, counts, day_first=day_first)):
                readings[name] = each
        orders = {
            each.is_day_first
            for each in readings.values()
            if not each.is_ambiguous and "%d" in each.date_format and each.date_format[1] in "dm"
        }
        for name, reading in readings.items():
            column, found = texts.pop(name)
            values, counts = found.present()
            if reading.is_ambiguous and len(orders) == 1:
                again = read_dates(values, counts, day_first=orders.copy().pop())
                reading = again or reading
            kind: Kind = "date" if reading.values.dtype == pl.Date else "datetime"
            self._add(column, found, reading.values, "notDates")
            self.formats[name] = ColumnFormat(kind, date_format=reading.date_format)
            text = values.filter(reading.values.is_not_null()).min()
            date = reading.values.filter(values == text)[0]
            key = "dateExample" if text != str(date) else "sameDateExample"
            if reading.is_ambiguous and not orders:
                key = "dayFirstExample" if reading.is_day_first else "monthFirstExample"
            self.dates.append(Message(key, column=name, text=text, date=date))

    def _read_words(self, texts: dict[str, tuple[pl.Series, TextColumn]]) -> None:
        """Parse the other columns as booleans or text."""
        if self.na is not None:
            gaps = set(self.na)
        else:
            gaps = {*NEVER_WORDS, *self.known_markers, *self.markers_found}
            self.markers_found.update(self.known_markers)
        report: dict[str, list[str]] = defaultdict(list)
        for name, (column, found) in texts.items():
            is_gap = found.values.is_in(list(gaps)).fill_null(False)
            if is_gap.any() and self.na is None:
                n = int(found.counts.filter(is_gap).sum())
                columns = report[quoted(sorted(found.values.filter(is_gap)))]
                columns.append(Message("columnWithCount", column=name, n=n))
            values = found.values.set(is_gap, None)
            self.has_blanks |= bool((found.raw != found.values).fill_null(False).any())
            words = values.drop_nulls().str.to_lowercase()
            if len(words) and words.is_in(_BOOLEANS).all():
                self.parsed[name] = found.spread(column, values.str.to_lowercase() == "true")
            elif values.equals(found.raw, null_equal=True):
                self.parsed[name] = column
            else:
                self.parsed[name] = found.spread(column, values)
        for spellings, columns in report.items():
            shown = {"spellings": spellings, "columns": columns, "option": option("na")}
            notice(Message("treatedAsMissing", **shown))

    def _add(self, column: pl.Series, found: TextColumn, parsed: pl.Series, what: str) -> None:
        """Keep a parsed column and note the values that could not be read."""
        whole = pl.Series(column.name, [None] * len(found.raw), dtype=parsed.dtype)
        whole = whole.scatter(found.is_present.arg_true(), parsed)
        self.parsed[column.name] = found.spread(column, whole)
        is_lost = whole.is_null() & found.values.is_not_null()
        if self.na is not None:
            is_lost &= found.is_present
        lost = found.values.filter(is_lost)
        self.markers_found.update(set(lost.to_list()) & set(ABBREVIATIONS))
        if self.na is None:
            spelled = found.values.str.to_lowercase()
            is_lost &= ~spelled.is_in(list(STANDARD)).fill_null(False)
        lost = found.values.filter(is_lost)
        if len(lost):
            counts = found.counts.filter(is_lost)
            order = sorted(zip((-counts.cast(pl.Int64)).to_list(), lost.to_list()))
            self._add_strays(column.name, what, int(counts.sum()), [text for _, text in order])

    def _add_strays(self, name: str, what: str, n: int, examples: list[str]) -> None:
        self.strays[what, n, tuple(examples)].append(name)

    def _report(self) -> None:
        if self.has_blanks:
            notice(Message("blanksRemoved"))
        if self.decorated:
            notice(Message("readAsNumbers", columns=self.decorated))
        if self.codes:
            notice(Message("keptAsText", columns=self.codes))
        if self.dates:
            notice(Message("readAsDates", columns=self.dates))
        for (what, n, examples), names in self.strays.items():
            shown = quoted(list(examples))
            notice(Message(what, columns=names, m=len(names), n=n, examples=shown))


def _kind(column: pl.Series) -> Kind | None:
    """The kind of a typed column; None for text and other types."""
    dtype = column.dtype
    if dtype == pl.Date:
        return "date"
    if dtype == pl.Datetime:
        return "date" if is_midnight(column) else "datetime"
    if dtype.is_integer():
        if not _YEAR_NAME.search(column.name) or column.null_count() == len(column):
            return "integer"
        low: Any = column.min()
        high: Any = column.max()
        return "year" if low >= 1000 and high <= 2999 else "integer"
    return "number" if dtype.is_numeric() else None


def as_format(
    column: pl.Series, column_format: ColumnFormat, *, decimal: str = "."
) -> tuple[pl.Series, int]:
    """A column as numbers, dates as days, and how many values could not be read.

    These and missing values are null.
    """
    name, dtype = column.name, column.dtype
    is_date = column_format.kind in _DATES
    if dtype == pl.String:
        return _from_text(column, column_format, decimal)
    if dtype == pl.Duration and not is_date:
        return column.dt.total_microseconds().cast(pl.Float64) / (24 * 60 * 60 * 1e6), 0
    if dtype.is_temporal():
        if not is_date or dtype not in (pl.Date, pl.Datetime):
            raise InputError(f"column {name!r} has dates, but the model expects numbers")
        return days(column).alias(name), 0
    if is_date and dtype != pl.Null:
        if dtype.is_integer() and column_format.date_format == "%Y%m%d":
            return _from_text(column.cast(pl.String), column_format, decimal)
        raise InputError(f"column {name!r} has numbers, but the model expects dates")
    if not (dtype.is_numeric() or dtype in (pl.Boolean, pl.Null)):
        raise InputError(f"column {name!r} is not numeric (its type is {dtype})")
    numbers = column.cast(pl.Float64)
    is_infinite = numbers.is_infinite().fill_null(False)
    finite = pl.select(pl.when(numbers.is_finite()).then(numbers)).to_series()
    return finite.alias(name), int(is_infinite.sum())


def _from_text(
    column: pl.Series, column_format: ColumnFormat, decimal: str
) -> tuple[pl.Series, int]:
    values = column.str.strip_chars()
    is_marker = values.str.to_lowercase().is_in([*MARKERS, ""]).fill_null(True)
    counts = pl.Series([1] * len(values), dtype=pl.Int64)
    if column_format.kind in _DATES:
        if column_format.date_format:
            numbers = days(parse_dates(values, column_format.date_format))
        elif found := read_dates(values.set(is_marker, None), counts, day_first=False):
            numbers = days(found.values)
        else:
            numbers = pl.Series([None] * len(values), dtype=pl.Float64)
    else:
        numbers = read_numbers(values, counts, decimal).numbers
    numbers = pl.select(pl.when(numbers.is_finite()).then(numbers)).to_series()
    n_unread = int((numbers.is_null() & ~is_marker).sum())
    return numbers.set(is_marker, None).alias(column.name), n_unread
