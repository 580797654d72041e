"""The model to export, its rules, and values that every format can represent."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from pellucid.explanation.explanation import Explanation
from pellucid.explanation.mixins import RegionExportMixin
from pellucid.explanation.region_list import RegionList
from pellucid.regions.levels import ListLevel
from pellucid.regions.shapes import Regions
from pellucid.tables.encoding import ColumnNames, Indicator

_ALL = (-math.inf, math.inf)
_SCALARS = (str, int, float, bool)


def exported(
    model: Any, feature_names: ColumnNames | None = None, *, check: bool = True
) -> Explanation | RegionList:
    """A model without its fit; `check` refuses regions that no other language can state."""
    if not isinstance(model, RegionExportMixin):
        return Explanation.of(model, feature_names=feature_names)
    if feature_names is not None:
        raise TypeError("feature_names is for trees; regions have the names of their columns")
    return RegionList.of(model, check=check)


def plain_value(value: Any, what: str) -> str | int | float | bool:
    """A label or a category as a plain string, number or boolean; an error calls it `what`."""
    value = value.item() if isinstance(value, np.generic) else value
    if type(value) not in _SCALARS or (isinstance(value, float) and not math.isfinite(value)):
        raise TypeError(
            f"{what} is {value!r}, which cannot be exported; use strings, booleans or finite "
            "numbers: convert it to a string before fitting"
        )
    return value


def plain_labels(found: Explanation | RegionList) -> list[str | int | float | bool]:
    """Labels of clusters as plain values."""
    labels = found.classes_ if isinstance(found, RegionList) else found.cluster_names_
    return [plain_value(label, "a cluster") for label in labels.tolist()]


def plain_category(column: str, value: Any) -> str | int | float | bool | None:
    """A category of a column as a plain value; None if it stands for missing values."""
    return None if value is None else plain_value(value, f"a category of column {column!r}")


def replaced_values(model: Any, column: str) -> list[Any]:
    """Pairs of a value of a column and what it is read as; None is a missing value."""
    reading = getattr(model, "reading_", None) or {}
    return (reading.get("replaced") or {}).get(column, [])


class ExportedRule(NamedTuple):
    """What the rows of a leaf have in common, or those of a region with one answer."""

    cluster: int
    tests: list[tuple[str | Indicator, float, float]]
    """A column is above a lower and at most an upper end, which may be infinite. A category holds
    if the lower end is at least 0, and does not hold if the upper end is below 1.
    """
    names: Sequence[str | Indicator] = ()
    """All columns of the level of a region."""
    shapes: Regions | None = None
    region: int = -1

    @property
    def is_box(self) -> bool:
        """Whether the tests say everything."""
        return self.shapes is None or self.shapes.box_bounds(self.region) is not None

    def inequalities(self, names: Sequence[str], number: Callable[[float], str]) -> list[str]:
        """Inequalities of a shape that is not a box, with these names of its columns."""
        if self.shapes is None or self.is_box:
            return []
        return self.shapes.inequalities(self.region, names, number)


def exported_rules(found: Explanation | RegionList) -> list[ExportedRule]:
    """The rules of leaves, from left to right, or of regions, in the order they are tried."""
    if isinstance(found, RegionList):
        return [rule for level in found.levels_ for rule in _rules_of_level(found, level)]
    rules = []
    for rule in found._leaf_rules:
        ends: dict[str | Indicator, tuple[float, float]] = {}
        for condition in rule.conditions:
            low, high = ends.get(condition.name, _ALL)
            end = condition.threshold
            ends[condition.name] = (low, end) if condition.is_upper else (end, high)
        tests = [(name, *pair) for name, pair in ends.items()]
        rules.append(ExportedRule(int(found.tree_.cluster[rule.leaf]), tests))
    return rules


def _rules_of_level(regions: RegionList, level: ListLevel) -> Iterator[ExportedRule]:
    names = [regions.names_[feature] for feature in level.features]
    for region in range(len(level.regions)):
        for answer, lower, upper in level.branches(region):
            tests = [
                (name, low, high)
                for name, low, high in zip(names, lower.tolist(), upper.tolist())
                if (low >= 0 or high < 1 if isinstance(name, Indicator) else (low, high) != _ALL)
            ]
            yield ExportedRule(answer, tests, names, level.regions, region)
