"""The role of each column: number, category or ignored. Every decision is printed."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, field
from difflib import get_close_matches

import polars as pl

from pellucid.cli import CommandError
from pellucid.cli.output import show_notice

MAX_CATEGORIES = 30
"""A text column with more different values is ignored unless `--categorical` names it."""

FEW_DIFFERENT_INTEGERS = 6
"""Integers with at most this many different values may be codes; a notice says so."""

_FIRST_ROWS = 1000
"""Rows that are checked before the whole column."""

_IDENTIFIER = re.compile(
    r"(^|[^a-z])(id|key|uuid|guid|index|row|rownum)$|^(unnamed|column \d+)|(?<=[a-z])(Id|ID|Key)$"
)


@dataclass
class ColumnRoles:
    """The roles of the columns."""

    numbers: list[str] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)

    @property
    def used(self) -> list[str]:
        """All columns that are used, numbers first."""
        return [*self.numbers, *self.categories]


def split_names(text: str, table: pl.DataFrame, option: str) -> list[str]:
    """Parse names from ``a,b,"c,d"``. Each must be a column."""
    # Read as CSV, so that a name with a comma can be given in quotes.
    names = next(csv.reader([text], skipinitialspace=True), [])
    names = [name if name in table.columns else name.strip() for name in names]
    if not any(names):
        raise CommandError(f"{option} names no column", exit_code=2)
    for name in names:
        if name not in table.columns:
            similar = get_close_matches(name, table.columns, n=1)
            raise CommandError(
                f"there is no column {name!r}; the columns are {listed(table.columns)}",
                hint=f"did you mean {similar[0]!r}?" if similar else None,
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
) -> ColumnRoles:
    """Decide the role of each column and print the decisions.

    Parameters
    ----------
    table : polars.DataFrame
    name : str
        Name of the file, for errors.
    columns, exclude, categorical : str or None
        Values of the command-line options: names separated by commas.
    reserved : tuple of str
        Columns with another purpose.
    """
    wanted = None if columns is None else split_names(columns, table, "--columns")
    left_out = [] if exclude is None else split_names(exclude, table, "--exclude")
    forced = [] if categorical is None else split_names(categorical, table, "--categorical")
    if wanted is not None and (both := [each for each in left_out if each in wanted]):
        raise CommandError(f"{both[0]!r} is in --columns and in --exclude", exit_code=2)
    names = [each for each in (wanted or table.columns) if each not in (*left_out, *reserved)]
    chosen, dropped = ColumnRoles(), {}
    for each in names:
        use = "category" if each in forced else _role(table, each, requested=wanted is not None)
        if use == "number":
            chosen.numbers.append(each)
        elif use == "category":
            chosen.categories.append(each)
        elif wanted is not None:
            raise CommandError(
                f"column {each!r} cannot be used: {_REASONS[use]}",
                hint=f"remove it from --columns{_OTHERWISE.get(use, '')}",
            )
        else:
            dropped.setdefault(use, []).append(each)
    if not chosen.used:
        raise CommandError(
            f"{name} has no column to cluster by; its columns are {listed(table.columns)}",
            hint="choose columns with --columns, or text columns with --categorical",
        )
    _print_roles(table, chosen, dropped, forced)
    return chosen


_REASONS = {
    "identifier": "it looks like an identifier",
    "constant": "all its values are the same",
    "missing": "most of its values are missing",
    "texts": f"it has more than {MAX_CATEGORIES} different texts",
    "date": "it contains dates or times",
    "nested": "it contains lists or structures",
}
_OTHERWISE = {
    "texts": ", or name it in --categorical too",
    "date": ", or convert it to a number of days first",
}
_FLAGS = {
    "identifier": "use --columns to include it",
    "constant": "",
    "missing": "use --columns to include it",
    "texts": "use --categorical to include it",
    "date": "convert them to numbers to use them",
    "nested": "",
}


def _role(table: pl.DataFrame, name: str, *, requested: bool) -> str:
    """The role of a column: a number, a category, or the reason to ignore it."""
    column = table[name]
    dtype = column.dtype
    if dtype.is_nested() or dtype in (pl.Binary, pl.Object):
        return "nested"
    present = column.drop_nulls() if column.null_count() else column
    if len(present) < len(column) / 2 and not (requested and len(present)):
        return "missing"
    if len(present) == 0 or _is_constant(present):
        return "constant"
    if dtype.is_temporal():
        return "date"
    if dtype == pl.Boolean:
        return "category"
    if dtype.is_numeric():
        return "identifier" if not requested and _is_identifier(present) else "number"
    n_different = present.n_unique()
    if not requested and n_different > 20 and n_different > 0.9 * len(present):
        return "identifier"
    return "category" if n_different <= MAX_CATEGORIES else "texts"


def _is_constant(column: pl.Series) -> bool:
    first = column[0]
    # The first rows are almost always enough.
    if (column.head(_FIRST_ROWS) != first).any():
        return False
    return column.n_unique() == 1


def _is_identifier(column: pl.Series) -> bool:
    """Whether a column has unique integers and the name of an ID, or numbers the rows."""
    if not column.dtype.is_integer():
        return False
    is_count = column.max() - column.min() == len(column) - 1 and len(column) > 10
    is_named = _IDENTIFIER.search(column.name) or _IDENTIFIER.search(column.name.lower())
    # Counting different values is the slowest test, so it comes last.
    return bool(is_count or is_named) and column.n_unique() == len(column)


def _has_few_integers(column: pl.Series) -> bool:
    most = min(FEW_DIFFERENT_INTEGERS, len(column) // 10)
    return all(part.n_unique() <= most for part in (column.head(_FIRST_ROWS), column))


def _print_roles(
    table: pl.DataFrame, chosen: ColumnRoles, dropped: dict, forced: list[str]
) -> None:
    titles = {
        "identifier": "ignored, looks like an ID",
        "constant": "ignored, only one value",
        "missing": "ignored, most values are missing",
        "texts": f"ignored, more than {MAX_CATEGORIES} different texts",
        "date": "ignored, dates",
        "nested": "ignored, lists or structures",
    }
    for use, names in dropped.items():
        flag = f" ({_FLAGS[use]})" if _FLAGS[use] else ""
        show_notice(f"{titles[use]}: {', '.join(names)}{flag}")
    if guessed := [name for name in chosen.categories if name not in forced]:
        show_notice(f"treated as categories: {', '.join(guessed)} (use --exclude to ignore them)")
    codes = [
        name
        for name in chosen.numbers
        if table[name].dtype.is_integer() and _has_few_integers(table[name])
    ]
    if codes:
        show_notice(
            f"treated as numbers, with few different values: {', '.join(codes)} (use --categorical "
            "if they are codes)"
        )


def listed(names: list[str]) -> str:
    """Quoted names separated by commas; at most the first twenty."""
    shown = ", ".join(map(repr, names[:20]))
    return f"{shown}, and {len(names) - 20} more" if len(names) > 20 else shown
