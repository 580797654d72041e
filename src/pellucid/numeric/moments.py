"""Means and costs of groups of rows, dense or CSC, a column or a block of rows at a time."""

from __future__ import annotations

import numpy as np
from scipy import sparse

BLOCK_ROWS = 4096
"""Rows that are looked at together, so that temporary copies stay small."""


def group_means(X, labels: np.ndarray, weight: np.ndarray, n_groups: int) -> np.ndarray:
    """Weighted mean of each group of rows; NaN for an empty group. Label -1 is in no group.

    Each column is summed in the order of the rows, so dense and sparse data give the same bits.
    """
    members = np.flatnonzero(labels >= 0)
    sums = np.empty((n_groups, X.shape[1]))
    for j in range(X.shape[1]):
        if sparse.issparse(X):
            entries = slice(X.indptr[j], X.indptr[j + 1])
            member = labels[X.indices[entries]] >= 0
            rows, values = X.indices[entries][member], X.data[entries][member]
        else:
            rows, values = members, X[members, j]
        products = values.astype(np.float64) * weight[rows]
        sums[:, j] = np.bincount(labels[rows], weights=products, minlength=n_groups)
    totals = np.bincount(labels[members], weights=weight[members], minlength=n_groups)
    with np.errstate(invalid="ignore", divide="ignore"):
        return sums / totals[:, None]


def cost_to_centers(X, position: np.ndarray, centers: np.ndarray, weight: np.ndarray) -> float:
    """Weighted sum of squared distances of the rows to ``centers[position]``."""
    if sparse.issparse(X):
        csr = X.tocsr()
        rows = np.repeat(np.arange(X.shape[0]), np.diff(csr.indptr))
        at = centers[position[rows], csr.indices]
        stored = weight[rows] @ ((csr.data - at) ** 2 - at**2)
        return float(stored + weight @ (centers**2).sum(axis=1)[position])
    cost = 0.0
    for start in range(0, X.shape[0], BLOCK_ROWS):
        block = slice(start, start + BLOCK_ROWS)
        gap = X[block] - centers[position[block]]
        cost += weight[block] @ np.einsum("ij,ij->i", gap, gap)
    return float(cost)


def column_moments(X, weight: np.ndarray):
    """Weighted mean and variance, minimum and maximum of each column."""
    if sparse.issparse(X):
        from sklearn.utils.sparsefuncs import mean_variance_axis, min_max_axis

        X = sparse.csc_matrix(X, dtype=np.float64)
        return (*mean_variance_axis(X, axis=0, weights=weight), *min_max_axis(X, axis=0))
    blocks = [slice(s, s + BLOCK_ROWS) for s in range(0, X.shape[0], BLOCK_ROWS)]
    total = weight.sum()
    with np.errstate(over="ignore", invalid="ignore"):
        mean = sum(weight[b] @ X[b].astype(np.float64, copy=False) for b in blocks) / total
        variance = sum(weight[b] @ (X[b] - mean) ** 2 for b in blocks) / total
    low = X.min(axis=0).astype(np.float64)
    return mean, variance, low, X.max(axis=0).astype(np.float64)
