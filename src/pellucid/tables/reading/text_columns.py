"""The different values of a text column, and which of them are missing.

An empty field, or one of blanks only, is missing in every column.

Columns of numbers and dates: every value that cannot be read is missing. A notice gives their
number and examples, except for `STANDARD`, which programs write for missing numbers. Values in
`MARKERS`, in any case, are not counted when the share of values that can be read is computed. A
column of 60% ``NA`` and 40% numbers is therefore numeric.

Text columns: words such as ``None`` or ``unknown`` are values. Missing are

1. the spellings in `NEVER_WORDS`, which no person writes as a value, and
2. a spelling in `ABBREVIATIONS` if it also occurs in a column of numbers or dates of the same
   file, where it cannot be a value. R writes ``NA`` for missing values in all columns; a file
   with the region ``NA`` (North America) has no ``NA`` in its numbers.

A notice names the spelling, the columns and the number of values.

The option `na` replaces these rules: exactly its values, and the empty field, are missing in text
columns. In columns of numbers they are missing without a notice.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from pellucid.tables.reading.numbers import decimal_evidence

EXCEL_ERRORS = ("#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!", "#N/A N/A")

NEVER_WORDS = (
    *("NaN", "nan", "<NA>", "NaT", "NULL", "null", "(null)", "\\N", "?", "??", "N/A", "n/a"),
    *EXCEL_ERRORS,
)
"""Spellings that are missing in text columns."""

ABBREVIATIONS = (
    *("NA", "na", "N.A.", "n.a.", "k.A.", "-", "--", "---", "–", "—", ".", "..", "*", "#"),
)
"""Spellings that are missing in text columns if a column of numbers or dates has them."""

WORDS = ("None", "nil", "missing", "unknown", "not available", "not applicable", "blank", "(blank)")
"""Spellings that are missing in columns of numbers and dates only."""

STANDARD = ("na", "nan", "-nan", "<na>", "nat", "null")
"""Spellings, in lower case, that need no notice in columns of numbers and dates."""

MARKERS = frozenset(each.lower() for each in (*NEVER_WORDS, *ABBREVIATIONS, *WORDS, "...", "-nan"))
"""Spellings, in lower case, of missing values in columns of numbers and dates."""


MAX_EXAMPLES = 3
_SAMPLE = 1000


@dataclass
class TextColumn:
    """The different values of a text column, and how often they occur.

    `values` are those in `raw` without blanks at their ends; null if empty. A value `is_present` if
    it is neither empty nor a marker of a missing value.
    """

    raw: pl.Series
    values: pl.Series
    counts: pl.Series
    is_present: pl.Series

    @classmethod
    def of(cls, column: pl.Series, na: tuple[str, ...] | None) -> TextColumn:
        """Collect the different values of a column; `na` as in `parse_columns`."""
        found = column.drop_nulls().alias("value").value_counts(name="n")
        raw, counts = found["value"], found["n"]
        values = raw.str.strip_chars()
        values = values.set(values == "", None)
        spelled = values.str.to_lowercase() if na is None else values
        is_marker = spelled.is_in(list(MARKERS if na is None else na)).fill_null(True)
        return cls(raw, values, counts, ~is_marker)

    def present(self) -> tuple[pl.Series, pl.Series]:
        """The values that are not missing, and how often they occur."""
        return self.values.filter(self.is_present), self.counts.filter(self.is_present)

    def spread(self, column: pl.Series, parsed: pl.Series) -> pl.Series:
        """The parsed value of each row."""
        if not len(self.raw):
            return pl.Series(column.name, [None] * len(column), dtype=parsed.dtype)
        return column.replace_strict(
            self.raw, parsed, default=None, return_dtype=parsed.dtype
        ).alias(column.name)

    def may_be_numbers(self) -> bool:
        """Whether half of a sample of the values are numbers; short columns are not sampled."""
        values, _ = self.present()
        if len(values) <= 2 * _SAMPLE:
            return True
        sample = values.gather_every(len(values) // _SAMPLE)
        counts = pl.Series([1] * len(sample))
        return sum(decimal_evidence(sample, counts)) >= len(sample) / 2


def quoted(examples: list[str]) -> str:
    """The first examples in quotes."""
    different = list(dict.fromkeys(examples))
    shown = ", ".join(f'"{each[:30]}"' for each in different[:MAX_EXAMPLES])
    return f"{shown}, ..." if len(different) > MAX_EXAMPLES else shown
