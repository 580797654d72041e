"""Pictures of trees and of regions; matplotlib is imported when one is drawn, not before."""

from pellucid.plotting.regions import plot_calibration, plot_level, plot_row
from pellucid.plotting.tree import plot_tree

__all__ = ["plot_calibration", "plot_level", "plot_row", "plot_tree"]
