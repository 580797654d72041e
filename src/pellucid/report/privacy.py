"""A page without rows: numbers on a coarse grid, and nothing about groups of few rows.

Without sampled and typical rows, a page could still show values of single rows: the smallest and
the largest number, the mean of a cluster of one row, or a category that occurs once. A page
without rows leaves these out. What the model itself contains, its thresholds and categories, stays.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

import numpy as np

from pellucid.report.columns import CategoryColumn, Column, NumberColumn
from pellucid.report.table_facts import DataNotes

MIN_ROWS = 10
"""Rows of a group of which anything but the number of rows is shown."""

_STEPS = 2
"""Digits of the range of a column that are kept."""


def without_rows(
    read: Callable[[str], Column], asked: Callable[[str], Collection[Any]]
) -> Callable[[str], Column]:
    """`read` for a page without rows; `asked` gives the categories of a column in the model."""

    def read_coarse(name: str) -> Column:
        column = read(name)
        if isinstance(column, NumberColumn):
            return _coarse(column)
        return _frequent(column, asked(name))

    return read_coarse


def _coarse(column: NumberColumn) -> NumberColumn:
    """Numbers without extremes, on a grid of about a hundredth of their range."""
    numbers = column.numbers
    there = np.sort(numbers[np.isfinite(numbers)])
    if len(there) < MIN_ROWS:
        return replace(column, numbers=np.full(len(numbers), np.nan))
    low, high = there[MIN_ROWS // 2 - 1], there[-(MIN_ROWS // 2)]
    size = max(high - low, abs(low), abs(high)) if high == low else high - low
    step = 10.0 ** (np.floor(np.log10(size)) - _STEPS + 1) if size > 0 else 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = np.round(np.clip(numbers, low, high) / step) * step
    found = column.format
    if found is not None and found.values:
        common = [v for v in found.values if np.count_nonzero(numbers == v) >= MIN_ROWS]
        found = replace(found, values=tuple(common))
    return replace(column, numbers=rounded, format=found)


def _frequent(column: CategoryColumn, asked: Collection[Any]) -> CategoryColumn:
    """Categories of many rows, and those of the model; all others are counted together."""
    n_values = len(column.values)
    counts = np.bincount(column.codes, minlength=n_values + 1)
    kept = [i for i, v in enumerate(column.values) if counts[i] >= MIN_ROWS or v in asked]
    position = np.full(n_values + 1, len(kept))
    position[kept] = np.arange(len(kept))
    n_others = column.n_others + n_values - len(kept)
    values = [column.values[i] for i in kept]
    return replace(column, codes=position[column.codes], values=values, n_others=n_others)


def hide_small(facts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Facts about clusters; of one with few rows, only how many they are."""
    return [fact if fact["rows"] >= MIN_ROWS else _hidden(fact) for fact in facts]


def _hidden(fact: dict[str, Any]) -> dict[str, Any]:
    return {
        **fact,
        "apart": [None for _ in fact["apart"]],
        "means": [None if pair is None else [None, None] for pair in fact["means"]],
        "counts": [[0 for _ in counts] for counts in fact["counts"]],
        "typical": [],
    }


def notes_without_values(notes: DataNotes) -> DataNotes:
    """Notes without the sentences that quote values of the table."""
    return replace(
        notes,
        decisions=[text for text in notes.decisions if '"' not in str(text)],
        warnings=[text for text in notes.warnings if '"' not in str(text)],
    )
