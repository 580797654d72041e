"""Explanation-oriented partitioning (EOP): decision lists of low-dimensional regions."""

from pellucid.eop._ateop import ATEOPClassifier
from pellucid.eop._classifier import EOPClassifier
from pellucid.eop.clusters import explain_clusters

__all__ = ["ATEOPClassifier", "EOPClassifier", "explain_clusters"]
