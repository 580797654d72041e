"""Thresholds on the columns of X, costs in another space: `fit(X, space=Z)`."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid._core.criteria.problem import Problem
from pellucid._core.data.arrays import Weights
from pellucid._core.data.components import first_components
from pellucid._core.data.dataset import Dataset
from pellucid.cluster._base import BaseThresholdTree
from pellucid.tables.frames import is_scan
from pellucid.tables.validation import read_sample_weight, read_space

if TYPE_CHECKING:
    from typing import Self

MAX_COLUMNS = 512
"""Columns of a space up to which the search uses all of them; otherwise so many components."""

_NOTABLE_LOSS = 0.01
"""Part of the sum of squares of which a warning says that the components leave it out."""


class SpaceTree(BaseThresholdTree):
    """Base of the estimators whose costs may be those of another space than that of thresholds."""

    space_loss_: float
    _has_space = False
    """Whether a space was given to `fit`."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, space: Any = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame of shape (n_samples, n_features), or Scan
            Numbers without NaN or infinities; pandas, polars and pyarrow tables keep their
            column names. Sparse data are read one column at a time. Data larger than memory are
            given as a :func:`pellucid.scan`.
        y : array-like of shape (n_samples,), default=None
            Labels to explain, one per row: integers, strings or any other values that can be
            sorted, from any clustering. Their centers are the means of the groups in X, or in the
            space. -1, None and NaN stand for noise, see `noise`. With y, `reference` must be None
            and `n_clusters` is ignored. Without y, `reference` is explained.
        sample_weight : array-like of shape (n_samples,), optional
            A whole weight counts as that many copies of the row; rows of weight 0 are absent.
        space : array-like or data frame of shape (n_samples, n_columns), default=None
            The same rows in the space Z that was clustered: principal components, embeddings,
            features of a kernel, one-hot labels. Thresholds are those of the columns of X; costs,
            centers and the reference are those of Z. None: the columns of X.

        Returns
        -------
        self
            The fitted estimator.
        """
        if space is not None and is_scan(X):
            raise ValueError(
                "space needs all rows in memory: pass X and space as arrays or data frames"
            )
        self._has_space = space is not None
        return self._fit(X, y, sample_weight, space)

    def fit_predict(
        self, X: Any, y: Any = None, sample_weight: Any = None, space: Any = None
    ) -> np.ndarray:
        """Grow the tree and return the cluster of each row; parameters as in `fit`.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame, or Scan
            As in `fit`.
        y : array-like of shape (n_samples,), default=None
            Labels to explain, as in `fit`.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.
        space : array-like or data frame of shape (n_samples, n_columns), default=None
            The same rows in another space, as in `fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Cluster of each row, `labels_`. For a :func:`pellucid.scan`, what `predict` returns.
        """
        if space is None:
            return super().fit_predict(X, y, sample_weight)
        return self.fit(X, y, sample_weight=sample_weight, space=space).labels_

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, space: Any = None) -> float:
        """Minus the cost of the rows to `cluster_centers_`, each in its cluster of the tree.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with the columns of `fit`.
        y : ignored
            Not used; present for scikit-learn's interface.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.
        space : array-like or data frame of shape (n_samples, n_columns), default=None
            The same rows in the space of `fit`, if one was given there.

        Returns
        -------
        float
            Minus the cost; higher is better.
        """
        check_is_fitted(self)
        if (space is None) == self._has_space:
            raise ValueError(
                "the centers of this model are in the space of fit; score(X, space=Z) needs the "
                "rows in that space"
                if self._has_space
                else "this model was fitted without a space; use score(X)"
            )
        if space is None:
            return super().score(X, y, sample_weight)
        rows = self._tree_input(X)
        numbers, n_columns = read_space(space, rows.shape[0]), self.cluster_centers_.shape[1]
        if numbers.shape[1] != n_columns:
            raise ValueError(
                f"space has {numbers.shape[1]} columns, but that of fit had {n_columns}"
            )
        weight = read_sample_weight(sample_weight, rows.shape[0])
        data = Dataset(numbers, Weights.of(weight))
        return -data.cost(self.tree_.predict(rows), self.cluster_centers_)

    def transform(self, X: Any) -> np.ndarray:
        """Distance of each row to each of `cluster_centers_`.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with the columns of `fit`. A model whose centers are in another space has no
            distances to rows of X.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            Euclidean distances, as in :class:`sklearn.cluster.KMeans`. The nearest center need not
            be that of the cluster to which the tree assigns the row.
        """
        check_is_fitted(self)
        if self._has_space:
            raise ValueError(
                "the centers of this model are in the space of fit, not in the columns of X; use "
                "sklearn.metrics.pairwise_distances(Z, model.cluster_centers_) with rows Z there"
            )
        return super().transform(X)

    def _searched(self, problem: Problem) -> Problem:
        """The problem itself or, if its space has too many columns, with the first components."""
        if not problem.has_space:
            return problem
        self.space_loss_, space = 0.0, problem.space
        if (n_columns := space.X.shape[1]) <= MAX_COLUMNS:
            return problem
        scores, centers, loss = first_components(
            space.X, space.weights.values, problem.space_centers, MAX_COLUMNS
        )
        if loss > _NOTABLE_LOSS:
            warnings.warn(
                f"space has {n_columns} columns; the tree was searched on its first {MAX_COLUMNS} "
                f"principal components, which leave out {loss:.1%} of its sum of squares. Costs "
                "and centers are those of all columns",
                UserWarning,
                stacklevel=6,
            )
        self.space_loss_ = loss
        smaller = Dataset(scores, space.weights, space.pool)
        return Problem(
            problem.data,
            problem.centers,
            problem.labels,
            unit_from_labels=problem.unit_from_labels,
            space=(smaller, centers),
        )
