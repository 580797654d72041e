"""The values of a text column: which are missing, numbers, or dates, and dates as days.

An empty field, or one of blanks only, is missing in every column.
Columns of numbers and dates: every value that cannot be read is missing, with a notice except for
`STANDARD`. `MARKERS` do not count in the share of values that can be read: a column of 60% ``NA``
and 40% numbers is numeric.

Text columns: words such as ``None`` or ``unknown`` are values. Missing are `NEVER_WORDS`, and those
`ABBREVIATIONS` that also occur in a column of numbers or dates of the same file. R writes ``NA`` in
all columns; a file with the region ``NA`` (North America) has no ``NA`` in its numbers.

The option `na` replaces these rules; in columns of numbers its values are missing without a notice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import time
from itertools import product
from typing import Any, NamedTuple, cast

import polars as pl

CURRENCIES = (
    *("US$", "CA$", "A$", "C$", "R$", "$", "€", "£", "¥", "₹", "₽", "₩", "₺", "₪", "₫", "฿", "zł"),
    *("kr.", "kr", "Fr.", "Rs.", "USD", "EUR", "GBP", "CHF", "JPY", "CNY", "INR", "CAD", "AUD"),
    *("SEK", "NOK", "DKK", "PLN", "BRL", "MXN", "ZAR"),
)
# Suffixes that count only if almost all values of a column have the same one.
UNITS = (
    *("%", "‰", "°C", "°F", "°", "kg", "mg", "g", "lbs", "lb", "km/h", "km", "cm", "mm"),
    *("m", "mph", "mi", "ft", "ms", "min", "h", "s", "ml", "l", "kWh", "kW", "W", "GB"),
    *("MB", "kB", "px"),
)
_CURRENCY = "|".join(map(re.escape, CURRENCIES))
_UNIT = "|".join(map(re.escape, UNITS))
_BLANKS = r"[ \u00a0\u2009\u202f]"
_THOUSANDS = {".": ",", ",": "."}

EXCEL_ERRORS = ("#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!", "#N/A N/A")

# Spellings that are missing in text columns.
NEVER_WORDS = (
    *("NaN", "nan", "<NA>", "NaT", "NULL", "null", "(null)", "\\N", "?", "??", "N/A", "n/a"),
    *EXCEL_ERRORS,
)
# Spellings that are missing in text columns if a column of numbers or dates has them.
ABBREVIATIONS = (
    *("NA", "na", "N.A.", "n.a.", "k.A.", "-", "--", "---", "–", "—", ".", "..", "*", "#"),
)
# Spellings that are missing in columns of numbers and dates only.
WORDS = ("None", "nil", "missing", "unknown", "not available", "not applicable", "blank", "(blank)")
# Spellings, in lower case, that need no notice in columns of numbers and dates.
STANDARD = ("na", "nan", "-nan", "<na>", "nat", "null")
# Spellings, in lower case, of missing values in columns of numbers and dates.
MARKERS = frozenset(each.lower() for each in (*NEVER_WORDS, *ABBREVIATIONS, *WORDS, "...", "-nan"))
MAX_EXAMPLES = 3

_SAMPLE = 1000


def _pattern(decimal: str) -> str:
    """A regular expression of numbers with this decimal sign."""
    point, group = re.escape(decimal), re.escape(_THOUSANDS[decimal])
    grouped = (
        rf"[1-9]\d{{0,2}}(?:{group}\d{{3}})+|"
        rf"[1-9]\d?(?:{group}\d{{2}})+{group}\d{{3}}|"  # Indian style: 1,00,000
        rf"[1-9]\d{{0,2}}(?:{_BLANKS}\d{{3}})+|[1-9]\d{{0,2}}(?:['’]\d{{3}})+"
    )
    core = rf"(?:{grouped}|\d+)(?:{point}\d*)?|{point}\d+"
    return (
        rf"^(?P<open>\()?(?P<sign>[-+−]?)(?P<prefix>(?:{_CURRENCY})?{_BLANKS}*)(?P<inner>[-+−]?)"
        rf"(?P<core>(?:{core})(?:[eE][-+]?\d+)?)"
        rf"(?P<suffix>{_BLANKS}*(?:{_CURRENCY}|{_UNIT})?)(?P<close>\))?$"
    )


PATTERNS = {sign: _pattern(sign) for sign in ".,"}
_COMPILED = {sign: re.compile(pattern) for sign, pattern in PATTERNS.items()}


class NumberReading(NamedTuple):
    """Numbers of a text column, null where the text is not a number."""

    numbers: pl.Series
    prefix: str  # the text around most numbers, as is the suffix
    suffix: str
    is_integer: bool  # whether no number has decimals
    example: str  # a text with currency, unit or thousands separator, or empty


def is_number(text: str) -> bool:
    """Whether a text can be a number, with either decimal sign."""
    return any(pattern.match(text) for pattern in _COMPILED.values())


def decimal_evidence(values: pl.Series, counts: pl.Series) -> tuple[int, int, int]:
    """How many values are numbers with a decimal comma only, with a point only, and with both."""
    is_plain = _plain_numbers(values, ".").is_not_null()
    has_point = is_plain & values.str.contains(".", literal=True)
    is_open = has_point & values.str.contains(r"^[-+]?[1-9]\d{0,2}\.\d{3}$")
    n_point = int(counts.filter(has_point & ~is_open).sum())
    n_both = int(counts.filter(is_plain).sum()) - n_point
    values, counts = values.filter(~is_plain), counts.filter(~is_plain)
    comma, point = (values.str.contains(PATTERNS[sign]).fill_null(False) for sign in ",.")
    n_comma = int(counts.filter(comma & ~point).sum())
    n_point += int(counts.filter(point & ~comma).sum())
    return n_comma, n_point, n_both + int(counts.filter(point & comma).sum())


def read_numbers(values: pl.Series, counts: pl.Series, decimal: str) -> NumberReading:
    """Read numbers with one decimal sign; `values` are different, and occur `counts` times. A
    currency sign is optional, but other units must be those of most values, because a number
    without the unit can be of another scale.
    """
    numbers = _plain_numbers(values, decimal)
    is_plain = numbers.is_not_null()
    has_decimals = values.filter(is_plain).str.contains(rf"[{decimal}eE]").any()
    others = (~is_plain & values.is_not_null()).arg_true()
    written = values.gather(others)
    parts = written.str.extract_groups(PATTERNS[decimal]).struct.unnest()
    unit = parts["prefix"].str.strip_chars() + parts["suffix"].str.strip_chars()
    n_plain = int(counts.filter(is_plain).sum())
    allowed = _allowed_units(unit, counts.gather(others), n_plain)
    is_ok = unit.is_in(allowed) & (parts["open"].is_null() == parts["close"].is_null())
    is_ok &= (parts["sign"] == "") | (parts["inner"] == "")
    is_ok = is_ok.fill_null(False)
    parts, written = parts.filter(is_ok), written.filter(is_ok)
    core = parts["core"].str.replace_all(r"[ \u00a0\u2009\u202f'’]", "")
    core = core.str.replace_all(_THOUSANDS[decimal], "", literal=True)
    found = core.str.replace(decimal, ".", literal=True).cast(pl.Float64, strict=False)
    is_negative = parts["sign"].is_in(["-", "−"]) | parts["inner"].is_in(["-", "−"])
    is_negative |= parts["open"].is_not_null()
    found = pl.select(pl.when(is_negative).then(-found).otherwise(found)).to_series()
    if "" not in allowed:
        numbers = numbers.set(is_plain, None)
    numbers = numbers.scatter(others.filter(is_ok), found)
    has_decimals |= core.str.contains(rf"[{decimal}eE]").any()
    with_unit = parts.filter(unit.filter(is_ok) != "")
    prefix, suffix = (
        with_unit[each].mode().sort()[0].replace("\u00a0", " ") if len(with_unit) else ""
        for each in ("prefix", "suffix")
    )
    is_bare = written.str.contains(rf"^[-+]?[\d{decimal}]*(?:[eE][-+]?\d+)?$")
    example: Any = written.filter(~is_bare).min() or ""
    return NumberReading(numbers, prefix, suffix, not has_decimals, example)


def _plain_numbers(values: pl.Series, decimal: str) -> pl.Series:
    """Finite numbers of digits, a sign and a decimal sign; null for other values."""
    if decimal == ",":
        has_point = values.str.contains(".", literal=True)
        values = values.set(has_point, None).str.replace(",", ".", literal=True)
    numbers = values.cast(pl.Float64, strict=False)
    return numbers.set(~numbers.is_finite(), None)


def _allowed_units(unit: pl.Series, counts: pl.Series, n_plain: int) -> list[str]:
    """The units that the numbers of a column may have; empty text for none."""
    weight = {"": n_plain}
    for each, n in (
        pl.DataFrame({"unit": unit, "n": counts}).drop_nulls().group_by("unit").sum().rows()
    ):
        weight[each] = weight.get(each, 0) + n
    usual = max(weight, key=lambda each: (weight[each], each))
    currencies = [each for each in weight if each in CURRENCIES]
    if usual not in ("", *currencies):
        return [usual]
    return ["", usual] if usual or len(currencies) != 1 else ["", currencies[0]]


def as_integers(column: pl.Series) -> pl.Series:
    """A column of floats as integers if all are integers, otherwise as it is."""
    is_whole = (column == column.round()).all() and (column.abs() < 2**53).all()
    return column.cast(pl.Int64) if is_whole and column.is_finite().all() else column


def is_code(values: pl.Series, counts: pl.Series) -> bool:
    """Whether digits are a code, such as a ZIP code, a phone number or a long account number: with
    leading zeros, with a plus sign and many digits, or with more digits than a number can keep.
    """
    digits = values.str.contains(r"^\+?\d+$").fill_null(False)
    total = int(counts.filter(digits).sum())
    if not total:
        return False
    zeros = digits & values.str.contains(r"^0\d")
    phones = digits & values.str.contains(r"^\+\d{7,}$")
    if zeros.any():
        widths = values.filter(digits).str.len_chars()
        return widths.n_unique() == 1 or counts.filter(zeros).sum() >= 0.05 * total
    long = digits & (values.str.len_chars() > 18)
    return bool(counts.filter(phones | long).sum() >= 0.5 * total)


@dataclass
class TextColumn:
    """The different values of a text column, and how often they occur."""

    column: pl.Series
    raw: pl.Series
    values: pl.Series  # `raw` without blanks at the ends, null if empty
    counts: pl.Series
    is_present: pl.Series  # the values that are not missing

    @classmethod
    def of(cls, column: pl.Series, na: tuple[str, ...] | None) -> TextColumn:
        """Collect the different values of a column; `na` as in `parse_columns`."""
        found = column.drop_nulls().alias("value").value_counts(name="n")
        raw, counts = found["value"], found["n"]
        values = raw.str.strip_chars()
        values = values.set(values == "", None)
        spelled = values.str.to_lowercase() if na is None else values
        is_marker = spelled.is_in(list(MARKERS if na is None else na)).fill_null(True)
        return cls(column, raw, values, counts, ~is_marker)

    def present(self) -> tuple[pl.Series, pl.Series]:
        """The values that are not missing, and how often they occur."""
        return self.values.filter(self.is_present), self.counts.filter(self.is_present)

    def spread(self, parsed: pl.Series) -> pl.Series:
        """The parsed value of each row."""
        column, dtype = self.column, parsed.dtype
        found = column.replace_strict(self.raw, parsed, default=None, return_dtype=dtype)
        return found.alias(column.name)

    def may_be_numbers(self) -> bool:
        """Whether half of a sample of the values are numbers; short columns are not sampled."""
        values, _ = self.present()
        if len(values) <= 2 * _SAMPLE:
            return True
        sample = values.gather_every(len(values) // _SAMPLE)
        return sum(decimal_evidence(sample, pl.Series([1] * len(sample)))) >= len(sample) / 2


def quoted(examples: Iterable[str]) -> str:
    different = list(dict.fromkeys(examples))
    shown = ", ".join(f'"{each[:30]}"' for each in different[:MAX_EXAMPLES])
    return f"{shown}, ..." if len(different) > MAX_EXAMPLES else shown


_TIME = (
    r"(?P<time>(?P<gap>,? |T)\d{1,2}:\d{2}(?P<seconds>:\d{2})?(?P<fraction>\.\d+)?"
    r"(?P<half>(?P<halfgap> ?)[AaPp][Mm])?(?P<zone>(?P<zonegap> ?)(?:Z|[-+]\d{2}:?\d{2}))?)?$"
)
_MONTH = r"[A-Za-z]{3,9}"

# Formats of dates by their shape; the formats of one shape exclude each other.
SHAPES: dict[str, tuple[str, ...]] = {
    rf"^\d{{4}}[{sign}]\d{{1,2}}[{sign}]\d{{1,2}}": (f"%Y{sign}%m{sign}%d",) for sign in "-/."
}
for _sign, (_width, _year) in product("/-.", ((4, "Y"), (2, "y"))):
    SHAPES[rf"^\d{{1,2}}[{_sign}]\d{{1,2}}[{_sign}]\d{{{_width}}}"] = (
        f"%d{_sign}%m{_sign}%{_year}",
        f"%m{_sign}%d{_sign}%{_year}",
    )
for _shape, _formats in (
    (rf"^{_MONTH} \d{{1,2}} \d{{4}}", ("%b %d %Y",)),
    (rf"^{_MONTH} \d{{1,2}}, ?\d{{4}}", ("%b %d, %Y", "%b %d,%Y")),
    (rf"^\d{{1,2}} {_MONTH} \d{{4}}", ("%d %b %Y",)),
    (rf"^\d{{1,2}}-{_MONTH}-\d{{4}}", ("%d-%b-%Y",)),
    (rf"^\d{{1,2}}-{_MONTH}-\d{{2}}", ("%d-%b-%y",)),
    (rf"^{_MONTH} \d{{4}}", ("%b %Y",)),
):
    SHAPES[_shape] = (*_formats, *(each.replace("%b", "%B") for each in _formats))
SHAPES[r"^\d{4}-\d{2}"] = ("%Y-%m",)

_ANY_SHAPE = rf"^(?:\d{{1,4}}[-/.]\d{{1,2}}|{_MONTH} \d{{1,4}}|\d{{1,2}}[ -]{_MONTH})"

FIRST_YEAR, LAST_YEAR = 1000, 2999
SHARE = 0.9  # least share of the present values of a column that must fit its type


class DateReading(NamedTuple):
    """Dates of a text column, null where the text has another format."""

    values: pl.Series
    date_format: str  # as for ``datetime.strptime``
    is_ambiguous: bool  # whether day and month could be exchanged in all values

    @property
    def is_day_first(self) -> bool:
        return self.date_format.find("%d") < self.date_format.find("%m")


def read_dates(values: pl.Series, counts: pl.Series, *, day_first: bool) -> DateReading | None:
    """Read dates if most of the different values, which occur `counts` times, have the same shape.
    If all of them fit both orders of day and month, `day_first` decides.
    """
    needed = SHARE * int(counts.sum())
    if not needed or counts.filter(values.str.contains(_ANY_SHAPE).fill_null(False)).sum() < needed:
        return None
    for shape, formats in SHAPES.items():
        fits = values.str.contains(shape + _TIME).fill_null(False)
        if counts.filter(fits).sum() < needed:
            continue
        tail = _time_format(values.filter(fits), counts.filter(fits), shape)
        found = [(_parse(values, each + tail), each + tail) for each in formats]
        n_read = [int(counts.filter(parsed.is_not_null()).sum()) for parsed, _ in found]
        best = max(n_read)
        if best < needed:
            continue
        ties = [each for each, n in zip(found, n_read) if n == best]
        different = len(ties) > 1 and not ties[0][0].equals(ties[1][0], null_equal=True)
        chosen = ties[0 if day_first or not different else 1]
        python_format = chosen[1].replace("%.f", ".%f").replace("%#z", "%z")
        return DateReading(chosen[0], python_format, different)
    return None


def parse_dates(values: pl.Series, date_format: str) -> pl.Series:
    """Parse text by a format of ``datetime.strptime``; null where it does not fit."""
    return _parse(values, date_format.replace("%S.%f", "%S%.f").replace("%z", "%#z"))


def days(column: pl.Series) -> pl.Series:
    """Dates and times as days since 1970-01-01, durations as days."""
    if column.dtype == pl.Date:
        return column.cast(pl.Int32).cast(pl.Float64)
    is_duration = column.dtype == pl.Duration
    numbers = column.dt.total_microseconds() if is_duration else _in_utc(column).dt.epoch("us")
    return numbers.cast(pl.Float64) / (24 * 60 * 60 * 1e6)


def _in_utc(column: pl.Series) -> pl.Series:
    if getattr(column.dtype, "time_zone", None) is None:
        return column
    return column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)


def is_midnight(column: pl.Series) -> bool:
    return bool((column.drop_nulls().dt.time() == time(0)).all())


def dates_in_integers(column: pl.Series) -> pl.Series | None:
    """The dates of integers such as 20201231; None if a value is no date."""
    if not column.dtype.is_integer():
        return None
    low, high = cast(Any, column.min()), cast(Any, column.max())
    if low is None or low < 19000101 or high > 20991231 or low == high:
        return None
    found = column.cast(pl.String).str.to_date("%Y%m%d", strict=False)
    return found if found.null_count() == column.null_count() else None


def _parse(values: pl.Series, date_format: str) -> pl.Series:
    if "%H" in date_format or "%I" in date_format:
        parsed = _in_utc(values.str.to_datetime(date_format, strict=False, time_unit="us"))
    else:
        parsed = values.str.to_date(date_format, strict=False)
    year = parsed.dt.year()
    outside = ((year < FIRST_YEAR) | (year > LAST_YEAR)).fill_null(False)
    return parsed.set(outside, None) if outside.any() else parsed


def _time_format(values: pl.Series, counts: pl.Series, shape: str) -> str:
    """The format of the time of day that most values have; empty for none."""
    parts = values.str.extract_groups(shape + _TIME).struct.unnest()

    def usual(name: str) -> str:
        """The text of a group in most of the values that have it."""
        there = pl.DataFrame({"part": parts[name], "n": counts}).drop_nulls("part")
        weight = there.group_by("part").agg(pl.col("n").sum())
        return weight.sort("n", "part", descending=True)["part"][0]

    def mostly(name: str) -> bool:
        return counts.filter(parts[name].is_not_null()).sum() > counts.sum() / 2

    if not mostly("time"):
        return ""
    text = usual("gap") + ("%I:%M" if mostly("half") else "%H:%M")
    if mostly("seconds"):
        text += ":%S"
    if parts["fraction"].is_not_null().any():
        text += "%.f"
    if mostly("half"):
        text += usual("halfgap") + "%p"
    if mostly("zone"):
        text += usual("zonegap") + "%#z"
    return text
