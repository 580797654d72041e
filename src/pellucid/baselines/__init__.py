"""Trees of other methods, for comparison, with the interface of the tree estimators."""

from pellucid.baselines._cltree import CLTree
from pellucid.baselines._cubt import CUBT
from pellucid.baselines._leafwise import CARTExplainer, KDTreeExplainer

__all__ = ["CUBT", "CARTExplainer", "CLTree", "KDTreeExplainer"]
