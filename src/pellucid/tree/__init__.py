"""The threshold tree: flat arrays, the builder, prediction and the rounding of thresholds."""

from pellucid.tree.threshold_tree import LEAF, ThresholdTree, TreeBuilder

__all__ = ["LEAF", "ThresholdTree", "TreeBuilder"]
