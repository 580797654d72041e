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
_PARTS = ("node_count", "children_left", "children_right", "feature", "threshold")
"""Attributes of a tree whose splits can be read."""

_MAX_COPIES = 10_000_000
"""Largest number of rows that a tree without sample weights is fitted on."""


def check_tree(tree: Any) -> None:
    """Raise an error if `tree` is a class, a pipeline, or not an estimator."""
    _check_instance(tree, "tree")
    if hasattr(tree, "steps"):
        last = type(tree.steps[-1][1]).__name__
        raise TypeError(
            f"tree is a pipeline; pass its last step, {last}, alone: it is fitted on the encoded "
            "explanation features"
        )
    if not hasattr(tree, "predict"):
        raise TypeError(f"tree={_name(tree)} has no method predict; use {_TREES}")


def fit_tree(tree: Any, X: np.ndarray, labels: np.ndarray, weight: np.ndarray) -> Any:
    """Fit a copy of a tree; one without sample weights on as many copies of each row."""
    from sklearn.base import clone

    model = clone(tree, safe=False)
    if _takes_sample_weight(tree):
        return model.fit(X, labels, sample_weight=weight)
    if np.ptp(weight) == 0:
        return model.fit(X, labels)
    if (weight != np.floor(weight)).any() or weight.sum() > _MAX_COPIES:
        raise TypeError(
            f"the fit of tree={_name(tree)} has no sample_weight; such a tree needs integer "
            f"weights that sum to at most {_MAX_COPIES:,}, or no weights"
        )
    copies = np.repeat(np.arange(len(X)), weight.astype(np.int64))
    return model.fit(X[copies], labels[copies])


def has_splits(model: Any) -> bool:
    """Whether the splits of a fitted tree can be read, as those of scikit-learn."""
    found = getattr(model, "tree_", None)
    return all(hasattr(found, part) for part in _PARTS)


def node_count(model: Any) -> int:
    """Number of nodes of a fitted tree that does not show its splits."""
    for owner in (getattr(model, "tree_", None), model):
        for name in ("node_count", "node_count_"):
            if hasattr(owner, name):
                return int(getattr(owner, name))
    if hasattr(model, "get_n_leaves"):
        return 2 * int(model.get_n_leaves()) - 1
    raise TypeError(
        f"tree={_name(model)} does not fit a tree with a node count (tree_.node_count, node_count_ "
        f"or get_n_leaves()); use {_TREES}"
    )


def clusterer_input(estimator: Any) -> Callable[[np.ndarray], np.ndarray]:
    """Function that converts distances to the input of a clusterer, after checking it.

    A clusterer must expect distances or affinities. Others would use the distances to all rows as
    features.
    """
    _check_instance(estimator, "clusterer")
    name = _name(estimator)
    if hasattr(estimator, "steps"):
        raise TypeError(
            f"clusterer is a pipeline, but the search has distances, not features; use for example "
            f"{_CLUSTERERS}"
        )
    has_params = hasattr(estimator, "get_params")
    parameters = estimator.get_params() if has_params else vars(estimator)
    if "n_clusters" not in parameters:
        raise ValueError(
            f"clusterer={name} has no parameter n_clusters, which the search needs; use for "
            f"example {_CLUSTERERS}"
        )
    option = next((p for p in ("metric", "affinity", "kernel") if p in parameters), None)
    if option is None:
        if type(estimator).__module__.startswith(("sklearn.", "pellucid.")):
            raise ValueError(
                f"clusterer={name} clusters features, but the search has distances only; use "
                f"for example {_CLUSTERERS}"
            )
        return np.copy
    kind, is_ward = parameters[option], parameters.get("linkage") == "ward"
    if kind not in ("precomputed", "precomputed_nearest_neighbors"):
        linkage = " and linkage='average'" if is_ward else ""
        raise ValueError(
            f"clusterer={name} would use the distances as features, because {option} is "
            f"{kind!r}; set {option}='precomputed'{linkage}"
        )
    if is_ward:
        raise ValueError(
            f"clusterer={name} needs features, because linkage is 'ward', but the search has "
            "distances only; set linkage='average'"
        )
    # A copy, because the matrix is overwritten for the next α.
    is_affinity = option != "metric" and kind == "precomputed"
    return as_affinities if is_affinity else np.copy


def cluster_with(estimator: Any, matrix: np.ndarray, k: int, weight: np.ndarray) -> np.ndarray:
    """Labels of k clusters, by a copy of a clusterer that `clusterer_input` has checked."""
    from sklearn.base import clone

    model = clone(estimator, safe=False)
    if hasattr(model, "set_params"):
        model.set_params(n_clusters=k)
    else:
        model.n_clusters = k
    takes_weight = "sample_weight" in inspect.signature(model.fit).parameters
    weights = {"sample_weight": weight} if takes_weight else {}
    if hasattr(model, "fit_predict") and not weights:
        return np.asarray(model.fit_predict(matrix))
    return np.asarray(model.fit(matrix, **weights).labels_)


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


def _name(estimator: Any) -> str:
    """How an estimator is named in a message; without its address in memory."""
    text = repr(estimator)
    return f"{type(estimator).__name__}()" if " object at 0x" in text else text


def _takes_sample_weight(estimator: Any) -> bool:
    parameters = inspect.signature(estimator.fit).parameters.values()
    return any(p.name == "sample_weight" or p.kind is p.VAR_KEYWORD for p in parameters)
