"""Which columns of a table are used, and as what: every decision is one line and has its flag."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, field
from difflib import get_close_matches

import polars as pl

from pellucid.cli import CommandError
from pellucid.cli.output import show_notice

MOST_CATEGORIES = 30
"""A column of more different texts is not taken as a category unless `--categorical` names it."""

FEW_NUMBERS = 6
"""Whole numbers of no more different values might be codes; it is said that they are numbers."""

_FIRST_ROWS = 1000
"""Looked at before all of a column is."""

_IDENTIFIER = re.compile(
    r"(^|[^a-z])(id|key|uuid|guid|index|row|rownum)$|^(unnamed|column \d+)|(?<=[a-z])(Id|ID|Key)$"
)


@dataclass
class Columns:
    """What is done with each column."""

    numbers: list[str] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)

    @property
    def used(self) -> list[str]:
        """All columns that are used, numbers first."""
        return [*self.numbers, *self.categories]


def split_names(text: str, table: pl.DataFrame, option: str) -> list[str]:
    """Names from ``a,b,"c,d"``, each of which must be a column."""
    # Read as CSV, so that a name with a comma can be given in quotes.
    names = next(csv.reader([text], skipinitialspace=True), [])
    names = [name if name in table.columns else name.strip() for name in names]
    if not any(names):
        raise CommandError(f"{option} names no column", exit_code=2)
    for name in names:
        if name not in table.columns:
            near = get_close_matches(name, table.columns, n=1)
            raise CommandError(
                f"there is no column {name!r}; the columns are {listed(table.columns)}",
                hint=f"did you mean {near[0]!r}?" if near else None,
            )
        if names.count(name) > 1:
            raise CommandError(f"{option} names {name!r} more than once", exit_code=2)
    return names


def choose_columns(
    table: pl.DataFrame,
    name: str,
    *,
    columns: str | None = None,
    exclude: str | None = None,
    categorical: str | None = None,
    reserved: tuple[str, ...] = (),
) -> Columns:
    """Decide what to do with each column, and say so.

    Parameters
    ----------
    table : polars.DataFrame
    name : str
        Of the file, for errors.
    columns, exclude, categorical : str or None
        The options of the command line: names with commas between them.
    reserved : tuple of str
        Columns that serve another purpose.
    """
    wanted = None if columns is None else split_names(columns, table, "--columns")
    left_out = [] if exclude is None else split_names(exclude, table, "--exclude")
    forced = [] if categorical is None else split_names(categorical, table, "--categorical")
    if wanted is not None and (both := [each for each in left_out if each in wanted]):
        raise CommandError(f"{both[0]!r} is in --columns and in --exclude", exit_code=2)
    names = [each for each in (wanted or table.columns) if each not in (*left_out, *reserved)]
    chosen, dropped = Columns(), {}
    for each in names:
        use = "category" if each in forced else _use(table, each, asked=wanted is not None)
        if use == "number":
            chosen.numbers.append(each)
        elif use == "category":
            chosen.categories.append(each)
        elif wanted is not None:
            raise CommandError(
                f"column {each!r} cannot be used: {_REASONS[use]}",
                hint=f"leave it out of --columns{_OTHERWISE.get(use, '')}",
            )
        else:
            dropped.setdefault(use, []).append(each)
    if not chosen.used:
        raise CommandError(
            f"{name} has no column to cluster by; its columns are {listed(table.columns)}",
            hint="name the columns to use with --columns, or texts to use with --categorical",
        )
    _say(table, chosen, dropped, forced)
    return chosen


_REASONS = {
    "identifier": "it looks like an identifier",
    "constant": "all its values are the same",
    "missing": "most of its values are missing",
    "texts": f"it holds more than {MOST_CATEGORIES} different texts",
    "date": "it holds dates or times",
    "nested": "it holds lists or structures",
}
_OTHERWISE = {
    "texts": ", or name it in --categorical too",
    "date": ", or turn it into a number of days first",
}
_FLAGS = {
    "identifier": "--columns to choose",
    "constant": "",
    "missing": "--columns to choose",
    "texts": "--categorical to use",
    "date": "turn them into numbers to use them",
    "nested": "",
}


def _use(table: pl.DataFrame, name: str, *, asked: bool) -> str:
    """What a column is good for: a number, a category, or a reason to leave it out."""
    column = table[name]
    dtype = column.dtype
    if dtype.is_nested() or dtype in (pl.Binary, pl.Object):
        return "nested"
    present = column.drop_nulls() if column.null_count() else column
    if len(present) < len(column) / 2 and not (asked and len(present)):
        return "missing"
    if len(present) == 0 or _is_constant(present):
        return "constant"
    if dtype.is_temporal():
        return "date"
    if dtype == pl.Boolean:
        return "category"
    if dtype.is_numeric():
        return "identifier" if not asked and _is_identifier(present) else "number"
    n_different = present.n_unique()
    if not asked and n_different > 20 and n_different > 0.9 * len(present):
        return "identifier"
    return "category" if n_different <= MOST_CATEGORIES else "texts"


def _is_constant(column: pl.Series) -> bool:
    first = column[0]
    # The first rows settle it almost always.
    if (column.head(_FIRST_ROWS) != first).any():
        return False
    return column.n_unique() == 1


def _is_identifier(column: pl.Series) -> bool:
    """Whole numbers, each once, that are named like an identifier or count the rows."""
    if not column.dtype.is_integer():
        return False
    is_count = column.max() - column.min() == len(column) - 1 and len(column) > 10
    is_named = _IDENTIFIER.search(column.name) or _IDENTIFIER.search(column.name.lower())
    # Counting what is different takes far longer than the other questions, so it comes last.
    return bool(is_count or is_named) and column.n_unique() == len(column)


def _has_few_numbers(column: pl.Series) -> bool:
    most = min(FEW_NUMBERS, len(column) // 10)
    return all(part.n_unique() <= most for part in (column.head(_FIRST_ROWS), column))


def _say(table: pl.DataFrame, chosen: Columns, dropped: dict, forced: list[str]) -> None:
    titles = {
        "identifier": "left out, like identifiers",
        "constant": "left out, one value only",
        "missing": "left out, mostly missing",
        "texts": "left out, too many different texts",
        "date": "left out, dates",
        "nested": "left out, lists or structures",
    }
    for use, names in dropped.items():
        flag = f" ({_FLAGS[use]})" if _FLAGS[use] else ""
        show_notice(f"{titles[use]}: {', '.join(names)}{flag}")
    if guessed := [name for name in chosen.categories if name not in forced]:
        show_notice(f"taken as categories: {', '.join(guessed)} (--exclude to leave out)")
    codes = [
        name
        for name in chosen.numbers
        if table[name].dtype.is_integer() and _has_few_numbers(table[name])
    ]
    if codes:
        show_notice(
            f"few different whole numbers, taken as numbers: {', '.join(codes)} (--categorical "
            "if they are codes)"
        )


def listed(names: list[str]) -> str:
    """Names in quotes, with commas between them; the first twenty of many."""
    shown = ", ".join(map(repr, names[:20]))
    return f"{shown}, and {len(names) - 20} more" if len(names) > 20 else shown
