"""The threshold tree: flat arrays, the builder, prediction and the rounding of thresholds."""

from pellucid.tree.builder import TreeBuilder
from pellucid.tree.threshold_tree import LEAF, ThresholdTree

__all__ = ["LEAF", "ThresholdTree", "TreeBuilder"]
