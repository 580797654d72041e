"""Which values are missing.

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

EXCEL_ERRORS = ("#N/A", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!", "#N/A N/A")

NEVER_WORDS = (
    *("NaN", "nan", "<NA>", "NaT", "NULL", "null", "(null)", "\\N", "?", "??", "N/A", "n/a"),
    *EXCEL_ERRORS,
)
"""Spellings that are missing in text columns."""

ABBREVIATIONS = (
    "NA",
    "na",
    "N.A.",
    "n.a.",
    "k.A.",
    "-",
    "--",
    "---",
    "–",
    "—",
    ".",
    "..",
    "*",
    "#",
)
"""Spellings that are missing in text columns if a column of numbers or dates has them."""

WORDS = ("None", "nil", "missing", "unknown", "not available", "not applicable", "blank", "(blank)")
"""Spellings that are missing in columns of numbers and dates only."""

STANDARD = ("na", "nan", "-nan", "<na>", "nat", "null")
"""Spellings, in lower case, that need no notice in columns of numbers and dates."""

MARKERS = frozenset(each.lower() for each in (*NEVER_WORDS, *ABBREVIATIONS, *WORDS, "...", "-nan"))
"""Spellings, in lower case, of missing values in columns of numbers and dates."""
