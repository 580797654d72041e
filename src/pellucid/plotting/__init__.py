"""Plots; matplotlib is imported when the first one is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pellucid._utils.imports import lazy_attributes

if TYPE_CHECKING:
    from pellucid.plotting.partition import plot_partition
    from pellucid.plotting.profile import plot_profile
    from pellucid.plotting.regions import (
        plot_calibration,
        plot_level,
        plot_levels,
        plot_row,
        plot_score_map,
    )
    from pellucid.plotting.rules import plot_explanations, plot_rules
    from pellucid.plotting.trade_off import plot_comparison, plot_trade_off
    from pellucid.plotting.tree import plot_tree
    from pellucid.plotting.xclusters import plot_search, plot_trends

__all__ = [
    "plot_calibration",
    "plot_comparison",
    "plot_explanations",
    "plot_level",
    "plot_levels",
    "plot_partition",
    "plot_profile",
    "plot_row",
    "plot_rules",
    "plot_score_map",
    "plot_search",
    "plot_trade_off",
    "plot_tree",
    "plot_trends",
]


# Type checkers use the imports above, so that a wrong name is an error.
if not TYPE_CHECKING:
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
        requires=dict.fromkeys(__all__, "matplotlib"),
    )
