"""Weights and costs as whole numbers.

Sums of floating-point numbers depend on the order of the terms, and so on threads, chunks,
storage order and on whether a row is weighted or repeated. Whole numbers do not. Sample weights
and squared distances are therefore rounded once, to multiples of a power of two that is fine
enough for the sums to be as exact as a float64 sum of the same terms, and everything after that
is integer arithmetic: same data, same tree, bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from pellucid.numeric.moments import BLOCK_ROWS, column_moments


@dataclass(frozen=True)
class Weights:
    """Sample weights in whole units.

    Attributes
    ----------
    units : ndarray of shape (n_samples,), int64
    one : float
        Units that make up a weight of 1, a power of two.
    values : ndarray of shape (n_samples,), float64
        The weights as they were given.
    """

    units: np.ndarray
    one: float
    values: np.ndarray

    @classmethod
    def of(cls, sample_weight: np.ndarray) -> Weights:
        """Whole weights stay as they are; fractions are rounded to 2**-52 of the total."""
        total = sample_weight.sum()
        whole = np.all(sample_weight == np.rint(sample_weight)) and total < 2.0**52
        one = 1.0 if whole else 2.0 ** (51 - np.frexp(total)[1])
        return cls(np.rint(sample_weight * one).astype(np.int64), one, sample_weight)

    @property
    def are_whole(self) -> bool:
        """Whether every weight is a whole number, so that it equals repeating the row."""
        return self.one == 1.0


def squared_distances(X, centers: np.ndarray, weights: Weights) -> tuple[np.ndarray, float]:
    """Weighted squared distance of every row to every center, in whole units.

    Parameters
    ----------
    X : ndarray or CSC matrix of shape (n_samples, n_features)
    centers : ndarray of shape (n_clusters, n_features), float64
    weights : Weights

    Returns
    -------
    costs : ndarray of shape (n_samples, n_clusters), int64
    unit : float
        What one unit is worth, a power of two.
    """
    from pellucid.numeric import kernels

    unit = _cost_unit(X, centers, weights)
    costs = np.empty((X.shape[0], len(centers)), dtype=np.int64)
    # Whole weights multiply the rounded distance, exactly as repeated rows would add it.
    scale = np.ones(X.shape[0]) if weights.are_whole else weights.values
    if sparse.issparse(X):
        X = X.tocsr()
        kernels.sparse_costs(X.data, X.indices, X.indptr, centers, scale, unit, costs)
    else:
        for start in range(0, X.shape[0], BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            block = np.ascontiguousarray(X[rows], dtype=np.float64)
            kernels.dense_costs(block, centers, scale[rows], unit, costs[rows])
    if weights.are_whole:
        costs *= weights.units[:, None]
    return costs, unit


def _cost_unit(X, centers: np.ndarray, weights: Weights) -> float:
    """Smallest power of two that keeps a row's distance below 2**51 and all of them below 2**61.

    With m the mean, |x - c|^2 <= 2|x - m|^2 + 2|c - m|^2 bounds the sum over all rows by the
    variances of the columns, however far outliers lie.
    """
    mean, variance, low, high = column_moments(X, weights.values)
    total = weights.values.sum()
    spread = np.maximum(high, centers.max(axis=0)) - np.minimum(low, centers.min(axis=0))
    with np.errstate(over="ignore"):
        off_mean = ((centers - mean) ** 2).sum(axis=1).max()
        whole = 2 * total * (variance.sum() + off_mean)
        row = (spread**2).sum() * (1.0 if weights.are_whole else weights.values.max())
    if not np.isfinite(whole + row):
        column = int(np.argmax(spread))
        raise ValueError(
            f"the values of column {column} spread over {spread[column]:.3g}, too wide to square "
            "in float64; divide the column by a constant or standardize it first"
        )
    largest = max(whole / 2.0**61, row / 2.0**51) * (1 + 2.0**-20)
    return 1.0 if largest == 0 else float(2.0 ** max(np.frexp(largest)[1], -960))
