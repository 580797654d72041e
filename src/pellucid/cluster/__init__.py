"""Estimators that explain a clustering by a threshold tree."""

from pellucid.cluster._exkmc import ExKMC
from pellucid.cluster._explainable_kmeans import ExplainableKMeans
from pellucid.cluster._exshallow import ExShallow, ExShallowSearch
from pellucid.cluster._one_leaf_per_cluster import BSIMM, EMN, IMM, ExGreedy
from pellucid.cluster._optimal import OptimalTree
from pellucid.cluster._random_thresholds import RandomThresholds
from pellucid.cluster._spex import SpEx

__all__ = [
    "BSIMM",
    "EMN",
    "IMM",
    "ExGreedy",
    "ExKMC",
    "ExShallow",
    "ExShallowSearch",
    "ExplainableKMeans",
    "OptimalTree",
    "RandomThresholds",
    "SpEx",
]
