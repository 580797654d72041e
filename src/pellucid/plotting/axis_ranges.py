"""The axis of a column of numbers: its range, its scale and its bins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

N_BINS = 24  # maximum number of bins
_TAIL = 0.005  # share of the values at either end that an axis may leave out
_LONGER = 1.5  # an axis that would be at most this many times longer leaves out nothing
_CLUSTER_SHARE = 0.05  # an axis leaves out no values if they are more than this share of a cluster
_SKEWED = 2.0  # skewness above which an axis is logarithmic
_DECADES = 2.0  # powers of ten that a logarithmic axis has at least
_DIGITS = 8  # significant digits of the edges of bins


@dataclass(frozen=True)
class Axis:
    """Range, scale and bins of a column of numbers."""

    # Edges of the bins. The outermost bins also count the values beyond them.
    edges: np.ndarray = field(repr=False)
    # The position of a value on a logarithmic axis is log(1 + value / unit); None: a linear axis.
    unit: float | None = None
    n_below: int = 0
    n_above: int = 0

    def positions(self, values: Any) -> Any:
        return values if self.unit is None else np.log1p(np.maximum(values / self.unit, -0.9))

    def values(self, positions: Any) -> Any:
        return positions if self.unit is None else self.unit * np.expm1(positions)


def choose_axis(
    values: np.ndarray,
    *,
    is_whole: bool,
    may_be_log: bool = True,
    must_be_log: bool = False,  # the column was clustered on a logarithmic scale
    cuts: Sequence[float] = (),
    cluster: np.ndarray | None = None,
) -> Axis:
    """Choose the axis of a column, whose numbers are `values` without missing ones.

    The axis reaches over all values and thresholds, the `cuts`, if they are close together, or if
    a threshold or many rows of a cluster lie among the outermost values. Otherwise it leaves out
    the outermost values and counts them.
    """
    cuts = [float(cut) for cut in cuts if np.isfinite(cut)]
    if len(values) == 0:
        return Axis(_even_edges(min([0.0, *cuts]), max([1.0, *cuts])))
    first, last = float(values.min()), float(values.max())
    low, high = min([first, *cuts]), max([last, *cuts])
    is_whole = is_whole and max(-low, high) < 2.0**52  # above, floats have no halves
    if is_whole and np.floor(high) - np.ceil(low) < N_BINS:
        return Axis(np.arange(np.floor(low) - 0.5, np.ceil(high) + 1))
    even = _edges_of_few(values, cuts) if is_whole else None
    if even is not None:
        return Axis(even)
    may_be_log = may_be_log and low >= 0
    unit = _log_unit(values, is_whole, must_be_log=must_be_log) if may_be_log else None
    if unit is not None:
        return Axis(_log_edges(low, high, unit, is_whole), unit)
    inner_low, inner_high = np.quantile(values, [_TAIL, 1 - _TAIL]).tolist()
    if is_whole:
        inner_low, inner_high = float(np.floor(inner_low)), float(np.ceil(inner_high))
    is_long = inner_low < inner_high and high - low > _LONGER * (inner_high - inner_low)
    is_inside = all(inner_low <= cut <= inner_high for cut in cuts)
    if is_long and is_inside and _are_few((values < inner_low) | (values > inner_high), cluster):
        low, high = inner_low, inner_high
    edges = _even_edges(low, high)
    if is_whole:  # bins of the same number of integers
        width = np.ceil((high - low + 1) / N_BINS)
        edges = low - 0.5 + width * np.arange(np.ceil((high - low + 1) / width) + 1)
    below, above = int((values < edges[0]).sum()), int((values > edges[-1]).sum())
    return Axis(edges, None, below, above)


def _edges_of_few(values: np.ndarray, cuts: Sequence[float]) -> np.ndarray | None:
    """One bin per value, such as every fifth year; None if they are many or uneven."""
    distinct = np.unique(values)
    gap = np.diff(distinct)
    if not 1 < len(distinct) <= N_BINS or gap.min() != gap.max():
        return None
    if any(not distinct[0] <= cut <= distinct[-1] for cut in cuts):
        return None
    return np.append(distinct - gap[0] / 2, distinct[-1] + gap[0] / 2)


def _are_few(is_beyond: np.ndarray, cluster: np.ndarray | None) -> bool:
    """Whether the values beyond an axis are a small part of each cluster."""
    if cluster is None:
        return True
    sizes = np.bincount(cluster)
    beyond = np.bincount(cluster[is_beyond], minlength=len(sizes))
    return not (beyond > _CLUSTER_SHARE * sizes).any()


def _log_unit(values: np.ndarray, is_whole: bool, *, must_be_log: bool) -> float | None:
    """Unit of a logarithmic axis; None if the values are not skewed enough."""
    spread = float(values.std())
    skew = float((((values - values.mean()) / spread) ** 3).mean()) if spread > 0 else 0.0
    if spread == 0 or (skew <= _SKEWED and not must_be_log):
        return None
    positive = values[values > 0]
    unit = 10.0 ** np.floor(np.log10(np.quantile(positive, 0.1)))
    unit = max(unit, 1.0) if is_whole else unit
    decades = 1.0 if must_be_log else _DECADES
    return float(unit) if values.max() >= 10**decades * unit else None


def _log_edges(low: float, high: float, unit: float, is_whole: bool) -> np.ndarray:
    start, stop = np.log1p(np.array([low, high]) / unit)
    edges = unit * np.expm1(np.linspace(start, stop, N_BINS + 1))
    edges[0], edges[-1] = low, high
    if is_whole:
        # Each bin has its own integers.
        inner = np.round(edges[1:-1]) - 0.5
        edges = np.array([low - 0.5, *inner[(inner > low) & (inner < high)], high + 0.5])
    return _rounded(edges)


def _even_edges(low: float, high: float) -> np.ndarray:
    if low == high:
        half = max(0.5, 2 * np.spacing(abs(low)))
        return np.array([low - half, high + half])
    return _rounded(np.linspace(low, high, N_BINS + 1))


def _rounded(edges: np.ndarray) -> np.ndarray:
    """Edges with the digits that the page has; both ends stay as they are."""
    low, high = edges[0], edges[-1]
    inner = [float(f"{edge:.{_DIGITS}g}") for edge in edges[1:-1].tolist()]
    return np.array([low, *(e for e in dict.fromkeys(inner) if low < e < high), high])
