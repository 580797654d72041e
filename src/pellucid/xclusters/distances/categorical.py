"""Distances of rows of categories, and of categories beside numbers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from pellucid.xclusters.distances.numeric import Measure, Tile
from pellucid.xclusters.reading import Column, is_missing, read_columns

_MISSING = -1.0
"""Code of a value that is not there."""


class Coded(NamedTuple):
    """Categories as codes, numbers as they are; missing ones are -1 and NaN.

    Attributes
    ----------
    codes : ndarray of shape (n_rows, n_categorical), float64
    numbers : ndarray of shape (n_rows, n_numeric), float64
    n_rows : int
    """

    codes: np.ndarray
    numbers: np.ndarray
    n_rows: int

    def __len__(self) -> int:
        return self.n_rows


class _OfCategories(Measure):
    """Codes that are the same for all rows that are read."""

    def __init__(self) -> None:
        self._known: list[dict] = []

    def _code(self, columns: list[Column], name: str) -> np.ndarray:
        """Equal values of a column get equal numbers."""
        self._known = self._known or [{} for _ in columns]
        if len(columns) != len(self._known):
            raise ValueError(
                f"{name} has {len(columns)} columns of categories, the other rows have "
                f"{len(self._known)}"
            )
        codes = np.empty((len(columns[0].values) if columns else 0, len(columns)))
        for position, (column, known) in enumerate(zip(columns, self._known)):
            values = column.values
            values = values.tolist() if isinstance(values, np.ndarray) else values
            try:
                codes[:, position] = [
                    _MISSING if is_missing(value) else known.setdefault(value, len(known))
                    for value in values
                ]
            except TypeError:
                raise TypeError(
                    f"column {column.name} of {name} holds values that cannot be compared as "
                    "categories, such as lists; turn them into text"
                ) from None
        return codes


class Jaccard(_OfCategories):
    """1 - shared ÷ all, of the (column, value) pairs of two rows; 0 where neither has any.

    Numbers are categories here: equal or not.
    """

    name = "jaccard"

    def read(self, X: Any, name: str) -> Coded:
        codes = self._code(read_columns(X, name), name)
        return Coded(codes, np.empty((len(codes), 0)), len(codes))

    def tile(self, rows: Coded, others: Coded, tile: Tile, *, same: bool) -> np.ndarray:
        top, bottom, left, right = tile
        a, b = rows.codes[top:bottom], others.codes[left:right]
        alike = a.shape[1] - _differing(a, b)
        there, others_there = (codes != _MISSING for codes in (a, b))
        if not (there.all() and others_there.all()):
            alike -= (~there).astype(np.float64) @ (~others_there).T.astype(np.float64)
        union = there.sum(axis=1)[:, None] + others_there.sum(axis=1) - alike
        return np.where(union == 0, 0.0, 1 - alike / np.maximum(union, 1))


class Gower(_OfCategories):
    """Mean over columns of |difference| ÷ range, or of 0 and 1 for equal and other categories.

    Parameters
    ----------
    ranges : array of shape (n_columns,), optional
        From rows that were read before; else of all that are read.
    """

    name = "gower"

    def __init__(self, ranges: Any = None) -> None:
        super().__init__()
        self._given = None if ranges is None else np.asarray(ranges, dtype=np.float64)
        self._numeric: list[int] | None = None
        if self._given is not None:
            self._numeric = np.flatnonzero(~np.isnan(self._given)).tolist()
        self._n_columns = 0 if ranges is None else len(self._given)
        self._low, self._high = np.inf, -np.inf

    def read(self, X: Any, name: str) -> Coded:
        columns = read_columns(X, name)
        if self._numeric is None:
            self._numeric = [j for j, column in enumerate(columns) if column.is_numeric]
            self._n_columns = len(columns)
        columns = self._as_before(columns, name)
        others = [column for j, column in enumerate(columns) if j not in self._numeric]
        n_rows = len(columns[0].values)
        numbers = np.empty((n_rows, len(self._numeric)))
        for position, j in enumerate(self._numeric):
            numbers[:, position] = columns[j].values
            if np.isinf(numbers[:, position]).any():
                row = int(np.argmax(np.isinf(numbers[:, position])))
                raise ValueError(f"column {columns[j].name} of {name} is infinite at row {row}")
        codes = self._code(others, name) if others else np.empty((n_rows, 0))
        known = ~np.isnan(numbers)
        self._low = np.minimum(self._low, np.where(known, numbers, np.inf).min(axis=0))
        self._high = np.maximum(self._high, np.where(known, numbers, -np.inf).max(axis=0))
        return Coded(codes, numbers, n_rows)

    @property
    def ranges(self) -> np.ndarray:
        """Range of each column; NaN for columns of categories."""
        if self._given is not None:
            return self._given
        ranges = np.full(self._n_columns, np.nan)
        ranges[self._numeric] = np.maximum(self._high - self._low, 0.0)
        return ranges

    def tile(self, rows: Coded, others: Coded, tile: Tile, *, same: bool) -> np.ndarray:
        top, bottom, left, right = tile
        ranges = self.ranges[self._numeric]
        # A constant column says nothing: 0 for every pair.
        per_range = np.divide(1.0, ranges, out=np.zeros(len(ranges)), where=ranges > 0)
        a, b = rows.numbers[top:bottom] * per_range, others.numbers[left:right] * per_range
        codes, other_codes = rows.codes[top:bottom], others.codes[left:right]
        full = ~(np.isnan(a).any(axis=0) | np.isnan(b).any(axis=0))
        full_codes = ~((codes == _MISSING).any(axis=0) | (other_codes == _MISSING).any(axis=0))
        total = np.zeros((len(a), len(b)))
        if full.any():
            total += cdist(a[:, full], b[:, full], "cityblock")
        if full_codes.any():
            total += _differing(codes[:, full_codes], other_codes[:, full_codes])
        count = np.full(total.shape, float(full.sum() + full_codes.sum()))
        for j in np.flatnonzero(~full):
            gap = np.abs(a[:, j, None] - b[:, j])
            known = ~np.isnan(gap)
            total += np.where(known, gap, 0.0)
            count += known
        for j in np.flatnonzero(~full_codes):
            one, other = codes[:, j, None], other_codes[:, j]
            known = (one != _MISSING) & (other != _MISSING)
            total += known & (one != other)
            count += known
        # Rows that share no column are as far apart as one column can say.
        return np.where(count == 0, 1.0, total / np.maximum(count, 1.0))

    def _as_before(self, columns: list[Column], name: str) -> list[Column]:
        """The columns, of the kinds that they had in the rows that were read first."""
        if len(columns) != self._n_columns:
            raise ValueError(
                f"{name} has {len(columns)} columns, the other rows have {self._n_columns}"
                if self._given is None
                else f"ranges has {self._n_columns} entries, {name} has {len(columns)} columns"
            )
        return [
            _as_numbers(column, name) if j in self._numeric else column
            for j, column in enumerate(columns)
        ]


def _as_numbers(column: Column, name: str) -> Column:
    if column.is_numeric:
        return column
    if all(is_missing(value) for value in column.values):
        return Column(column.name, np.full(len(column.values), np.nan), True)
    raise ValueError(
        f"column {column.name} of {name} holds categories, but numbers in the other rows"
    )


def _differing(codes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Number of columns in which two rows differ."""
    return np.rint(cdist(codes, others, "hamming") * codes.shape[1])
