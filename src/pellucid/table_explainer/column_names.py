"""Column names that the user gives: lists, comma-separated texts and patterns."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase

from pellucid._utils.notices import InputError, UsageError, option

_SHOWN = 20


def match_names(given: str | Sequence[str], columns: Sequence[str], parameter: str) -> list[str]:
    """The columns that the value of a parameter names.

    A name is matched exactly, else without regard to case, else as a pattern with ``*`` and
    ``?``.

    Parameters
    ----------
    given : str or sequence of str
        Names; a single string is split at commas, and a name that contains a comma can be quoted.
    columns : sequence of str
    parameter : str
        Name of the parameter, for errors.

    Examples
    --------
    >>> from pellucid.table_explainer.column_names import match_names
    >>> match_names("Dep_*, carrier", ["dep_time", "dep_delay", "carrier"], "columns")
    ['dep_time', 'dep_delay', 'carrier']
    """
    if isinstance(given, str):
        # A name with a comma or a line break may be given as it is if it is the only one.
        is_one = given in columns or len(given.splitlines()) > 1
        given = [given] if is_one else next(csv.reader([given], skipinitialspace=True), [])
    if not any(str(name).strip() for name in given):
        raise UsageError(f"{option(parameter)} names no column")
    found: list[str] = []
    for name in given:
        matches, is_pattern = _matches(str(name), columns)
        if not matches:
            similar = get_close_matches(str(name), columns, n=1)
            raise InputError(
                f"{option(parameter)}: there is no column {name!r}; the columns are "
                f"{listed(columns)}",
                hint=f"did you mean {similar[0]!r}?" if similar else None,
            )
        if not is_pattern and matches[0] in found:
            raise UsageError(f"{option(parameter)} names {matches[0]!r} more than once")
        found += [match for match in matches if match not in found]
    return found


def one_name(given: str, columns: Sequence[str], parameter: str) -> str:
    """The single column that the value of a parameter names."""
    names = match_names(given, columns, parameter)
    if len(names) > 1:
        raise InputError(f"{option(parameter)} names more than one column: {listed(names)}")
    return names[0]


def _matches(name: str, columns: Sequence[str]) -> tuple[list[str], bool]:
    """The columns that a name matches, and whether the name is a pattern."""
    for candidate in (name, name.strip()):
        if candidate in columns:
            return [candidate], False
    folded = name.strip().casefold()
    same = [column for column in columns if column.casefold() == folded]
    if same:
        return same[:1], False
    return [column for column in columns if fnmatchcase(column.casefold(), folded)], True


def listed(names: Sequence[str]) -> str:
    """Quoted names separated by commas; at most the first twenty."""
    shown = ", ".join(map(repr, names[:_SHOWN]))
    return f"{shown}, and {len(names) - _SHOWN} more" if len(names) > _SHOWN else shown
