"""Accuracy of a tree as a predictor of the clusters, and the best reachable accuracy."""

from __future__ import annotations

import numpy as np


def confusion(labels: np.ndarray, predicted: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Weighted confusion matrix: true clusters in rows, predicted clusters in columns."""
    n = int(max(labels.max(), predicted.max())) + 1
    return np.bincount(labels * n + predicted, weights=weight, minlength=n * n).reshape(n, n)


def accuracy(confusion: np.ndarray) -> float:
    """Weighted fraction of correctly predicted rows."""
    if _is_exact(confusion):
        return 1.0
    return float(np.trace(confusion) / confusion.sum())


def weighted_f1(confusion: np.ndarray) -> float:
    """F1 of each cluster, 2·correct / (true + predicted), averaged by the clusters' weights."""
    if _is_exact(confusion):
        return 1.0
    true, predicted = confusion.sum(axis=1), confusion.sum(axis=0)
    f1 = 2 * np.diag(confusion) / np.maximum(true + predicted, np.finfo(float).tiny)
    return float(true @ f1 / true.sum())


def _is_exact(confusion: np.ndarray) -> bool:
    # Sums of the same weights in different order may differ in the last digit.
    return np.count_nonzero(confusion) == np.count_nonzero(np.diag(confusion))


MEASURES = {"f1": weighted_f1, "accuracy": accuracy}


def reachable_accuracy(X: np.ndarray, labels: np.ndarray, weight: np.ndarray) -> float:
    """Accuracy of the best possible tree.

    Identical rows reach the same leaf, so at best each group of identical rows is assigned to
    its heaviest cluster.
    """
    _, group = np.unique(X, axis=0, return_inverse=True)
    group, n = group.ravel(), int(labels.max()) + 1
    totals = np.bincount(group * n + labels, weights=weight, minlength=n * (int(group.max()) + 1))
    return float(totals.reshape(-1, n).max(axis=1).sum() / weight.sum())
