"""k-means of rows that do not fit into memory."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin, TransformerMixin
from sklearn.metrics import euclidean_distances
from sklearn.utils.validation import check_is_fitted, validate_data

from pellucid._core.batches.batch import RawBatch
from pellucid._utils.progress import Progress
from pellucid._utils.threads import ThreadPool, count_threads
from pellucid.scale.references import NearestCenter, cluster_by_kmeans
from pellucid.scale.scan import scan
from pellucid.tables.frames import is_scan, refuse_scan


@dataclass(kw_only=True, repr=False, eq=False)
class KMeans(ClusterMixin, TransformerMixin, BaseEstimator):
    r"""Cluster a scan by k-means: of a sample of its rows, then by passes over all rows.

    k-means of at most 100,000 rows gives the first centers. Each pass (Lloyd's algorithm) moves
    every center to the mean of its rows, :math:`\mu_c = \sum_{x \in C_c} w_x x / \sum_{x \in C_c}
    w_x`, where :math:`C_c` are the rows whose nearest center is c. Only sums are held in memory.
    ``IMM(n_clusters)`` and the other trees cluster a scan in the same way.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    init : array-like of shape (n_clusters, n_features), optional
        First centers. Default: those of k-means of the sample.
    n_init : int, default=10
        Runs of k-means of the sample, of which the best one is taken.
    max_iter : int, default=5
        Passes over all rows, at most; they end if no center moves.
    random_state : int, RandomState instance or None, default=None
        Seed of k-means of the sample.
    n_jobs : int, optional
        Threads. Default: all processors.
    verbose : int, default=0
        With 1, progress is printed.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The centers.
    labels_ : ndarray of shape (n_samples,)
        Nearest center of each row; only after a fit in memory.
    n_iter_ : int
        Passes over all rows.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if they have any.

    Examples
    --------
    >>> import numpy as np
    >>> import pellucid
    >>> from pellucid.scale import KMeans
    >>> rng = np.random.default_rng(0)
    >>> parts = [rng.normal(size=(100, 2)) + shift for shift in ([0, 0], [9, 0], [0, 9])]
    >>> data = pellucid.scan(lambda: parts)
    >>> kmeans = KMeans(3, random_state=0).fit(data)
    >>> np.sort(kmeans.cluster_centers_.round().sum(axis=1))
    array([0., 9., 9.])
    >>> pellucid.IMM(reference=kmeans).fit(data).n_leaves_
    3
    """

    n_clusters: int = field(default=8, kw_only=False)
    init: Any = None
    n_init: int = 10
    max_iter: int = 5
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0
    n_features_in_: int = field(init=False)
    feature_names_in_: np.ndarray = field(init=False)
    cluster_centers_: np.ndarray = field(init=False)
    n_iter_: int = field(init=False)
    labels_: np.ndarray = field(init=False)

    def fit(self, X: Any, y: Any = None) -> KMeans:
        """Find the centers.

        Parameters
        ----------
        X : BatchScan or array-like of shape (n_samples, n_features)
            The rows. The weight column of a scan counts in the passes over all rows.
        y : None
            Ignored.

        Returns
        -------
        KMeans
            The fitted estimator.
        """
        data = X
        if is_scan(X):
            self.n_features_in_ = len(X.columns)
            self.feature_names_in_ = np.array(X.columns, dtype=object)
            self.__dict__.pop("labels_", None)
        else:
            rows = validate_data(self, X, dtype=[np.float64, np.float32])
            data = scan(lambda: [rows])
        progress = Progress("KMeans", 0, self.verbose)
        with (
            ThreadPool(count_threads(self.n_jobs)) as pool,
            closing(data.partitions(pool, self.n_clusters, progress)) as partitions,
        ):
            options = {n: getattr(self, n) for n in ("random_state", "init", "n_init", "max_iter")}
            found = cluster_by_kmeans(partitions, data, self.n_clusters, **options)
            self.cluster_centers_, self.n_iter_ = found
            partitions.finish()
        if not is_scan(X):
            self.labels_ = self._nearest(rows)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Nearest center of each row; ties go to the lowest.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Positions of the centers.
        """
        return self._nearest(self._rows(X))

    def transform(self, X: Any) -> np.ndarray:
        """Distances to all centers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            Euclidean distances.
        """
        return euclidean_distances(self._rows(X), self.cluster_centers_)

    def _rows(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        refuse_scan(X)
        return validate_data(self, X, dtype=[np.float64, np.float32], reset=False)

    def _nearest(self, rows: np.ndarray) -> np.ndarray:
        return NearestCenter(self.cluster_centers_)(RawBatch(rows, None, None, "")).astype(np.intp)
