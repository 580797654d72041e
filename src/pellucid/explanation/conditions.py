"""Conditions of rules and their wording."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.tables.encoding import Indicator


def format_number(value: float) -> str:
    """Shortest text that reads back as exactly `value`, without a trailing ``.0``."""
    value += 0.0  # -0.0 is 0 to a reader
    if value != 0 and not 1e-5 <= abs(value) < 1e16:
        return np.format_float_scientific(value, trim="-")
    return np.format_float_positional(value, trim="-")


@dataclass(frozen=True)
class Condition:
    """One bound on one feature: ``feature <= threshold`` or ``feature > threshold``.

    Examples
    --------
    >>> from pellucid.tables.encoding import Indicator
    >>> from pellucid.explanation.conditions import Condition
    >>> print(Condition(0, 12.8, True, "alcohol"))
    alcohol ≤ 12.8
    >>> print(Condition(1, 0.5, False, Indicator("district", "Gangnam")))
    district is Gangnam
    """

    feature: int
    threshold: float
    is_upper: bool
    """True for ``<=``, false for ``>``."""
    name: str | Indicator
    """Name of the feature, or which category its 1 stands for."""

    def __str__(self) -> str:
        if isinstance(self.name, Indicator):
            return self.name.negation if self.is_upper else str(self.name)
        return f"{self.name} {'≤' if self.is_upper else '>'} {format_number(self.threshold)}"

    def holds(self, X: np.ndarray) -> np.ndarray:
        """Which rows of a dense `X` satisfy the condition."""
        left = np.asarray(X)[:, self.feature] <= self.threshold
        return left if self.is_upper else ~left


def words_of(conditions: Sequence[Condition], one_of: Sequence[Condition] = ()) -> str:
    """Conditions joined by "and".

    Both bounds of one feature become an interval, and the categories that are excluded in one
    column a list. `one_of` are conditions of one column, the first of them among `conditions`,
    of which any may hold.
    """
    parts: dict[Any, list[Condition]] = {}
    for condition in conditions:
        excludes = is_category(condition) and condition.is_upper
        key = condition.name.column if excludes else condition.feature
        parts.setdefault(key, []).append(condition)
    if len(one_of) > 1:
        parts[one_of[0].feature] = list(one_of)
    return " and ".join(_join(bounds) for bounds in parts.values()) or "always"


def is_category(condition: Condition) -> bool:
    """Whether a condition says that a column is, or is not, some category."""
    return isinstance(condition.name, Indicator)


def alike(
    rules: Sequence[Sequence[Condition]],
) -> list[tuple[list[int], tuple[Condition, ...]]]:
    """Rules that differ in nothing but the category of one column, put together.

    Returns
    -------
    list of (list of int, tuple of Condition)
        Positions of the rules of each group, and the condition in which each differs from the
        others; none for a rule that stands alone.
    """
    ways = [list(_without_one(conditions)) for conditions in rules]
    n = Counter(key for some in ways for _, key in some)
    groups: dict[Any, list[tuple[int, Condition]]] = {}
    for position, some in enumerate(ways):
        condition, key = max(some, key=lambda way: n[way[1]], default=(None, position))
        groups.setdefault(key, []).append((position, condition))
    return [
        ([i for i, _ in group], tuple(c for _, c in group) if len(group) > 1 else ())
        for group in groups.values()
    ]


def _without_one(conditions: Sequence[Condition]) -> Iterator[tuple[Condition, Any]]:
    """Each condition that a column is some category, with its column and all the others."""
    for condition in conditions:
        if is_category(condition) and not condition.is_upper:
            others = frozenset(other for other in conditions if other is not condition)
            yield condition, (condition.name.column, others)


def _join(bounds: list[Condition]) -> str:
    if len(bounds) == 1:
        return str(bounds[0])
    if is_category(bounds[0]):
        words = ", ".join(bound.name.word for bound in bounds)
        return f"{bounds[0].name.column} is {'none' if bounds[0].is_upper else 'one'} of {words}"
    lower, upper = sorted(bounds, key=lambda bound: bound.is_upper)
    low, high = format_number(lower.threshold), format_number(upper.threshold)
    return f"{low} < {lower.name} ≤ {high}"
