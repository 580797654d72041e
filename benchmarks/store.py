"""Finished measurements in a CSV file, so that an interrupted run goes on where it stopped."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.settings import Refused

Row = dict[str, str]


class Store:
    """A CSV file of measurements, each known by its key.

    The file is replaced as a whole whenever something is added: it is small, and a run that is
    killed half-way never leaves half a line behind.

    Parameters
    ----------
    path : Path
    key : tuple of str
        Columns that say what was measured.
    values : tuple of str
        Columns that say what came out.
    """

    def __init__(self, path: Path, key: tuple[str, ...], values: tuple[str, ...]) -> None:
        self.path, self.key, self.columns = path, key, (*key, *values)
        self.rows: list[Row] = read_rows(path)
        if self.rows and tuple(self.rows[0]) != self.columns:
            raise Refused(
                f"{path.name} has other columns than this version writes; move it away, or give "
                "another --output"
            )

    def __contains__(self, key: dict[str, Any]) -> bool:
        """Whether something has been measured under this key, or this part of a key."""
        wanted = {column: _text(value) for column, value in key.items()}
        return any(wanted.items() <= row.items() for row in self.rows)

    def add(self, rows: Iterable[dict[str, Any]]) -> None:
        """Keep measurements."""
        self.rows += [{column: _text(row.get(column)) for column in self.columns} for row in rows]
        self._write()

    def drop(self, keys: Iterable[dict[str, Any]]) -> None:
        """Forget what was measured under some keys."""
        unwanted = [{column: _text(value) for column, value in key.items()} for key in keys]
        kept = [row for row in self.rows if not any(k.items() <= row.items() for k in unwanted)]
        if len(kept) < len(self.rows):
            self.rows = kept
            self._write()

    def _write(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        draft = self.path.with_suffix(".part")
        with open(draft, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, self.columns, lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.rows)
        os.replace(draft, self.path)


def read_rows(path: Path) -> list[Row]:
    """All rows of a CSV file; none when there is no file."""
    if not path.exists():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def group(rows: Iterable[Row], *columns: str) -> dict[tuple[str, ...], list[Row]]:
    """Rows by what they have in some columns, in the order in which they first appear."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[column] for column in columns), []).append(row)
    return groups


def mean(rows: Iterable[Row], column: str) -> float:
    """Mean of a column over some rows; NaN where nothing is known."""
    known = [float(row[column]) for row in rows if row[column]]
    return sum(known) / len(known) if known else float("nan")


def _text(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)
