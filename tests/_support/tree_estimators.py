"""Every estimator whose model is a threshold tree, with settings that keep fits short."""

from __future__ import annotations

from pellucid import (
    BSIMM,
    EMN,
    IMM,
    ExGreedy,
    ExKMC,
    ExplainableKMeans,
    ExShallow,
    ExShallowSearch,
    OptimalTree,
    RandomThresholds,
    SpEx,
)
from pellucid.baselines import CUBT, CARTExplainer, KDTreeExplainer

REFERENCE_TREES = [
    BSIMM(beam_width=3),
    CARTExplainer(),
    CUBT(n_leaves=6, min_size=2),
    EMN(),
    ExGreedy(),
    ExKMC(),
    ExKMC(base=None, n_leaves=7),
    ExShallow(),
    ExShallow(polish=True),
    ExShallowSearch(goal_cost=1.1, max_fits=5),
    ExplainableKMeans(effort="fast"),
    IMM(),
    IMM(objective="kmedians"),
    KDTreeExplainer(n_leaves=6),
    OptimalTree(),
    RandomThresholds(n_draws=3),
    SpEx(n_leaves=6),
]
"""Estimators that explain a clustering; all are set to random_state 0 by `fresh`."""


def fresh(estimator, **parameters):
    """An unfitted copy with a fixed seed."""
    from sklearn.base import clone

    return clone(estimator).set_params(random_state=0, **parameters)
