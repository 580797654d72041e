"""Explanation-oriented partitioning: regions in a few columns where a classifier is right."""

from pellucid.eop._ateop import ATEOPClassifier
from pellucid.eop._classifier import EOPClassifier
from pellucid.eop.clusters import explain_clusters

__all__ = ["ATEOPClassifier", "EOPClassifier", "explain_clusters"]
