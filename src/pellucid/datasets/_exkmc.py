"""Synthetic I and II of the ExKMC paper: hard for CART, and hard for any small tree."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

_MAX_DRAWS = 1000
"""Consecutive rejected codewords before an error is raised."""


def make_synthetic_1(
    n_samples: int = 5000,
    n_features: int = 1000,
    *,
    n_flipped: int = 100,
    outlier: float = 1000.0,
    random_state: Any = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Two far outliers and two large groups: hard for trees that count misclassified rows.

    The two outliers have the value `outlier` in the first column; all other rows have 0 there. In
    the remaining columns, one outlier and half of the other rows are 1, and the rest is 0. In each
    row that is not an outlier, `n_flipped` random columns are flipped. The best three clusters are
    the outliers and the two halves. For a classification tree, two misclassified rows cost almost
    nothing, however far away they are.

    Parameters
    ----------
    n_samples : int, default=5000
        Number of rows, the two outliers included; at least 4.
    n_features : int, default=1000
        Number of columns.
    n_flipped : int, default=100
        Number of flipped columns per row.
    outlier : float, default=1000.0
        Value of the outliers in the first column.
    random_state : int, RandomState instance or None, default=None
        Seed of the random numbers.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features), float64
        Rows and their clusters.
    y : ndarray of shape (n_samples,), int
        0 for the outliers, 1 for rows of ones, 2 for rows of zeros.

    References
    ----------
    Frost, Moshkovitz, Rashtchian (2020). ExKMC: Expanding explainable k-means clustering,
    appendix B.2.

    Examples
    --------
    >>> from pellucid.datasets import make_synthetic_1
    >>> X, y = make_synthetic_1(random_state=0)
    >>> X.shape, X[y == 0, :3].tolist(), X[y == 1, 1:].mean().round(2)
    ((5000, 1000), [[1000.0, 1.0, 1.0], [1000.0, 0.0, 0.0]], np.float64(0.9))
    """
    _check_sizes(n_samples, n_features, n_flipped)
    random = check_random_state(random_state)
    y = np.full(n_samples, 2)
    y[:2], y[2 : 2 + (n_samples - 2) // 2] = 0, 1
    X = np.zeros((n_samples, n_features))
    X[y == 1, 1:] = 1.0
    X[0, 1:] = 1.0
    X[:2, 0] = outlier
    for row in range(2, n_samples):
        flipped = 1 + random.choice(n_features - 1, n_flipped, replace=False)
        X[row, flipped] = 1.0 - X[row, flipped]
    return X, y


def _check_sizes(n_samples: int, n_features: int, n_flipped: int) -> None:
    if n_samples < 4:
        raise ValueError(f"n_samples={n_samples}; two outliers and two groups need at least 4 rows")
    if not 0 <= n_flipped < n_features:
        raise ValueError(
            f"n_flipped={n_flipped} must be between 0 and {n_features - 1}, the number of columns "
            "after the first"
        )


def make_synthetic_2(
    n_clusters: int = 30, n_features: int = 1000, *, random_state: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Clusters around random codewords: no tree with one leaf per cluster is near the optimum.

    Each cluster has a random codeword of -1 and 1, and `n_features` rows: row j is the codeword
    with column j set to 0. Codewords differ in at least a quarter of the columns. Yet a threshold
    on any column separates about half of the clusters from the others, and one row from each
    cluster.

    Parameters
    ----------
    n_clusters : int, default=30
        Number of codewords.
    n_features : int, default=1000
        Number of columns, and of rows in each cluster.
    random_state : int, RandomState instance or None, default=None
        Seed of the random numbers.

    Returns
    -------
    X : ndarray of shape (n_clusters * n_features, n_features), float64
        Rows and their clusters.
    y : ndarray of shape (n_clusters * n_features,), int
        Codeword of each row.

    References
    ----------
    Frost, Moshkovitz, Rashtchian (2020). ExKMC: Expanding explainable k-means clustering,
    section 3.4.

    Examples
    --------
    >>> from pellucid.datasets import make_synthetic_2
    >>> X, y = make_synthetic_2(4, 50, random_state=0)
    >>> X.shape, (X == 0).sum(axis=1).max().item()
    ((200, 50), 1)
    """
    if n_clusters < 1 or n_features < 1:
        raise ValueError(f"n_clusters={n_clusters} and n_features={n_features} must be at least 1")
    words = _far_codewords(n_clusters, n_features, check_random_state(random_state))
    X = np.repeat(words, n_features, axis=0)
    X[np.arange(len(X)), np.tile(np.arange(n_features), n_clusters)] = 0.0
    return X, np.repeat(np.arange(n_clusters), n_features)


def _far_codewords(n_words: int, length: int, random: np.random.RandomState) -> np.ndarray:
    """Random codewords that differ pairwise in at least a quarter of their entries."""
    words = np.empty((n_words, length))
    n_found = n_drawn = 0
    while n_found < n_words:
        word = random.choice([-1.0, 1.0], length)
        if (np.sum(words[:n_found] != word, axis=1) >= length / 4).all():
            words[n_found] = word
            n_found, n_drawn = n_found + 1, 0
        elif (n_drawn := n_drawn + 1) == _MAX_DRAWS:
            raise ValueError(
                f"n_features={length} is too small for {n_words} codewords that differ in a "
                "quarter of their entries; reduce n_clusters or increase n_features"
            )
    return words
