"""Thresholds in single precision that split the same rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid.explanation.explanation import Explanation


def single_thresholds(explanation: Explanation, X: Any) -> np.ndarray:
    """A float32 threshold per split that sends the rounded rows of `X` to the same side.

    Rounding keeps the order of numbers. Let ``low`` be the largest value that goes left at a node
    and ``high`` the smallest that goes right. Any float32 t with
    ``float32(low) <= t < float32(high)`` splits the rounded rows alike. The largest such t that
    does not exceed the threshold is used, so that values that are float32 already keep their side
    where possible.

    Parameters
    ----------
    explanation : Explanation
    X : data frame, array-like or sparse matrix

    Returns
    -------
    ndarray of shape (node_count,), float32
        NaN at leaves.
    """
    numbers, tree = explanation.input_columns.read_complete(X), explanation.input_columns.tree
    thresholds = np.full(tree.node_count, np.nan, dtype=np.float32)
    for node, rows in tree.rows_by_node(numbers):
        if tree.children_left[node] < 0:
            continue
        feature, threshold = tree.feature[node], tree.threshold[node]
        values = numbers[rows, feature].astype(np.float64, copy=False)
        goes_left = values <= threshold
        low = values[goes_left].max(initial=-np.inf)
        high = values[~goes_left].min(initial=np.inf)
        if goes_left.all() or not goes_left.any() or _single(low) < _single(high):
            thresholds[node] = _between(low, threshold, high)
            continue
        name = explanation.input_columns.encoding.names[feature]
        pair = f"{float(low)!r} and {float(high)!r}"
        raise ValueError(
            f"column {str(name)!r}: {pair} are on different sides of the threshold "
            f"{float(threshold)!r} but equal in single precision; use dtype='float64', or round "
            "the column before fitting"
        )
    return thresholds


def _single(value: float) -> np.float32:
    with np.errstate(over="ignore"):
        return np.float32(value)


def _between(low: float, threshold: float, high: float) -> np.float32:
    single = _single(threshold)
    if single > threshold:
        single = np.nextafter(single, np.float32(-np.inf))
    most = np.nextafter(_single(high), np.float32(-np.inf))
    return max(_single(low), min(single, most))
