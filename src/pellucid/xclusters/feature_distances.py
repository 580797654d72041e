"""Convert accuracy and explanation features to the input of the distance functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.tables.columns import Columns, is_numeric
from pellucid.tables.encoding import Encoding
from pellucid.xclusters.distances.numeric import SCIPY_BOOLEAN_METRICS, SCIPY_METRICS

NUMERIC_METRICS = (
    *("dtw", "euclidean", "manhattan", "cosine"),
    *SCIPY_METRICS,
    *SCIPY_BOOLEAN_METRICS,
)
"""Distances that are only defined for numbers."""


def accuracy_data(accuracy: Any, metric: str | Callable[..., Any]) -> Any:
    """Accuracy features as input of `pairwise`; unchanged if they are not a table."""
    if not isinstance(accuracy, Columns):
        return accuracy
    if metric in NUMERIC_METRICS or (callable(metric) and all(accuracy.are_numeric)):
        return accuracy_numbers(accuracy)
    return as_objects(accuracy)


def explanation_data(
    explanation: Columns, encoding: Encoding, metric: str | Callable[..., Any]
) -> Any:
    """Explanation features as input of `pairwise`; one-hot encoded for numeric distances."""
    if metric in NUMERIC_METRICS:
        return encoding.transform(explanation)
    objects = as_objects(explanation)
    for i, is_categorical in enumerate(encoding.is_categorical):
        # As strings, numeric codes are not treated as numbers.
        if is_categorical and is_numeric(explanation.values[i]):
            objects[:, i] = [str(value) for value in explanation.values[i]]
    return objects


def explanation_metric(
    metric: str | Callable[..., Any], encoding: Encoding
) -> str | Callable[..., Any]:
    """Replace "auto" by "jaccard" (only categories) or "gower"."""
    if isinstance(metric, str) and metric == "auto":
        return "jaccard" if all(encoding.is_categorical) else "gower"
    return metric


def accuracy_numbers(columns: Columns) -> np.ndarray:
    """Accuracy features as a matrix of finite numbers."""
    for name, column in zip(columns.names, columns.values):
        if not is_numeric(column):
            raise ValueError(
                f"column {name!r} is an accuracy feature, but contains {column[0]!r}, which is not "
                "a number; remove it from accuracy_features, or use accuracy_distance='gower'"
            )
    matrix = np.column_stack(columns.values).astype(np.float64, copy=False)
    bad = np.argwhere(~np.isfinite(matrix))
    if len(bad):
        row, column = bad[0]
        value = "NaN" if np.isnan(matrix[row, column]) else "infinity (inf)"
        raise ValueError(
            f"the accuracy features contain {value}: column {columns.names[column]!r}, first at "
            f"row {row}; drop such rows, or impute the values, for example by "
            "pellucid.xclusters.series_from_long(..., interpolate=True)"
        )
    return matrix


def as_objects(columns: Columns) -> np.ndarray:
    """Columns of any type as an object array."""
    array = np.empty((len(columns), len(columns.values)), dtype=object)
    for i, column in enumerate(columns.values):
        array[:, i] = column
    return array


def take_rows(data: Any, rows: np.ndarray) -> Any:
    """Select rows of accuracy features, whether a table, a list or an array."""
    if isinstance(data, Columns):
        return data.take_rows(rows)
    if isinstance(data, (list, tuple)):
        return [data[row] for row in rows]
    return np.asarray(data)[rows]
