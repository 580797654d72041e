"""Distributions of the columns in common bins, and differences between clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.plotting.axis_ranges import Axis, choose_axis
from pellucid.report.columns import CategoryColumn, Column, NumberColumn, word
from pellucid.tables.column_formats import ColumnFormat

_SHOWN = ("kind", "prefix", "suffix", "values")
"""Fields of the format of a column that the page uses."""


class Profile:
    """One column with the bin of every row and a description of the bins.

    `cuts` are the thresholds on a column of numbers, `cluster` is the cluster of each row. `is_log`
    says that the column was clustered on a logarithmic scale.
    """

    is_number: bool
    mean: float
    spread: float
    axis_spread: float
    """Standard deviation of the positions on the axis."""
    axis: Axis
    edges: np.ndarray
    n_bins: int
    bin: np.ndarray
    """Bin of each row; -1 where a number is missing."""

    def __init__(
        self,
        column: Column,
        cuts: Sequence[float] = (),
        cluster: np.ndarray | None = None,
        *,
        is_log: bool = False,
    ) -> None:
        self.column = column
        self.is_number = isinstance(column, NumberColumn)
        if isinstance(column, CategoryColumn):
            self.bin, self.n_bins = column.codes, len(column.values) + (column.n_others > 0)
            return
        self._numbers = column.numbers
        self._is_there = np.isfinite(self._numbers)
        there = self._numbers[self._is_there]
        self._is_whole = bool(len(there) == 0 or (there == np.floor(there)).all())
        self._range = (float(there.min()), float(there.max())) if len(there) else (0.0, 0.0)
        self.mean = float(there.mean()) if len(there) else 0.0
        self.spread = float(there.std()) if len(there) else 0.0
        self._format = column.format or ColumnFormat("integer" if self._is_whole else "number")
        self.axis = choose_axis(
            there,
            is_whole=self._is_whole,
            may_be_log=self._format.kind in ("number", "integer"),
            must_be_log=is_log,
            cuts=cuts,
            cluster=None if cluster is None else cluster[self._is_there],
        )
        self.edges = self.axis.edges
        # Differences are those of the positions on the axis, which is the scale of a skewed column.
        self._positions = self.axis.positions(self._numbers)
        self.axis_spread = float(self._positions[self._is_there].std()) if len(there) else 0.0
        self.n_bins = len(self.edges) - 1
        found = np.searchsorted(self.edges[1:-1], self._numbers, side="right")
        # Many columns are kept side by side, so that bins should be small.
        self.bin = np.where(self._is_there, found, -1).astype(np.int8)

    def describe(self) -> dict[str, Any]:
        """The column for the page."""
        column = self.column
        if isinstance(column, CategoryColumn):
            return {
                "kind": "category",
                "values": [word(value) for value in column.values],
                "others": column.n_others,
                "all": self.counts(np.zeros(len(self.bin), dtype=np.intp), 1)[0],
            }
        return {
            "kind": "number",
            "whole": self._is_whole,
            "low": short(self._range[0], 10),
            "high": short(self._range[1], 10),
            "mean": short(self.mean),
            "spread": short(self.spread),
            "axisSpread": None if self.axis.unit is None else short(self.axis_spread),
            "edges": [short(edge, 10) for edge in self.edges.tolist()],
            "unit": self.axis.unit,
            "beyond": [self.axis.n_below, self.axis.n_above],
            "format": {k: v for k, v in self._format.as_dict().items() if k in _SHOWN},
            "all": self.counts(np.zeros(len(self.bin), dtype=np.intp), 1)[0],
        }

    def counts(self, cluster: np.ndarray, n_clusters: int) -> list[list[int]]:
        """Rows in each bin, by cluster."""
        there = self.bin >= 0
        cell = cluster * self.n_bins + self.bin
        cell = cell if there.all() else cell[there]
        table = np.bincount(cell, minlength=n_clusters * self.n_bins)
        return table.reshape(n_clusters, self.n_bins).tolist()

    def means(self, cluster: np.ndarray, n_clusters: int) -> tuple[np.ndarray, np.ndarray]:
        """Mean of the numbers of each cluster, and of all rows outside it; NaN if none."""
        exact = self._without_rounding_error
        inside, outside = self._means_of(self._numbers, self.mean, cluster, n_clusters)
        return exact(inside), exact(outside)

    def axis_means(self, cluster: np.ndarray, n_clusters: int) -> tuple[np.ndarray, np.ndarray]:
        """The same of the positions on the axis, which is logarithmic for skewed columns."""
        return self._means_of(self._positions, 0.0, cluster, n_clusters)

    def _means_of(
        self, numbers: np.ndarray, middle: float, cluster: np.ndarray, n_clusters: int
    ) -> tuple[np.ndarray, np.ndarray]:
        there = self._is_there
        groups = cluster if there.all() else cluster[there]
        # Centred, so that little is lost where the mean is large against the spread.
        numbers = (numbers if there.all() else numbers[there]) - middle
        sums = np.bincount(groups, weights=numbers, minlength=n_clusters)
        counts = np.bincount(groups, minlength=n_clusters)
        with np.errstate(invalid="ignore", divide="ignore"):
            inside = sums / counts
            outside = (sums.sum() - sums) / (counts.sum() - counts)
        return inside + middle, outside + middle

    def _without_rounding_error(self, means: np.ndarray) -> np.ndarray:
        """Exactly 0 where all values are 0."""
        return np.where(np.abs(means) < 1e-12 * (abs(self.mean) + self.spread), 0.0, means)

    def differences(
        self, cluster: np.ndarray, n_clusters: int, means: tuple[Any, ...] | None = None
    ) -> np.ndarray:
        """How far each cluster is from the rest.

        Mean less mean of the rest in standard deviations, as in
        :func:`pellucid.plotting.profile.standardized_differences`, on the scale of the axis. For
        categories, of the one of which that is farthest. `means` are those of the numbers, where
        they are known.
        """
        if self.is_number:
            if self.axis.unit is not None:
                means = self.axis_means(cluster, n_clusters)
            inside, outside = self.means(cluster, n_clusters) if means is None else means
            return (inside - outside) / (self.axis_spread or 1.0)
        table = np.array(self.counts(cluster, n_clusters), dtype=np.float64)
        sizes = table.sum(axis=1, keepdims=True)
        share = table.sum(axis=0) / max(table.sum(), 1.0)
        spread = np.sqrt(share * (1 - share))
        with np.errstate(invalid="ignore", divide="ignore"):
            inside = table / sizes
            outside = (table.sum(axis=0) - table) / (sizes.sum() - sizes)
            found = (inside - outside) / np.where(spread > 0, spread, 1.0)
        farthest = np.abs(np.nan_to_num(found)).argmax(axis=1)
        return found[np.arange(n_clusters), farthest]


def short(value: float | None, digits: int = 6) -> float | int | None:
    """A number rounded to a few significant digits; None for NaN and None."""
    if value is None or not np.isfinite(value):
        return None
    rounded = float(f"{value:.{digits}g}") + 0.0
    return int(rounded) if rounded.is_integer() and abs(rounded) < 2**53 else rounded
