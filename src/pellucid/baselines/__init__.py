"""What our trees are compared with: trees of other methods, as estimators with the same face."""

from pellucid.baselines._cart import CARTExplainer
from pellucid.baselines._kdtree import KDTreeExplainer

__all__ = ["CARTExplainer", "KDTreeExplainer"]
