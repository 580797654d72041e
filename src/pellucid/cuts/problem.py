"""What every criterion looks at: the data, the reference centers and labels, the weights."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np

from pellucid.numeric.fixed_point import Weights, squared_distances
from pellucid.tree import column_values

_Result = TypeVar("_Result")

_SERIAL_BELOW = 50_000
"""Values a node must hold before handing its columns to threads pays."""


@dataclass(frozen=True)
class Problem:
    """The data to be cut and the clustering to be explained.

    Attributes
    ----------
    X : ndarray or CSC matrix of shape (n_samples, n_features)
        Only rows of positive weight.
    centers : ndarray of shape (n_clusters, n_features), float64
    labels : ndarray of shape (n_samples,), intp
        Own center of each row.
    weights : Weights
    n_threads : int
        Threads over columns; no result depends on it.
    """

    X: object
    centers: np.ndarray
    labels: np.ndarray
    weights: Weights
    n_threads: int = 1

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return self.X.shape[0]

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.X.shape[1]

    @property
    def n_clusters(self) -> int:
        """Number of reference centers."""
        return len(self.centers)

    @cached_property
    def _costs_and_unit(self) -> tuple[np.ndarray, float]:
        return squared_distances(self.X, self.centers, self.weights)

    @property
    def costs(self) -> np.ndarray:
        """Weighted squared distance of each row to each center, in whole units."""
        return self._costs_and_unit[0]

    @property
    def cost_unit(self) -> float:
        """What one unit of `costs` is worth."""
        return self._costs_and_unit[1]

    def values(self, feature: int, rows: np.ndarray) -> np.ndarray:
        """Values of a column for some rows, as float64."""
        return column_values(self.X, feature, rows)

    def for_each_feature(
        self, work: Callable[[int], _Result], features: list[int], size: int
    ) -> list[_Result]:
        """``work(feature)`` for every feature, in order, on threads when `size` rows are many."""
        if self.n_threads == 1 or size * len(features) < _SERIAL_BELOW:
            return [work(feature) for feature in features]
        with ThreadPoolExecutor(self.n_threads) as pool:
            return list(pool.map(work, features))
