"""Explanation-oriented partitioning (EOP): decision lists of low-dimensional regions."""

from pellucid.eop._ateop import ATEOPClassifier
from pellucid.eop._classifier import EOPClassifier
from pellucid.eop.clusters import explain_clusters
from pellucid.eop.finders import Finder, Rows, ShapeFinder
from pellucid.regions.shapes import Regions

__all__ = [
    "ATEOPClassifier",
    "EOPClassifier",
    "Finder",
    "Regions",
    "Rows",
    "ShapeFinder",
    "explain_clusters",
]
