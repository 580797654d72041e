"""Whether the first line of a table has names, and unique names of its columns."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pellucid._utils.notices import notice, option
from pellucid._utils.texts import Message
from pellucid.tables.reading.missing import MARKERS
from pellucid.tables.reading.numbers import is_number
from pellucid.tables.reading.records import Record

MAX_ROWS = 100
"""Rows that decide whether the first line is a header."""

NO_HEADER = Message("noHeader")

_DATE = re.compile(r"^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([ T]|$)")


def is_header(first: list[str], rows: list[list[str]], hint: bool | None) -> bool:
    """Whether the first line has names.

    It has none if its fields are numbers or dates in all columns of numbers or dates, unless they
    are consecutive numbers such as years. Without such columns, it has none if all its fields
    occur again below.
    """
    if not rows:
        return True if hint is None else hint
    cells = [[row[j].strip() for row in rows if j < len(row)] for j in range(len(first))]
    first = [each.strip() for each in first]
    numeric = [j for j in range(len(first)) if _are_values(cells[j])]
    if any(first[j] and not _is_value(first[j]) and not _is_marker(first[j]) for j in numeric):
        return True
    known = [j for j in numeric if _is_value(first[j])]
    if known:
        return _is_sequence([first[j] for j in known])
    if len(rows) > 1 and all(each in below for each, below in zip(first, cells)):
        return False
    return True if hint is None else hint


def _is_value(text: str) -> bool:
    return is_number(text) or _DATE.match(text) is not None


def _is_marker(text: str) -> bool:
    return text.lower() in MARKERS


def _are_values(cells: list[str]) -> bool:
    present = [each for each in cells if each and not _is_marker(each)]
    return bool(present) and sum(map(_is_value, present)) >= 0.9 * len(present)


def _is_sequence(texts: list[str]) -> bool:
    """Whether the numbers are years in order, or count from 0 or 1."""
    if not all(re.fullmatch(r"\d{1,4}", each) for each in texts) or len(texts) < 2:
        return False
    numbers = [int(each) for each in texts]
    steps = {b - a for a, b in zip(numbers, numbers[1:])}
    if steps == {1} and numbers[0] in (0, 1):
        return True
    is_ordered = all(step > 0 for step in steps) or all(step < 0 for step in steps)
    return is_ordered and all(1500 <= each <= 2200 for each in numbers)


def header_names(fields: list[str], rows: list[Record], width: int) -> list[str]:
    """Unique names of `width` columns."""
    names = [" ".join(each.split()) if "\n" in each else each.strip() for each in fields[:width]]
    if len(names) < width:
        ends_empty = all(not each.fields[width - 1 :] or not each.fields[-1] for each in rows)
        if ends_empty:
            names.append("")
        else:
            notice(Message("shortHeader"))
            names.insert(0, "")
    return list(distinct_names(names))


def distinct_names(names: list[str]) -> Iterator[str]:
    """Unique names: a second 'a' becomes 'a (2)', an empty name 'column 3'."""
    used = set(names)
    seen: set[str] = set()
    copies: dict[str, int] = {}
    renamed: list[str] = []
    for position, name in enumerate(names, start=1):
        base = name or f"column {position}"
        new, copy = base, copies.get(base, 1)
        if copy > 1:
            new = f"{base} ({copy})"
        while new in seen or (copy > 1 and new in used):
            copy += 1
            new = f"{base} ({copy})"
        if copy > 1 and name:
            renamed.append(new)
        copies[base] = copy
        seen.add(new)
        yield new
    if renamed:
        key = "manyRenamedColumns" if len(renamed) > 20 else "renamedColumns"
        notice(Message(key, names=renamed[:20], n=len(renamed)))


def numbered_names(width: int) -> list[str]:
    """Names of columns without a header: x1, x2, ..."""
    return [f"x{j}" for j in range(1, width + 1)]


def report_skipped(key: str, first: int, last: int, text: str) -> None:
    """Report lines above the header that are not read.

    Parameters
    ----------
    key : {"titleLines", "commentLines"}
    first, last : int
        Numbers of the lines.
    text : str
        Their first text.
    """
    lines = f"{first}" if first == last else Message("lineRange", first=f"{first}", last=f"{last}")
    shown = option("skip", 0)
    notice(Message(key, n=last - first + 1, lines=lines, text=text, option=shown))
