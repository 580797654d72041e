"""Explain a clustering: small threshold trees, at a cost that is measured."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pellucid.cluster import (
        BSIMM,
        EMN,
        IMM,
        ExGreedy,
        ExKMC,
        ExplainableKMeans,
        ExShallow,
        ExShallowSearch,
        OptimalTree,
        RandomThresholds,
        SpEx,
    )
    from pellucid.eop import ATEOPClassifier, EOPClassifier, explain_clusters
    from pellucid.export.json import from_json
    from pellucid.export.text import export_text
    from pellucid.original_units import explain_pipeline
    from pellucid.plotting import plot_tree
    from pellucid.portable import Explanation
    from pellucid.tree import ThresholdTree
    from pellucid.xclusters import XClusters

__version__ = "0.1.0"

_HOMES = {
    "ATEOPClassifier": "eop",
    "BSIMM": "cluster",
    "EMN": "cluster",
    "EOPClassifier": "eop",
    "IMM": "cluster",
    "ExGreedy": "cluster",
    "ExplainableKMeans": "cluster",
    "ExKMC": "cluster",
    "ExShallow": "cluster",
    "ExShallowSearch": "cluster",
    "OptimalTree": "cluster",
    "RandomThresholds": "cluster",
    "SpEx": "cluster",
    "Explanation": "portable",
    "ThresholdTree": "tree",
    "XClusters": "xclusters",
    "explain_pipeline": "original_units",
    "explain_clusters": "eop",
    "export_text": "export.text",
    "from_json": "export.json",
    "plot_tree": "plotting",
}

__all__ = [
    "BSIMM",
    "EMN",
    "IMM",
    "ATEOPClassifier",
    "EOPClassifier",
    "ExGreedy",
    "ExKMC",
    "ExShallow",
    "ExShallowSearch",
    "ExplainableKMeans",
    "Explanation",
    "OptimalTree",
    "RandomThresholds",
    "SpEx",
    "ThresholdTree",
    "XClusters",
    "__version__",
    "explain_clusters",
    "explain_pipeline",
    "export_text",
    "from_json",
    "plot_tree",
]


def __getattr__(name: str) -> object:
    """Names are fetched on first use, so that the command line need not wait for scikit-learn."""
    if name in _HOMES:
        return getattr(import_module(f"pellucid.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'pellucid' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
