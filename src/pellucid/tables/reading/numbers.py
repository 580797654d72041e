"""Numbers as people write them: currency, percent, units, thousands separators, decimal commas."""

from __future__ import annotations

import re
from typing import NamedTuple

import polars as pl

CURRENCIES = (
    *("US$", "CA$", "A$", "C$", "R$", "$", "€", "£", "¥", "₹", "₽", "₩", "₺", "₪", "₫", "฿", "zł"),
    *("kr.", "kr", "Fr.", "Rs.", "USD", "EUR", "GBP", "CHF", "JPY", "CNY", "INR", "CAD", "AUD"),
    *("SEK", "NOK", "DKK", "PLN", "BRL", "MXN", "ZAR"),
)
UNITS = (
    *(
        "%",
        "‰",
        "°C",
        "°F",
        "°",
        "kg",
        "mg",
        "g",
        "lbs",
        "lb",
        "km/h",
        "km",
        "cm",
        "mm",
        "m",
        "mph",
    ),
    *("mi", "ft", "ms", "min", "h", "s", "ml", "l", "kWh", "kW", "W", "GB", "MB", "kB", "px"),
)
"""Suffixes that count only if almost all values of a column have the same one."""

_CURRENCY = "|".join(map(re.escape, CURRENCIES))
_UNIT = "|".join(map(re.escape, UNITS))
_BLANKS = r"[ \u00a0\u2009\u202f]"
_THOUSANDS = {".": ",", ",": "."}


def _pattern(decimal: str) -> str:
    """A regular expression of numbers with this decimal sign."""
    point, group = re.escape(decimal), re.escape(_THOUSANDS[decimal])
    grouped = "|".join(
        (
            rf"[1-9]\d{{0,2}}(?:{group}\d{{3}})+",
            rf"[1-9]\d?(?:{group}\d{{2}})+{group}\d{{3}}",  # Indian style: 1,00,000
            rf"[1-9]\d{{0,2}}(?:{_BLANKS}\d{{3}})+",
            r"[1-9]\d{0,2}(?:['’]\d{3})+",
        )
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
    """Numbers of a text column.

    Attributes
    ----------
    numbers : Series of Float64
        Null where the text is not a number.
    prefix, suffix : str
        Text around most numbers.
    is_integer : bool
        Whether all numbers are written without decimals.
    example : str
        A text with currency, unit or thousands separator; empty if there is none.
    """

    numbers: pl.Series
    prefix: str
    suffix: str
    is_integer: bool
    example: str


def is_number(text: str) -> bool:
    """Whether a text can be a number, with either decimal sign."""
    return any(pattern.match(text) for pattern in _COMPILED.values())


def decimal_evidence(values: pl.Series, counts: pl.Series) -> tuple[int, int, int]:
    """How many values are numbers with a decimal comma only, with a point only, and with both."""
    comma, point = (values.str.contains(PATTERNS[sign]).fill_null(False) for sign in ",.")
    return (
        int(counts.filter(comma & ~point).sum()),
        int(counts.filter(point & ~comma).sum()),
        int(counts.filter(point & comma).sum()),
    )


def read_numbers(values: pl.Series, counts: pl.Series, decimal: str) -> NumberReading:
    """Read numbers with one decimal sign.

    A currency sign is optional if the column has one currency. Percent signs and other units must
    be those of most values, because a number without the unit can be of another scale.

    Parameters
    ----------
    values : Series of String
        Different values without blanks at their ends.
    counts : Series of int
        How often each value occurs.
    decimal : {".", ","}
    """
    parts = values.str.extract_groups(PATTERNS[decimal]).struct.unnest()
    core = parts["core"]
    unit = (parts["prefix"].str.strip_chars() + parts["suffix"].str.strip_chars()).alias("unit")
    weight = pl.DataFrame({"unit": unit, "n": counts}).filter(pl.col("unit").is_not_null())
    by_unit = weight.group_by("unit").agg(pl.col("n").sum()).sort("n", "unit", descending=True)
    used = by_unit["unit"].to_list()
    currencies = [each for each in used if each in CURRENCIES]
    allowed = used[:1]
    if not used or used[0] in ("", *CURRENCIES):
        allowed = ["", currencies[0]] if len(currencies) == 1 else used[:1]
        if used[:1] == currencies[:1]:
            allowed = ["", *currencies[:1]]
    is_ok = unit.is_in(allowed) & (parts["open"].is_null() == parts["close"].is_null())
    is_ok &= (parts["sign"] == "") | (parts["inner"] == "")
    is_ok = is_ok.fill_null(False)
    core = core.set(~is_ok, None)
    plain = core.str.replace_all(r"[ \u00a0\u2009\u202f'’]", "").str.replace_all(
        _THOUSANDS[decimal], "", literal=True
    )
    if decimal == ",":
        plain = plain.str.replace(",", ".", literal=True)
    numbers = plain.cast(pl.Float64, strict=False)
    is_negative = parts["sign"].is_in(["-", "−"]) | parts["inner"].is_in(["-", "−"])
    is_negative |= parts["open"].is_not_null()
    numbers = pl.select(
        pl.when(is_negative.fill_null(False)).then(-numbers).otherwise(numbers)
    ).to_series()
    decorated = values.filter((values.str.len_chars() > 0) & is_ok & _is_decorated(values, decimal))
    chosen = parts.filter(is_ok & (unit == (allowed[-1] if allowed else "")))
    around = [
        chosen[each].fill_null("").mode().sort()[0] if len(chosen) else ""
        for each in ("prefix", "suffix")
    ]
    has_decimals = core.str.contains(rf"[{decimal}eE]").any()
    return NumberReading(
        numbers,
        around[0].replace("\u00a0", " "),
        around[1].replace("\u00a0", " "),
        not has_decimals,
        decorated.min() or "",
    )


def _is_decorated(values: pl.Series, decimal: str) -> pl.Series:
    """Whether values have more than digits, signs and a decimal sign."""
    return ~values.str.contains(rf"^[-+]?[\d{decimal}]*(?:[eE][-+]?\d+)?$")


def is_code(values: pl.Series, counts: pl.Series) -> bool:
    """Whether digits are a code, such as a ZIP code, a phone number or a long account number.

    Codes have leading zeros, or a plus sign and many digits, or more digits than a number can
    keep. One number in many that starts with a zero is not enough, unless all have the same
    length.
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
