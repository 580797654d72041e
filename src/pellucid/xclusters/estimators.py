"""Checks of the estimators that replace the clusterer or the tree of XClusters."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

_CLUSTERERS = "AgglomerativeClustering(metric='precomputed', linkage='average')"
_TREES = (
    "an estimator of this package, such as pellucid.ExKMC(), or a "
    "sklearn.tree.DecisionTreeClassifier"
)


def check_tree(tree: Any) -> None:
    """Raise an error if `tree` is a class, a pipeline, or not an estimator."""
    _check_instance(tree, "tree")
    if not hasattr(tree, "predict"):
        raise TypeError(f"tree={tree!r} has no method predict; use {_TREES}")


def require_nodes(model: Any, tree: Any) -> None:
    """Raise an error if a fitted `model` of the given `tree` has no tree to read."""
    found = getattr(model, "tree_", None)
    parts = ("node_count", "children_left", "children_right", "feature", "threshold")
    if not all(hasattr(found, part) for part in parts):
        raise TypeError(
            f"tree={tree!r} does not fit a tree with a node count (tree_.node_count); use {_TREES}"
        )


def tree_weights(tree: Any, weight: np.ndarray) -> dict[str, np.ndarray]:
    """Arguments of `tree.fit` for the row weights."""
    if _takes_sample_weight(tree):
        return {"sample_weight": weight}
    if np.ptp(weight) == 0:
        return {}
    raise TypeError(
        f"the fit of tree={tree!r} has no sample_weight, but the rows have different weights "
        "(identical rows count as one row with their total weight)"
    )


def clusterer_input(estimator: Any) -> Callable[[np.ndarray], np.ndarray]:
    """Function that converts distances to the input of a clusterer, after checking it.

    A clusterer must expect distances or affinities. Others would use the distances to all rows as
    features.
    """
    _check_instance(estimator, "clusterer")
    parameters = estimator.get_params()
    if "n_clusters" not in parameters:
        raise ValueError(
            f"clusterer={estimator!r} has no parameter n_clusters, which the search needs; use for "
            f"example {_CLUSTERERS}"
        )
    name = "metric" if "metric" in parameters else "affinity"
    kind = parameters.get(name)
    if name in parameters and kind not in ("precomputed", "precomputed_nearest_neighbors"):
        raise ValueError(
            f"clusterer={estimator!r} would use the distances as features, because {name} is "
            f"{kind!r}; set {name}='precomputed'"
        )
    if name not in parameters and type(estimator).__module__.startswith("sklearn."):
        raise ValueError(
            f"clusterer={estimator!r} clusters features, but the search has distances only; use "
            f"for example {_CLUSTERERS}"
        )
    is_affinity = name == "affinity" and kind == "precomputed"
    # A copy, because the matrix is overwritten for the next α.
    return as_affinities if is_affinity else np.copy


def as_affinities(distances: np.ndarray) -> np.ndarray:
    """Affinities exp(-d / s), where s is the standard deviation of the distances d.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.xclusters.estimators import as_affinities
    >>> as_affinities(np.array([[0.0, 2.0], [2.0, 0.0]])).round(3)
    array([[1.   , 0.135],
           [0.135, 1.   ]])
    """
    return np.exp(-distances / (distances.std() or 1.0))


def _check_instance(estimator: Any, name: str) -> None:
    if inspect.isclass(estimator):
        raise TypeError(
            f"{name} is the class {estimator.__name__}; pass an instance: "
            f"{name}={estimator.__name__}()"
        )
    if hasattr(estimator, "steps"):
        last = type(estimator.steps[-1][1]).__name__
        raise TypeError(
            f"{name} is a pipeline; pass its last step, {last}, alone: it is fitted on "
            f"{'the encoded explanation features' if name == 'tree' else 'distances'}"
        )


def _takes_sample_weight(estimator: Any) -> bool:
    parameters = inspect.signature(estimator.fit).parameters.values()
    return any(p.name == "sample_weight" or p.kind is p.VAR_KEYWORD for p in parameters)
