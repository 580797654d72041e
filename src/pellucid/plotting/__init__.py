"""Pictures; matplotlib is imported when one is drawn, not before."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pellucid.plotting.partition import plot_partition
    from pellucid.plotting.plane import plot_search
    from pellucid.plotting.profile import plot_profile
    from pellucid.plotting.regions import plot_calibration, plot_level, plot_row
    from pellucid.plotting.trade_off import plot_comparison, plot_trade_off
    from pellucid.plotting.tree import plot_tree
    from pellucid.plotting.trends import plot_trends

_HOMES = {
    "plot_calibration": "regions",
    "plot_comparison": "trade_off",
    "plot_level": "regions",
    "plot_partition": "partition",
    "plot_profile": "profile",
    "plot_row": "regions",
    "plot_search": "plane",
    "plot_trade_off": "trade_off",
    "plot_tree": "tree",
    "plot_trends": "trends",
}

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


def __getattr__(name: str) -> object:
    """Names are fetched on first use: who wants the colours alone need not wait for the rest."""
    if name in _HOMES:
        return getattr(import_module(f"pellucid.plotting.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'pellucid.plotting' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
