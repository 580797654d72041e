"""Batches of rows, and the encoder that prepares them for the search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from pellucid._core.data.arrays import Weights, order_by
from pellucid._core.data.binning import Quantizer
from pellucid._core.data.dataset import Dataset

ALL, ACTIVE, PASSIVE = range(3)
"""Which rows of a leaf count: all; those in the leaf of their own center; the others."""


@dataclass(frozen=True)
class RawBatch:
    """Some rows of the data as they were read; `origin` says where, for error messages."""

    X: np.ndarray
    weight: np.ndarray | None = None
    labels: np.ndarray | None = None
    origin: str = ""


class PickedRows(NamedTuple):
    """Copies of a few rows, of one or several batches.

    `values` and `codes` are those of one column. Rows for costs have all `columns`, (n_features,
    n_rows), and no `labels`; others have their own centers as `labels`, int32, and no columns.
    """

    columns: np.ndarray
    values: np.ndarray
    codes: np.ndarray
    labels: np.ndarray
    weights: Weights

    @property
    def n_rows(self) -> int:
        return len(self.values)

    @classmethod
    def joined(cls, parts: Sequence[PickedRows]) -> PickedRows:
        if len(parts) == 1:
            return parts[0]
        *arrays, weights = zip(*parts)
        joined = [np.concatenate(array, axis=-1) for array in arrays]
        units = np.concatenate([part.units for part in weights])
        values = np.concatenate([part.values for part in weights])
        return cls._make([*joined, replace(weights[0], units=units, values=values)])

    def take(self, places: np.ndarray) -> PickedRows:
        columns, values, codes, labels = (
            array.take(places, axis=-1) if array.size else array for array in self[:-1]
        )
        return PickedRows(columns, values, codes, labels, _weights_of(self.weights, places))


def _weights_of(weights: Weights, rows: np.ndarray) -> Weights:
    if weights.are_ones:
        return Weights.equal(len(rows))
    return replace(weights, units=weights.units[rows], values=weights.values[rows])


@dataclass(eq=False)
class Batch:
    """Rows that take part in the search: with a label and a positive weight.

    `columns` (float32 or float64) and their bins `codes` are (n_features, n_rows). The rows of
    center c are ``starts[c]`` up to, not including, ``starts[c + 1]``. The units of the weights are
    those of all rows, not of the batch alone. ``is_mixed[j, b]`` says whether bin b may hold
    different values, uint8.
    """

    columns: np.ndarray
    starts: np.ndarray
    weights: Weights
    codes: np.ndarray
    is_mixed: np.ndarray
    routed: tuple[Any, np.ndarray] = (None, np.empty(0, dtype=np.int32))
    nearest: tuple[Any, Any] = (None, None)

    @property
    def n_rows(self) -> int:
        return int(self.starts[-1])

    @property
    def X(self) -> np.ndarray:
        return self.columns.T

    @property
    def labels(self) -> np.ndarray:
        """Own center of each row, int32."""
        centers = np.arange(len(self.starts) - 1, dtype=np.int32)
        return np.repeat(centers, np.diff(self.starts))

    def labels_of(self, rows: np.ndarray) -> np.ndarray:
        """Own center of some rows, which are ascending."""
        ends = rows.searchsorted(self.starts.astype(rows.dtype))
        centers = np.arange(len(ends) - 1, dtype=np.int32)
        return centers.repeat(ends[1:] - ends[:-1])

    @property
    def n_features(self) -> int:
        return len(self.columns)

    def pick(self, rows: np.ndarray, feature: int, *, for_costs: bool) -> PickedRows:
        """Copies of some rows for the work on one column; ascending rows if not for costs."""
        columns, labels = self.columns[:0, :0], rows[:0]
        if for_costs:
            columns = self.columns.take(rows, axis=1)
        else:
            labels = self.labels_of(rows)
        values = columns[feature] if for_costs else self.columns[feature].take(rows)
        codes, weights = self.codes[feature].take(rows), _weights_of(self.weights, rows)
        return PickedRows(columns, values, codes, labels, weights)


def costs_at(rows: Batch | PickedRows, centers: np.ndarray, unit: float) -> np.ndarray:
    """Weighted cost of every row at every center, in units: (n_rows, n_centers), int64."""
    return Dataset(rows.columns.T, rows.weights).costs(centers, unit)[0]


@dataclass(frozen=True)
class WeightUnits:
    """How sample weights become integers: `per_weight` units, a power of two, for all batches."""

    per_weight: float = 1.0
    are_ones: bool = True
    are_integers: bool = True

    def of(self, values: np.ndarray) -> Weights:
        if self.are_ones:
            return Weights.equal(len(values))
        units = np.rint(values * self.per_weight).astype(np.int64)
        return Weights(units, self.per_weight, values, False, self.are_integers)


@dataclass(frozen=True)
class Encoder:
    """Makes a `Batch` of a `RawBatch`.

    ``find_labels(raw)`` gives the own center of each row, -1 for rows that are left out.
    """

    find_labels: Callable[[RawBatch], np.ndarray]
    weight_units: WeightUnits
    quantizer: Quantizer
    n_clusters: int

    def encode(self, raw: RawBatch) -> Batch:
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
