"""Interface of the distances; distances of numbers and of series, and callable distances."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse

from pellucid._utils.texts import count
from pellucid.xclusters.rows import count_rows, read_numbers, read_objects, read_series

Tile = tuple[int, int, int, int]
"""Row range and column range of a tile: (top, bottom, left, right), ends excluded."""

_ENTRIES = 2**20
"""Distances per tile."""

_CELLS = 2**24
"""Cells of the alignment tables per tile: some tenths of a second until Ctrl-C acts."""

_HEIGHT = 8
"""Rows of a tile."""


class Distance(ABC):
    """A distance that reads user input and computes tiles of the distance matrix.

    `releases_gil` says whether tiles can be computed in parallel threads.
    """

    name: str
    releases_gil = True
    _width: int | None = None

    def _check_width(self, width: int, name: str) -> None:
        """Raise an error if rows have more or fewer columns than those that were read first."""
        if self._width not in (None, width):
            raise ValueError(
                f"{name} has {count(width, 'column')}, but the other rows have {self._width}"
            )
        self._width = width

    @abstractmethod
    def read(self, X: Any, name: str) -> Any:
        """Validate the rows and convert them to an object with a length."""

    @abstractmethod
    def tile(self, rows: Any, others: Any, tile: Tile, *, same: bool) -> np.ndarray:
        """Distances of a range of rows to a range of other rows.

        If both are the `same` rows, only entries above the diagonal are needed.
        """

    def tile_shape(self, rows: Any, others: Any, n_threads: int) -> tuple[int, int]:
        """Number of rows and columns of a tile."""
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

    def tile(self, rows: Any, others: Any, tile: Tile, *, same: bool) -> np.ndarray:
        top, bottom, left, right = tile
        a, b = rows[top:bottom], others[left:right]
        if sparse.issparse(a) or sparse.issparse(b):
            return self._sparse_tile(sparse.csr_array(a), sparse.csr_array(b))
        from scipy.spatial.distance import cdist

        return cdist(a, b, self.scipy_name)

    def _sparse_tile(self, a: sparse.csr_array, b: sparse.csr_array) -> np.ndarray:
        from pellucid.xclusters.kernels import sparse_distances

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

    def tile(self, rows: Any, others: Any, tile: Tile, *, same: bool) -> np.ndarray:
        distances = super().tile(rows, others, tile, same=same)
        top, bottom, left, right = tile
        is_zero = _largest_entries(rows[top:bottom]) == 0
        others_zero = _largest_entries(others[left:right]) == 0
        distances *= 0.5
        distances[is_zero] = 1.0
        distances[:, others_zero] = 1.0
        distances[np.ix_(is_zero, others_zero)] = 0.0
        return distances


SCIPY_METRICS = (
    *("braycurtis", "canberra", "chebyshev", "cityblock", "correlation", "hamming"),
    *("jensenshannon", "minkowski", "sqeuclidean"),
)
"""Metrics of `scipy.spatial.distance` for numbers that do not depend on other rows."""

SCIPY_BOOLEAN_METRICS = ("dice", "rogerstanimoto", "russellrao", "sokalsneath", "yule")
"""Metrics of `scipy.spatial.distance` for rows of 0 and 1."""


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

    def tile(self, rows: Any, others: Any, tile: Tile, *, same: bool) -> np.ndarray:
        with np.errstate(invalid="ignore", divide="ignore"):
            distances = super().tile(rows, others, tile, same=same)
        for i, j in np.argwhere(np.isnan(distances)):
            row, other = tile[0] + i, tile[2] + j
            # Identical rows have distance 0; an undefined distance of other rows is an error.
            if not np.array_equal(rows[row], others[other]):
                raise ValueError(
                    f"the distance {self.name!r} of rows {row} and {other} is not defined, such as "
                    "the correlation of a constant row; use another distance"
                )
            distances[i, j] = 0.0
        # Rounding may give -1e-16.
        return np.maximum(distances, 0.0)


class CallableDistance(Distance):
    """A distance given by a function of two rows."""

    releases_gil = False

    def __init__(self, function: Callable[[Any, Any], float]) -> None:
        self.function = function
        self.name: str = getattr(function, "__name__", "function")

    def read(self, X: Any, name: str) -> list[Any]:
        return read_objects(X, name)

    def tile_shape(self, rows: Any, others: Any, n_threads: int) -> tuple[int, int]:
        return 1, max(1, len(others))

    def tile(self, rows: list[Any], others: list[Any], tile: Tile, *, same: bool) -> np.ndarray:
        top, bottom, left, right = tile
        distances = np.zeros((bottom - top, right - left))
        for i in range(top, bottom):
            for j in range(max(left, i + 1) if same else left, right):
                distances[i - top, j - left] = self._call(rows[i], others[j], i, j)
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
    """Euclidean norm of each row."""
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
    lengths. The loop is our own, compiled with Numba like all others: dtaidistance, the usual
    library, has no wheels for Linux on ARM and needs a C compiler there.
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

    def tile(self, rows: Any, others: Any, tile: Tile, *, same: bool) -> np.ndarray:
        from pellucid.xclusters.kernels import dtw_squares

        top, bottom, left, right = tile
        a, a_starts = _concatenate(rows[top:bottom])
        b, b_starts = _concatenate(others[left:right])
        squares = np.zeros((bottom - top, right - left))
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
