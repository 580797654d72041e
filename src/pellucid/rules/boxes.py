"""Boxes: coded columns, conjunctions of conditions, and the search for the best ones.

A *column* here is a numeric column of the data, or all indicators of one column of categories.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from pellucid.tables.encoding import Indicator
from pellucid.tree.predictor import column_values
from pellucid.tree.rounding import ThresholdStyle, choose_threshold

MAX_CODES = 256
"""Codes of a numeric column. If it has more values, intervals are searched by code, then value."""

GAP = 1 / 3
"""Part of a gap between rows inside and outside in which the end of an interval is chosen. With all
of it, precision on held-out rows was 0.5 points lower in the mean of 13 data sets."""

MARGIN = 0.5
"""Distance of the end of an interval from the next row outside, as a fraction of the interquartile
range of the rows inside."""

MIXED = 0.05
"""Share of rows of the cluster among those outside, within this distance, from which it is kept."""

MOST_LEFT_OUT = 10
"""At most one row in so many is left out at an end for this distance."""

N_STARTS = 4
"""Starts of a search, for each of the costs of a mistake. 64 starts add 0.2 % to the objective of
20 rules on digits, in 16 times the time."""

N_SAMPLE_STARTS = 2
"""The same on a sample of many rows."""

N_COSTS = 5
"""Costs of a mistake at which the starts of a search are found."""


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


Box = tuple[BoxCondition, ...]
"""A conjunction of conditions, by column."""


def size_of(box: Box) -> int:
    """Number of conditions of a box: bounds, and sets of categories."""
    return sum(condition.size for condition in box)


class RuleColumns:
    """The columns of a matrix as small integers, by which boxes are searched.

    Parameters
    ----------
    X : ndarray or CSC matrix of shape (n_samples, n_features)
        Finite numbers.
    names : sequence of str or Indicator
        Descriptions of the columns; indicators of one column of the data are one column of sets.
    weight : ndarray of int64
        Weights of the rows in units, above zero.
    """

    n_rows: int
    is_set: np.ndarray

    def __init__(self, X: Any, names: Sequence[str | Indicator], weight: np.ndarray) -> None:
        groups: dict[Any, list[int]] = {}
        for feature, name in enumerate(names):
            key = ("set", name.column) if isinstance(name, Indicator) else feature
            groups.setdefault(key, []).append(feature)
        self.X, self.n_rows = X, X.shape[0]
        self.features: list[list[int]] = list(groups.values())
        self.is_set = np.array([isinstance(names[group[0]], Indicator) for group in self.features])
        self._weight = weight
        self._values: dict[int, np.ndarray] = {}
        self.is_coarse: list[bool] = [False] * len(self.features)  # codes of several values

    @cached_property
    def _encoded(self) -> tuple[np.ndarray, list[np.ndarray]]:
        codes, uppers = np.empty((len(self.features), self.n_rows), dtype=np.uint16), []
        for column in range(len(self.features)):
            encode = self._encode_set if self.is_set[column] else self._encode_numbers
            codes[column], largest = encode(column)
            uppers.append(largest)
        return codes, uppers

    @property
    def codes(self) -> np.ndarray:
        """Codes by column and row."""
        return self._encoded[0]

    @property
    def uppers(self) -> list[np.ndarray]:
        """The largest value of each code, by column."""
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
        found = copy(self)
        found.__dict__.pop("_encoded", None)
        found.__dict__.pop("offset", None)
        found.X = self.X.tocsr()[rows].tocsc() if sparse.issparse(self.X) else self.X[rows]
        found.n_rows, found._weight, found._values = len(rows), weight, {}
        found.is_coarse = [False] * len(self.features)
        return found

    def values(self, column: int, rows: Any = slice(None)) -> np.ndarray:
        """Values of a numeric column, which are then kept in one piece."""
        if column not in self._values:
            found = column_values(self.X, self.features[column][0], slice(None))
            self._values[column] = np.ascontiguousarray(found)
        return self._values[column][rows]

    def _encode_numbers(self, column: int) -> tuple[np.ndarray, np.ndarray]:
        """Codes, and the largest value of each code."""
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
        """Whether a condition holds for each row."""
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
    is_last = np.empty(len(ordered), dtype=bool)
    is_last[-1:] = True
    np.not_equal(ordered[1:], ordered[:-1], out=is_last[:-1])
    return is_last.nonzero()[0]


def best_interval(values: np.ndarray, gain: np.ndarray, budget: int) -> tuple[int, float, float]:
    """The interval with the largest sum of gains, with at most `budget` bounds, and its sum."""
    order = values.argsort()  # equal values are together, in whatever order
    ordered = values[order]
    ends = _ends_of_values(ordered)
    up_to = gain[order].cumsum()[ends]
    total, distinct = int(up_to[-1]), ordered[ends]
    found = (total, -np.inf, np.inf)
    if len(ends) < 2 or budget < 1:
        return found
    left, right = int(up_to[:-1].argmax()), int(up_to[:-1].argmin())
    if up_to[left] > found[0]:
        found = (int(up_to[left]), -np.inf, float(distinct[left]))
    if total - up_to[right] > found[0]:
        found = (total - int(up_to[right]), float(distinct[right]), np.inf)
    if budget > 1:
        before = np.append(0, up_to[:-1])
        sums = up_to - np.minimum.accumulate(before)
        high = int(sums.argmax())
        low = int(before[: high + 1].argmin())
        if sums[high] > found[0] and low > 0 and high < len(ends) - 1:
            found = (int(sums[high]), float(distinct[low - 1]), float(distinct[high]))
    return found


@dataclass(frozen=True)
class Candidate:
    """A box for a cluster: the rows in it, and what they count.

    Attributes
    ----------
    cluster : int
        Position of the cluster.
    box : tuple of BoxCondition
        The conditions.
    inside : ndarray of bool
        Rows in the box.
    cost : int
        Cost of its rows of other clusters, and of noise.
    """

    cluster: int
    box: Box
    inside: np.ndarray
    cost: int


class BoxSearch:
    """Finds boxes that raise an objective: gains of explained rows less the cost of mistakes.

    Parameters
    ----------
    columns : RuleColumns
    weight : ndarray of int64
        Weight of each row in units.
    labels : ndarray of int
        Position of the cluster of each row; -1 for noise.
    rates : tuple of int
        Gain of a unit of weight, and cost of a wrong one.
    noise_share : float
        Cost of noise as a multiple of that of other rows.
    max_size, max_columns : int
        Most bounds, and columns, of a box.
    by_value : bool
        Whether the ends of intervals are searched by value after they were by code.
    """

    columns: RuleColumns
    weight: np.ndarray
    labels: np.ndarray
    gain_rate: int
    cost_rate: int
    max_size: int
    max_columns: int
    other: np.ndarray

    def __init__(
        self,
        columns: RuleColumns,
        weight: np.ndarray,
        labels: np.ndarray,
        rates: tuple[int, int],
        noise_share: float,
        max_size: int,
        max_columns: int,
        by_value: bool = True,
    ) -> None:
        self.columns, self.weight, self.labels = columns, weight, labels
        self.gain_rate, self.cost_rate = rates
        self.by_value = by_value
        self.max_size, self.max_columns = max_size, min(max_columns, max_size)
        self.other = np.where(labels < 0, np.rint(weight * noise_share).astype(np.int64), weight)

    def candidate(self, cluster: int, box: Box) -> Candidate:
        """A box with the rows in it."""
        inside = self.columns.inside(box)
        cost = int(self.other[inside & (self.labels != cluster)].sum()) * self.cost_rate
        return Candidate(cluster, box, inside, cost)

    def _limits(self, max_size: int) -> np.ndarray:
        # A condition costs one unit, so that one that changes nothing is left out.
        return np.array([max_size, min(self.max_columns, max_size), 1])

    def find(
        self, cluster: int, unexplained: np.ndarray, barred: np.ndarray, max_size: int
    ) -> Iterator[Candidate]:
        """The best boxes of many starts for the unexplained rows of a cluster, best first.

        No box holds a row that is `barred`.
        """
        from pellucid.rules.kernels import N_BOX_FIELDS, search_boxes

        own, other, rates = self._parts(cluster, unexplained, barred)
        shifts = self._shifts(own, other)
        n_starts = N_STARTS if self.by_value else N_SAMPLE_STARTS
        n = 2 * n_starts * len(shifts)
        fields = np.full((n, N_BOX_FIELDS, self.max_columns), -1, dtype=np.int64)
        insides = np.zeros((n, self.max_columns, self.columns.width), dtype=bool)
        columns = self.columns
        arguments = (columns.codes, own, other, rates, columns.offset, columns.is_set)
        values = search_boxes(*arguments, self._limits(max_size), shifts, n_starts, fields, insides)
        seen: set[Box] = set()
        for i in np.argsort(-values, kind="stable").tolist():
            box = columns.decode(fields[i], insides[i])
            if box not in seen and values[i] > 0:
                seen.add(box)
                yield self.candidate(cluster, self._refine(box, own * rates[0] - other * rates[1]))
        # No start leads to the box of all rows if no column divides them.
        if () not in seen and own.sum() * rates[0] > other.sum() * rates[1]:
            yield self.candidate(cluster, ())

    def refine(self, cluster: int, box: Box, unexplained: np.ndarray, barred: np.ndarray) -> Box:
        """A box with the best ends of all its intervals, without codes."""
        own, other, rates = self._parts(cluster, unexplained, barred)
        return self._refine(box, own * rates[0] - other * rates[1], [True] * len(box))

    def improve(
        self, cluster: int, box: Box, unexplained: np.ndarray, barred: np.ndarray
    ) -> Candidate:
        """A box changed as long as it becomes better for the unexplained rows of its cluster."""
        from pellucid.rules.kernels import N_BOX_FIELDS, improve_box

        own, other, rates = self._parts(cluster, unexplained, barred)
        columns = self.columns
        fields = np.full((N_BOX_FIELDS, self.max_columns), -1, dtype=np.int64)
        inside = np.zeros((self.max_columns, self.columns.width), dtype=bool)
        columns.encode(box, fields, inside)
        arguments = (columns.codes, own, other, rates, columns.offset, columns.is_set)
        improve_box(*arguments, fields, inside, self._limits(self.max_size))
        found = self._refine(columns.decode(fields, inside), own * rates[0] - other * rates[1])
        return self.candidate(cluster, found)

    def _parts(
        self, cluster: int, unexplained: np.ndarray, barred: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Weights that a box gains and those that it must not hold, and their rates."""
        is_own = self.labels == cluster
        own = np.where(is_own & unexplained & ~barred, self.weight, 0)
        other = np.where(is_own, 0, self.other)
        if barred.any():
            other[barred] = int(self.weight.sum()) + 1
        return own, other, np.array([self.gain_rate, self.cost_rate])

    def _shifts(self, own: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Powers of two by which mistakes cost less when starts are found.

        At the largest, the rows to explain count as much as the others together.
        """
        gain, cost = int(own.sum()) * self.gain_rate, int(other.sum()) * self.cost_rate
        most = max((cost // max(gain, 1)).bit_length(), 1)
        return np.unique([most * i // (N_COSTS - 1) for i in range(N_COSTS)])

    def _refine(self, box: Box, gain: np.ndarray, refined: Sequence[bool] | None = None) -> Box:
        """Some intervals, by default those of columns with many values, as the best by value."""
        if refined is None:
            refined = [self.by_value and self.columns.is_coarse[c.column] for c in box]
        given: dict[int, Box] = {}  # the other conditions when each was refined
        for _ in range(5 if any(refined) else 0):
            before = box
            for position, condition in enumerate(box):
                others = (*box[:position], *box[position + 1 :])
                is_new = given.get(position) != others
                if refined[position] and condition.codes is None and is_new:
                    given[position] = others
                    rows = np.flatnonzero(self.columns.inside(box, position) & (gain != 0))
                    if not len(rows):
                        continue
                    values = self.columns.values(condition.column, rows)
                    _, lower, upper = best_interval(values, gain[rows], condition.size)
                    changed = condition._replace(lower=lower, upper=upper)
                    box = (*box[:position], changed, *box[position + 1 :])
            if box == before:
                break
        return tuple(condition for condition in box if condition.size)


def with_margin(columns: RuleColumns, box: Box, weight: np.ndarray, own: np.ndarray) -> Box:
    """A box with its ends moved inwards where its cluster and others are mixed outside.

    `own` are the rows of its cluster. Only rows that satisfy the other conditions count.
    """
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
        if np.isfinite(lower):
            n_out = _n_left_out(
                -values[::-1], units[:, ::-1], len(rows) - 1 - last, last - first + 1
            )
            lower = float(values[first + n_out - 1]) if n_out else lower
        if np.isfinite(upper):
            n_out = _n_left_out(values, units, first, last - first + 1)
            upper = float(values[last - n_out]) if n_out else upper
        box = (*box[:position], condition._replace(lower=lower, upper=upper), *box[position + 1 :])
        holds[position] = columns.holds(box[position])
    return box


def _n_left_out(values: np.ndarray, units: np.ndarray, first: int, n: int) -> int:
    """How many of the n values of an interval are left out at its upper end.

    `values` are sorted; `units` are their weights, and those of rows of the cluster.
    """
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
    """The same rows in a box with ends that are chosen between the values inside and outside.

    Only rows that satisfy the other conditions count.
    """
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
        changed = condition._replace(lower=lower, upper=upper)
        box = (*box[:position], changed, *box[position + 1 :])
    return box


def _end(low: float, high: float, is_lower: bool, style: ThresholdStyle) -> float:
    """An end in [low, high), in the part of the gap next to the rows inside.

    The rows of other clusters begin somewhere in the gap. If the data have fewer decimals than an
    end in this part, it is chosen in the whole gap.
    """
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
