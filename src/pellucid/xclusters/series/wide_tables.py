"""Wide tables: one row per entity and one numeric column per time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

import numpy as np

from pellucid._utils.notices import InputError, option
from pellucid.xclusters.series.times import parse_dates

_YEAR = re.compile(r"(?P<prefix>\D{0,12})(?P<year>1[5-9]\d\d|2[01]\d\d)(?P<suffix>\D.*)?")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")

FEWEST_TIMES = 3
"""Fewer columns with names of times are not taken for a series."""


class TimeColumns(NamedTuple):
    """Columns of one series and the prefix that their names share."""

    names: list[str]
    prefix: str


def find_time_columns(names: Sequence[str]) -> TimeColumns | None:
    """Find columns whose names are years or dates, such as ``1952``, ``y1952``, ``2020-01-31``.

    Parameters
    ----------
    names : sequence of str
        Names of the numeric columns of a table.

    Returns
    -------
    TimeColumns or None
        None if fewer than three columns are found.

    Raises
    ------
    InputError
        If there are several series, such as ``pop_1990, gdp_1990, ...``.

    Examples
    --------
    >>> from pellucid.xclusters.series.wide_tables import find_time_columns
    >>> find_time_columns(["area", "y1952", "y1957", "y1962"])
    TimeColumns(names=['y1952', 'y1957', 'y1962'], prefix='y')
    """
    groups: dict[str, list[str]] = {}
    for name in names:
        if parse_dates([name]) is not None:
            groups.setdefault("", []).append(name)
        elif (match := _YEAR.fullmatch(name)) is not None:
            groups.setdefault(match["prefix"], []).append(name)
    found = [TimeColumns(g, prefix) for prefix, g in groups.items() if len(g) >= FEWEST_TIMES]
    if len(found) > 1:
        first, second = (f"'{group.prefix}*'" for group in found[:2])
        raise InputError(
            f"the columns of the times form several series, such as {first} and {second}",
            hint=f"choose one by {option('times')} {first}",
        )
    return found[0] if found else None


def match_columns(names: Sequence[str], selection: Sequence[str]) -> list[str]:
    """Columns given by name, by a pattern such as ``y19*``, or by a range ``first:last``.

    Parameters
    ----------
    names : sequence of str
        Names of all columns, in the order of the table.
    selection : sequence of str

    Examples
    --------
    >>> from pellucid.xclusters.series.wide_tables import match_columns
    >>> match_columns(["who", "1952", "1957", "1962"], ["1952:1957"])
    ['1952', '1957']
    """
    names = list(names)
    chosen: set[str] = set()
    for item in selection:
        if item in names:
            chosen.add(item)
            continue
        matched = [name for name in names if fnmatchcase(name, item)]
        first, colon, last = item.partition(":")
        if not matched and colon and first in names and last in names:
            matched = names[names.index(first) : names.index(last) + 1]
        if not matched:
            shown = ", ".join(map(repr, names[:12]))
            raise InputError(
                f"no column has the name, pattern or range {item!r}",
                hint=f"the columns are {shown}{', ...' if len(names) > 12 else ''}",
            )
        chosen.update(matched)
    return [name for name in names if name in chosen]


def read_column_times(names: Sequence[str]) -> np.ndarray:
    """Times from the names of columns: numbers or dates, else positions 1, 2, ...

    A prefix that all names share is ignored.

    Examples
    --------
    >>> from pellucid.xclusters.series.wide_tables import read_column_times
    >>> read_column_times(["y1952", "y1957"])
    array([1952, 1957])
    >>> read_column_times(["first", "second"])
    array([1, 2])
    """
    prefix = re.sub(r"[\d./:-]+$", "", _common_prefix(names))
    for texts in (list(names), [name.removeprefix(prefix).strip() for name in names]):
        if (dates := parse_dates(texts)) is not None:
            return dates
        if all(map(_NUMBER.fullmatch, texts)):
            numbers = np.array(texts, dtype=np.float64)
            return numbers.astype(np.int64) if (numbers == np.rint(numbers)).all() else numbers
    years = [match["year"] for match in map(_YEAR.fullmatch, names) if match is not None]
    if len(set(years)) == len(names):
        return np.array(years, dtype=np.int64)
    return np.arange(1, len(names) + 1)


def _common_prefix(names: Sequence[str]) -> str:
    first, last = min(names), max(names)
    n = next((i for i, sign in enumerate(first) if last[i : i + 1] != sign), len(first))
    return first[:n]
