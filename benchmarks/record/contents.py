"""What is recorded of a fitted estimator: hashes of its arrays, and costs to the last bit."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from numbers import Number
from typing import Any

import numpy as np

_N_DIGITS = 12
"""Hexadecimal digits of a hash."""

_TREE = ("feature", "children_left", "children_right", "cluster", "n_node_samples")
_COSTS = ("inertia_", "reference_inertia_", "distortion_", "best_alpha_", "best_depth_penalty_")
_ARRAYS = ("surrogate_costs_", "draw_costs_", "medoid_indices_", "n_fits_", "n_trees_tried_")

Contents = dict[str, str]


def digest(*values: Any) -> str:
    """A short hash of arrays, numbers, strings and lists of these, whatever their memory layout.

    Integers of all sizes are alike; floats are hashed bit by bit.
    """
    whole = hashlib.sha256()
    for value in values:
        array = np.asarray(value)
        if array.dtype.kind in "biu":
            array = array.astype(np.int64)
        elif array.dtype.kind == "f":
            array = array.astype(np.float64)
        else:
            array = np.asarray([str(item) for item in array.ravel().tolist()]).astype("S")
        whole.update(f"{array.dtype.kind}{array.shape}".encode())
        whole.update(np.ascontiguousarray(array).tobytes())
    return whole.hexdigest()[:_N_DIGITS]


def tree_digest(tree: Any) -> str:
    """Hash of the arrays of a threshold tree."""
    thresholds = tree.threshold[tree.children_left != -1]
    integers = [getattr(tree, name) for name in _TREE]
    return digest(*integers, thresholds, tree.weighted_n_node_samples, tree.n_features)


def rules_digest(rules: Iterable) -> str:
    """Hash of the rules of clusters: conditions and counts, but no words."""
    return _json_digest([_cluster_rule(rule) for rule in rules])


def _cluster_rule(cluster_rule: Any) -> list:
    leaves = [
        [
            int(rule.leaf),
            [[int(c.feature), float(c.threshold).hex(), bool(c.is_upper)] for c in rule.conditions],
            int(rule.n_samples),
            _round(rule.share),
            _round(rule.purity),
        ]
        for rule in cluster_rule.rules
    ]
    shares = [_round(cluster_rule.share), _round(cluster_rule.purity)]
    return [str(cluster_rule.cluster), leaves, int(cluster_rule.n_samples), *shares]


def _round(share: float) -> str:
    # Shares are sums of quotients, whose last bits are not part of a rule.
    return f"{float(share):.12g}"


def _json_digest(structure: Any) -> str:
    return hashlib.sha256(json.dumps(structure).encode()).hexdigest()[:_N_DIGITS]


def of_tree_estimator(model: Any, X: Any) -> Contents:
    """Tree, costs, rules, labels and centers of an estimator that has a tree.

    Parameters
    ----------
    model : estimator, fitted
    X : array-like, sparse matrix or data frame
        The rows to predict.
    """
    found = {"tree": tree_digest(model.tree_), **_attributes(model)}
    found["rules"] = rules_digest(model.rules_)
    labels = [model.labels_, getattr(model, "reference_labels_", [])]
    found["labels"] = digest(*labels, model.predict(X), model.apply(X))
    if hasattr(model, "reference_centers_"):
        found["centers"] = digest(model.cluster_centers_, model.reference_centers_)
    if hasattr(model, "staged_trees"):
        found["stages"] = digest([tree_digest(tree) for tree in model.staged_trees()])
    return found


def of_medoids(model: Any, X: Any) -> Contents:
    """Medoids, cost and labels of a k-medoids clustering."""
    return {**_attributes(model), "labels": digest(model.labels_, model.predict(X))}


def of_regions(model: Any, X: Any) -> Contents:
    """Levels and predictions of a classifier by regions."""
    return {
        "rules": _json_digest(_numbers(model.explain())),
        "labels": digest(model.predict(X), model.apply(X)),
        "probabilities": digest(model.predict_proba(X)),
    }


def of_cluster_regions(regions: Any, X: Any) -> Contents:
    """Regions of clusters, and the predictions of the classifier that found them."""
    rules = _json_digest(_numbers(regions))
    return {"rules": rules, "labels": digest(regions.model.predict(X))}


def _numbers(value: Any) -> Any:
    """All numbers in nested data classes, sequences and dicts, by position; words are left out."""
    if is_dataclass(value):
        return [_numbers(getattr(value, field.name)) for field in fields(value)]
    if isinstance(value, Mapping):
        return [_numbers(item) for item in value.values()]
    if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str):
        return [_numbers(item) for item in value]
    return _round(value) if isinstance(value, Number | np.bool_) else None


def of_path(path: Iterable) -> Contents:
    """Trees along the depth penalty, with their penalties, costs and sizes."""
    points = list(path)
    figures = [(p.penalty, *p.penalties, p.cost, p.npc, p.waes, p.wad, p.n_leaves) for p in points]
    trees = digest([tree_digest(point.tree) for point in points])
    return {"tree": trees, "measures": digest(figures)}


def _attributes(model: Any) -> Contents:
    """Public attributes that are numbers or arrays, as far as the estimator has them."""
    costs = {name: float(getattr(model, name)).hex() for name in _COSTS if hasattr(model, name)}
    arrays = {name: digest(getattr(model, name)) for name in _ARRAYS if hasattr(model, name)}
    return {name.rstrip("_"): value for name, value in {**costs, **arrays}.items()}
