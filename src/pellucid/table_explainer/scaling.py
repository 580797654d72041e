"""The scales on which the columns of a table are clustered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from pellucid._utils.notices import notice, option
from pellucid._utils.texts import Message
from pellucid.table_explainer import tuning
from pellucid.tables.column_formats import ColumnFormat
from pellucid.tables.encoding import ColumnNames, Indicator


@dataclass(frozen=True)
class ColumnScale:
    """An increasing map of one column: first `function`, then ``(x - center) / scale``."""

    kind: str = "none"  # its name in reports; ``none`` if values stay as they are
    center: float = 0.0
    scale: float = 1.0
    function: Callable[[np.ndarray], np.ndarray] | None = None

    def __call__(self, values: np.ndarray) -> np.ndarray:
        mapped = values if self.function is None else self.function(values)
        return (mapped - self.center) / self.scale


def find_scales(
    features: Sequence[np.ndarray], names: ColumnNames, formats: dict[str, ColumnFormat], scale: str
) -> list[ColumnScale]:
    """A scale for each column. ``"auto"`` takes the logarithm of skewed non-negative columns,
    ``"log"`` that of all non-negative ones; ``"robust"`` divides by the interquartile range,
    relative to that of a normal distribution. Two rows with different categories have the squared
    distance `tuning.CATEGORY_DISTANCE`, whatever the number of categories.
    """
    found = []
    for values, name in zip(features, names):
        if isinstance(name, Indicator):
            width = 1.0 if scale == "none" else np.sqrt(2 / tuning.CATEGORY_DISTANCE)
            found.append(ColumnScale("category", scale=float(width)))
        elif scale == "none":
            found.append(ColumnScale())
        else:
            is_date = formats.get(name, ColumnFormat()).kind in ("date", "datetime", "year")
            how = "standard" if is_date and scale in ("auto", "log") else scale
            found.append(_column_scale(np.asarray(values, dtype=np.float64), how))
    if scale == "none" or all(isinstance(name, Indicator) for name in names):
        return found
    keys = {"robust": "scaledByQuartiles", "rank": "replacedByRanks"}
    notice(Message(keys.get(scale, "standardized"), option=option("scale")))
    if logarithmic := [name for name, each in zip(names, found) if each.kind == "log"]:
        key = "allLogarithmic" if len(logarithmic) == len(names) else "logarithmic"
        notice(Message(key, columns=logarithmic))
    return found


def _skewness(values: np.ndarray) -> float:
    deviation = values - values.mean()
    spread = deviation.std()
    return 0.0 if spread == 0 else float(np.mean((deviation / spread) ** 3))


def _column_scale(values: np.ndarray, scale: str) -> ColumnScale:
    kind = scale if scale in ("rank", "robust") else "standard"
    function: Callable[[np.ndarray], Any] | None = None
    if scale == "rank":
        different, counts = np.unique(values, return_counts=True)
        ranks = (np.cumsum(counts) - counts / 2) / len(values)
        function = partial(np.interp, xp=different, fp=ranks)
    elif (scale == "log" and values.min() >= 0) or (scale == "auto" and _is_skewed(values)):
        kind, function = "log", _logarithm(values)
    mapped = values if function is None else function(values)
    center, spread = mapped.mean(), mapped.std()
    if scale == "robust":
        low, center, high = np.quantile(mapped, [0.25, 0.5, 0.75])
        spread = (high - low) / 1.349 or spread
    return ColumnScale(kind, float(center), float(spread or 1.0), function)


def _is_skewed(values: np.ndarray) -> bool:
    """Whether the logarithm of a non-negative column is much less skewed than the column."""
    if values.min() < 0:
        return False
    skew = _skewness(values)
    return skew > tuning.SKEWED and abs(_skewness(_logarithm(values)(values))) < skew / 2


def _logarithm(values: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """log(x), or if there are zeros log(1 + x / unit) with the median of the positive values."""
    if values.min() > 0:
        return np.log
    positive = values[values > 0]
    unit = float(np.median(positive)) if len(positive) else 1.0
    return partial(_log_of_ratio, unit=unit)


def _log_of_ratio(values: np.ndarray, *, unit: float) -> np.ndarray:
    return np.log1p(values / unit)
