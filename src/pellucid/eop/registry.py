"""Base classifiers and region shapes by name; validation of class labels and weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length

from pellucid.eop.box_finder import BoxFinder
from pellucid.eop.classifiers.base import BaseClassifier
from pellucid.eop.classifiers.constant import ConstantBase
from pellucid.eop.classifiers.linear import LinearBase
from pellucid.eop.classifiers.neighbors import KNNBase
from pellucid.eop.classifiers.sklearn_base import SklearnBase
from pellucid.eop.classifiers.stumps import StumpBase
from pellucid.eop.ellipse_finder import EllipseFinder, PolyhedronFinder
from pellucid.eop.finders import Finder
from pellucid.eop.neighbor_finder import NeighborFinder
from pellucid.eop.problem import RegionProblem

SHAPES: dict[str, type[Finder]] = {
    "nonparametric": NeighborFinder,
    "box": BoxFinder,
    "polyhedron": PolyhedronFinder,
    "ellipse": EllipseFinder,
}

BASES: dict[str, Any] = {
    "constant": ConstantBase,
    "stump": StumpBase,
    "linear_svm": "squared_hinge",
    "logistic": "logistic",
    "knn": KNNBase,
}


def make_base(base: Any, problem: RegionProblem, penalty: float = 1.0) -> BaseClassifier:
    """Create the base classifier for a name or an estimator; `penalty` is λ of linear ones."""
    if not isinstance(base, str):
        return SklearnBase(problem, base)
    kind = BASES[base]
    return LinearBase(problem, kind, 1 / penalty) if isinstance(kind, str) else kind(problem)


def find_shape(regions: Any) -> type[Finder]:
    """The search for regions of a shape, given by its name or as a class."""
    if isinstance(regions, type) and issubclass(regions, Finder):
        return regions
    names = ", ".join(map(repr, SHAPES))
    if isinstance(regions, Finder):
        name = type(regions).__name__
        raise TypeError(f"regions is an instance of {name}; pass the class: regions={name}")
    if not isinstance(regions, str):
        raise TypeError(
            f"regions={regions!r}; use {names}, or a subclass of pellucid.eop.ShapeFinder"
        )
    if regions not in SHAPES:
        raise ValueError(
            f"regions={regions!r} is unknown; use {names}, or a subclass of "
            "pellucid.eop.ShapeFinder"
        )
    return SHAPES[regions]


def read_classes(estimator: Any, y: Any, X: Any) -> np.ndarray:
    """Validate the class labels."""
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


def as_repetitions(weight: np.ndarray) -> tuple[np.ndarray, float]:
    """Return integer weights unchanged and scale other weights to a mean of 1.

    The second result is the given weight that counts as 1.
    """
    if (weight == np.rint(weight)).all():
        return weight, 1.0
    unit = float(weight.sum() / np.count_nonzero(weight))
    return weight * (np.count_nonzero(weight) / weight.sum()), unit


def free_label(classes: np.ndarray) -> Any:
    """A label that is not a class: -1 or less for numbers, "unknown" for strings."""
    if classes.dtype.kind in "iufb":
        return -1 if -1 not in classes else int(np.floor(classes.min())) - 1
    label = "unknown"
    while label in classes:
        label += "_"
    return label
