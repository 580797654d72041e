"""
Every plot
==========

Each plot of :mod:`pellucid.plotting` beside the line that draws it.
"""

from sklearn.cluster import KMeans
from sklearn.datasets import load_wine

import pellucid
from pellucid import plotting
from pellucid.datasets import make_card_trends, make_three_features

wine = load_wine(as_frame=True).data
standardized = (wine - wine.mean()) / wine.std()
columns = ["alcohol", "flavanoids", "color_intensity", "proline"]
X = wine[columns]
labels = KMeans(4, n_init=10, random_state=0).fit_predict(standardized[columns])
model = pellucid.ExplainableKMeans(random_state=0).fit(X, labels)

# %%
# The tree, with the distribution of each column in the rows that reach the question
# ----------------------------------------------------------------------------------
plotting.plot_tree(model, X)

# %%
# Two columns, with the thresholds of the tree
# --------------------------------------------
plotting.plot_partition(model, X)

# %%
# How each cluster differs from the other rows
# --------------------------------------------
plotting.plot_profile(model, X)

# %%
# One cluster
# -----------
plotting.plot_profile(model, X, cluster=0)

# %%
# Cost against the length of the rules
# ------------------------------------
path = pellucid.ExShallow(6, random_state=0).path(standardized)
plotting.plot_trade_off(path)

# %%
# Several methods
# ---------------
methods = (
    pellucid.IMM,
    pellucid.ExShallow,
    pellucid.ExGreedy,
    pellucid.ExplainableKMeans,
)
models = [method(6, random_state=0).fit(standardized) for method in methods]
plotting.plot_comparison(models)

# %%
# The rules of a rule set
# -----------------------
plotting.plot_rules(pellucid.RuleSet().fit(X, labels))

# %%
# Trees, regions and rules side by side
# -------------------------------------
tree = pellucid.ExplainableKMeans(random_state=0)
kinds = {"tree": tree, "rules": pellucid.RuleSet()}
plotting.plot_explanations(pellucid.compare_explanations(X, labels, kinds))

# %%
# All levels of a decision list of regions in one figure
# ------------------------------------------------------
P, y = make_three_features(300, random_state=0)
regions = pellucid.EOPClassifier("linear_svm", random_state=0)
regions.fit(P, y)
axes = plotting.plot_levels(regions, P, y)

# %%
# One level, and the level that answers a row
# -------------------------------------------
plotting.plot_level(regions, P, y, level=0)
plotting.plot_row(regions, P[7], P, y)

# %%
# Regions before and after calibration
# ------------------------------------
axes = plotting.plot_calibration(regions, P, y)

# %%
# The scores of nonparametric regions
# -----------------------------------
scored = pellucid.EOPClassifier("linear_svm", regions="nonparametric", random_state=0)
plotting.plot_score_map(scored.fit(P, y), P, y)

# %%
# Clusters of series beside their rules
# -------------------------------------
card = make_card_trends(60, random_state=0)
trends = pellucid.XClusters(k_range=(3, 5), accuracy_distance="euclidean")
trends.fit(card.series, explanation=card.explanation)
plotting.plot_trends(trends, card.series, times=card.times, label="spending")

# %%
# The search for these clusters
# -----------------------------
plotting.plot_search(trends)
