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
from pellucid.tables.reading import text_columns
from pellucid.tables.reading.source import DETECT, ReadingOptions
from pellucid.tables.reading.text_columns import DateReading, NumberReading, TextColumn, days

_YEAR_NAME = re.compile(r"year|jahr|ann[eé]e|\byr\b|año", re.IGNORECASE)
_BOOLEANS = ("true", "false")
_LONG_INTEGERS = [getattr(pl, name) for name in ("Int128", "UInt128") if hasattr(pl, name)]
_DATES = ("date", "datetime")
_NOTES = ("readAsNumbers", "keptAsText", "readAsDates")  # messages about columns, in their order


class ParsedColumns(NamedTuple):
    """The table, the formats of its columns, and the decimal sign of the numbers in text."""

    table: pl.DataFrame
    formats: dict[str, ColumnFormat]
    decimal: str
    na: tuple[str, ...] | None  # missing in text columns by `ABBREVIATIONS` or by the option


def parse_columns(
    frame: pl.DataFrame,
    options: ReadingOptions = DETECT,
    hints: ReadingOptions = DETECT,
    usual_decimal: str = ".",
) -> ParsedColumns:
    """Find the types of the text columns of a table and print what is unusual. A column is one of
    numbers or dates if at least 90% of its present values (see `text_columns`) can be read as such.
    The decimal sign is that of the options, of each column, of all columns, of the hints, or the
    usual one. `na` of the options replaces the rules of missing values; that of the hints adds to
    them.
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
    notes: dict[str, list[str]] = field(default_factory=lambda: {key: [] for key in _NOTES})
    markers_found: set[str] = field(default_factory=set)
    has_blanks: bool = False

    def parse(self) -> ParsedColumns:
        texts = {}
        for column in self.frame:
            if column.dtype in (pl.Categorical, pl.Enum):
                column = column.cast(pl.String)
            if column.dtype == pl.String:
                texts[column.name] = TextColumn.of(column, self.na)
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
            column, n_infinite = _finite(column)
            if n_infinite:
                self.strays["notFinite", n_infinite, ("inf",)].append(name)
        elif column.dtype in _LONG_INTEGERS:
            column = column.cast(pl.String)
            self.notes["keptAsText"].append(name)
        elif (found := text_columns.dates_in_integers(column)) is not None:
            text, date = str(column.drop_nulls()[0]), found.drop_nulls()[0]
            note = Message("dateOfInteger", column=name, text=text, date=date)
            self.notes["readAsDates"].append(note)
            self.formats[name] = ColumnFormat("date", date_format="%Y%m%d")
            self.parsed[name] = found
            return
        self.parsed[name] = column
        if (kind := _kind(column)) is not None:
            self.formats[name] = ColumnFormat(kind)

    def _read_numbers(self, texts: dict[str, TextColumn]) -> str:
        """Parse numeric columns, remove them from `texts`, and return the decimal sign."""
        evidence = {}
        for name, found in texts.items():
            if not found.may_be_numbers():
                continue
            values, counts = found.present()
            total = int(counts.sum())
            comma, point, both = text_columns.decimal_evidence(values, counts)
            if total and max(comma, point) + both >= text_columns.SHARE * total:
                evidence[name] = comma, point
        default = self.decimal or self._usual_decimal(evidence)
        is_open = self.decimal is None and not self._has_floats()
        is_open = is_open and not any(any(each) for each in evidence.values())
        used = set()
        for name, (comma, point) in evidence.items():
            values, counts = texts[name].present()
            if text_columns.is_code(values, counts):
                self.notes["keptAsText"].append(name)
                continue
            sign = self.decimal or ("," if comma > point else "." if point > comma else default)
            reading = text_columns.read_numbers(values, counts, sign)
            is_read = reading.numbers.is_finite().fill_null(False)
            if counts.filter(is_read).sum() < text_columns.SHARE * int(counts.sum()):
                continue
            reading = reading._replace(numbers=reading.numbers.set(~is_read, None))
            self._add_number(texts[name], reading, sign, is_open)
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
        self, found: TextColumn, reading: NumberReading, decimal: str, is_open: bool
    ) -> None:
        name, numbers = found.column.name, reading.numbers
        values, _ = found.present()
        if reading.is_integer and (numbers.abs() < 2**63).all():
            numbers = numbers.cast(pl.Int64)
        self._add(found, numbers, "notNumbers")
        kind = _kind(self.parsed[name]) or "number"
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
            self.notes["readAsNumbers"].append(Message(key, **shown, option=other))

    def _read_dates(self, texts: dict[str, TextColumn], day_first: bool) -> None:
        """Parse columns of dates and remove them from `texts`."""
        readings: dict[str, DateReading] = {}
        for name, found in texts.items():
            reading = text_columns.read_dates(*found.present(), day_first=day_first)
            if reading is not None:
                readings[name] = reading
        clear = [r for r in readings.values() if not r.is_ambiguous and "%d" in r.date_format]
        orders = {each.is_day_first for each in clear if each.date_format[1] in "dm"}
        for name, reading in readings.items():
            found = texts.pop(name)
            values, counts = found.present()
            if reading.is_ambiguous and len(orders) == 1:
                again = text_columns.read_dates(values, counts, day_first=orders == {True})
                reading = again or reading
            kind: Kind = "date" if reading.values.dtype == pl.Date else "datetime"
            self._add(found, reading.values, "notDates")
            self.formats[name] = ColumnFormat(kind, date_format=reading.date_format)
            text = values.filter(reading.values.is_not_null()).min()
            date = reading.values.filter(values == text)[0]
            key = "dateExample" if text != str(date) else "sameDateExample"
            if reading.is_ambiguous and not orders:
                key = "dayFirstExample" if reading.is_day_first else "monthFirstExample"
            self.notes["readAsDates"].append(Message(key, column=name, text=text, date=date))

    def _read_words(self, texts: dict[str, TextColumn]) -> None:
        """Parse the other columns as booleans or text."""
        self.markers_found.update(self.known_markers)
        gaps = {*text_columns.NEVER_WORDS, *self.markers_found} if self.na is None else {*self.na}
        report: dict[str, list[str]] = defaultdict(list)
        for name, found in texts.items():
            is_gap = found.values.is_in(list(gaps)).fill_null(False)
            if is_gap.any() and self.na is None:
                n = int(found.counts.filter(is_gap).sum())
                columns = report[text_columns.quoted(sorted(found.values.filter(is_gap)))]
                columns.append(Message("columnWithCount", column=name, n=n))
            values = found.values.set(is_gap, None)
            self.has_blanks |= bool((found.raw != found.values).fill_null(False).any())
            words = values.drop_nulls().str.to_lowercase()
            if len(words) and words.is_in(_BOOLEANS).all():
                self.parsed[name] = found.spread(values.str.to_lowercase() == "true")
            else:
                is_same = values.equals(found.raw, null_equal=True)
                self.parsed[name] = found.column if is_same else found.spread(values)
        for spellings, columns in report.items():
            shown = {"spellings": spellings, "columns": columns, "option": option("na")}
            notice(Message("treatedAsMissing", **shown))

    def _add(self, found: TextColumn, parsed: pl.Series, what: str) -> None:
        """Keep a parsed column and note the values that could not be read."""
        name = found.column.name
        whole = pl.Series(name, [None] * len(found.raw), dtype=parsed.dtype)
        whole = whole.scatter(found.is_present.arg_true(), parsed)
        self.parsed[name] = found.spread(whole)
        is_lost = whole.is_null() & found.values.is_not_null()
        if self.na is not None:
            is_lost &= found.is_present
        lost = set(found.values.filter(is_lost).to_list())
        self.markers_found.update(lost.intersection(text_columns.ABBREVIATIONS))
        if self.na is None:
            spelled = found.values.str.to_lowercase()
            is_lost &= ~spelled.is_in(list(text_columns.STANDARD)).fill_null(False)
        if is_lost.any():
            counts = found.counts.filter(is_lost).cast(pl.Int64)
            order = sorted(zip((-counts).to_list(), found.values.filter(is_lost).to_list()))
            self.strays[what, int(counts.sum()), tuple(text for _, text in order)].append(name)

    def _report(self) -> None:
        if self.has_blanks:
            notice(Message("blanksRemoved"))
        for key, columns in self.notes.items():
            if columns:
                notice(Message(key, columns=columns))
        for (what, n, examples), names in self.strays.items():
            shown = text_columns.quoted(examples)
            notice(Message(what, columns=names, m=len(names), n=n, examples=shown))


def _kind(column: pl.Series) -> Kind | None:
    """The kind of a typed column; None for text and other types."""
    dtype = column.dtype
    if dtype == pl.Date:
        return "date"
    if dtype == pl.Datetime:
        return "date" if text_columns.is_midnight(column) else "datetime"
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
    """A column as numbers, dates as days, and how many values could not be read; these and missing
    values are null.
    """
    name, dtype = column.name, column.dtype
    is_date = column_format.kind in _DATES
    if dtype == pl.String:
        return _from_text(column, column_format, decimal)
    if dtype == pl.Duration and not is_date:
        return days(column), 0
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
    return _finite(column.cast(pl.Float64))


def _finite(numbers: pl.Series) -> tuple[pl.Series, int]:
    """Numbers without infinity and NaN, which are missing, and how many were infinite."""
    finite = pl.select(pl.when(numbers.is_finite()).then(numbers)).to_series()
    return finite.alias(numbers.name), int(numbers.is_infinite().sum())


def _from_text(column: pl.Series, known: ColumnFormat, decimal: str) -> tuple[pl.Series, int]:
    values = column.str.strip_chars()
    is_marker = values.str.to_lowercase().is_in([*text_columns.MARKERS, ""]).fill_null(True)
    counts = pl.Series([1] * len(values), dtype=pl.Int64)
    if known.kind in _DATES:
        if known.date_format:
            numbers = days(text_columns.parse_dates(values, known.date_format))
        else:
            found = text_columns.read_dates(values.set(is_marker, None), counts, day_first=False)
            empty = pl.Series([None] * len(values), dtype=pl.Float64)
            numbers = empty if found is None else days(found.values)
    else:
        numbers = text_columns.read_numbers(values, counts, decimal).numbers
    numbers, _ = _finite(numbers)
    n_unread = int((numbers.is_null() & ~is_marker).sum())
    return numbers.set(is_marker, None).alias(column.name), n_unread
