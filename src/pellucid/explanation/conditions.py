"""Conditions of rules and their text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import or_
from typing import Any

import numpy as np

from pellucid._utils.texts import rule_words
from pellucid.tables.column_formats import PLAIN, ColumnFormat, Kind
from pellucid.tables.encoding import CategorySet, Indicator, column_of


@dataclass(frozen=True)
class Condition:
    """One bound on one feature: ``feature <= threshold`` or ``feature > threshold``."""

    feature: int
    threshold: float
    is_upper: bool
    """True for ``<=``, false for ``>``."""
    name: str | Indicator
    """Name of the feature, or the category that an indicator column stands for."""
    format: ColumnFormat = field(default=PLAIN, compare=False, repr=False)
    """How the values of the feature are written."""

    def __str__(self) -> str:
        if isinstance(self.name, Indicator):
            return self.name.negation if self.is_upper else str(self.name)
        bound = {"high" if self.is_upper else "low": self.threshold}
        return self.format.condition(self.name, **bound)

    def loosened(self) -> Condition:
        """The condition with a text for new values: "sex is m" becomes "sex is not f"."""
        if isinstance(self.name, Indicator):
            return replace(self, name=replace(self.name, categories=()))
        kind: Kind = "datetime" if self.format.is_date else "number"
        return replace(self, format=replace(self.format, kind=kind, values=()))

    @property
    def column(self) -> str:
        """Name of the column of the data."""
        return column_of(self.name)

    def holds(self, X: np.ndarray) -> np.ndarray:
        """Which rows of a dense `X` satisfy the condition."""
        left = np.asarray(X)[:, self.feature] <= self.threshold
        return left if self.is_upper else ~left


def conditions_text(conditions: Sequence[Condition], union: CategorySet | None = None) -> str:
    """Conditions joined by "and"; `union` replaces those on the categories of its column."""
    parts: dict[Any, list[Condition]] = {}
    for condition in conditions:
        name = condition.name
        key: Any = ("column", name.column) if isinstance(name, Indicator) else condition.feature
        parts.setdefault(key, []).append(condition)
    texts = []
    for key, bounds in parts.items():
        if union is not None and key == ("column", union.column):
            texts += [] if union.holds_always else [union.text]
        else:
            texts.append(_join(bounds))
    return f" {rule_words().and_} ".join(texts) or rule_words().always


def group_by_category(
    rules: Sequence[Sequence[Condition]],
) -> list[tuple[list[int], CategorySet | None]]:
    """Positions of rules that differ only in the categories of one column, and their union.

    A rule that is alone in its group has no union.
    """
    candidates = [dict(_category_sets(conditions)) for conditions in rules]
    group_size = Counter(key for keys in candidates for key in keys)
    groups: dict[Any, list[tuple[int, Any]]] = {}
    for position, keys in enumerate(candidates):
        key = max(keys, key=group_size.__getitem__, default=position)
        groups.setdefault(key, []).append((position, keys.get(key)))
    return [
        ([i for i, _ in group], reduce(or_, (c for _, c in group)) if len(group) > 1 else None)
        for group in groups.values()
    ]


def _category_sets(conditions: Sequence[Condition]) -> Iterator[tuple[Any, CategorySet]]:
    """The condition on the categories of each column, after the column and all other conditions."""
    by_column: dict[str, list[Condition]] = {}
    for condition in conditions:
        if isinstance(condition.name, Indicator):
            by_column.setdefault(condition.name.column, []).append(condition)
    for column, tests in by_column.items():
        others = frozenset(other for other in conditions if other not in tests)
        yield (column, others), category_set(tests)


def category_set(conditions: Sequence[Condition]) -> CategorySet:
    """The condition that several conditions on the categories of one column make."""
    tests = ((c.name, not c.is_upper) for c in conditions if isinstance(c.name, Indicator))
    return CategorySet.of(tests)


def _join(bounds: list[Condition]) -> str:
    name, column_format = bounds[0].name, bounds[0].format
    if not isinstance(name, Indicator):
        limits = {"high" if bound.is_upper else "low": bound.threshold for bound in bounds}
        return column_format.condition(name, **limits)
    categories = category_set(bounds)
    if not categories.is_excluded and not categories.values:
        # No row can reach the leaf.
        return f" {rule_words().and_} ".join(map(str, bounds))
    return categories.text
