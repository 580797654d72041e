"""Pictures of trees; matplotlib is imported when one is drawn, not before."""

from pellucid.plotting.tree import plot_tree

__all__ = ["plot_tree"]
