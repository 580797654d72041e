"""Pictures of trees, trends and searches; matplotlib is imported when one is drawn, not before."""

from pellucid.plotting.plane import plot_search
from pellucid.plotting.tree import plot_tree
from pellucid.plotting.trends import plot_trends

__all__ = ["plot_search", "plot_tree", "plot_trends"]
