"""A tree grown on scaled or encoded columns, restated in the columns of the data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.tables.column_formats import PLAIN, ColumnFormat
from pellucid.tables.encoding import Indicator
from pellucid.tree import ThresholdTree, TreeBuilder
from pellucid.tree.predictor import column_values
from pellucid.tree.rounding import ThresholdStyle

_AT_ONCE = 1024  # numbers that are tried at once in looking for one

LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class MonotoneMap:
    """An increasing or decreasing map of one column onto another."""

    function: Callable[[np.ndarray], np.ndarray]
    is_increasing: bool = True

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """The map; where it overflows or is not defined, the largest or smallest number."""
        with np.errstate(all="ignore"):
            mapped = np.asarray(self.function(values), dtype=np.float64)
        # Logarithms and roots are not defined for small values, whose images count as smallest.
        below = -LARGEST if self.is_increasing else LARGEST
        return np.clip(np.where(np.isnan(mapped), below, mapped), -LARGEST, LARGEST)


@dataclass(frozen=True)
class ColumnSource:
    """The column of the data that a column of a transformed matrix is computed from."""

    column: int
    category: tuple[Any, ...] = ()
    """Empty, or the category for which an indicator column is 1, before `maps`."""
    maps: tuple[MonotoneMap, ...] = ()
    """Maps applied to the numbers, in order."""
    fill: Any = None
    """Replacement of missing values, before `maps`; None if they were not replaced."""
    problem: str = ""
    """Why the column cannot be traced; empty if it can."""
    categories: tuple[Any, ...] = ()
    """All known categories of the column, if it is an indicator column."""

    @property
    def is_plain(self) -> bool:
        """Whether the column is one of the data, except for replaced missing values."""
        return not (self.category or self.maps or self.problem)

    @property
    def is_increasing(self) -> bool:
        """Whether larger numbers in the data are larger here."""
        return sum(not step.is_increasing for step in self.maps) % 2 == 0

    def name(self, columns: Sequence[str]) -> str | Indicator:
        """Description of the column in terms of the data."""
        column = columns[self.column]
        return Indicator(column, self.category[0], self.categories) if self.category else column

    def transform(self, values: np.ndarray) -> np.ndarray:
        """Numbers of the data (or the indicator of the category) after all maps."""
        for step in self.maps:
            values = step(values)
        return values


class TreeRestatement:
    """The splits of a tree, restated as splits of the columns of the data; a source per column."""

    def __init__(self, tree: ThresholdTree, sources: list[ColumnSource]) -> None:
        self.tree, self.sources = tree, sources
        self.gaps: dict[int, tuple[float, float]] = {}
        """By node, the values of the data nearest to the threshold on both sides."""
        self._nearest: dict[int, tuple[float, float]] = {}

    def find_gaps(self, Z: Any, values: Sequence[np.ndarray] | Mapping[int, np.ndarray]) -> None:
        """Find the values of the data on both sides of each numeric split; may be called by batch.

        `Z` has rows in the columns of the tree, `values` the same in the columns of the data.
        """
        for node, rows in self.tree.rows_by_node(Z):
            source = self.sources[self.tree.feature[node]]
            if self.tree.children_left[node] < 0 or source.category:
                continue
            left = column_values(Z, self.tree.feature[node], rows) <= self.tree.threshold[node]
            numbers = values[source.column][rows].astype(np.float64)
            is_low = left if source.is_increasing else ~left
            low, high = self._nearest.get(node, (-np.inf, np.inf))
            low = float(numbers.max(initial=low, where=is_low))
            high = float(numbers.min(initial=high, where=~is_low))
            self._nearest[node] = low, high
            if -np.inf < low < high < np.inf:
                self.gaps[node] = (low, high)
            else:
                self.gaps.pop(node, None)

    def build(
        self,
        names: Sequence[str],
        described: Sequence[str | Indicator],
        style: ThresholdStyle,
        formats: Mapping[str, ColumnFormat] | None = None,
    ) -> tuple[ThresholdTree, dict[int, int]]:
        """The restated tree, and for each of its nodes the node of the original tree.

        `names` are the columns of the data, `described` those of the tree. Splits with a gap get
        thresholds in the `style`, by :meth:`ColumnFormat.choose_threshold`.
        """
        tree, builder = self.tree, TreeBuilder(len(described))
        position = {name: i for i, name in enumerate(described)}
        old_of, stack = {}, [(0, 0)]
        while stack:
            old, new = stack.pop()
            if tree.children_left[old] < 0:
                builder.set_cluster(new, int(tree.cluster[old]))
            else:
                low, high, threshold = self._restate_split(old, names, style, formats or {})
                if np.isinf(threshold):
                    # All values of the column go to one side.
                    stack.append((low if threshold > 0 else high, new))
                    continue
                name = self.sources[tree.feature[old]].name(names)
                children = builder.split(new, feature=position[name], threshold=threshold)
                stack += zip((low, high), children)
            weight = tree.weighted_n_node_samples[old]
            builder.set_counts(new, tree.n_node_samples[old], weight)
            old_of[new] = old
        return builder.build(), dict(enumerate(old_of[new] for new in builder.preorder()))

    def _restate_split(
        self,
        node: int,
        names: Sequence[str],
        style: ThresholdStyle,
        formats: Mapping[str, ColumnFormat],
    ) -> tuple[int, int, float]:
        """Child of low values of the column, child of high values, and the threshold."""
        source, threshold = self.sources[self.tree.feature[node]], self.tree.threshold[node]
        children = [int(self.tree.children_left[node]), int(self.tree.children_right[node])]
        low, high = children if source.is_increasing else children[::-1]

        def is_low(values: np.ndarray) -> np.ndarray:
            return (source.transform(values) <= threshold) == source.is_increasing

        if source.category:
            zero, one = is_low(np.array([0.0, 1.0]))
            return low, high, 0.5 if zero != one else np.inf if zero else -np.inf
        if node in self.gaps:
            written = formats.get(names[source.column], PLAIN)
            return low, high, written.choose_threshold(*self.gaps[node], style)
        return low, high, last_where(is_low)


def last_where(holds: Callable[[np.ndarray], np.ndarray]) -> float:
    """The largest float64 up to which something holds; infinite where it holds for all or none."""
    last = int(np.finfo(np.float64).max.view(np.int64))
    first, last = -last, last
    if not holds(_floats([first]))[0]:
        return -np.inf
    if holds(_floats([last]))[0]:
        return np.inf
    while last - first > 1:
        step = max((last - first) // _AT_ONCE, 1)
        places = [first, *range(first + step, last, step), last]
        n_held = int(np.argmin(np.append(holds(_floats(places[1:-1])), False)))
        first, last = places[n_held], places[n_held + 1]
    return float(_floats([first])[0])


def _floats(places: list[int]) -> np.ndarray:
    """The float64 at each place in the order of all of them, 0 being at 0."""
    signed = np.array(places, dtype=np.int64)
    return np.copysign(np.abs(signed).view(np.float64), signed)
