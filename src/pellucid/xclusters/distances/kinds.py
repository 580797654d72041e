"""The distances of numbers, series, categories and mixed rows, and callable distances."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from pellucid._utils.numeric_domain import MAX_VALUE, too_large
from pellucid._utils.texts import count
from pellucid.xclusters.rows import (
    Column,
    count_rows,
    is_missing,
    read_columns,
    read_numbers,
    read_objects,
    read_series,
)

_ENTRIES = 2**20  # distances per tile
_CELLS = 2**24  # cells of the alignment tables per tile: some tenths of a second until Ctrl-C acts
_HEIGHT = 8  # rows of a tile of series


class Distance(ABC):
    """A distance that reads user input and computes tiles of the distance matrix."""

    name: str
    releases_gil = True  # whether tiles can be computed in parallel threads
    _width: int | None = None

    def _check_width(self, width: int, name: str) -> None:
        if self._width not in (None, width):
            raise ValueError(
                f"{name} has {count(width, 'column')}, but the other rows have {self._width}"
            )
        self._width = width

    @abstractmethod
    def read(self, X: Any, name: str) -> Any:
        """Validate the rows and convert them to an object that can be sliced."""

    @abstractmethod
    def tile(self, rows: Any, others: Any, top: int, left: int, *, same: bool) -> np.ndarray:
        """Distances of some rows, the first of which is number `top`, to some others, from `left`.

        If both are the `same` rows, only entries above the diagonal are needed.
        """

    def tile_shape(self, rows: Any, others: Any, n_threads: int) -> tuple[int, int]:
        n_rows, n_columns = count_rows(rows), max(1, count_rows(others))
        return max(1, min(_ENTRIES // n_columns, -(-n_rows // (4 * n_threads)))), n_columns


class NumericDistance(Distance):
    """A distance of numeric rows, given by its name in `scipy.spatial.distance` if it has another.

    Rows are subtracted rather than expanded into dot products. Equal rows therefore have distance
    0, and the matrix is symmetric.
    """

    def __init__(self, name: str, scipy_name: str | None = None) -> None:
        self.name = name
        self.scipy_name: str = scipy_name or name

    def read(self, X: Any, name: str) -> Any:
        matrix = read_numbers(X, name, self.name)
        self._check_width(matrix.shape[1], name)
        return matrix

    def tile(self, rows: Any, others: Any, top: int, left: int, *, same: bool) -> np.ndarray:
        if not (sparse.issparse(rows) or sparse.issparse(others)):
            return cdist(rows, others, self.scipy_name)
        from pellucid.xclusters.kernels import sparse_distances

        a, b = sparse.csr_array(rows), sparse.csr_array(others)
        for matrix in (a, b):
            matrix.sum_duplicates()
        distances, squared = np.empty((a.shape[0], b.shape[0])), self.scipy_name != "cityblock"
        sparse_distances(
            a.data, a.indices, a.indptr, b.data, b.indices, b.indptr, squared, distances
        )
        return np.sqrt(distances) if self.scipy_name == "euclidean" else distances


class Cosine(NumericDistance):
    """1 - cosine similarity: half the squared distance of the normalized rows.

    Rows of zeros have distance 0 from each other and 1 from all other rows.
    """

    def __init__(self) -> None:
        super().__init__("cosine", "sqeuclidean")

    def read(self, X: Any, name: str) -> Any:
        matrix = super().read(X, name)
        # Divide by the largest entry first, so that squares neither overflow nor underflow.
        for size in (_largest_entries, _norms):
            matrix = _divide_rows(matrix, size(matrix))
        return matrix

    def tile(self, rows: Any, others: Any, top: int, left: int, *, same: bool) -> np.ndarray:
        distances = super().tile(rows, others, top, left, same=same)
        is_zero, others_zero = (_largest_entries(matrix) == 0 for matrix in (rows, others))
        distances *= 0.5
        distances[is_zero] = 1.0
        distances[:, others_zero] = 1.0
        distances[np.ix_(is_zero, others_zero)] = 0.0
        return distances


# Metrics of `scipy.spatial.distance` for rows of 0 and 1.
SCIPY_BOOLEAN_METRICS = ("dice", "rogerstanimoto", "russellrao", "sokalsneath", "yule")
# These and its metrics for numbers that do not depend on other rows.
SCIPY_METRICS = (
    *("braycurtis", "canberra", "chebyshev", "cityblock", "correlation", "hamming"),
    *("jensenshannon", "minkowski", "sqeuclidean", *SCIPY_BOOLEAN_METRICS),
)


class ScipyDistance(NumericDistance):
    """A metric of `scipy.spatial.distance` that may be undefined, by its name there."""

    def read(self, X: Any, name: str) -> Any:
        matrix = super().read(X, name)
        matrix = matrix.toarray() if sparse.issparse(matrix) else matrix
        if self.name in SCIPY_BOOLEAN_METRICS:
            if not np.isin(matrix, (0, 1)).all():
                raise ValueError(f"{name} has other values than 0 and 1; {self.name!r} needs these")
            matrix = matrix.astype(bool)
        if self.name == "jensenshannon" and (matrix.min() < 0 or not matrix.any(axis=1).all()):
            raise ValueError(
                f"{name} has negative values or rows of zeros; 'jensenshannon' compares "
                "probabilities or counts"
            )
        return matrix

    def tile(self, rows: Any, others: Any, top: int, left: int, *, same: bool) -> np.ndarray:
        with np.errstate(invalid="ignore", divide="ignore"):
            distances = super().tile(rows, others, top, left, same=same)
        for i, j in np.argwhere(np.isnan(distances)):
            # Identical rows have distance 0; an undefined distance of other rows is an error.
            if not np.array_equal(rows[i], others[j]):
                raise ValueError(
                    f"the distance {self.name!r} of rows {top + i} and {left + j} is not defined, "
                    "such as the correlation of a constant row; use another distance"
                )
            distances[i, j] = 0.0
        # Rounding may give -1e-16.
        return np.maximum(distances, 0.0)


class CallableDistance(Distance):
    releases_gil = False

    def __init__(self, function: Callable[[Any, Any], float]) -> None:
        self.function = function
        self.name: str = getattr(function, "__name__", "function")

    def read(self, X: Any, name: str) -> list[Any]:
        return read_objects(X, name)

    def tile_shape(self, rows: Any, others: Any, n_threads: int) -> tuple[int, int]:
        return 1, max(1, len(others))

    def tile(self, rows: Any, others: Any, top: int, left: int, *, same: bool) -> np.ndarray:
        distances = np.zeros((len(rows), len(others)))
        for i, row in enumerate(rows):
            for j in range(max(0, top + i + 1 - left) if same else 0, len(others)):
                distances[i, j] = self._call(row, others[j], top + i, left + j)
        return distances

    def _call(self, row: Any, other: Any, i: int, j: int) -> float:
        result = self.function(row, other)
        try:
            distance = float(result)
        except (TypeError, ValueError):
            raise TypeError(
                f"the metric {self.name!r} returned {result!r} for rows {i} and {j}; a distance "
                "must be a number"
            ) from None
        if not 0 <= distance < np.inf:
            raise ValueError(
                f"the metric {self.name!r} returned {distance} for rows {i} and {j}; distances "
                "must be finite and nonnegative"
            )
        return distance


def _largest_entries(matrix: Any) -> np.ndarray:
    """Largest absolute value of each row."""
    if sparse.issparse(matrix):
        return abs(matrix).max(axis=1).toarray().ravel()
    return np.abs(matrix).max(axis=1, initial=0.0)


def _norms(matrix: Any) -> np.ndarray:
    squares = matrix.multiply(matrix) if sparse.issparse(matrix) else matrix**2
    return np.sqrt(np.asarray(squares.sum(axis=1)).ravel())


def _divide_rows(matrix: Any, by: np.ndarray) -> Any:
    """Rows divided by numbers; rows of 0 are left as they are."""
    by = np.where(by == 0, 1.0, by)
    if not sparse.issparse(matrix):
        return matrix / by[:, None]
    data = matrix.data / np.repeat(by, np.diff(matrix.indptr))
    return sparse.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


class DTW(Distance):
    """Square root of the sum of squared differences along the best alignment of two series.

    `window` is the maximum |i - j| of aligned steps i and j, in addition to the difference of the
    lengths. The loop is our own: dtaidistance has no wheels for Linux on ARM.
    """

    name = "dtw"

    def __init__(self, window: int | None = None) -> None:
        if window is not None and (not isinstance(window, Integral) or window < 0):
            raise ValueError(f"window={window!r} must be a nonnegative integer or None")
        self._window = window

    def read(self, X: Any, name: str) -> np.ndarray | list[np.ndarray]:
        return read_series(X, name)

    def tile_shape(self, rows: Any, others: Any, n_threads: int) -> tuple[int, int]:
        length, band = max(map(len, rows)), max(map(len, others))
        if self._window is not None:
            band = min(band, 2 * self._window + 1 + abs(length - band))
        height = min(len(rows), _HEIGHT)
        width = _CELLS // (height * length * band)
        # Tiles on the diagonal must contain the diagonal of all their rows.
        return height, max(height, min(width, len(others)))

    def tile(self, rows: Any, others: Any, top: int, left: int, *, same: bool) -> np.ndarray:
        from pellucid.xclusters.kernels import dtw_squares

        a, a_starts = _concatenate(rows)
        b, b_starts = _concatenate(others)
        squares = np.zeros((len(rows), len(others)))
        longest = int(np.diff(b_starts).max(initial=0))
        window = max(len(a), len(b)) if self._window is None else int(self._window)
        # Column of the first distance of the first row; one more in each further row.
        first = top + 1 - left if same else -len(a_starts)
        dtw_squares(a, a_starts, b, b_starts, window, first, np.empty(longest + 1), squares)
        return np.sqrt(squares)


def _concatenate(series: Any) -> tuple[np.ndarray, np.ndarray]:
    """The values of all series, and where each series begins, with the end of the last one."""
    starts = np.cumsum([0, *map(len, series)])
    return np.concatenate(list(series)) if len(series) else np.empty(0), starts


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

    def tile(self, rows: Any, others: Any, top: int, left: int, *, same: bool) -> np.ndarray:
        intersection = rows.shape[1] - _count_different(rows, others)
        present, others_present = ((~np.isnan(codes)).sum(axis=1) for codes in (rows, others))
        union = present[:, None] + others_present - intersection
        return np.where(union == 0, 0.0, 1 - intersection / np.maximum(union, 1))

    def _encode(self, position: int, column: Column, name: str) -> np.ndarray:
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
        if self._given is not None:
            return self._given
        return np.where(self._is_numeric, np.maximum(self._high - self._low, 0.0), np.nan)

    def tile(self, rows: Any, others: Any, top: int, left: int, *, same: bool) -> np.ndarray:
        ranges, is_numeric = self.ranges, self._is_numeric
        # A constant column contributes 0 to every pair, also if its values differ by subnormals.
        is_wide = ranges > 4 * np.finfo(np.float64).tiny
        scale = np.divide(1.0, ranges, out=np.where(is_numeric, 0.0, 1.0), where=is_wide)
        a, b = rows * scale, others * scale
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
