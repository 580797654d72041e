"""The different values of a text column."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from pellucid.tables.reading import missing
from pellucid.tables.reading.numbers import decimal_evidence

MAX_EXAMPLES = 3
_SAMPLE = 1000


@dataclass
class TextColumn:
    """The different values of a text column.

    Attributes
    ----------
    raw : Series of String
        Different values as in the file.
    values : Series of String
        The same without blanks at their ends; null if empty.
    counts : Series of int
    is_present : Series of bool
        Whether a value is neither empty nor a marker of a missing value.
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
        is_marker = spelled.is_in(list(missing.MARKERS if na is None else na)).fill_null(True)
        return cls(raw, values, counts, ~is_marker)

    @property
    def n_present(self) -> int:
        """Number of values that are not missing."""
        return int(self.counts.filter(self.is_present).sum())

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
