"""Batches of rows, and the encoder that prepares them for the search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid._core.data.arrays import Weights
from pellucid._core.data.binning import Quantizer
from pellucid._core.data.dataset import Dataset


@dataclass(frozen=True)
class RawBatch:
    """Some rows of the data as they were read.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
    weight : ndarray of shape (n_rows,), optional
    labels : ndarray of shape (n_rows,), optional
        Values of the label column.
    origin : str
        Where the rows were read, for error messages.
    """

    X: np.ndarray
    weight: np.ndarray | None = None
    labels: np.ndarray | None = None
    origin: str = ""


class Batch:
    """Rows that take part in the search: with a label and a positive weight.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
    labels : ndarray of shape (n_rows,), int
        Own center of each row.
    weights : Weights
        Units are those of all rows, not of the batch alone.
    codes : ndarray of shape (n_features, n_rows)
        Bins of the values.
    is_mixed : ndarray of shape (n_features, n_bins), uint8
        Whether each bin may hold different values.

    Attributes
    ----------
    value_type : dtype
        The type of the values as they were read.
    """

    def __init__(
        self,
        X: np.ndarray,
        labels: np.ndarray,
        weights: Weights,
        codes: np.ndarray,
        is_mixed: np.ndarray,
    ) -> None:
        self.X, self.labels, self.weights = X, labels, weights
        self.codes, self.is_mixed, self.value_type = codes, is_mixed, X.dtype
        self.routed: tuple[Any, np.ndarray] = (None, np.empty(0, dtype=np.int32))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.labels)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.X.shape[1]

    def values(self, feature: int, rows: np.ndarray) -> np.ndarray:
        """Values of a column for some rows, as float64."""
        return self.X[rows, feature].astype(np.float64)

    def columns(self, features: np.ndarray) -> np.ndarray:
        """Values of some columns, as float64: (len(features), n_rows)."""
        return np.ascontiguousarray(self.X[:, features].T, dtype=np.float64)

    def column_codes(self, feature: int) -> np.ndarray:
        """Bins of the values of a column."""
        return self.codes[feature]

    def costs(self, centers: np.ndarray, unit: float, rows: np.ndarray | None = None) -> np.ndarray:
        """Weighted cost of rows at every center, in units: (n_rows, n_clusters), int64."""
        X, weights = self.X, self.weights
        if rows is not None:
            X = X[rows]
            units, values = weights.units[rows], weights.values[rows]
            weights = replace(weights, units=units, values=values)
        return Dataset(X, weights).costs(centers, unit)[0]


@dataclass(frozen=True)
class WeightUnits:
    """How sample weights become integers: the same for all batches.

    Attributes
    ----------
    per_weight : float
        Units in a weight of 1, a power of two.
    are_ones, are_integers : bool
    """

    per_weight: float = 1.0
    are_ones: bool = True
    are_integers: bool = True

    def of(self, values: np.ndarray) -> Weights:
        """Weights of some rows."""
        if self.are_ones:
            return Weights.equal(len(values))
        units = np.rint(values * self.per_weight).astype(np.int64)
        return Weights(units, self.per_weight, values, False, self.are_integers)


@dataclass(frozen=True)
class Encoder:
    """Makes a `Batch` of a `RawBatch`.

    Attributes
    ----------
    find_labels : callable
        ``find_labels(raw)`` gives the own center of each row, -1 for rows that are left out.
    weight_units : WeightUnits
    quantizer : Quantizer
    """

    find_labels: Callable[[RawBatch], np.ndarray]
    weight_units: WeightUnits
    quantizer: Quantizer
    label_type: type = np.int32

    def encode(self, raw: RawBatch) -> Batch:
        """The rows of a batch that take part in the search."""
        # Rows are read several times: they are converted once.
        rows = replace(raw, X=np.ascontiguousarray(raw.X, dtype=np.float64))
        labels = self.find_labels(rows).astype(self.label_type, copy=False)
        X, weight = rows.X, np.ones(len(raw.X)) if raw.weight is None else raw.weight
        # Weights below half a unit count as 0.
        is_counted = (labels >= 0) & (weight * self.weight_units.per_weight > 0.5)
        if not is_counted.all():
            X, labels, weight = X[is_counted], labels[is_counted], weight[is_counted]
        is_mixed = np.zeros(self.quantizer.edges.shape, dtype=np.uint8)
        is_mixed[~self.quantizer.has_all] = 1
        codes = self.quantizer.codes(X, is_mixed)
        batch = Batch(X, labels, self.weight_units.of(weight), codes, is_mixed)
        batch.value_type = raw.X.dtype
        return batch
