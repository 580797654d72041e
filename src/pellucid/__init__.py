"""Explain a clustering: small threshold trees, at a cost that is measured."""

from pellucid.cluster import IMM, ExGreedy, ExKMC, ExShallow
from pellucid.export.text import export_text
from pellucid.tree import ThresholdTree

__version__ = "0.1.0"

__all__ = ["IMM", "ExGreedy", "ExKMC", "ExShallow", "ThresholdTree", "__version__", "export_text"]
