"""How well a tree tells the clusters, and how well any tree could."""

from __future__ import annotations

import numpy as np


def confusion(labels: np.ndarray, predicted: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Weight of the rows by cluster (rows) and by what they are taken for (columns)."""
    n = int(max(labels.max(), predicted.max())) + 1
    return np.bincount(labels * n + predicted, weights=weight, minlength=n * n).reshape(n, n)


def accuracy(confusion: np.ndarray) -> float:
    """Share of the weight that is taken for what it is."""
    if _is_exact(confusion):
        return 1.0
    return float(np.trace(confusion) / confusion.sum())


def weighted_f1(confusion: np.ndarray) -> float:
    """F1 of each cluster, 2·right / (is + taken for), averaged by the clusters' weights."""
    if _is_exact(confusion):
        return 1.0
    is_, taken_for = confusion.sum(axis=1), confusion.sum(axis=0)
    f1 = 2 * np.diag(confusion) / np.maximum(is_ + taken_for, np.finfo(float).tiny)
    return float(is_ @ f1 / is_.sum())


def _is_exact(confusion: np.ndarray) -> bool:
    # Sums of the same weights in another order may differ in the last digit.
    return np.count_nonzero(confusion) == np.count_nonzero(np.diag(confusion))


MEASURES = {"f1": weighted_f1, "accuracy": accuracy}


def reachable_accuracy(X: np.ndarray, labels: np.ndarray, weight: np.ndarray) -> float:
    """Share of the weight that the best of all trees tells rightly.

    Rows that are alike reach the same leaf, so each group of them is told as a whole.
    """
    _, group = np.unique(X, axis=0, return_inverse=True)
    group, n = group.ravel(), int(labels.max()) + 1
    of = np.bincount(group * n + labels, weights=weight, minlength=n * (int(group.max()) + 1))
    return float(of.reshape(-1, n).max(axis=1).sum() / weight.sum())
