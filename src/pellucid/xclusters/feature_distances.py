"""Accuracy and explanation features in the form in which distances read them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.tables.columns import Columns, is_numeric
from pellucid.tables.encoding import Encoding

OF_NUMBERS = ("dtw", "euclidean", "manhattan", "cosine")
"""Distances that read numbers only."""


def accuracy_data(accuracy: Any, metric: str | Callable) -> Any:
    """Accuracy features for `pairwise`: as they came, if not as columns of a table."""
    if not isinstance(accuracy, Columns):
        return accuracy
    if metric in OF_NUMBERS or (callable(metric) and all(accuracy.are_numeric)):
        return accuracy_numbers(accuracy)
    return as_objects(accuracy)


def explanation_data(told: Columns, encoding: Encoding, metric: str | Callable) -> Any:
    """Explanation features for `pairwise`: categories as 0/1 columns if it reads only numbers."""
    if metric in OF_NUMBERS:
        return encoding.transform(told)
    objects = as_objects(told)
    for i, is_categorical in enumerate(encoding.is_categorical):
        # What looks like a number would be taken for one.
        if is_categorical and is_numeric(told.values[i]):
            objects[:, i] = [str(value) for value in told.values[i]]
    return objects


def explanation_metric(metric: str | Callable, encoding: Encoding) -> str | Callable:
    """What "auto" stands for; anything else as it is."""
    if isinstance(metric, str) and metric == "auto":
        return "jaccard" if all(encoding.is_categorical) else "gower"
    return metric


def accuracy_numbers(columns: Columns) -> np.ndarray:
    """Accuracy features as a matrix of finite numbers."""
    for name, column in zip(columns.names, columns.values):
        if not is_numeric(column):
            raise ValueError(
                f"column {name!r} is an accuracy feature, but holds {column[0]!r}, which is no "
                "number; leave it out of accuracy_features, or use accuracy_distance='gower'"
            )
    matrix = np.column_stack(columns.values).astype(np.float64, copy=False)
    bad = np.argwhere(~np.isfinite(matrix))
    if len(bad):
        row, column = bad[0]
        what = "NaN" if np.isnan(matrix[row, column]) else "infinity (inf)"
        raise ValueError(
            f"the accuracy features contain {what}: column {columns.names[column]!r}, first at "
            f"row {row}; drop such rows, or fill them in, for example by "
            "pellucid.xclusters.series_from_long(..., interpolate=True)"
        )
    return matrix


def as_objects(columns: Columns) -> np.ndarray:
    """Columns of any kind side by side, each value as it is."""
    array = np.empty((len(columns), len(columns.values)), dtype=object)
    for i, column in enumerate(columns.values):
        array[:, i] = column
    return array


def take_rows(data: Any, rows: np.ndarray) -> Any:
    """Some rows of accuracy features in any form."""
    if isinstance(data, Columns):
        return data.take_rows(rows)
    if isinstance(data, (list, tuple)):
        return [data[row] for row in rows]
    return np.asarray(data)[rows]
