"""Explain a clustering by a small threshold tree.

Start here
    ExplainableKMeans (the cheapest tree that several methods find), ExShallow (short
    explanations), ExKMC (more leaves than clusters).
Methods of papers
    IMM, EMN, BSIMM, ExGreedy, ExShallowSearch, RandomThresholds, SpEx; OptimalTree (exact
    search). BeamSearch is a setting of several of them.
Clusters made to be explained, and k-medoids
    XClusters, KMedoids.
Regions in place of trees
    EOPClassifier, ATEOPClassifier, explain_clusters.
Rules for a part of the rows
    RuleSet; compare_explanations (trees, regions and rules by the same measures).
Data larger than memory
    scan.
Container images
    warm_up.
Results
    Explanation, ThresholdTree, explain_pipeline, export_text, from_json, from_sklearn,
    plot_tree; stability (how often a tree returns on other draws of the rows).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pellucid._utils.imports import lazy_attributes
from pellucid._version import __version__
from pellucid.methods import METHODS

if TYPE_CHECKING:
    from pellucid._core.growers.beam import BeamSearch
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
    from pellucid.cluster._pipelines import explain_pipeline
    from pellucid.eop import ATEOPClassifier, EOPClassifier, explain_clusters
    from pellucid.explanation.explanation import Explanation
    from pellucid.export.flowcharts import export_text
    from pellucid.export.json import from_json
    from pellucid.export.sklearn import from_sklearn
    from pellucid.first_use import warm_up
    from pellucid.plotting import plot_tree
    from pellucid.resampling.comparison import compare_explanations
    from pellucid.resampling.draws import stability
    from pellucid.resampling.result import Stability
    from pellucid.rules.rule_set import RuleSet
    from pellucid.scale.scan import scan
    from pellucid.table_explainer.explainer import explain
    from pellucid.tree import ThresholdTree
    from pellucid.xclusters._kmedoids import KMedoids
    from pellucid.xclusters._xclusters import XClusters

__all__ = [
    "BSIMM",
    "EMN",
    "IMM",
    "ATEOPClassifier",
    "BeamSearch",
    "EOPClassifier",
    "ExGreedy",
    "ExKMC",
    "ExShallow",
    "ExShallowSearch",
    "ExplainableKMeans",
    "Explanation",
    "KMedoids",
    "OptimalTree",
    "RandomThresholds",
    "RuleSet",
    "SpEx",
    "Stability",
    "ThresholdTree",
    "XClusters",
    "__version__",
    "compare_explanations",
    "explain",
    "explain_clusters",
    "explain_pipeline",
    "export_text",
    "from_json",
    "from_sklearn",
    "plot_tree",
    "scan",
    "stability",
    "warm_up",
]

# Type checkers use the imports above, so that a wrong name is an error.
if not TYPE_CHECKING:
    __getattr__ = lazy_attributes(
        __name__,
        {
            "_core.growers.beam": "BeamSearch",
            "cluster": " ".join(method.name for method in METHODS),
            "eop": "ATEOPClassifier EOPClassifier explain_clusters",
            "explanation.explanation": "Explanation",
            "cluster._pipelines": "explain_pipeline",
            "export": "export_text from_json from_sklearn",
            "first_use": "warm_up",
            "plotting": "plot_tree",
            "resampling.comparison": "compare_explanations",
            "resampling.draws": "stability",
            "resampling.result": "Stability",
            "rules.rule_set": "RuleSet",
            "scale.scan": "scan",
            "table_explainer.explainer": "explain",
            "tree": "ThresholdTree",
            "xclusters": "KMedoids XClusters",
        },
        requires={"explain": "polars"},
    )[0]


def __dir__() -> list[str]:
    return sorted(__all__)
