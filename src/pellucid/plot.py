"""Pictures under short names: ``plot.tree(model)``, ``plot.profile(model, X)``."""

from pellucid.plotting import plot_calibration as calibration
from pellucid.plotting import plot_comparison as comparison
from pellucid.plotting import plot_level as level
from pellucid.plotting import plot_partition as partition
from pellucid.plotting import plot_profile as profile
from pellucid.plotting import plot_row as row
from pellucid.plotting import plot_search as search
from pellucid.plotting import plot_trade_off as trade_off
from pellucid.plotting import plot_tree as tree
from pellucid.plotting import plot_trends as trends

__all__ = [
    "calibration",
    "comparison",
    "level",
    "partition",
    "profile",
    "row",
    "search",
    "trade_off",
    "tree",
    "trends",
]
