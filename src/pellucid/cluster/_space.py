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
from pellucid.cluster._docs import with_space
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

    @with_space(BaseThresholdTree.fit)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, space: Any = None) -> Self:
        if space is not None and is_scan(X):
            raise ValueError(
                "space needs all rows in memory: pass X and space as arrays or data frames"
            )
        self._has_space = space is not None
        return self._fit(X, y, sample_weight, space)

    @with_space(BaseThresholdTree.fit_predict)
    def fit_predict(
        self, X: Any, y: Any = None, sample_weight: Any = None, space: Any = None
    ) -> np.ndarray:
        if space is None:
            return super().fit_predict(X, y, sample_weight)
        return self.fit(X, y, sample_weight=sample_weight, space=space).labels_

    @with_space(BaseThresholdTree.score)
    def score(self, X: Any, y: Any = None, sample_weight: Any = None, space: Any = None) -> float:
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
