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

from pellucid._utils.imports import lazy_attributes

__getattr__, __dir__ = lazy_attributes(__name__, requires={"explain": "polars"})
__all__ = __dir__()
