"""The estimators: one file a method."""

from pellucid.cluster._bsimm import BSIMM
from pellucid.cluster._exgreedy import ExGreedy
from pellucid.cluster._exkmc import ExKMC
from pellucid.cluster._explainable_kmeans import ExplainableKMeans
from pellucid.cluster._exshallow import ExShallow
from pellucid.cluster._exshallow_search import ExShallowSearch
from pellucid.cluster._imm import IMM

__all__ = ["BSIMM", "IMM", "ExGreedy", "ExKMC", "ExShallow", "ExShallowSearch", "ExplainableKMeans"]
