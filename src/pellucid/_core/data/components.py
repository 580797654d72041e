"""The first principal components of rows with many columns."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh
from threadpoolctl import threadpool_limits

_BLOCK_ROWS = 2**13
"""Rows that are multiplied at a time."""


def first_components(
    X: np.ndarray, weight: np.ndarray, centers: np.ndarray, n_components: int
) -> tuple[np.ndarray, np.ndarray, float]:
    """Scores of the rows and of centers, and the part of the sum of squares that is left out.

    Products are computed by one thread, so that they do not depend on the number of threads. Their
    last digits depend on the order of the rows.
    """
    mean = np.average(X, axis=0, weights=weight)
    blocks = [slice(i, i + _BLOCK_ROWS) for i in range(0, len(X), _BLOCK_ROWS)]
    with threadpool_limits(1, user_api="blas"):
        products = np.zeros((X.shape[1], X.shape[1]))
        for block in blocks:
            part = X[block] - mean
            products += part.T @ (weight[block, None] * part)
        total = float(np.trace(products))
        first = max(X.shape[1] - n_components, 0)
        values, axes = eigh(products, subset_by_index=(first, X.shape[1] - 1), overwrite_a=True)
        scores = np.concatenate([(X[block] - mean) @ axes for block in blocks])
        reduced = (centers - mean) @ axes
    loss = max(1 - float(values.sum()) / total, 0.0) if total > 0 else 0.0
    return np.ascontiguousarray(scores[:, ::-1]), np.ascontiguousarray(reduced[:, ::-1]), loss
