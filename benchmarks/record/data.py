"""Data sets, sample weights and references of the recorded fits, all with fixed seeds."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn import datasets
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans


class Data(NamedTuple):
    """A data set.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features), float64, or csr_array
    y : ndarray of shape (n_samples,), int
        Classes, or the components that the rows were generated from.
    n_clusters : int
    """

    X: Any
    y: np.ndarray
    n_clusters: int


def _bundled(load: Any, n_clusters: int) -> Data:
    return Data(*load(return_X_y=True), n_clusters)


def _blobs(n_samples: int, n_features: int, n_clusters: int, seed: int) -> Data:
    X, y = datasets.make_blobs(
        n_samples, n_features, centers=n_clusters, cluster_std=2.5, random_state=seed
    )
    return Data(X, y, n_clusters)


def _ties() -> Data:
    """Columns with at most five different values."""
    X, y, _ = _blobs(300, 5, 4, seed=1)
    return Data(np.clip(np.rint(X / 4), -2, 2), y, 4)


def _duplicates() -> Data:
    """Rows that are each repeated one to eleven times."""
    X, y, _ = _blobs(40, 4, 5, seed=2)
    rows = np.repeat(np.arange(40), 1 + np.arange(40) % 11)
    return Data(X[rows].round(1), y[rows], 5)


def _grid() -> Data:
    """All points of an integer grid, where many thresholds have the same cost."""
    columns = np.meshgrid(np.arange(9), np.arange(8), np.arange(4), indexing="ij")
    X = np.column_stack([column.ravel() for column in columns]).astype(np.float64)
    return Data(X, (X[:, 0] // 3).astype(int), 6)


def _scales() -> Data:
    """Columns whose scales and offsets differ by many orders of magnitude."""
    X, y, _ = _blobs(500, 6, 4, seed=3)
    return Data(X * 10.0 ** np.array([-8, -3, 0, 2, 5, 8]) + [0, 1, -1e3, 1e6, 0, 0], y, 4)


def _constant() -> Data:
    """One constant column, one binary column, and columns with few positive values."""
    X, y, _ = _blobs(200, 5, 2, seed=4)
    X[:, 1], X[:, 2], X[:, 3] = 7.0, X[:, 2] > 0, np.maximum(X[:, 3] - 4, 0)
    return Data(X, y, 2)


def _outliers() -> Data:
    """A few rows that are very far from all others."""
    X, y, _ = _blobs(1200, 5, 6, seed=14)
    X[::240] *= 1e7
    return Data(X, y, 6)


def _text(n_samples: int, n_features: int, n_clusters: int, n_words: int, seed: int) -> Data:
    """Word counts per document, with word frequencies that depend on the topic."""
    rng = np.random.default_rng(seed)
    frequency = rng.random((n_clusters, n_features)) ** 6
    frequency = (frequency / frequency.sum(axis=1, keepdims=True)).cumsum(axis=1)
    y = rng.integers(n_clusters, size=n_samples)
    u = rng.random((n_samples, n_words))
    words = np.empty((n_samples, n_words), dtype=np.int64)
    for topic in range(n_clusters):
        words[y == topic] = frequency[topic].searchsorted(u[y == topic]).clip(max=n_features - 1)
    # k-means of scikit-learn takes 32-bit indices only.
    rows = np.repeat(np.arange(n_samples, dtype=np.int32), n_words)
    counts = (np.ones(rows.size), (rows, words.ravel().astype(np.int32)))
    return Data(sparse.csr_array(counts, shape=(n_samples, n_features)), y, n_clusters)


_MAKE = {
    "iris": lambda: _bundled(datasets.load_iris, 3),
    "wine": lambda: _bundled(datasets.load_wine, 3),
    "cancer": lambda: _bundled(datasets.load_breast_cancer, 5),
    "digits": lambda: _bundled(datasets.load_digits, 10),
    "ties": _ties,
    "duplicates": _duplicates,
    "grid": _grid,
    "scales": _scales,
    "constant": _constant,
    "outliers": _outliers,
    "text": lambda: _text(400, 150, 6, n_words=25, seed=5),
    "blobs": lambda: _blobs(1500, 8, 12, seed=6),
    "blobs-5000": lambda: _blobs(5000, 10, 14, seed=7),
    "clusters-300": lambda: _blobs(1500, 24, 300, seed=8),
    "columns-50": lambda: _blobs(60_000, 50, 20, seed=9),
    "rows-40000": lambda: _blobs(40_000, 15, 8, seed=10),
    "rows-150000": lambda: _blobs(150_000, 10, 6, seed=11),
    "rows-270000": lambda: _blobs(270_000, 10, 5, seed=12),
    "text-70000": lambda: _text(70_000, 40, 8, n_words=8, seed=13),
}

SMALL = tuple(_MAKE)[:13]
"""Data sets that every estimator is fitted on."""

STORAGES = ("C64", "F64", "C32", "F32", "CSR64", "CSR32")
"""Memory layout and precision of `X`."""

WEIGHTS = ("none", "integer", "fractional")
"""Kinds of sample weights."""

REFERENCES = (
    "centers",
    "rows",
    "labels",
    "words",
    "noise-group",
    "noise-drop",
    "estimator",
    "fitted",
    "default",
)
"""Kinds of references.

