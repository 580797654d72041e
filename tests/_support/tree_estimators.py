"""Every estimator whose model is a threshold tree, with settings that keep fits short."""

from __future__ import annotations

from pellucid import IMM, ExKMC, ExShallow
from pellucid.baselines import CUBT, CARTExplainer, KDTreeExplainer
from pellucid.methods import METHODS

SHORT = {
    "BSIMM": {"beam_width": 3},
    "ExShallowSearch": {"goal_cost": 1.1, "max_fits": 5},
    "ExplainableKMeans": {"effort": "fast"},
    "RandomThresholds": {"n_draws": 3},
    "SpEx": {"n_leaves": 6},
}
"""Parameters that keep fits short, or that give more leaves than clusters."""

REFERENCE_TREES = [
    *(method.estimator(**SHORT.get(method.name, {})) for method in METHODS),
    CARTExplainer(),
    CUBT(n_leaves=6, min_size=2),
    ExKMC(base=None, n_leaves=7),
    ExShallow(polish=True),
    IMM(objective="kmedians"),
    KDTreeExplainer(n_leaves=6),
]
"""Estimators that explain a clustering; all are set to random_state 0 by `fresh`."""


def fresh(estimator, **parameters):
    """An unfitted copy with a fixed seed."""
    from sklearn.base import clone

    return clone(estimator).set_params(random_state=0, **parameters)
