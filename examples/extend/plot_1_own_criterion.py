"""
An own criterion
================

A criterion rates splits; a grower decides which node is split next. Here a split is rated by the
gap between two neighbouring centers, relative to the spread of the rows around them: wide gaps
come first. The engine does the rest: rules, exports, plots and scikit-learn's interface. The
modules in ``pellucid._core`` are private and may change.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from pellucid import IMM
from pellucid._core.criteria.base import CenterSplitCriterion
from pellucid._core.criteria.column_search import Split
from pellucid._core.growers import grow
from pellucid.plotting import plot_partition


class WidestGap(CenterSplitCriterion):
    """The split in the middle of the widest gap between centers, in units of the spread."""

    def best_center_splits(self, node, features, n):
        """The n best splits of a node, the best first."""
        problem, splits = self.problem, []
        for feature in features.tolist():
            spread = np.std(problem.values(feature, node.rows.active)) or 1.0
            centers = np.unique(problem.centers[node.rows.centers, feature])
            for low, high in zip(centers, centers[1:]):
                splits.append(Split(-(high - low) / spread, feature, (low + high) / 2))
        return sorted(splits)[:n]


class WidestGapTree(IMM):
    """IMM with another criterion."""

    def _grow(self, problem, progress):
        return grow(WidestGap(problem), self.search, self.threshold_style, progress)


X, _ = make_blobs(400, centers=6, cluster_std=1.4, random_state=5)
kmeans = KMeans(6, n_init=10, random_state=0).fit(X)

# %%
fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
for ax, Method in zip(axes, (IMM, WidestGapTree)):
    model = Method(reference=kmeans).fit(X)
    plot_partition(model, X, features=(0, 1), ax=ax, feature_names=["x", "y"])
    cost = model.inertia_ / model.reference_inertia_
    ax.set_title(f"{Method.__name__}: cost {cost:.3f}, depth {model.get_depth()}")

# %%
# The rules of the own method:

print(model.explain())
