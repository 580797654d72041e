"""How databases write names, strings and numbers.

sqlglot omits the prefix of national strings for SQL Server and the quotes that keep SQLite from
taking an unknown name for a string, and knows no guards of missing values. Tests parse with it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

_LARGEST = "1.7976931348623157e308"
_PLAIN_INTEGERS = 2**24  # integers up to this size are exact in single precision too


@dataclass(frozen=True)
class Dialect:
    """The syntax of one database; the defaults are those of the SQL standard."""

    quotes: tuple[str, str] = ('"', '"')
    """Quotation marks of a name."""
    escapes_name_by: str | None = None
    """Escape character of a closing quote in a name; None doubles the quote."""
    has_backslashes: bool = False
    """Whether a backslash in a string begins an escape."""
    string_prefix: str = ""
    has_booleans: bool = True
    decimals_are_exact: bool = True
    """Whether 5.1 is an exact decimal, so that double precision must be written as 5.1e0."""
    not_finite: str | None = None
    """A test for NaN and infinities, if the database has them."""
    date: str = "DATE {text}"
    """A date, given as a string literal in ISO format."""
    timestamp: str = "TIMESTAMP {text}"
    """A date with a time, given as a string literal in ISO format."""
    compares_dates_as_text: bool = False
    """Whether dates are text, so that a literal needs all digits of the longest spelling."""

    def identifier(self, name: str) -> str:
        """A name, quoted."""
        _refuse_unwritable(name)
        first, last = self.quotes
        if self.escapes_name_by is None:
            return f"{first}{name.replace(last, last * 2)}{last}"
        escape = self.escapes_name_by
        return f"{first}{name.replace(escape, escape * 2).replace(last, escape + last)}{last}"

    def literal(self, value: Any) -> str:
        """A value as a literal."""
        value = value.item() if hasattr(value, "item") else value  # of NumPy
        if isinstance(value, bool):
            return ("FALSE", "TRUE")[value] if self.has_booleans else str(int(value))
        if isinstance(value, int):
            return str(value)
        return self._number(value) if isinstance(value, float) else self._string(value)

    def date_literal(self, days: float, *, with_time: bool) -> str:
        """A date or a time, given as days since 1970-01-01, as a literal.

        Where dates are text, a time has six decimals: with fewer it would compare as smaller.
        """
        # The command line imports this module to check its options; NumPy would make it slow.
        from pellucid.tables.column_formats import as_datetime

        moment = as_datetime(days)
        if moment is None:
            raise ValueError(f"{days!r} days since 1970-01-01 is not a date that SQL can represent")
        if not with_time and days == math.floor(days):
            return self.date.format(text=self._string(moment.date().isoformat()))
        has_fraction = moment.microsecond or self.compares_dates_as_text
        text = moment.isoformat(" ", "microseconds" if has_fraction else "seconds")
        return self.timestamp.format(text=self._string(text))

    def _number(self, value: float) -> str:
        if value.is_integer() and abs(value) <= _PLAIN_INTEGERS:
            return str(int(value))
        text = repr(value)
        return f"{text}e0" if self.decimals_are_exact and "e" not in text else text

    def _string(self, value: str) -> str:
        _refuse_unwritable(value)
        if self.has_backslashes:
            value = value.replace("\\", "\\\\").replace("'", "\\'")
            for letter, name in (("\n", "\\n"), ("\r", "\\r")):
                value = value.replace(letter, name)
        else:
            value = value.replace("'", "''")
        return f"{self.string_prefix}'{value}'"


def _refuse_unwritable(text: str) -> None:
    if "\0" in text:
        raise ValueError(f"{text!r} contains a NUL character, which SQL cannot represent")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{text!r} contains a lone surrogate, which is not valid text") from None


_BETWEEN = f"{{column}} NOT BETWEEN -{_LARGEST} AND {_LARGEST}"
_BACKTICKS = ("`", "`")

DIALECTS = {
    "standard": Dialect(),
    "bigquery": Dialect(
        quotes=_BACKTICKS,
        escapes_name_by="\\",
        has_backslashes=True,
        decimals_are_exact=False,
        not_finite="IS_NAN({column}) OR IS_INF({column})",
        # A string becomes the type of the column, DATETIME or TIMESTAMP.
        timestamp="{text}",
    ),
    "duckdb": Dialect(not_finite="NOT isfinite(CAST({column} AS DOUBLE))"),
    "mssql": Dialect(
        quotes=("[", "]"),
        string_prefix="N",
        has_booleans=False,
        date="CAST({text} AS date)",
        timestamp="CAST({text} AS datetime2)",
    ),
    "mysql": Dialect(quotes=_BACKTICKS, has_backslashes=True),
    "postgres": Dialect(decimals_are_exact=False, not_finite=_BETWEEN),
    "snowflake": Dialect(has_backslashes=True, not_finite=_BETWEEN),
    "spark": Dialect(quotes=_BACKTICKS, has_backslashes=True, not_finite=_BETWEEN),
    # SQLite silently reads a double-quoted name that is not a column as a string.
    "sqlite": Dialect(
        quotes=_BACKTICKS,
        decimals_are_exact=False,
        not_finite=_BETWEEN,
        date="{text}",
        timestamp="{text}",
        compares_dates_as_text=True,
    ),
}
"""The supported databases by name."""
