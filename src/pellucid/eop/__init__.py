"""Explanation-oriented partitioning: regions in a few columns where a classifier is right."""

from pellucid.eop._classifier import EOPClassifier

__all__ = ["EOPClassifier"]
