"""Plots; matplotlib is imported when the first one is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pellucid._utils.imports import lazy_attributes

if TYPE_CHECKING:  # the same names as below, so that a wrong one is an error
    from pellucid.plotting.partition import plot_partition as plot_partition
    from pellucid.plotting.profile import plot_profile as plot_profile
    from pellucid.plotting.regions import plot_calibration as plot_calibration
    from pellucid.plotting.regions import plot_level as plot_level
    from pellucid.plotting.regions import plot_levels as plot_levels
    from pellucid.plotting.regions import plot_row as plot_row
    from pellucid.plotting.regions import plot_score_map as plot_score_map
    from pellucid.plotting.rules import plot_explanations as plot_explanations
    from pellucid.plotting.rules import plot_rules as plot_rules
    from pellucid.plotting.trade_off import plot_comparison as plot_comparison
    from pellucid.plotting.trade_off import plot_trade_off as plot_trade_off
    from pellucid.plotting.tree import plot_tree as plot_tree
    from pellucid.plotting.xclusters import plot_search as plot_search
    from pellucid.plotting.xclusters import plot_trends as plot_trends
else:
    __getattr__, __dir__ = lazy_attributes(
        __name__,
        {
            "partition": "plot_partition",
            "profile": "plot_profile",
            "regions": "plot_calibration plot_level plot_levels plot_row plot_score_map",
            "rules": "plot_explanations plot_rules",
            "trade_off": "plot_comparison plot_trade_off",
            "tree": "plot_tree",
            "xclusters": "plot_search plot_trends",
        },
        requires="matplotlib",
    )
    __all__ = __dir__()
