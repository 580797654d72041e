"""What tree estimators share: their `__init__`, and parts of their docstrings."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar, dataclass_transform

from pellucid._utils.estimators import fill_docstring
from pellucid.methods import BY_NAME

_Estimator = TypeVar("_Estimator", bound=type)
_Method = TypeVar("_Method", bound=Callable[..., Any])


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field,))
def common_parameters(cls: _Estimator) -> _Estimator:
    """Make `__init__`, and fill ``{n_clusters}``, ``{common}``, ``{attributes}`` in the docstring.

    Annotated attributes are parameters, except those of `field(init=False)`, which `fit` sets. The
    parameters in `_PARAMETERS` come last. Without own attributes, a docstring lacks their section.
    ``_parameter_constraints`` are added to those of bases.
    """
    made: Any = cls
    inherited = getattr(super(made, made), "_parameter_constraints", {})
    made._parameter_constraints = inherited | cls.__dict__.get("_parameter_constraints", {})
    if "__init__" not in cls.__dict__:
        dataclass(kw_only=True, repr=False, eq=False)(cls)
        signature = inspect.signature(made.__init__)
        ordered = sorted(signature.parameters.values(), key=lambda p: _POSITION.get(p.name, 0))
        made.__init__.__signature__ = signature.replace(parameters=ordered)
        # Types are evaluated here: their names need not be known in the modules of subclasses.
        types, known = inspect.get_annotations(cls), vars(sys.modules[cls.__module__])
        hints = getattr(super(made, made).__init__, "__annotations__", {"return": None}).copy()
        hints |= {name: eval(types[name], known) for name in types if name in signature.parameters}
        made.__init__.__annotations__ = hints
    taken = inspect.signature(cls).parameters
    common = "\n    ".join(text for name, text in _PARAMETERS.items() if name in taken)
    if "noise" in taken:  # the older word means the same
        common = common.replace("{noise}", taken["noise"].default.replace("group", "cluster"))
    if "{attributes}" not in (cls.__doc__ or ""):
        common += "\n\n    Attributes\n    ----------\n    {attributes}"
    attributes = _ATTRIBUTES + _see_also(cls.__name__)
    parts = {"n_clusters": _N_CLUSTERS, "common": common, "attributes": attributes}
    return fill_docstring(cls, parts)


def with_space(method: Any) -> Callable[[_Method], _Method]:
    """Give a method the docstring of another one, with the parameter `space` after the others."""

    def documented(taker: _Method) -> _Method:
        text = inspect.cleandoc(method.__doc__ or "") + "\n"
        taker.__doc__ = text.replace("\n\nReturns", _SPACE)
        return taker

    return documented


def _see_also(name: str) -> str:
    """The section with the methods that the registry calls similar."""
    if name not in BY_NAME:
        return ""
    lines = [f"{other} : {BY_NAME[other].summary}" for other in BY_NAME[name].similar]
    lines.append("explain : All steps, for a table.")
    return "\n    ".join(["\n", "See Also", "--------", *lines])


_SPACE = """
space : array-like or data frame of shape (n_samples, n_columns), default=None
    The same rows in the space Z that was clustered: principal components, embeddings, features of a
    kernel, one-hot labels. Thresholds are those of the columns of X; costs, centers and the
    reference are those of Z. None: the columns of X.

Returns"""

_N_CLUSTERS = """n_clusters : int, default=None
        Number of clusters k. None: that of the reference, or 8 without a reference. Ignored if
        labels are given to `fit` as y."""

_PARAMETERS = {
    "search": """search : {"greedy", "beam"} or BeamSearch, default="greedy"
        One tree, cut by cut, or many side by side: ``"beam"`` is :class:`~pellucid.BeamSearch`
        with its defaults.""",
    "reference": """reference : None, estimator or array of shape (n_clusters, n_features), \
default=None
        The clustering to explain, unless its labels are given to `fit` as y. None:
        ``KMeans(n_clusters, n_init=10)``, or for ``objective="kmedians"`` the best of ten
        k-medians clusterings. An estimator gives its own labels, and its `cluster_centers_` or
        the means of its clusters. An unfitted one is cloned and fitted. An array holds centers;
        each row belongs to the nearest.""",
    "objective": """objective : {"kmeans", "kmedians"}, default="kmeans"
        Cost of a row: its squared distance to the mean of its cluster, or the sum of its absolute
        differences to the coordinate-wise (weighted, lower) median, in which outliers count for
        less.""",
    "noise": """noise : {"background", "cluster"}, default="{noise}"
        What to do with rows that the reference labels -1, None or NaN. ``"background"`` leaves them
        out of the fit and makes no rule for them; the `n_noise` of a rule counts those that it
        would catch. They get a cluster in `labels_`, and do not count in `inertia_`,
        `cluster_centers_` and `feature_importances_`. ``"cluster"`` explains them as a group of
        their own. ``"drop"`` and ``"group"`` are older words for the two.""",
    "threshold_style": """threshold_style : {"round", "midpoint", "data"}, default="round"
        Which of the thresholds that split the training rows alike to show: the one with the
        fewest significant digits, the middle, or the largest value that goes left.""",
    "polish": """polish : bool or "deep", default=False
        Whether to improve the finished tree by local search while the k-means cost of its
        clusters falls: other thresholds, other clusters for leaves, splits in place of those that
        do not help. ``"deep"`` also removes leaves in order to split others, which takes several
        times as long. The clusters may move away from those of the reference.""",
    "n_jobs": """n_jobs : int, default=None
        Number of threads of `fit` and `predict`. None uses all processors, unlike in
        scikit-learn, unless ``joblib.parallel_config`` or ``OMP_NUM_THREADS`` limits it; -1 uses
        all. Results do not depend on it.""",
    "random_state": """random_state : int, RandomState instance or None, default=None
        Seed of the default reference.""",
    "verbose": """verbose : int, default=0
        Whether to report each split on standard error.""",
}

_POSITION = {name: position for position, name in enumerate(_PARAMETERS, 1)}
_POSITION |= {"self": -2, "n_clusters": -1}

_ATTRIBUTES = """tree_ : ThresholdTree
        The tree. Its clusters are positions in `cluster_names_` and `cluster_centers_`.
    labels_ : ndarray of shape (n_samples,)
        Cluster of each training row.
    rules_ : RuleList
        Rule of each cluster, as a :class:`~pellucid.explanation.rules.ClusterRule`.
    cluster_names_ : ndarray of shape (n_clusters,)
        Label of each cluster: 0, 1, ... or the labels of the reference in sorted order.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Means (or medians) of the clusters of the tree; for an empty one, its reference center.
    inertia_ : float
        k-means (or k-medians) cost of the tree's clusters.
    reference_centers_ : ndarray of shape (n_clusters, n_features)
        Centers of the reference.
    reference_labels_ : ndarray of shape (n_samples,)
        Cluster of each training row in the reference; -1 for noise that was left out.
    reference_inertia_ : float
        The same cost of the reference's clusters.
    mistakes_ : int or float
        Weight of the training rows that are in another cluster than in the reference; the number
        of rows without `sample_weight`. Noise that was left out does not count.
    n_leaves_ : int
        Number of leaves.
    feature_importances_ : ndarray of shape (n_features,)
        Total reduction of the within-node sum of squares by the splits on each feature,
        normalised to sum 1; all 0 if there is a single leaf. A split of a node into parts of
        weights W_l and W_r with means m_l and m_r reduces it by
        ``W_l * W_r / (W_l + W_r) * ||m_l - m_r||**2``.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if they are strings."""
