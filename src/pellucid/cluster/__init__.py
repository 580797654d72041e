"""The estimators: one file a method."""

from pellucid.cluster._exgreedy import ExGreedy
from pellucid.cluster._exkmc import ExKMC
from pellucid.cluster._exshallow import ExShallow
from pellucid.cluster._imm import IMM
from pellucid.cluster._optimal import OptimalTree

__all__ = ["IMM", "ExGreedy", "ExKMC", "ExShallow", "OptimalTree"]
