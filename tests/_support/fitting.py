"""Fitting on oracle data, without the warning about centers that coincide; equal trees."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from pellucid._core.data.medians import OBJECTIVES


def fit(model, data, **parameters):
    """The model, fitted to the data's reference centers, objective and weights."""
    if model.get_params().get("objective") in OBJECTIVES:
        parameters["objective"] = data.objective
    model.set_params(reference=data.centers, **parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(data.X, sample_weight=data.weight)


def fit_exactly(model, data):
    """With thresholds as the oracles state them."""
    return fit(model, data, threshold_style="data", n_jobs=1)


FIELDS = (
    "feature",
    "threshold",
    "children_left",
    "children_right",
    "cluster",
    "n_node_samples",
    "weighted_n_node_samples",
)


def assert_same_tree(first, second) -> None:
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(first.tree_, name), getattr(second.tree_, name), name)
