"""What the page says about the table that was clustered."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pellucid._utils.texts import say
from pellucid.report.columns import CategoryColumn, Column, clipped, short

MOST_COLUMNS = 200  # with facts; of more columns, the number is shown
MANY_CELLS = 50_000_000  # of a table above which numbers are described by a sample of the rows
_SAMPLE = 100_000  # rows
_FENCE = 3.0  # interquartile ranges beyond the quartiles from which on a value is extreme
_CORRELATED = 0.9  # absolute correlation from which on two columns are called highly correlated
_MOST_PAIRS = 30


@dataclass(frozen=True)
class ColumnFacts:
    """What is known about a column."""

    name: str
    role: str  # "number", "category", "date", "profile", "label" or "ignored"
    reason: str | None = None  # why the column is ignored
    scale: str | None = None  # how it was scaled for the clustering
    missing: int | None = None  # number of missing values; None if they were not counted
    filled: float | None = None  # the number that replaces missing values
    n_values: int | None = None  # number of different values
    skew: float | None = None
    n_extreme: int | None = None  # number of values far beyond the quartiles

    def describe(self) -> dict[str, Any]:
        return {
            "name": clipped(self.name) or say("noName"),
            "role": self.role,
            "reason": self.reason,
            "scale": self.scale,
            "missing": self.missing,
            "filled": short(self.filled),
            "values": self.n_values,
            "skew": short(self.skew, 3),
            "extreme": self.n_extreme,
        }


@dataclass(frozen=True)
class TableFacts:
    """What is known about the table that was clustered."""

    n_read: int
    n_used: int
    # Rows that were not clustered, by reason: "gaps", "outliers", "labels" or "noise".
    dropped: Mapping[str, int] = field(default_factory=dict)
    columns: Sequence[ColumnFacts] = ()
    n_further: int = 0  # number of columns that are not in `columns`
    duplicates: Sequence[tuple[str, str]] = ()  # pairs of columns with the same values
    correlated: Sequence[tuple[str, str, float]] = ()  # with a high correlation
    silhouette: float | None = None
    stability: float | None = None

    def describe(self) -> dict[str, Any]:
        return {
            "rowsRead": self.n_read,
            "rowsUsed": self.n_used,
            "dropped": [{"reason": why, "rows": n} for why, n in self.dropped.items() if n],
            "columns": [column.describe() for column in self.columns],
            "furtherColumns": self.n_further,
            "duplicates": [[clipped(a), clipped(b)] for a, b in self.duplicates],
            "correlated": [[clipped(a), clipped(b), short(r, 3)] for a, b, r in self.correlated],
            "silhouette": short(self.silhouette, 3),
            "stability": short(self.stability, 3),
        }


def find_table_facts(
    all_names: Sequence[str], read: Callable[[str], Column], n_rows: int, n_noise: int = 0
) -> TableFacts:
    """Facts about a table whose preparation is unknown; `n_noise` further rows were left out."""
    names = all_names[:MOST_COLUMNS]
    rows = sampled_rows(n_rows, len(names))
    columns, numbers = [], {}
    for name in names:
        column = read(name)
        if isinstance(column, CategoryColumn):
            n_values = len(set(column.codes.tolist()) - {len(column.values)}) + column.n_others
            columns.append(ColumnFacts(name, "category", n_values=n_values))
            continue
        values = column.numbers
        numbers[name] = values if rows is None else values[rows]
        role = "date" if column.format is not None and column.format.is_date else "number"
        found = describe_numbers(numbers[name], is_sample=rows is not None)
        columns.append(ColumnFacts(name, role, missing=int(np.isnan(values).sum()), **found))
    dropped, n_further = {"noise": n_noise}, len(all_names) - len(names)
    related = related_columns(numbers)
    return TableFacts(n_rows + n_noise, n_rows, dropped, columns, n_further, **related)


def sampled_rows(n_rows: int, n_columns: int) -> np.ndarray | None:
    """Rows by which the numbers of a large table are described; None for all rows."""
    if n_rows * n_columns <= MANY_CELLS or n_rows <= _SAMPLE:
        return None
    return np.linspace(0, n_rows - 1, _SAMPLE).astype(np.intp)


def describe_numbers(values: np.ndarray, *, is_sample: bool = False) -> dict[str, Any]:
    """Skewness; unless these are a sample of the rows, numbers of different and extreme values."""
    present = values[np.isfinite(values)]
    if len(present) == 0:
        return {"n_values": 0}
    deviation = present - present.mean()
    spread = float(deviation.std())
    skew = 0.0 if spread == 0 else float(np.mean((deviation / spread) ** 3))
    if is_sample:
        return {"skew": skew}
    low, high = np.quantile(present, [0.25, 0.75])
    far = _FENCE * (high - low)
    is_extreme = (present < low - far) | (present > high + far) if far > 0 else np.zeros(1, bool)
    return {"skew": skew, "n_values": len(np.unique(present)), "n_extreme": int(is_extreme.sum())}


def related_columns(numbers: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Pairs of columns of numbers with the same values, and pairs with a high correlation."""
    first_with: dict[bytes, str] = {}
    duplicates = []
    for name, values in numbers.items():
        digest = hashlib.blake2b((values + 0.0).tobytes(), digest_size=16).digest()
        known = first_with.setdefault(digest, name)
        if known != name:
            duplicates.append((known, name))
    correlated = _correlated({name: numbers[name] for name in first_with.values()})
    return {"duplicates": duplicates[:_MOST_PAIRS], "correlated": correlated}


def _correlated(numbers: Mapping[str, np.ndarray]) -> list[tuple[str, str, float]]:
    """Pairs of columns by their correlation, highest first; missing values are the mean."""
    names = list(numbers)
    if len(names) < 2 or len(numbers[names[0]]) < 3:
        return []
    step = max(1, len(numbers[names[0]]) // 20_000)
    centred = []
    for name in names:
        values = numbers[name][::step]
        there = np.isfinite(values)
        mean = values[there].mean() if there.any() else 0.0
        centred.append(np.where(there, values - mean, 0.0))
    matrix = np.array(centred)
    largest = np.abs(matrix).max(axis=1, keepdims=True)
    matrix /= np.where(largest > 0, largest, 1.0)
    length = np.sqrt((matrix**2).sum(axis=1, keepdims=True))
    matrix /= np.where(length > 0, length, 1.0)
    table = matrix @ matrix.T
    found = [
        (names[i], names[j], float(np.clip(table[i, j], -1, 1)))
        for i, j in zip(*np.triu_indices(len(names), 1))
        if abs(table[i, j]) >= _CORRELATED
    ]
    return sorted(found, key=lambda pair: -abs(pair[2]))[:_MOST_PAIRS]
