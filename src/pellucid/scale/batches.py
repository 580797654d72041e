"""Batches of rows, and the encoder that prepares them for the search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid._core.data.arrays import Weights, order_by
from pellucid._core.data.binning import Quantizer
from pellucid.scale.column_loops import costs_in_units, gathered


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
    columns : ndarray of shape (n_features, n_rows)
        The values, float32 or float64. Rows of the same center are neighbours.
    starts : ndarray of shape (n_clusters + 1,)
        The rows of center c are ``starts[c]`` up to, not including, ``starts[c + 1]``.
    weights : Weights
        Units are those of all rows, not of the batch alone.
    codes : ndarray of shape (n_features, n_rows)
        Bins of the values.
    is_mixed : ndarray of shape (n_features, n_bins), uint8
        Whether each bin may hold different values.
    """

    columns: np.ndarray
    starts: np.ndarray
    weights: Weights
    codes: np.ndarray
    is_mixed: np.ndarray

    def __init__(
        self,
        columns: np.ndarray,
        starts: np.ndarray,
        weights: Weights,
        codes: np.ndarray,
        is_mixed: np.ndarray,
    ) -> None:
        self.columns, self.starts, self.weights = columns, starts, weights
        self.codes, self.is_mixed = codes, is_mixed
        self.routed: tuple[Any, np.ndarray] = (None, np.empty(0, dtype=np.int32))
        self.settled: np.ndarray | None = None
        self.passive: tuple[Any, dict[int, Any]] | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.starts[-1])

    @property
    def X(self) -> np.ndarray:
        """The values as a matrix: (n_rows, n_features), a view."""
        return self.columns.T

    @property
    def labels(self) -> np.ndarray:
        """Own center of each row, int32."""
        centers = np.arange(len(self.starts) - 1, dtype=np.int32)
        return np.repeat(centers, np.diff(self.starts))

    def labels_of(self, rows: np.ndarray) -> np.ndarray:
        """Own center of some rows, which are ascending."""
        ends = np.searchsorted(rows, self.starts[1:])
        centers = np.arange(len(ends), dtype=np.int32)
        return np.repeat(centers, np.diff(ends, prepend=0))

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.columns)

    def costs(self, centers: np.ndarray, unit: float) -> np.ndarray:
        """Weighted cost of every row at every center, in units: (n_rows, n_clusters), int64."""
        return costs_in_units(self.columns, centers, self.weights, unit)

    def costs_of(self, rows: np.ndarray, centers: np.ndarray, unit: float) -> np.ndarray:
        """The same for a few rows."""
        weights = self.weights
        units, values = weights.units[rows], weights.values[rows]
        weights = replace(weights, units=units, values=values)
        return costs_in_units(gathered(self.columns, rows), centers, weights, unit)


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
    n_clusters : int
    """

    find_labels: Callable[[RawBatch], np.ndarray]
    weight_units: WeightUnits
    quantizer: Quantizer
    n_clusters: int

    def encode(self, raw: RawBatch) -> Batch:
        """The rows of a batch that take part in the search."""
        columns = np.ascontiguousarray(raw.X.T)
        if columns.dtype != np.float32:
            columns = columns.astype(np.float64, copy=False)
        labels = self.find_labels(replace(raw, X=columns.T))
        weight = np.ones(len(labels)) if raw.weight is None else raw.weight
        # Weights below half a unit count as 0; such rows come last, and are left out.
        labels = np.where(weight * self.weight_units.per_weight > 0.5, labels, -1)
        group = np.where(labels < 0, self.n_clusters, labels)
        counts = np.bincount(group, minlength=self.n_clusters + 1)
        starts = np.append(0, counts[:-1].cumsum())
        order = order_by(group, self.n_clusters + 1)[: starts[-1]]
        is_mixed = np.zeros(self.quantizer.edges.shape, dtype=np.uint8)
        is_mixed[~self.quantizer.has_all] = 1
        columns, codes = self.quantizer.encode(columns, order, is_mixed)
        weights = self.weight_units.of(weight.take(order))
        return Batch(columns, starts, weights, codes, is_mixed)
