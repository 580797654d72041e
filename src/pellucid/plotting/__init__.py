"""Pictures; matplotlib is imported when one is drawn, not before."""

from pellucid.plotting.partition import plot_partition
from pellucid.plotting.plane import plot_search
from pellucid.plotting.profile import plot_profile
from pellucid.plotting.regions import plot_calibration, plot_level, plot_row
from pellucid.plotting.trade_off import plot_comparison, plot_trade_off
from pellucid.plotting.tree import plot_tree
from pellucid.plotting.trends import plot_trends

__all__ = [
    "plot_calibration",
    "plot_comparison",
    "plot_level",
    "plot_partition",
    "plot_profile",
    "plot_row",
    "plot_search",
    "plot_trade_off",
    "plot_tree",
    "plot_trends",
]
