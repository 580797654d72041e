"""k-medoids for data, not for trees: the clustering that XClusters makes, for everybody."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from pellucid._utils.sklearn_compat import Interval, StrOptions, validate_parameters
from pellucid.tables.frames import as_table, with_names
from pellucid.tables.validation import read_sample_weight, read_X
from pellucid.xclusters.medoids import k_medoids

_OF_VALUES = ("jaccard", "gower")
"""Distances of columns that need not be numbers."""

_TAKE_SPARSE = ("euclidean", "manhattan", "cosine")
"""Distances that read sparse data."""


class KMedoids(ClusterMixin, BaseEstimator):
    """Clusters around medoids: rows of the data, chosen so that all rows are near to one.

    The loss is the weighted sum of the distances of rows to their medoids. Swaps of a medoid for
    another row lower it until no single swap does (FasterPAM). The distances of all rows to all
    rows are held in memory.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    metric : str or callable, default="euclidean"
        "euclidean", "manhattan", "cosine"; "dtw" for series of any lengths; "jaccard" for
        categories; "gower" for numbers and categories; "precomputed" for a matrix of distances; or
        a function of two rows. :func:`pellucid.xclusters.pairwise` says what each of them is.
    init : {"build", "k-medoids++"} or array-like of int, default="build"
        Where to start. "build" adds the row that lowers the loss most, one after the other, and
        leaves nothing to chance; "k-medoids++" draws rows that are far from each other. An array
        holds row numbers: too few are completed as by "build", too many are reduced.
    max_iter : int, default=300
        Most passes over the rows.
    window : int, default=None
        For "dtw": steps by which series may be shifted against each other at the most.
    random_state : int, RandomState instance or None, default=None
        For "k-medoids++".
    n_jobs : int, default=None
        Number of threads; all processors when left out. The result does not depend on it.
    verbose : int, default=0
        Tell how far the distances are.

    Attributes
    ----------
    medoid_indices_ : ndarray of shape (n_clusters,)
        Rows that are the medoids.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        These rows. There are none with ``metric="precomputed"``; a list, where they are series of
        different lengths.
    labels_ : ndarray of shape (n_samples,)
        Nearest medoid of each row, the lowest of equals.
    inertia_ : float
        The loss: weighted sum of distances, not of squares.
    n_iter_ : int
        Passes over the rows that were begun.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if all are strings.

    See Also
    --------
    pellucid.xclusters.k_medoids : The same on a matrix of distances, as a function.

    References
    ----------
    Schubert, Rousseeuw: Fast and eager k-medoids clustering: O(k) runtime improvement of the PAM,
    CLARA, and CLARANS algorithms. Information Systems 101, 2021.

    Examples
    --------
    >>> from pellucid import KMedoids
    >>> X = [[0.0], [1.0], [2.0], [10.0], [11.0], [13.0]]
    >>> model = KMedoids(2).fit(X)
    >>> model.cluster_centers_.ravel(), model.inertia_
    (array([ 1., 11.]), 5.0)
    >>> model.predict([[4.0], [9.0]])
    array([0, 1])
    """

    _parameter_constraints: dict = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "metric": [
            StrOptions(
                {"cosine", "dtw", "euclidean", "gower", "jaccard", "manhattan", "precomputed"}
            ),
            callable,
        ],
        "init": [StrOptions({"build", "k-medoids++"}), "array-like"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "window": [Interval(Integral, 0, None, closed="left"), None],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: Any = "euclidean",
        init: Any = "build",
        max_iter: int = 300,
        window: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.init = init
        self.max_iter = max_iter
        self.window = window
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> KMedoids:
        """Choose the medoids.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Or the matrix of distances, or a list of series for "dtw".
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            A whole weight counts as that many copies of the row; rows of weight 0 are absent.

        Returns
        -------
        self
        """
        from pellucid.xclusters.distances.pairwise import column_ranges, pairwise

        validate_parameters(self)
        rows = self._read(X, reset=True)
        n = rows.shape[0] if hasattr(rows, "shape") else len(rows)
        if n < self.n_clusters:
            raise ValueError(f"n_samples={n} should be >= n_clusters={self.n_clusters}")
        weight = read_sample_weight(sample_weight, n)
        distances = pairwise(
            rows, self.metric, window=self.window, n_jobs=self.n_jobs, verbose=self.verbose
        )
        found = k_medoids(
            distances,
            self.n_clusters,
            weights=weight,
            init=self.init,
            max_iter=self.max_iter,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            check_input=False,
        )
        if len(np.unique(found.labels)) < self.n_clusters:
            warnings.warn(
                f"{len(np.unique(found.labels))} of {self.n_clusters} clusters have rows: some "
                "medoids are at distance 0 from each other. Ask for fewer clusters",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.medoid_indices_ = found.indices
        self.labels_ = found.labels
        self.inertia_ = found.loss
        self.n_iter_ = found.n_iter
        self._ranges = column_ranges(rows) if self.metric == "gower" else None
        if self.metric != "precomputed":
            self.cluster_centers_ = _take(rows, found.indices)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Nearest medoid of each row, the lowest of equals.

        Parameters
        ----------
        X : as in `fit`
            With ``metric="precomputed"`` the distances of new rows to all rows of `fit`, of shape
            (n_new, n_samples).

        Returns
        -------
        ndarray of shape (n_new,), int64
        """
        from pellucid.xclusters.distances.pairwise import between

        check_is_fitted(self)
        rows = self._read(X, reset=False)
        if self.metric == "precomputed":
            distances = between(rows, range(self.n_features_in_), "precomputed")
            distances = distances[:, self.medoid_indices_]
        else:
            distances = between(
                rows,
                self.cluster_centers_,
                self.metric,
                window=self.window,
                n_jobs=self.n_jobs,
                ranges=self._ranges,
            )
        return distances.argmin(axis=1).astype(np.int64)

    def _read(self, X: Any, *, reset: bool) -> Any:
        """Rows as the distance takes them, with the number and the names of columns checked."""
        from pellucid.xclusters.reading import is_ragged

        if isinstance(self.metric, str) and self.metric in _OF_VALUES:
            table = None if isinstance(X, list) else as_table(X)
            if table is None:
                X = check_array(X, dtype=None, ensure_all_finite=False, estimator=self)
            named = X if table is None else with_names(X, table)
            validate_data(self, named, reset=reset, skip_check_array=True)
            return X
        if isinstance(self.metric, str) and self.metric == "precomputed":
            kinds = (np.float64, np.float32)
            X = check_array(X, dtype=kinds, ensure_all_finite=False, estimator=self)
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X
        if is_ragged(X):
            # Series of different lengths: the distance says whether it can take them.
            return X
        if sparse.issparse(X) and not self.__sklearn_tags__().input_tags.sparse:
            raise TypeError(
                f"Sparse data was passed, but metric={self.metric!r} needs dense data; use "
                ".toarray()"
            )
        return read_X(self, X, reset=reset)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = tags.input_tags.positive_only = self.metric == "precomputed"
        tags.input_tags.sparse = self.metric in _TAKE_SPARSE
        of_values = self.metric in _OF_VALUES
        tags.input_tags.string = tags.input_tags.categorical = of_values
        tags.input_tags.allow_nan = of_values
        return tags


def _take(rows: Any, indices: np.ndarray) -> Any:
    """Some of the rows."""
    if isinstance(rows, (list, tuple)):
        return [rows[i] for i in indices]
    table = None if sparse.issparse(rows) else as_table(rows)
    if table is not None:
        return table[indices.tolist()].to_numpy().astype(object)
    taken = (sparse.csr_array(rows) if sparse.issparse(rows) else np.asarray(rows))[indices]
    return taken.toarray() if sparse.issparse(taken) else taken
