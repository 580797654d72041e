r"""Text that a spreadsheet would execute as a formula.

A spreadsheet executes a field of a CSV file that starts with ``=``, ``+``, ``-``, ``@``, a tab or a
carriage return. Such text is written with an apostrophe before it, which keeps it text. Reading
removes the apostrophe, so that a table that was written is read as it was.
"""

from __future__ import annotations

import re

import polars as pl
import polars.selectors as cs

_START = r"^'*[=+\-@\t\r]"
_ESCAPED = r"^'+[=+\-@\t\r]"
_NUMBER = r"[+-]?\s?[$€£¥]?\s?(\d[\d.,'  ]*|[.,]\d+)([eE][+-]?\d+)?\s?[$€£¥%]?"
_INTERVAL = "-[^\\s\"'\\[|!]+ < [^\"'\\[|!]*≤[^\"'\\[|!]*"
_HARMLESS = rf"^(-+|{_NUMBER}|{_INTERVAL})$"
"""Numbers with a sign; dashes, which often stand for missing values; and rules that start with a
negative number: outside of quotes, no formula has the sign ≤.
"""


def neutralise(frame: pl.DataFrame) -> pl.DataFrame:
    """A table of text and numbers in which no text and no column name is a formula.

    Examples
    --------
    >>> import polars as pl
    >>> from pellucid.tables.formulas import neutralise, restore
    >>> table = pl.DataFrame({"=a": ["=1+1", "-5", "b"]})
    >>> print(neutralise(table).write_csv(), end="")
    '=a
    '=1+1
    -5
    b
    >>> restore(neutralise(table)).equals(table)
    True
    """
    changed = []
    for column in frame.select(cs.string() | cs.categorical() | cs.enum()):
        text = column.cast(pl.String)
        is_formula = text.str.contains(_START) & ~text.str.contains(_HARMLESS)
        if is_formula.any():
            escaped = pl.concat_str(pl.lit("'"), pl.lit(text))
            changed.append(_choose(is_formula, escaped, text))
    names = {
        name: f"'{name}"
        for name in frame.columns
        if re.search(_START, name) and not re.search(_HARMLESS, name)
    }
    return frame.with_columns(changed).rename(names)


def _choose(mask: pl.Series, chosen: pl.Expr, others: pl.Series) -> pl.Series:
    # Series, not names of columns: polars reads a name such as "^a$" as a pattern.
    expression = pl.when(mask).then(chosen).otherwise(others)
    return pl.select(expression.alias(others.name)).to_series()


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