`rows` are rows of `X` that serve as centers, `words` are labels that are strings, and `estimator`
is not fitted.
"""


@cache
def load(name: str) -> Data:
    """A data set by its name."""
    return _MAKE[name]()


def stored(name: str, storage: str) -> Any:
    """`X` of a data set in a memory layout and a precision."""
    X = load(name).X
    dtype = np.float32 if storage.endswith("32") else np.float64
    if storage.startswith("CSR"):
        return sparse.csr_array(X).astype(dtype)
    dense = X.toarray() if sparse.issparse(X) else X
    return np.array(dense, dtype=dtype, order=storage[0])


@cache
def kmeans(name: str) -> KMeans:
    """k-means of a data set, fitted on at most 5000 rows as float64."""
    X, _, n_clusters = load(name)
    return KMeans(n_clusters, n_init=1, random_state=0).fit(X[:5000])


@cache
def labels(name: str) -> np.ndarray:
    """Labels of k-means, 3 % of which are replaced by other labels."""
    X, _, n_clusters = load(name)
    found = kmeans(name).predict(X).astype(np.int64)
    rng = np.random.default_rng(0)
    moved = np.flatnonzero(rng.random(len(found)) < 0.03)
    found[moved] = rng.integers(n_clusters, size=len(moved))
    return found


@cache
def noisy_labels(name: str) -> np.ndarray:
    """Labels of which 5 % are -1, none of them the first row of its cluster."""
    found = labels(name).copy()
    is_noise = np.random.default_rng(1).random(len(found)) < 0.05
    is_noise[np.unique(found, return_index=True)[1]] = False
    found[is_noise] = -1
    return found


def sample_weight(name: str, kind: str) -> np.ndarray | None:
    """Sample weights; some are 0, but no cluster is without positive weight."""
    if kind == "none":
        return None
    rng = np.random.default_rng(2)
    n_samples = load(name).X.shape[0]
    if kind == "integer":
        weight = rng.integers(4, size=n_samples).astype(np.float64)
    else:
        weight = np.where(rng.random(n_samples) < 0.1, 0.0, rng.gamma(2.0, size=n_samples))
    for some_labels in (labels(name), noisy_labels(name), kmeans(name).predict(load(name).X)):
        first = np.unique(some_labels, return_index=True)[1]
        weight[first] = np.maximum(weight[first], 1.0)
    return weight


def reference(name: str, kind: str) -> np.ndarray | BaseEstimator | None:
    """What a tree has to explain; None leaves it to the estimator."""
    if kind == "centers":
        return kmeans(name).cluster_centers_
    if kind == "rows":
        X, _, n_clusters = load(name)
        distinct = np.unique(X.toarray() if sparse.issparse(X) else X, axis=0)
        return distinct[:: len(distinct) // n_clusters][:n_clusters]
    if kind == "labels":
        return labels(name)
    if kind == "words":
        return np.array([f"group {label}" for label in labels(name)])
    if kind.startswith("noise"):
        return noisy_labels(name)
    if kind == "estimator":
        return KMeans(load(name).n_clusters, n_init=1, random_state=3)
    return kmeans(name) if kind == "fitted" else None
