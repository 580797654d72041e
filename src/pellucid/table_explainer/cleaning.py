"""Values that stand for missing ones, and spellings of one category.

A sentinel is a number or a date such as -999, 9999, 1900-01-01, or 0 where it is impossible. It is
the smallest or largest value, occurs several times, and is far from all others.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from pellucid.table_explainer import tuning
from pellucid.table_explainer.roles import as_number

# For each column, values and what replaces them; None is a missing value.
Replacements = dict[str, list[tuple[Any, Any]]]
# Numbers such as 999, -99, 9998, 8888 and 99.9.
_TYPICAL = re.compile(r"-?(?:9+[789]?|8{2,}|7{3,}|6{3,})(?:\.9+|\.0)?")
# 1900-01-01, 1899-12-30 and -31, 1970-01-01, 9999-12-31, and the first days of databases.
_DATES = {-25567.0, -25569.0, -25568.0, 0.0, 2932896.0, -79258.0, -719162.0, -141427.0, -36524.0}


def find_sentinels(column: pl.Series) -> list[float]:
    """Values of a column of numbers or dates that stand for missing ones."""
    numbers = as_number(column).drop_nulls().drop_nans()
    values, counts = np.unique(numbers.to_numpy(), return_counts=True)
    found = [] if column.dtype.is_temporal() else _nines(values, counts)
    for _ in range(tuning.MOST_SENTINELS if len(numbers) >= tuning.FEWEST_ROWS else 0):
        kept = ~np.isin(values, found)
        found += _sentinels_at_ends(values[kept], counts[kept], is_date=column.dtype.is_temporal())
    return found


def _sentinels_at_ends(values: np.ndarray, counts: np.ndarray, *, is_date: bool) -> list[float]:
    """The smallest or the largest values, such as 98 and 99, that are sentinels."""
    for ends, n in ((values, counts), (values[::-1], counts[::-1])):
        for size in range(1, tuning.MOST_SENTINELS + 1):
            end, others = ends[:size].tolist(), ends[size:]
            if len(others) < tuning.FEWEST_VALUES or n[size - 1] < 2:
                break
            gap, width = abs(end[-1] - others[0]), abs(others[-1] - others[0])
            if is_date:
                is_found = size == 1 and end[0] in _DATES and gap > width
            elif size == 1:
                is_found = _is_sentinel(end[0], int(n[0]), gap, width, others, n[1:])
            else:
                is_found = all(map(_is_typical, end)) and gap > width
            if is_found:
                return end
    return []


def _nines(values: np.ndarray, counts: np.ndarray) -> list[float]:
    """Numbers such as 99999 that are more than twice as frequent as any near them.

    The largest number, which may stand for all beyond it: as all from its half on.
    """
    found, n_rows = [], counts.sum()
    least = max(tuning.FEWEST_ZEROS, tuning.FREQUENT * n_rows)
    for i in np.flatnonzero((counts >= least) & (counts <= tuning.MOST_ZEROS * n_rows)):
        value, text, is_last = float(values[i]), f"{values[i]:.10g}", i + 1 == len(values)
        near = counts[(values > value / 2) & (values < 2 * value) & (values != value)]
        usual = near.sum() if is_last else near.max(initial=0)
        if len(text) > (3 if is_last else 4) and set(text) == {"9"} and counts[i] > 2 * usual:
            found.append(value)
    return found if len(values) > tuning.FEWEST_VALUES else []


def _is_typical(value: float) -> bool:
    return _TYPICAL.fullmatch(f"{value:.10g}") is not None


def _is_sentinel(
    value: float, count: int, gap: float, width: float, others: np.ndarray, counts: np.ndarray
) -> bool:
    n_rows = count + int(counts.sum())
    if _is_typical(value) and (gap > width or (value <= -99 and others.min() >= 0)):
        return True
    is_frequent = tuning.FEWEST_ZEROS <= count <= tuning.MOST_ZEROS * n_rows
    if is_frequent and (value == -1 or _is_typical(value)) and 0 < -10 * value <= others.min():
        return True  # the only negative number
    if value in (0, -1) and others.min() > 0:
        mean = float(np.average(others, weights=counts))
        spread = float(np.sqrt(np.average((others - mean) ** 2, weights=counts)))
        far, mean_far = tuning.FAR_ZERO
        return is_frequent and gap > far * spread and mean - value > mean_far * spread
    return gap > tuning.FAR_VALUE * width and count >= max(3, tuning.FREQUENT * n_rows)


def find_spellings(column: pl.Series) -> dict[str, str]:
    """Spellings of a category that differ by case or blanks, and the most frequent one of each."""
    counts = column.drop_nulls().alias("value").value_counts(name="rows").rows()
    groups: dict[str, list[tuple[int, str]]] = {}
    for value, rows in counts:
        groups.setdefault(" ".join(value.split()).casefold(), []).append((-rows, value))
    found: dict[str, str] = {}
    for key, spellings in groups.items():
        (most, first), *others = sorted(spellings)
        n_rows = most + sum(rows for rows, _ in others)
        # Genotypes are written AA, Aa and aa.
        if len(key) > 2 or most / n_rows >= tuning.MAIN_SPELLING:
            found |= {other: first for _, other in others}
    return found


def find_replacements(table: pl.DataFrame, not_used: Collection[str] = ()) -> Replacements:
    """Sentinels of the numbers and dates of a table, and spellings of its categories."""
    found: Replacements = {}
    for column in table:
        pairs: list[tuple[Any, Any]] = []
        if column.name in not_used:
            continue
        if column.dtype == pl.String and _has_spellings(column):
            pairs = list(find_spellings(column).items())
        elif column.dtype.is_numeric() or column.dtype in (pl.Date, pl.Datetime):
            pairs = [(value, None) for value in find_sentinels(column)]
        if pairs:
            found[column.name] = pairs
    return found


def _has_spellings(column: pl.Series) -> bool:
    """Whether the texts of a column may be categories, of which some differ by case or blanks."""
    texts = column.drop_nulls().unique()
    folded = texts.str.to_lowercase().str.strip_chars().str.replace_all(r"\s+", " ")
    return len(texts) > folded.n_unique() and 2 * folded.n_unique() < len(column)


def with_replacements(table: pl.DataFrame, replaced: Mapping[str, Sequence[Any]]) -> pl.DataFrame:
    """The table with values replaced; numbers and dates by missing values only."""
    changed = []
    for column in table:
        pairs = replaced.get(column.name, ())
        if pairs and column.dtype == pl.String:
            changed.append(column.replace(dict(pairs)))
        elif pairs:
            missing = as_number(column).is_in([float(value) for value, _ in pairs])
            changed.append(column.set(missing.fill_null(False), None))
    return table.with_columns(changed)
