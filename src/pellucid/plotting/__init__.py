"""Plots; matplotlib is imported when the first one is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pellucid._utils.imports import lazy_attributes

if TYPE_CHECKING:
    from pellucid.plotting.partition import plot_partition
    from pellucid.plotting.profile import plot_profile
    from pellucid.plotting.regions import plot_calibration, plot_level, plot_row, plot_score_map
    from pellucid.plotting.trade_off import plot_comparison, plot_trade_off
    from pellucid.plotting.tree import plot_tree
    from pellucid.plotting.xclusters import plot_search, plot_trends

__all__ = [
    "plot_calibration",
    "plot_comparison",
    "plot_level",
    "plot_partition",
    "plot_profile",
    "plot_row",
    "plot_score_map",
    "plot_search",
    "plot_trade_off",
    "plot_tree",
    "plot_trends",
]

_MODULES = {
    "plot_calibration": "regions",
    "plot_comparison": "trade_off",
    "plot_level": "regions",
    "plot_partition": "partition",
    "plot_profile": "profile",
    "plot_row": "regions",
    "plot_score_map": "regions",
    "plot_search": "xclusters",
    "plot_trade_off": "trade_off",
    "plot_tree": "tree",
    "plot_trends": "xclusters",
}

# Type checkers use the imports above, so that a wrong name is an error.
if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_attributes(
        __name__, _MODULES, requires=dict.fromkeys(_MODULES, "matplotlib")
    )
