"""KMedoids: k-medoids clustering as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from pellucid._utils.estimators import store_parameters
from pellucid._utils.numeric_domain import check_values
from pellucid._utils.sklearn_compat import Interval, StrOptions, validate_parameters
from pellucid._utils.typed_bases import BaseEstimator, ClusterMixin
from pellucid.tables.frames import as_table, with_names
from pellucid.tables.validation import read_sample_weight, read_X
from pellucid.xclusters.distances.kinds import SCIPY_METRICS
from pellucid.xclusters.distances.pairwise import METRICS, between, column_ranges, pairwise
from pellucid.xclusters.features import take_rows
from pellucid.xclusters.medoids import k_medoids
from pellucid.xclusters.rows import count_rows, is_ragged, order_by_values

_CATEGORICAL_METRICS = "jaccard", "gower"
_SPARSE_METRICS = "euclidean", "manhattan", "cosine"


class KMedoids(ClusterMixin, BaseEstimator):
    r"""Clustering by k-medoids (FasterPAM): each cluster is represented by one of its rows.

    The loss is the weighted sum of the distances of the rows to their medoids,

    .. math:: \sum_i w_i \min_{m \in M} d(x_i, m).

    A medoid is swapped
    for another row as long as this lowers the loss. The distance matrix of all rows is kept in
    memory. Ties depend on the values of the rows and not on their order, except with
    ``metric="precomputed"``, where they go to the first row.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    metric : str or callable, default="euclidean"
        As in :func:`pellucid.xclusters.pairwise`: "euclidean" and other metrics of scipy; "dtw" for
        time series, which may have different lengths; "jaccard" for categories; "gower" for numbers
        and categories; "precomputed" for a distance matrix; or a function of two rows.
    init : {"build", "k-medoids++"} or array-like of int, default="build"
        Initial medoids. "build" adds rows greedily, each time the one that lowers the loss most;
        it is deterministic. "k-medoids++" draws rows that are far from each other. An array
        contains row indices; "build" adds missing ones, and superfluous ones are removed.
    max_iter : int, default=300
        Maximum number of passes over the rows.
    window : int, default=None
        Maximum shift between two series in steps, for "dtw".
    random_state : int, RandomState instance or None, default=None
        Used by "k-medoids++".
    n_jobs : int, default=None
        Number of threads; None uses all processors. The result does not depend on it.
    verbose : int, default=0
        If not 0, print the progress of the distance matrix.

    Attributes
    ----------
    medoid_indices_ : ndarray of shape (n_clusters,)
        Row indices of the medoids.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        The medoids; a list if they are series of different lengths. Not available with
        ``metric="precomputed"``.
    labels_ : ndarray of shape (n_samples,)
        Nearest medoid of each row; ties go to the lowest.
    inertia_ : float
        The loss, a weighted sum of distances (not of squared distances).
    n_iter_ : int
        Number of passes over the rows.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Column names, if all are strings.

    See Also
    --------
    pellucid.xclusters.k_medoids : The same on a distance matrix, as a function.

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

    cluster_centers_: Any

    _parameter_constraints: dict[Any, Any] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "metric": [StrOptions({*METRICS, *SCIPY_METRICS}), callable],
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
        store_parameters(self, locals())

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Compute the distance matrix and choose the medoids.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Data, a distance matrix for "precomputed", or a list of series for "dtw".
        y : ignored
            Not used; present for scikit-learn's interface.
        sample_weight : array-like of shape (n_samples,), optional
            An integer weight w counts as w copies of the row. Rows of weight 0 are ignored.

        Returns
        -------
        self
            The fitted estimator.
        """
        validate_parameters(self)
        rows = self._read(X, reset=True)
        n = count_rows(rows)
        if n < self.n_clusters:
            raise ValueError(f"n_samples={n} should be >= n_clusters={self.n_clusters}")
        weight = read_sample_weight(sample_weight, n)
        is_given = isinstance(self.metric, str) and self.metric == "precomputed"
        distances = pairwise(
            rows, self.metric, window=self.window, n_jobs=self.n_jobs, verbose=self.verbose
        )
        names = ("init", "max_iter", "random_state", "n_jobs")
        options: dict[str, Any] = {name: getattr(self, name) for name in names}
        options |= {"weights": weight, "check_input": False}
        order = None if is_given else order_by_values(rows, weight)
        result = k_medoids(distances, self.n_clusters, order=order, **options)
        n_found = len(np.unique(result.labels))
        if n_found < self.n_clusters:
            found = f"only {n_found} of {self.n_clusters} clusters have rows"
            reason = "because medoids have distance 0 from each other; reduce n_clusters"
            warnings.warn(f"{found}, {reason}", ConvergenceWarning, stacklevel=2)
        self.medoid_indices_: np.ndarray = result.indices
        self.labels_: np.ndarray = result.labels
        self.inertia_: float = result.loss
        self.n_iter_: int = result.n_iter
        self._ranges = column_ranges(rows) if self.metric == "gower" else None
        if self.metric != "precomputed":
            self.cluster_centers_ = take_rows(rows, result.indices)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict the nearest medoid of each row; ties go to the lowest.

        Parameters
        ----------
        X : as in `fit`
            With ``metric="precomputed"``, the distances of new rows to all rows of `fit`, of shape
            (n_new, n_samples).

        Returns
        -------
        ndarray of shape (n_new,), int64
            Clusters.
        """
        check_is_fitted(self)
        rows = self._read(X, reset=False)
        if self.metric == "precomputed":
            distances = between(rows, range(self.n_features_in_), "precomputed")
            return distances[:, self.medoid_indices_].argmin(axis=1).astype(np.int64)
        options: dict[str, Any] = {"window": self.window, "n_jobs": self.n_jobs}
        centers, ranges = self.cluster_centers_, self._ranges
        distances = between(rows, centers, self.metric, ranges=ranges, **options)
        return distances.argmin(axis=1).astype(np.int64)

    def _read(self, X: Any, *, reset: bool) -> Any:
        """Validate X; store (`reset`) or check the number and names of its columns."""
        metric = self.metric if isinstance(self.metric, str) else ""
        if metric == "precomputed" or metric in _CATEGORICAL_METRICS:
            table = None if metric == "precomputed" or isinstance(X, list) else as_table(X)
            dtypes = (np.float64, np.float32) if metric == "precomputed" else None
            if table is None:
                X = check_array(X, dtype=dtypes, ensure_all_finite=False, estimator=self)
            named = X if table is None else with_names(X, table)
            validate_data(self, named, reset=reset, skip_check_array=True)
            return X
        if is_ragged(X):
            # Series of different lengths: `pairwise` raises an error if they are not supported.
            return X
        if sparse.issparse(X) and not self.__sklearn_tags__().input_tags.sparse:
            raise TypeError(
                f"Sparse data was passed, but metric={self.metric!r} requires dense data; use "
                ".toarray()"
            )
        numbers = read_X(self, X, reset=reset)
        if reset:
            check_values(numbers, getattr(self, "feature_names_in_", None))
        return numbers

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = tags.input_tags.positive_only = self.metric == "precomputed"
        tags.input_tags.sparse = self.metric in _SPARSE_METRICS
        is_categorical = self.metric in _CATEGORICAL_METRICS
        tags.input_tags.string = tags.input_tags.categorical = is_categorical
        tags.input_tags.allow_nan = is_categorical
        return tags
