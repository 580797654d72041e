"""Base classifiers and shapes of regions by name; classes as a user hands them in."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length

from pellucid.eop.classifiers.base import BaseClassifier
from pellucid.eop.classifiers.linear import LinearBase
from pellucid.eop.classifiers.neighbors import KNNBase
from pellucid.eop.classifiers.sklearn_base import SklearnBase
from pellucid.eop.classifiers.stumps import StumpBase
from pellucid.eop.problem import RegionProblem
from pellucid.eop.shapes.boxes import BoxFinder
from pellucid.eop.shapes.ellipses import EllipseFinder
from pellucid.eop.shapes.nonparametric import NeighborFinder
from pellucid.eop.shapes.polyhedra import PolyhedronFinder

SHAPES = {
    "nonparametric": NeighborFinder,
    "box": BoxFinder,
    "polyhedron": PolyhedronFinder,
    "ellipse": EllipseFinder,
}

BASES = {
    "stump": StumpBase,
    "linear_svm": lambda problem: LinearBase(problem, "squared_hinge"),
    "logistic": lambda problem: LinearBase(problem, "logistic"),
    "knn": KNNBase,
}


def make_base(base: Any, problem: RegionProblem) -> BaseClassifier:
    """The base classifier that a name or an estimator stands for."""
    return BASES[base](problem) if isinstance(base, str) else SklearnBase(problem, base)


def read_classes(estimator: Any, y: Any, X) -> np.ndarray:
    """Classes of the rows, or an error that says what is wrong with them."""
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target "
            "y is None."
        )
    y = column_or_1d(y, warn=True)
    check_consistent_length(X, y)
    if y.dtype.kind == "f":
        assert_all_finite(y, input_name="y")
    check_classification_targets(y)
    return y


def as_repetitions(weight: np.ndarray) -> np.ndarray:
    """Weights as numbers of rows: as they are if they are whole, else with a mean of 1."""
    if (weight == np.rint(weight)).all():
        return weight
    return weight * (np.count_nonzero(weight) / weight.sum())


def free_label(classes: np.ndarray) -> Any:
    """A label that is no class: -1 or less for numbers, "unknown" for text."""
    if classes.dtype.kind in "iufb":
        return -1 if -1 not in classes else int(np.floor(classes.min())) - 1
    label = "unknown"
    while label in classes:
        label += "_"
    return label
