"""Boxes: coded columns, conjunctions of conditions, and the ends of their intervals.

A *column* here is a numeric column of the data, or all indicators of one column of categories.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from pellucid.tables.encoding import Indicator
from pellucid.tree.predictor import column_values
from pellucid.tree.rounding import ThresholdStyle, choose_threshold

MAX_CODES = 256  # with more values in a column, intervals are searched by code, then by value
# Part of a gap between rows inside and outside in which the end of an interval is chosen. With all
# of it, precision on held-out rows was 0.5 points lower in the mean of 13 data sets.
GAP = 1 / 3
# Distance of the end of an interval from the next row outside, as a fraction of the interquartile
# range of the rows inside.
MARGIN = 0.5
# Share of rows of the cluster among those outside, within this distance, from which it is kept.
MIXED = 0.05
MOST_LEFT_OUT = 10  # at most one row in so many is left out at an end for this distance


class BoxCondition(NamedTuple):
    """An interval, ``lower < value <= upper``, or a set of codes of a column of categories."""

    column: int
    lower: float = -np.inf
    upper: float = np.inf
    codes: frozenset[int] | None = None

    @property
    def size(self) -> int:
        """Number of bounds; 1 for a set."""
        if self.codes is not None:
            return 1
        return int(np.isfinite(self.lower)) + int(np.isfinite(self.upper))


Box = tuple[BoxCondition, ...]  # a conjunction of conditions, by column


def size_of(box: Box) -> int:
    """Number of conditions of a box: bounds, and sets of categories."""
    return sum(condition.size for condition in box)


def with_ends(box: Box, position: int, lower: float, upper: float) -> Box:
    """A box with other ends of one interval."""
    changed = box[position]._replace(lower=lower, upper=upper)
    return (*box[:position], changed, *box[position + 1 :])


class RuleColumns:
    """The columns of a dense or CSC matrix as small integers, by which boxes are searched."""

    def __init__(self, X: Any, names: Sequence[str | Indicator], weight: np.ndarray) -> None:
        groups: dict[Any, list[int]] = {}
        for feature, name in enumerate(names):
            key = ("set", name.column) if isinstance(name, Indicator) else feature
            groups.setdefault(key, []).append(feature)
        self.X = X
        self.n_rows: int = X.shape[0]
        self.names: Sequence[str | Indicator] = names
        self.features: list[list[int]] = list(groups.values())
        is_set = [isinstance(names[group[0]], Indicator) for group in self.features]
        self.is_set: np.ndarray = np.array(is_set)
        self._weight = weight
        self._values: dict[int, np.ndarray] = {}
        self.is_coarse: list[bool] = [False] * len(self.features)  # codes of several values

    @cached_property
    def _encoded(self) -> tuple[np.ndarray, list[np.ndarray]]:
        """Codes by column and row, and the largest value of each code by column."""
        codes, uppers = np.empty((len(self.features), self.n_rows), dtype=np.uint16), []
        for column in range(len(self.features)):
            encode = self._encode_set if self.is_set[column] else self._encode_numbers
            codes[column], largest = encode(column)
            uppers.append(largest)
        return codes, uppers

    @property
    def codes(self) -> np.ndarray:
        return self._encoded[0]

    @property
    def uppers(self) -> list[np.ndarray]:
        return self._encoded[1]

    @cached_property
    def offset(self) -> np.ndarray:
        """Where the codes of each column begin if all are numbered."""
        return np.cumsum([0, *map(len, self.uppers)]).astype(np.int64)

    @property
    def width(self) -> int:
        """Most codes of a column."""
        return int(np.diff(self.offset).max())

    def take(self, rows: np.ndarray, weight: np.ndarray) -> RuleColumns:
        """The columns of some rows, which are in ascending order if they are all."""
        if len(rows) == self.n_rows:
            return self
        X = self.X.tocsr()[rows].tocsc() if sparse.issparse(self.X) else self.X[rows]
        return RuleColumns(X, self.names, weight)

    def values(self, column: int, rows: Any = slice(None)) -> np.ndarray:
        """Values of a numeric column, which are then kept in one piece."""
        if column not in self._values:
            found = column_values(self.X, self.features[column][0], slice(None))
            self._values[column] = np.ascontiguousarray(found)
        return self._values[column][rows]

    def _encode_numbers(self, column: int) -> tuple[np.ndarray, np.ndarray]:
        values = self.values(column)
        order = values.argsort()  # equal values are together, in whatever order
        ordered = values[order]
        ends = _ends_of_values(ordered)
        self.is_coarse[column] = len(ends) > MAX_CODES
        if self.is_coarse[column]:
            total = np.cumsum(self._weight[order])[ends]
            # In integers: the code of a value is the number of equal parts of the weight below it.
            parts = (total - 1) // (-(-int(total[-1]) // MAX_CODES))
            ends = ends[_ends_of_values(parts)]
        is_next = np.zeros(len(values), dtype=np.uint16)
        is_next[ends[:-1] + 1] = 1
        codes = np.empty_like(is_next)
        codes[order] = is_next.cumsum(dtype=np.uint16)
        return codes, ordered[ends]

    def _encode_set(self, column: int) -> tuple[np.ndarray, np.ndarray]:
        """Positions of categories; the last code is that of rows in none of them."""
        features = self.features[column]
        codes = np.full(self.X.shape[0], len(features))
        for code, feature in enumerate(features):
            codes[column_values(self.X, feature, slice(None)) > 0.5] = code
        return codes, np.arange(len(features) + 1, dtype=float)

    def holds(self, condition: BoxCondition) -> np.ndarray:
        if condition.codes is None:
            values = self.values(condition.column)
            if condition.lower == -np.inf:
                return values <= condition.upper
            return (values > condition.lower) & (values <= condition.upper)
        found = np.zeros(self.n_rows, dtype=bool)
        for code, feature in enumerate(self.features[condition.column]):
            if code in condition.codes:
                found |= column_values(self.X, feature, slice(None)) > 0.5
        return found

    def inside(self, box: Box, but: int = -1) -> np.ndarray:
        """Whether each row is in a box, regardless of the condition at position `but`."""
        parts = [self.holds(part) for position, part in enumerate(box) if position != but]
        found = parts[0] if parts else np.ones(self.n_rows, dtype=bool)
        for part in parts[1:]:
            found &= part
        return found

    def decode(self, fields: np.ndarray, inside: np.ndarray) -> Box:
        """The box of a search, sorted by column."""
        from pellucid.rules.kernels import COLUMN, HIGH, LOW

        found = []
        for slot in np.flatnonzero(fields[COLUMN] >= 0).tolist():
            column, low, high = (int(fields[field, slot]) for field in (COLUMN, LOW, HIGH))
            uppers = self.uppers[column]
            if self.is_set[column]:
                codes = np.flatnonzero(inside[slot, : len(uppers)]).tolist()
                found.append(BoxCondition(column, codes=frozenset(codes)))
            else:
                lower = float(uppers[low - 1]) if low else -np.inf
                upper = float(uppers[high]) if high < len(uppers) - 1 else np.inf
                found.append(BoxCondition(column, lower, upper))
        return tuple(sorted(found, key=lambda condition: condition.column))

    def encode(self, box: Box, fields: np.ndarray, inside: np.ndarray) -> None:
        """The opposite of `decode`; ends within a code are moved to its upper end."""
        from pellucid.rules.kernels import COLUMN, HIGH, LOW, SIZE

        fields[COLUMN], fields[SIZE] = -1, 0
        for slot, condition in enumerate(box):
            uppers = self.uppers[condition.column]
            if condition.codes is not None:
                low, high = -1, len(uppers) - 1
                inside[slot] = False
                inside[slot, list(condition.codes)] = True
            else:
                low = int(np.searchsorted(uppers, condition.lower, side="right"))
                high = int(np.searchsorted(uppers, min(condition.upper, uppers[-1])))
                positions = np.arange(inside.shape[1])
                inside[slot] = (positions >= low) & (positions <= high)
            fields[COLUMN, slot], fields[SIZE, slot] = condition.column, condition.size
            fields[LOW, slot], fields[HIGH, slot] = low, high


def _ends_of_values(ordered: np.ndarray) -> np.ndarray:
    """Positions of the last entry of each value."""
    return np.append(ordered[1:] != ordered[:-1], True).nonzero()[0]


def best_interval(values: np.ndarray, gain: np.ndarray, budget: int) -> tuple[float, float]:
    """The ends of the interval with the largest sum of gains, with at most `budget` bounds."""
    order = values.argsort()  # equal values are together, in whatever order
    ordered = values[order]
    ends = _ends_of_values(ordered)
    up_to = gain[order].cumsum()[ends]
    total, distinct = up_to[-1], ordered[ends]
    found = [(total, -np.inf, np.inf)]
    if len(ends) > 1 and budget > 0:
        left, right = up_to[:-1].argmax(), up_to[:-1].argmin()
        found.append((up_to[left], -np.inf, float(distinct[left])))
        found.append((total - up_to[right], float(distinct[right]), np.inf))
    if len(ends) > 1 and budget > 1:
        before = np.append(0, up_to[:-1])
        sums = up_to - np.minimum.accumulate(before)
        high = sums.argmax()
        low = before[: high + 1].argmin()
        if low > 0 and high < len(ends) - 1:
            found.append((sums[high], float(distinct[low - 1]), float(distinct[high])))
    _, lower, upper = max(found, key=lambda interval: interval[0])
    return lower, upper


def moved_inwards(columns: RuleColumns, box: Box, weight: np.ndarray, own: np.ndarray) -> Box:
    """A box with its ends moved inwards where its cluster, `own`, and others are mixed outside."""
    holds = [columns.holds(condition) for condition in box]
    for position, condition in enumerate(box):
        if condition.codes is not None:
            continue
        others = [held for i, held in enumerate(holds) if i != position]
        rows = np.flatnonzero(np.logical_and.reduce(others)) if others else np.arange(len(weight))
        rows = rows[np.argsort(columns.values(condition.column, rows))]
        values, units = columns.values(condition.column, rows), weight[rows]
        units = np.stack([units, units * own[rows]])
        first, last = np.flatnonzero(holds[position][rows])[[0, -1]]
        lower, upper = condition.lower, condition.upper
        n = last - first + 1
        if np.isfinite(lower):
            n_out = _n_left_out(-values[::-1], units[:, ::-1], len(rows) - 1 - last, n)
            lower = float(values[first + n_out - 1]) if n_out else lower
        if np.isfinite(upper):
            n_out = _n_left_out(values, units, first, n)
            upper = float(values[last - n_out]) if n_out else upper
        box = with_ends(box, position, lower, upper)
        holds[position] = columns.holds(box[position])
    return box


def _n_left_out(values: np.ndarray, units: np.ndarray, first: int, n: int) -> int:
    """How many of n sorted values, with weights of all and own rows, to leave out at the top."""
    inside, beyond = values[first : first + n], values[first + n :]
    up_to = np.cumsum(units[0, first : first + n])
    quartiles = inside[np.searchsorted(up_to * 4, up_to[-1] * np.array([1, 3]))]
    distance = MARGIN * float(quartiles[1] - quartiles[0])
    if not len(beyond) or not distance:
        return 0
    n_near = int(np.searchsorted(beyond, inside[-1] + distance, side="right"))
    total, mixed = units[:, first + n : first + n + n_near].sum(axis=1)
    if mixed < MIXED * total or not n_near:
        return 0
    must_stay = inside[np.searchsorted(up_to, up_to[-1] - up_to[-1] // MOST_LEFT_OUT)]
    return n - int(np.searchsorted(inside, max(beyond[0] - distance, must_stay), side="right"))


def rounded(columns: RuleColumns, box: Box, style: ThresholdStyle) -> Box:
    """The same rows in a box with ends between the values inside and outside of each interval."""
    for position, condition in enumerate(box):
        if condition.codes is not None:
            continue
        values = columns.values(condition.column)[columns.inside(box, position)]
        is_in = (values > condition.lower) & (values <= condition.upper)
        least, most = float(values[is_in].min()), float(values[is_in].max())
        lower, upper = condition.lower, condition.upper
        if np.isfinite(lower):
            lower = _end(float(values[values < least].max(initial=lower)), least, True, style)
        if np.isfinite(upper):
            above = values[values > most]
            end = float(above.min()) if len(above) else float(np.nextafter(upper, np.inf))
            upper = _end(most, end, False, style)
        box = with_ends(box, position, lower, upper)
    return box


def _end(low: float, high: float, is_lower: bool, style: ThresholdStyle) -> float:
    """An end in [low, high), next to the rows inside if it has no more decimals than the data."""
    part = (high - low) * GAP
    near = (high - part, high) if is_lower else (low, low + part)
    if low <= near[0] < near[1] <= high:
        found = choose_threshold(*near, style)
        if style != "round" or _decimals(found) <= max(_decimals(low), _decimals(high)):
            return found
    return choose_threshold(low, high, style)


def _decimals(value: float) -> int:
    """Number of digits behind the decimal point."""
    return max(-int(Decimal(repr(value)).normalize().as_tuple().exponent), 0)
