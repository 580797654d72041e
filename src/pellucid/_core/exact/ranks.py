"""Columns as ranks: exact, where the codes of `data.binning` are coarse, but larger."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid._utils.threads import SERIAL, ThreadPool
from pellucid.tree.predictor import column_values


@dataclass(frozen=True)
class Ranks:
    """The columns in which centers differ, rows and centers ranked together.

    Attributes
    ----------
    X : ndarray or CSC matrix of shape (n_samples, n_features)
    centers : ndarray of shape (n_clusters, n_features)
    features : ndarray of shape (n_columns,)
        The columns.
    rank : ndarray of shape (n_columns, n_samples + n_clusters), int32
        How many different values are smaller than that of a row, or after all rows of a center.
    order : ndarray of shape (n_columns, n_samples + n_clusters), int32
        Rows and centers by rank.
    """

    X: object
    centers: np.ndarray
    features: np.ndarray
    rank: np.ndarray
    order: np.ndarray

    def value(self, column: int, rank: int) -> float:
        """The value that has a rank."""
        values = _values(self.X, self.centers, self.features[column])
        return float(np.unique(values)[rank])


def make_ranks(X, centers: np.ndarray, pool: ThreadPool = SERIAL) -> Ranks:
    """Rank the columns of a dense or CSC matrix."""
    features = np.flatnonzero(centers.max(axis=0) > centers.min(axis=0))
    rank = np.empty((len(features), X.shape[0] + len(centers)), dtype=np.int32)
    order = np.empty_like(rank)

    def work(j: int) -> None:
        values = _values(X, centers, features[j])
        rank[j] = np.unique(values, return_inverse=True)[1].reshape(-1)
        order[j] = np.argsort(rank[j], kind="stable")

    pool.map(work, range(len(features)))
    return Ranks(X, centers, features, rank, order)


def _values(X, centers: np.ndarray, feature: int) -> np.ndarray:
    everything = np.arange(X.shape[0])
    return np.concatenate([column_values(X, feature, everything), centers[:, feature]])
