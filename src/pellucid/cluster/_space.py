"""Thresholds on the columns of X, costs in another space: `fit(X, space=Z)`."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import eigh
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from pellucid._core.criteria.problem import Problem
from pellucid._core.data.arrays import Weights
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

_BLOCK_ROWS = 2**13  # rows that are multiplied at a time


class SpaceTree(BaseThresholdTree):
    """Base of the estimators whose costs may be those of another space than that of thresholds."""

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
        return self.fit(X, y, sample_weight, space).labels_

    @with_space(BaseThresholdTree.score)
    def score(self, X: Any, y: Any = None, sample_weight: Any = None, space: Any = None) -> float:
        check_is_fitted(self)
        if space is None and self._has_space:
            raise ValueError(
                "the centers of this model are in the space of fit; score(X, space=Z) needs the "
                "rows in that space"
            )
        if space is None:
            return super().score(X, y, sample_weight)
        if not self._has_space:
            raise ValueError("this model was fitted without a space; use score(X)")
        rows = self._tree_input(X)
        numbers, n_columns = read_space(space, rows.shape[0]), self.cluster_centers_.shape[1]
        if (n := numbers.shape[1]) != n_columns:
            raise ValueError(f"space has {n} columns, but that of fit had {n_columns}")
        weight = read_sample_weight(sample_weight, rows.shape[0])
        data = Dataset(numbers, Weights.of(weight))
        return -data.cost(self.tree_.predict(rows), self.cluster_centers_)

    def _searched(self, problem: Problem) -> Problem:
        """The problem itself or, if its space has too many columns, with the first components."""
        if not problem.has_space:
            return problem
        self.space_loss_: float = 0.0
        space = problem.space
        if (n_columns := space.X.shape[1]) <= MAX_COLUMNS:
            return problem
        weight, centers = space.weights.values, problem.space_centers
        scores, centers, loss = _first_components(space.X, weight, centers, MAX_COLUMNS)
        if loss > _NOTABLE_LOSS:
            text = (
                f"space has {n_columns} columns; the tree was searched on its first {MAX_COLUMNS} "
                f"principal components, which leave out {loss:.1%} of its sum of squares. Costs "
                "and centers are those of all columns"
            )
            warnings.warn(text, UserWarning, stacklevel=6)
        self.space_loss_ = loss
        smaller = Dataset(scores, space.weights, space.pool)
        unit, other = problem.unit_from_labels, (smaller, centers)
        known = problem.data, problem.centers, problem.labels
        return Problem(*known, unit_from_labels=unit, space=other)


def _first_components(
    X: np.ndarray, weight: np.ndarray, centers: np.ndarray, n_components: int
) -> tuple[np.ndarray, np.ndarray, float]:
    """Scores of the rows and of centers, and the part of the sum of squares that is left out.

    One thread computes products, so that they do not depend on the number of threads.
    """
    mean = np.average(X, axis=0, weights=weight)
    blocks = [slice(i, i + _BLOCK_ROWS) for i in range(0, len(X), _BLOCK_ROWS)]
    with threadpool_limits(1, user_api="blas"):
        products = np.zeros((X.shape[1], X.shape[1]))
        for block in blocks:
            part = X[block] - mean
            products += part.T @ (weight[block, None] * part)
        total = float(np.trace(products))
        first = max(X.shape[1] - n_components, 0)
        values, axes = eigh(products, subset_by_index=(first, X.shape[1] - 1), overwrite_a=True)
        scores = np.concatenate([(X[block] - mean) @ axes for block in blocks])
        reduced = (centers - mean) @ axes
    loss = max(1 - float(values.sum()) / total, 0.0) if total > 0 else 0.0
    return np.ascontiguousarray(scores[:, ::-1]), np.ascontiguousarray(reduced[:, ::-1]), loss
