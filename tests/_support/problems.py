"""Problems of the engine from oracle data."""

from __future__ import annotations

import numpy as np

from pellucid._core.criteria.problem import Problem
from pellucid._core.data.arrays import Weights
from pellucid._core.data.dataset import Dataset
from pellucid._utils.threads import SERIAL


def pose(data, X=None, pool=SERIAL) -> Problem:
    """The problem of explaining the reference of oracle data, X perhaps stored in another way."""
    X = data.X if X is None else X
    return Problem(Dataset(X, Weights.of(data.weight), pool), data.centers, data.labels)


def problem_of(X, centers, labels, weight=None, space=None) -> Problem:
    """The problem of explaining a clustering, whose costs may be those of another space."""
    weight = np.ones(X.shape[0]) if weight is None else np.asarray(weight, dtype=np.float64)
    weights = Weights.of(weight)
    if space is None:
        return Problem(Dataset(X, weights), centers, labels)
    other = Dataset(space, weights)
    means = other.group_centers(labels.astype(np.intp), len(centers))
    return Problem(Dataset(X, weights), centers, labels, space=(other, means))
