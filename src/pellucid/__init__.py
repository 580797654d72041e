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
from pellucid.methods import METHODS

if TYPE_CHECKING:  # the same names as below, so that a wrong one is an error
    from pellucid._core.growers.beam import BeamSearch as BeamSearch
    from pellucid._version import __version__ as __version__
    from pellucid.cluster import BSIMM as BSIMM
    from pellucid.cluster import EMN as EMN
    from pellucid.cluster import IMM as IMM
    from pellucid.cluster import ExGreedy as ExGreedy
    from pellucid.cluster import ExKMC as ExKMC
    from pellucid.cluster import ExplainableKMeans as ExplainableKMeans
    from pellucid.cluster import ExShallow as ExShallow
    from pellucid.cluster import ExShallowSearch as ExShallowSearch
    from pellucid.cluster import OptimalTree as OptimalTree
    from pellucid.cluster import RandomThresholds as RandomThresholds
    from pellucid.cluster import SpEx as SpEx
    from pellucid.cluster._pipelines import explain_pipeline as explain_pipeline
    from pellucid.eop import ATEOPClassifier as ATEOPClassifier
    from pellucid.eop import EOPClassifier as EOPClassifier
    from pellucid.eop import explain_clusters as explain_clusters
    from pellucid.explanation.explanation import Explanation as Explanation
    from pellucid.export.flowcharts import export_text as export_text
    from pellucid.export.json import from_json as from_json
    from pellucid.export.sklearn import from_sklearn as from_sklearn
    from pellucid.first_use import warm_up as warm_up
    from pellucid.plotting import plot_tree as plot_tree
    from pellucid.resampling.comparison import compare_explanations as compare_explanations
    from pellucid.resampling.draws import stability as stability
    from pellucid.resampling.result import Stability as Stability
    from pellucid.rules.rule_set import RuleSet as RuleSet
    from pellucid.scale.scan import scan as scan
    from pellucid.table_explainer.explain import explain as explain
    from pellucid.tree import ThresholdTree as ThresholdTree
    from pellucid.xclusters._kmedoids import KMedoids as KMedoids
    from pellucid.xclusters._xclusters import XClusters as XClusters
else:
    __getattr__, __dir__ = lazy_attributes(
        __name__,
        {
            "_core.growers.beam": "BeamSearch",
            "cluster": " ".join(method.name for method in METHODS),
            "eop": "ATEOPClassifier EOPClassifier explain_clusters",
            "explanation.explanation": "Explanation",
            "_version": "__version__",
            "cluster._pipelines": "explain_pipeline",
            "export": "export_text from_json from_sklearn",
            "first_use": "warm_up",
            "plotting": "plot_tree",
            "resampling.comparison": "compare_explanations",
            "resampling.draws": "stability",
            "resampling.result": "Stability",
            "rules.rule_set": "RuleSet",
            "scale.scan": "scan",
            "table_explainer.explain": "explain",
            "tree": "ThresholdTree",
            "xclusters": "KMedoids XClusters",
        },
        requires={"explain": "polars"},
    )
    __all__ = __dir__()
