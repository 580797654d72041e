"""Conditions of rules and their text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.tables.encoding import Indicator


def format_number(value: float) -> str:
    """Shortest text that reads back as exactly `value`, without a trailing ``.0``."""
    value += 0.0  # -0.0 becomes 0
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
    """Name of the feature, or the category that an indicator column stands for."""

    def __str__(self) -> str:
        if isinstance(self.name, Indicator):
            return self.name.negation if self.is_upper else str(self.name)
        return f"{self.name} {'≤' if self.is_upper else '>'} {format_number(self.threshold)}"

    def holds(self, X: np.ndarray) -> np.ndarray:
        """Which rows of a dense `X` satisfy the condition."""
        left = np.asarray(X)[:, self.feature] <= self.threshold
        return left if self.is_upper else ~left


def conditions_text(conditions: Sequence[Condition], one_of: Sequence[Condition] = ()) -> str:
    """Conditions joined by "and".

    Two bounds of one feature become an interval, and excluded categories of one column a list.

    Parameters
    ----------
    conditions : sequence of Condition
    one_of : sequence of Condition
        Alternative categories of one column, the first of them among `conditions`.
    """
    parts: dict[Any, list[Condition]] = {}
    for condition in conditions:
        key: Any = condition.feature
        if isinstance(condition.name, Indicator) and condition.is_upper:
            key = condition.name.column
        parts.setdefault(key, []).append(condition)
    if len(one_of) > 1:
        parts[one_of[0].feature] = list(one_of)
    return " and ".join(_join(bounds) for bounds in parts.values()) or "always"


def is_category(condition: Condition) -> bool:
    """Whether a condition includes or excludes a category."""
    return isinstance(condition.name, Indicator)


def group_by_category(
    rules: Sequence[Sequence[Condition]],
) -> list[tuple[list[int], tuple[Condition, ...]]]:
    """Group rules that differ only in the category of one column.

    Returns
    -------
    list of (list of int, tuple of Condition)
        Positions of the rules of each group, and the condition in which each differs from the
        others; empty for a rule that is alone in its group.
    """
    candidates = [list(_category_conditions(conditions)) for conditions in rules]
    group_size = Counter(key for keys in candidates for _, key in keys)
    groups: dict[Any, list[tuple[int, Any]]] = {}
    for position, keys in enumerate(candidates):
        condition, key = max(keys, key=lambda pair: group_size[pair[1]], default=(None, position))
        groups.setdefault(key, []).append((position, condition))
    return [
        ([i for i, _ in group], tuple(c for _, c in group) if len(group) > 1 else ())
        for group in groups.values()
    ]


def _category_conditions(conditions: Sequence[Condition]) -> Iterator[tuple[Condition, Any]]:
    """Each condition that includes a category, with the key of its group.

    The key is the column of the condition and the set of all other conditions.
    """
    for condition in conditions:
        if isinstance(condition.name, Indicator) and not condition.is_upper:
            others = frozenset(other for other in conditions if other is not condition)
            yield condition, (condition.name.column, others)


def _join(bounds: list[Condition]) -> str:
    if len(bounds) == 1:
        return str(bounds[0])
    indicators = [bound.name for bound in bounds if isinstance(bound.name, Indicator)]
    if indicators:
        words = ", ".join(indicator.word for indicator in indicators)
        return f"{indicators[0].column} is {'none' if bounds[0].is_upper else 'one'} of {words}"
    lower, upper = sorted(bounds, key=lambda bound: bound.is_upper)
    low, high = format_number(lower.threshold), format_number(upper.threshold)
    return f"{low} < {lower.name} ≤ {high}"
