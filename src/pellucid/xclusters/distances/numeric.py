"""Distances of rows of numbers, and by a function; what all distances have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.xclusters.reading import read_numbers, read_things

Tile = tuple[int, int, int, int]
"""First and last row, first and last column, the last ones not included."""

_ENTRIES = 2**20
"""Distances that are worked out together."""


class Measure(ABC):
    """A distance: reads what the user gave, then fills tiles of the matrix.

    Attributes
    ----------
    name : str
    releases_lock : bool
        Whether tiles are worth a thread each; else the distance has threads of its own, or none.
    """

    name: str
    releases_lock = True

    @abstractmethod
    def read(self, X: Any, name: str) -> Any:
        """Rows that can be counted and sliced, or an error that names what is wrong."""

    @abstractmethod
    def tile(self, rows: Any, others: Any, tile: Tile, *, same: bool) -> np.ndarray:
        """Distances of some rows to some others.

        Where these are the `same`, only those above the diagonal are needed.
        """

    def tile_shape(self, rows: Any, others: Any, n_threads: int) -> tuple[int, int]:
        """Rows and columns of a tile."""
        n_columns = max(1, len(others))
        return max(1, min(_ENTRIES // n_columns, -(-len(rows) // (4 * n_threads)))), n_columns

    def threads(self, n_threads: int) -> AbstractContextManager:
        """While entered, no more threads than these."""
        return nullcontext()


class Numbers:
    """Rows of a matrix, dense or CSR."""

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix

    def __len__(self) -> int:
        return self.matrix.shape[0]


class _OfNumbers(Measure):
    """A distance of rows of numbers, which are subtracted, not multiplied out.

    Then equal rows are at 0 and both halves of the matrix are alike. Sparse rows are multiplied
    out where that is all that is quick.
    """

    in_scipy: str

    def __init__(self) -> None:
        self._width: int | None = None

    def read(self, X: Any, name: str) -> Numbers:
        matrix = read_numbers(X, name, self.name)
        if self._width not in (None, matrix.shape[1]):
            raise ValueError(
                f"{name} has {matrix.shape[1]} columns, the other rows have {self._width}"
            )
        self._width = matrix.shape[1]
        return Numbers(matrix)

    def tile(self, rows: Numbers, others: Numbers, tile: Tile, *, same: bool) -> np.ndarray:
        top, bottom, left, right = tile
        a, b = rows.matrix[top:bottom], others.matrix[left:right]
        if sparse.issparse(a) or sparse.issparse(b):
            from sklearn.metrics import pairwise_distances

            return pairwise_distances(sparse.csr_array(a), sparse.csr_array(b), metric=self.name)
        from scipy.spatial.distance import cdist

        return cdist(a, b, self.in_scipy)


class Euclidean(_OfNumbers):
    """Root of the sum of squared differences."""

    name, in_scipy = "euclidean", "euclidean"


class Manhattan(_OfNumbers):
    """Sum of absolute differences."""

    name, in_scipy = "manhattan", "cityblock"


class Angle(_OfNumbers):
    """1 - cosine: half the squared distance of the rows brought to length 1."""

    name, in_scipy = "cosine", "sqeuclidean"

    def read(self, X: Any, name: str) -> Numbers:
        matrix = super().read(X, name).matrix
        if sparse.issparse(matrix):
            return Numbers(matrix)
        # The largest entry first, so that squares neither overflow nor vanish.
        size = np.abs(matrix).max(axis=1, keepdims=True, initial=0.0)
        matrix = matrix / np.where(size == 0, 1.0, size)
        length = np.sqrt((matrix**2).sum(axis=1, keepdims=True))
        return Numbers(matrix / np.where(length == 0, 1.0, length))

    def tile(self, rows: Numbers, others: Numbers, tile: Tile, *, same: bool) -> np.ndarray:
        distances = super().tile(rows, others, tile, same=same)
        top, bottom, left, right = tile
        empty, others_empty = (
            _are_zero(part.matrix[a:b])
            for part, a, b in ((rows, top, bottom), (others, left, right))
        )
        if not (sparse.issparse(rows.matrix) or sparse.issparse(others.matrix)):
            distances *= 0.5
        distances[empty] = 1.0
        distances[:, others_empty] = 1.0
        distances[np.ix_(empty, others_empty)] = 0.0
        return distances


class Function(Measure):
    """A distance that the user wrote."""

    releases_lock = False

    def __init__(self, function: Callable[[Any, Any], float]) -> None:
        self.function = function
        self.name = getattr(function, "__name__", "function")

    def read(self, X: Any, name: str) -> list:
        return read_things(X, name)

    def tile_shape(self, rows: Any, others: Any, n_threads: int) -> tuple[int, int]:
        return 1, max(1, len(others))

    def tile(self, rows: list, others: list, tile: Tile, *, same: bool) -> np.ndarray:
        top, bottom, left, right = tile
        distances = np.zeros((bottom - top, right - left))
        for i in range(top, bottom):
            for j in range(max(left, i + 1) if same else left, right):
                distances[i - top, j - left] = self._ask(rows[i], others[j], i, j)
        return distances

    def _ask(self, row: Any, other: Any, i: int, j: int) -> float:
        answer = self.function(row, other)
        try:
            distance = float(answer)
        except (TypeError, ValueError):
            raise TypeError(
                f"the metric {self.name!r} returned {answer!r} for rows {i} and {j}; a distance is "
                "a number"
            ) from None
        if not 0 <= distance < np.inf:
            raise ValueError(
                f"the metric {self.name!r} returned {distance} for rows {i} and {j}; distances are "
                "finite and at least 0"
            )
        return distance


def _are_zero(matrix: Any) -> np.ndarray:
    """Whether each row holds nothing but zeros."""
    return np.asarray(abs(matrix).sum(axis=1)).ravel() == 0
