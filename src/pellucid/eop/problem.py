"""The training rows as every part of the learning looks at them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse

from pellucid._core.data.weights import Weights
from pellucid._utils.threads import SERIAL, ThreadPool
from pellucid.tree.predictor import column_values


def project(X, features: Sequence[int], rows: np.ndarray | None = None) -> np.ndarray:
    """Some columns of some rows of a dense or CSC matrix, as a row-major float64 array."""
    rows = np.arange(X.shape[0]) if rows is None else rows
    P = np.empty((len(rows), len(features)))
    for position, feature in enumerate(features):
        P[:, position] = column_values(X, feature, rows)
    return P


def is_error_allowed(wrong, total, max_error: float):
    """Whether a share of errors is at most `max_error`, up to the rounding of that number."""
    return wrong <= max_error * total * (1 + 1e-12)


class RegionProblem:
    """Rows with classes and weights.

    Parameters
    ----------
    X : ndarray or CSC matrix of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,), int64
        Classes as positions.
    n_classes : int
    weights : Weights
    pool : ThreadPool
    """

    def __init__(
        self, X, y: np.ndarray, n_classes: int, weights: Weights, pool: ThreadPool = SERIAL
    ) -> None:
        # Columns are read one at a time.
        self.X = X if sparse.issparse(X) else np.asfortranarray(X)
        self.y, self.n_classes = y, n_classes
        self.weights, self.pool = weights, pool

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.X.shape[1]

    @property
    def units(self) -> np.ndarray:
        """Weights of the rows in whole units."""
        return self.weights.units

    def weight(self, rows: np.ndarray) -> np.ndarray:
        """Weights of some rows."""
        return self.units[rows] / self.weights.units_per_weight

    def total(self, rows: np.ndarray) -> int:
        """Units of some rows."""
        return int(self.units[rows].sum())

    def class_units(self, rows: np.ndarray) -> np.ndarray:
        """Units of each class among some rows."""
        found = np.zeros(self.n_classes, dtype=np.int64)
        np.add.at(found, self.y[rows], self.units[rows])
        return found

    @cached_property
    def scales(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation of each column, to about three digits.

        They only put columns on one footing. So few digits do not feel the order in which rows
        are added up, nor whether a row is repeated or weighted.
        """
        everything = np.arange(len(self.y))
        weight = self.weight(everything)
        weight = weight / weight.sum()

        def work(feature: int) -> tuple[float, float]:
            values = column_values(self.X, feature, everything)
            size = np.abs(values).max(initial=0.0) or 1.0
            values = values / size
            mean = float(weight @ values)
            deviation = float(np.sqrt(weight @ (values - mean) ** 2))
            if deviation < 1e-9:
                return mean * size, size
            fraction, exponent = np.frexp(deviation)
            deviation = np.ldexp(np.round(fraction * 1024) / 1024, exponent)
            return np.round(mean / deviation * 1024) / 1024 * deviation * size, deviation * size

        found = np.array(self.pool.map(work, range(self.n_features)))
        return found[:, 0], found[:, 1]

    @cached_property
    def useful_features(self) -> np.ndarray:
        """Columns that are not constant and not the copy of an earlier one."""
        everything = np.arange(len(self.y))
        seen: dict[bytes, list[int]] = {}
        for feature in range(self.n_features):
            values = column_values(self.X, feature, everything)
            if values.min() == values.max():
                continue
            twins = seen.setdefault(values[:: max(len(values) // 64, 1)].tobytes(), [])
            if not any(
                np.array_equal(values, column_values(self.X, twin, everything)) for twin in twins
            ):
                twins.append(feature)
        return np.sort(np.array([f for twins in seen.values() for f in twins], dtype=np.int64))


@dataclass(frozen=True)
class ProjectionView:
    """A projection with a classifier's success on it: what regions are found from.

    Attributes
    ----------
    P : ndarray of shape (n, dim)
        Rows to learn from, in the columns of the projection.
    right : ndarray of shape (n,), bool
        Whether the classifier is right.
    units : ndarray of shape (n,), int64
        Weights.
    held_P, held_right, held_units : ndarray
        The same of the held-out rows; none where nothing is held out.
    scale : ndarray of shape (dim,)
        What counts as one step in each column, when distances are taken.
    one : float
        Units in a weight of 1.
    least : float
        Units that a region must have to be worth its words.
    """

    P: np.ndarray
    right: np.ndarray
    units: np.ndarray
    held_P: np.ndarray
    held_right: np.ndarray
    held_units: np.ndarray
    scale: np.ndarray
    one: float
    least: float = 0.0

    def without_held_out(self) -> ProjectionView:
        """The same with nothing held out."""
        none = slice(0, 0)
        return replace(
            self,
            held_P=self.held_P[none],
            held_right=self.held_right[none],
            held_units=self.held_units[none],
        )

    @property
    def has_held_out(self) -> bool:
        """Whether there are rows to calibrate on."""
        return len(self.held_P) > 0
