"""Distances of categorical rows (Jaccard) and of mixed rows (Gower)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from pellucid._utils.numeric_domain import MAX_VALUE, too_large
from pellucid.xclusters.distances.numeric import Distance, Tile
from pellucid.xclusters.rows import Column, is_missing, read_columns

_MISSING = -1.0
"""Code of a missing value."""


class CodedRows(NamedTuple):
    """Categories as codes, and numbers; missing values are -1 and NaN."""

    codes: np.ndarray
    numbers: np.ndarray
    n_rows: int

    def __len__(self) -> int:
        return self.n_rows


class _CategoricalDistance(Distance):
    """A distance with a common encoding of the categories of all rows that are read."""

    def __init__(self) -> None:
        self._codes: list[dict[Any, Any]] = []

    def _encode(self, columns: list[Column], name: str) -> np.ndarray:
        """Encode the values of each column by consecutive integers."""
        self._codes = self._codes or [{} for _ in columns]
        if len(columns) != len(self._codes):
            raise ValueError(
                f"{name} has {len(columns)} categorical columns, but the other rows have "
                f"{len(self._codes)}"
            )
        codes = np.empty((len(columns[0].values) if columns else 0, len(columns)))
        for position, (column, code_of) in enumerate(zip(columns, self._codes)):
            values = column.values
            values = values.tolist() if isinstance(values, np.ndarray) else values
            try:
                codes[:, position] = [
                    _MISSING if is_missing(value) else code_of.setdefault(value, len(code_of))
                    for value in values
                ]
            except TypeError:
                raise TypeError(
                    f"column {column.name} of {name} contains values that cannot be categories, "
                    "such as lists; convert them to strings"
                ) from None
        return codes


class Jaccard(_CategoricalDistance):
    """1 - |A ∩ B| / |A ∪ B| of the sets of (column, value) pairs; 0 if both are empty.

    Numbers are treated as categories.
    """

    name = "jaccard"

    def read(self, X: Any, name: str) -> CodedRows:
        codes = self._encode(read_columns(X, name), name)
        return CodedRows(codes, np.empty((len(codes), 0)), len(codes))

    def tile(self, rows: CodedRows, others: CodedRows, tile: Tile, *, same: bool) -> np.ndarray:
        top, bottom, left, right = tile
        a, b = rows.codes[top:bottom], others.codes[left:right]
        intersection = a.shape[1] - _count_different(a, b)
        present, others_present = (codes != _MISSING for codes in (a, b))
        if not (present.all() and others_present.all()):
            both_missing = (~present).astype(np.float64) @ (~others_present).T.astype(np.float64)
            intersection -= both_missing
        union = present.sum(axis=1)[:, None] + others_present.sum(axis=1) - intersection
        return np.where(union == 0, 0.0, 1 - intersection / np.maximum(union, 1))


class Gower(_CategoricalDistance):
    """Mean over the columns of |x - y| / range, or of [x ≠ y] for categories.

    The ranges of the columns, NaN for categories, are computed from all rows that are read unless
    they are given.
    """

    name = "gower"

    def __init__(self, ranges: Any = None) -> None:
        super().__init__()
        self._given: np.ndarray | None = None
        self._numeric: list[int] | None = None
        self._n_columns = 0
        if ranges is not None:
            self._given = np.asarray(ranges, dtype=np.float64)
            self._numeric = np.flatnonzero(~np.isnan(self._given)).tolist()
            self._n_columns = len(self._given)
        self._low, self._high = np.inf, -np.inf

    def read(self, X: Any, name: str) -> CodedRows:
        columns = read_columns(X, name)
        numeric = self._numeric
        if numeric is None:
            numeric = [j for j, column in enumerate(columns) if column.is_numeric]
            self._numeric, self._n_columns = numeric, len(columns)
        columns = self._check_types(columns, numeric, name)
        categorical = [column for j, column in enumerate(columns) if j not in numeric]
        n_rows = len(columns[0].values)
        numbers = np.empty((n_rows, len(numeric)))
        for position, j in enumerate(numeric):
            numbers[:, position] = columns[j].values
            if np.isinf(numbers[:, position]).any():
                row = int(np.argmax(np.isinf(numbers[:, position])))
                raise ValueError(f"column {columns[j].name} of {name} is infinite at row {row}")
            largest = np.nanmax(np.abs(numbers[:, position]), initial=0.0)
            if largest > MAX_VALUE:
                raise ValueError(too_large(name, largest, columns[j].name))
        codes = self._encode(categorical, name) if categorical else np.empty((n_rows, 0))
        known = ~np.isnan(numbers)
        self._low = np.minimum(self._low, np.where(known, numbers, np.inf).min(axis=0))
        self._high = np.maximum(self._high, np.where(known, numbers, -np.inf).max(axis=0))
        return CodedRows(codes, numbers, n_rows)

    @property
    def ranges(self) -> np.ndarray:
        """Range of each column; NaN for categorical columns."""
        if self._given is not None:
            return self._given
        ranges = np.full(self._n_columns, np.nan)
        ranges[self._numeric] = np.maximum(self._high - self._low, 0.0)
        return ranges

    def tile(self, rows: CodedRows, others: CodedRows, tile: Tile, *, same: bool) -> np.ndarray:
        top, bottom, left, right = tile
        ranges = self.ranges[self._numeric]
        # A constant column contributes 0 to every pair, also if its values differ by subnormals.
        is_wide = ranges > 4 * np.finfo(np.float64).tiny
        inverse_range = np.divide(1.0, ranges, out=np.zeros(len(ranges)), where=is_wide)
        a = rows.numbers[top:bottom] * inverse_range
        b = others.numbers[left:right] * inverse_range
        codes, other_codes = rows.codes[top:bottom], others.codes[left:right]
        complete = ~(np.isnan(a).any(axis=0) | np.isnan(b).any(axis=0))
        complete_codes = ~((codes == _MISSING).any(axis=0) | (other_codes == _MISSING).any(axis=0))
        total = np.zeros((len(a), len(b)))
        if complete.any():
            total += cdist(a[:, complete], b[:, complete], "cityblock")
        if complete_codes.any():
            total += _count_different(codes[:, complete_codes], other_codes[:, complete_codes])
        count = np.full(total.shape, float(complete.sum() + complete_codes.sum()))
        for j in np.flatnonzero(~complete):
            difference = np.abs(a[:, j, None] - b[:, j])
            known = ~np.isnan(difference)
            total += np.where(known, difference, 0.0)
            count += known
        for j in np.flatnonzero(~complete_codes):
            code, other_code = codes[:, j, None], other_codes[:, j]
            known = (code != _MISSING) & (other_code != _MISSING)
            total += known & (code != other_code)
            count += known
        # Rows without a common column have the maximum distance.
        return np.where(count == 0, 1.0, total / np.maximum(count, 1.0))

    def _check_types(self, columns: list[Column], numeric: list[int], name: str) -> list[Column]:
        """Check that the columns have the same types as in the rows that were read first."""
        if len(columns) != self._n_columns:
            raise ValueError(
                f"{name} has {len(columns)} columns, but the other rows have {self._n_columns}"
                if self._given is None
                else f"ranges has {self._n_columns} entries, but {name} has {len(columns)} columns"
            )
        return [
            _as_numbers(column, name) if j in numeric else column
            for j, column in enumerate(columns)
        ]


def _as_numbers(column: Column, name: str) -> Column:
    if column.is_numeric:
        return column
    if all(is_missing(value) for value in column.values):
        return Column(column.name, np.full(len(column.values), np.nan), True)
    raise ValueError(
        f"column {column.name} of {name} is categorical, but numeric in the other rows"
    )


def _count_different(codes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Number of columns in which each pair of rows differs."""
    return np.rint(cdist(codes, others, "hamming") * codes.shape[1])
