"""Pictures under short names: ``plot.tree(model)``, ``plot.profile(model, X)``."""

from pellucid.plotting import plot_comparison as comparison
from pellucid.plotting import plot_partition as partition
from pellucid.plotting import plot_profile as profile
from pellucid.plotting import plot_trade_off as trade_off
from pellucid.plotting import plot_tree as tree

__all__ = ["comparison", "partition", "profile", "trade_off", "tree"]
