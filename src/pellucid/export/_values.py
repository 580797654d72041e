"""The model to export, and labels and categories that every format can represent."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pellucid.explanation.explanation import Explanation
from pellucid.explanation.mixins import RegionExportMixin
from pellucid.explanation.region_list import RegionList
from pellucid.tables.encoding import ColumnNames

_SCALARS = (str, int, float, bool)


def exported(
    model: Any, feature_names: ColumnNames | None = None, *, check: bool = True
) -> Explanation | RegionList:
    """A model without its fit: an explanation of a tree, or a decision list of regions.

    Regions that no other language can state are an error if `check` is true.
    """
    if not isinstance(model, RegionExportMixin):
        return Explanation.of(model, feature_names=feature_names)
    if feature_names is not None:
        raise TypeError("feature_names is for trees; regions have the names of their columns")
    return RegionList.of(model, check=check)


def plain_value(value: Any, what: str) -> str | int | float | bool:
    """Convert a label or a category to a plain string, number or boolean, or raise an error.

    `what` describes the value in the error message.
    """
    value = value.item() if isinstance(value, np.generic) else value
    if type(value) not in _SCALARS or (isinstance(value, float) and not math.isfinite(value)):
        raise TypeError(
            f"{what} is {value!r}, which cannot be exported; use strings, booleans or finite "
            "numbers: convert it to a string before fitting"
        )
    return value


def plain_labels(labels: np.ndarray) -> list[str | int | float | bool]:
    """Labels of clusters as plain values."""
    return [plain_value(label, "a cluster") for label in labels.tolist()]


def plain_category(column: str, value: Any) -> str | int | float | bool | None:
    """A category of a column as a plain value; None if it stands for missing values."""
    return None if value is None else plain_value(value, f"a category of column {column!r}")


def replaced_values(model: Any, column: str) -> list[Any]:
    """Pairs of a value of a column and what it is read as; None is a missing value."""
    reading = getattr(model, "reading_", None) or {}
    return (reading.get("replaced") or {}).get(column, [])
