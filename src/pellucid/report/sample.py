"""The few rows that go into a report: points to draw, and typical rows of each cluster."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.report.columns import NumberColumn, word
from pellucid.report.profiles import Profile, short

_FEW = 20
"""Minimum number of sampled rows per cluster."""

_CANDIDATES = 5000
"""Rows of a cluster among which the typical ones are looked for."""


def sample_rows(cluster: np.ndarray, n_clusters: int, most: int) -> np.ndarray:
    """Up to `most` rows, all clusters among them, in their order; the same for the same data."""
    n = len(cluster)
    if n <= most:
        return np.arange(n)
    random = np.random.default_rng(0)
    few = min(_FEW, most // max(n_clusters, 1))
    chosen = [random.permutation(np.flatnonzero(cluster == c))[:few] for c in range(n_clusters)]
    kept = np.concatenate(chosen)
    rest = random.permutation(np.setdiff1d(np.arange(n), kept))[: most - len(kept)]
    return np.sort(np.concatenate([kept, rest]))


def values_of(profile: Profile, rows: np.ndarray, *, digits: int = 5) -> list[Any]:
    """Values of some rows of a column: numbers, or positions of categories."""
    column = profile.column
    if isinstance(column, NumberColumn):
        return [short(v, digits) for v in column.numbers[rows].tolist()]
    return column.codes[rows].tolist()


def typical_rows(
    profiles: list[Profile], cluster: np.ndarray, n_clusters: int, most: int
) -> list[np.ndarray]:
    """By cluster, the rows nearest to its middle.

    The middle is the mean of each column of numbers, in standard deviations, and the most
    frequent category.
    """
    random = np.random.default_rng(0)
    found = []
    for c in range(n_clusters):
        rows = np.flatnonzero(cluster == c)
        if len(rows) > _CANDIDATES:
            rows = np.sort(random.choice(rows, _CANDIDATES, replace=False))
        distance = np.zeros(len(rows))
        for profile in profiles if len(rows) else []:
            column = profile.column
            if isinstance(column, NumberColumn):
                numbers = column.numbers[rows]
                middle = np.nanmean(numbers) if np.isfinite(numbers).any() else 0.0
                away = (numbers - middle) / (profile.spread or 1.0)
                distance += np.nan_to_num(away, nan=3.0) ** 2
            else:
                codes = column.codes[rows]
                distance += codes != np.bincount(codes).argmax()
        found.append(rows[np.argsort(distance, kind="stable")[:most]])
    return found


def written_row(profiles: list[Profile], row: int) -> list[Any]:
    """One row for display: rounded numbers and names of categories."""
    cells: list[Any] = []
    for column in (profile.column for profile in profiles):
        if isinstance(column, NumberColumn):
            cells.append(short(float(column.numbers[row]), 12))
        else:
            code, values = int(column.codes[row]), column.values
            cells.append(word(values[code]) if code < len(values) else "other")
    return cells
