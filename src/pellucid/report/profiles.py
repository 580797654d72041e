"""Distributions of the columns in common bins, and differences between clusters."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.report.columns import CategoryColumn, Column, NumberColumn, word

N_BINS = 24
"""Bins of a column of numbers, at the most."""

_TAIL = 0.005
"""Share of the values at either end that the outermost bins gather."""


class Profile:
    """One column with the bin of every row and a description of the bins.

    Parameters
    ----------
    column : NumberColumn or CategoryColumn

    Attributes
    ----------
    bin : ndarray of int
        Bin of each row; -1 where a number is missing.
    n_bins : int
    """

    def __init__(self, column: Column) -> None:
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
        self.edges = _edges(there, self._is_whole)
        self.n_bins = len(self.edges) - 1
        found = np.searchsorted(self.edges[1:-1], self._numbers, side="right")
        # Many columns are kept side by side, so that bins should be small.
        self.bin = np.where(self._is_there, found, -1).astype(np.int8)

    def describe(self) -> dict[str, Any]:
        """The column for the page."""
        if not self.is_number:
            column = self.column
            return {
                "kind": "category",
                "values": [word(value) for value in column.values],
                "others": column.n_others,
                "all": self.counts(np.zeros(len(self.bin), dtype=np.intp), 1)[0],
            }
        return {
            "kind": "number",
            "whole": self._is_whole,
            "low": short(self._range[0]),
            "high": short(self._range[1]),
            "mean": short(self.mean),
            "spread": short(self.spread),
            "edges": [short(edge, 8) for edge in self.edges.tolist()],
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
        there = self._is_there
        groups = cluster if there.all() else cluster[there]
        # Centred, so that little is lost where the mean is large against the spread.
        numbers = (self._numbers if there.all() else self._numbers[there]) - self.mean
        sums = np.bincount(groups, weights=numbers, minlength=n_clusters)
        counts = np.bincount(groups, minlength=n_clusters)
        with np.errstate(invalid="ignore", divide="ignore"):
            inside = sums / counts
            outside = (sums.sum() - sums) / (counts.sum() - counts)
        return inside + self.mean, outside + self.mean

    def differences(
        self, cluster: np.ndarray, n_clusters: int, means: tuple | None = None
    ) -> np.ndarray:
        """How far each cluster is from the rest.

        Mean less mean of the rest in standard deviations, as in
        :func:`pellucid.plotting.profile.standardized_differences`. For categories, of the one
        of which that is farthest. `means` are those of the numbers, where they are known.
        """
        if self.is_number:
            inside, outside = self.means(cluster, n_clusters) if means is None else means
            return (inside - outside) / (self.spread or 1.0)
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


def _edges(there: np.ndarray, is_whole: bool) -> np.ndarray:
    """Borders of the bins; values beyond the outermost belong to the first and the last."""
    if len(there) == 0:
        return np.array([0.0, 1.0])
    low, high = float(there.min()), float(there.max())
    if is_whole and high - low < N_BINS:
        return np.arange(low - 0.5, high + 1)
    inner = np.quantile(there, [_TAIL, 1 - _TAIL])
    if inner[0] < inner[1]:
        low, high = inner.tolist()
    if low == high:
        return np.array([low - 0.5, high + 0.5])
    return np.linspace(low, high, N_BINS + 1)


def short(value: float, digits: int = 6) -> float | int | None:
    """A number rounded to a few significant digits; None for NaN."""
    if not np.isfinite(value):
        return None
    rounded = float(f"{value:.{digits}g}") + 0.0
    return int(rounded) if rounded.is_integer() and abs(rounded) < 2**53 else rounded
