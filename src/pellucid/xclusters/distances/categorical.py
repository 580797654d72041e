"""Distances of categorical rows (Jaccard) and of mixed rows (Gower)."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from pellucid._utils.numeric_domain import MAX_VALUE, too_large
from pellucid.xclusters.distances.numeric import Distance, Tile
from pellucid.xclusters.rows import Column, is_missing, read_columns


class Jaccard(Distance):
    """1 - |A ∩ B| / |A ∪ B| of the sets of (column, value) pairs; 0 if both are empty.

    Numbers are treated as categories. The categories of each column are encoded by consecutive
    integers, the same for all rows that are read; missing values are NaN, which equals nothing.
    """

    name = "jaccard"

    def __init__(self) -> None:
        self._codes: dict[int, dict[Any, int]] = defaultdict(dict)

    def read(self, X: Any, name: str) -> np.ndarray:
        columns = read_columns(X, name)
        self._check_width(len(columns), name)
        return np.column_stack([self._encode(*found, name) for found in enumerate(columns)])

    def tile(self, rows: np.ndarray, others: np.ndarray, tile: Tile, *, same: bool) -> np.ndarray:
        top, bottom, left, right = tile
        a, b = rows[top:bottom], others[left:right]
        intersection = a.shape[1] - _count_different(a, b)
        present, others_present = ((~np.isnan(codes)).sum(axis=1) for codes in (a, b))
        union = present[:, None] + others_present - intersection
        return np.where(union == 0, 0.0, 1 - intersection / np.maximum(union, 1))

    def _encode(self, position: int, column: Column, name: str) -> np.ndarray:
        """The codes of the categories of a column."""
        values, codes = column.values, self._codes[position]
        values = values.tolist() if isinstance(values, np.ndarray) else values
        try:
            found = [np.nan if is_missing(v) else codes.setdefault(v, len(codes)) for v in values]
        except TypeError:
            raise TypeError(
                f"column {column.name} of {name} contains values that cannot be categories, "
                "such as lists; convert them to strings"
            ) from None
        return np.array(found, dtype=np.float64)


class Gower(Jaccard):
    """Mean over the columns of |x - y| / range, or of [x ≠ y] for categories.

    The ranges of the columns, NaN for categories, are computed from all rows that are read unless
    they are given.
    """

    name = "gower"

    def __init__(self, ranges: Any = None) -> None:
        super().__init__()
        self._given = None if ranges is None else np.asarray(ranges, dtype=np.float64)
        self._is_numeric: Any = None if self._given is None else ~np.isnan(self._given)
        self._low, self._high = np.inf, -np.inf

    def read(self, X: Any, name: str) -> np.ndarray:
        columns = read_columns(X, name)
        self._check_width(len(columns), name)
        if self._is_numeric is None:
            self._is_numeric = np.array([column.is_numeric for column in columns])
        if len(columns) != len(self._is_numeric):
            raise ValueError(
                f"ranges has {len(self._is_numeric)} entries, but {name} has {len(columns)} columns"
            )
        parts = [
            _read_numbers(column, name) if is_numeric else self._encode(position, column, name)
            for position, (column, is_numeric) in enumerate(zip(columns, self._is_numeric))
        ]
        rows = np.column_stack(parts)
        # NaN is ignored.
        self._low = np.fmin(self._low, np.fmin.reduce(rows))
        self._high = np.fmax(self._high, np.fmax.reduce(rows))
        return rows

    @property
    def ranges(self) -> np.ndarray:
        """Range of each column; NaN for categorical columns."""
        if self._given is not None:
            return self._given
        return np.where(self._is_numeric, np.maximum(self._high - self._low, 0.0), np.nan)

    def tile(self, rows: np.ndarray, others: np.ndarray, tile: Tile, *, same: bool) -> np.ndarray:
        top, bottom, left, right = tile
        ranges, is_numeric = self.ranges, self._is_numeric
        # A constant column contributes 0 to every pair, also if its values differ by subnormals.
        is_wide = ranges > 4 * np.finfo(np.float64).tiny
        scale = np.divide(1.0, ranges, out=np.where(is_numeric, 0.0, 1.0), where=is_wide)
        a, b = rows[top:bottom] * scale, others[left:right] * scale
        complete = ~(np.isnan(a).any(axis=0) | np.isnan(b).any(axis=0))
        numbers, categories = complete & is_numeric, complete & ~is_numeric
        total = np.zeros((len(a), len(b)))
        if numbers.any():
            total += cdist(a[:, numbers], b[:, numbers], "cityblock")
        if categories.any():
            total += _count_different(a[:, categories], b[:, categories])
        count = np.full(total.shape, float(complete.sum()))
        for j in np.flatnonzero(~complete):
            difference = np.abs(a[:, j, None] - b[:, j])
            known = ~np.isnan(difference)
            total += np.where(known, difference if is_numeric[j] else difference > 0, 0.0)
            count += known
        # Rows without a common column have the maximum distance.
        return np.where(count == 0, 1.0, total / np.maximum(count, 1.0))


def _read_numbers(column: Column, name: str) -> np.ndarray:
    """A column of numbers, of which some may be missing."""
    values = column.values
    if not column.is_numeric:
        if not all(map(is_missing, values)):
            raise ValueError(
                f"column {column.name} of {name} is categorical, but numeric in the other rows"
            )
        values = np.full(len(values), np.nan)
    numbers = np.asarray(values, dtype=np.float64)
    if np.isinf(numbers).any():
        row = int(np.argmax(np.isinf(numbers)))
        raise ValueError(f"column {column.name} of {name} is infinite at row {row}")
    largest = np.nanmax(np.abs(numbers), initial=0.0)
    if largest > MAX_VALUE:
        raise ValueError(too_large(name, largest, column.name))
    return numbers


def _count_different(codes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Number of columns in which each pair of rows differs."""
    return np.rint(cdist(codes, others, "hamming") * codes.shape[1])
