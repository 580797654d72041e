"""
HDBSCAN with noise
==================

HDBSCAN finds clusters of any shape and labels the rows between them -1. ``SpEx`` needs only the
labels. With ``noise="drop"``, the tree is grown without the noise; by default, noise is one more
group to describe.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import HDBSCAN
from sklearn.datasets import make_moons

from pellucid import SpEx
from pellucid.plotting import plot_partition

X, _ = make_moons(400, noise=0.06, random_state=0)
X = np.vstack([X, np.random.default_rng(0).uniform([-1.5, -1], [2.5, 1.5], (60, 2))])
labels = HDBSCAN(min_cluster_size=30, copy=True).fit_predict(X)
print(f"{np.count_nonzero(labels == -1)} of {len(X)} rows are noise")

model = SpEx(n_leaves=6, noise="drop").fit(X, labels)
print(model.explain())

# %%
# Two moons need more than one box each, so the tree has six leaves.

fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
colors = np.array(["C0", "C1", "C2", "C3", "lightgrey"])
axes[0].scatter(*X.T, c=colors[labels], s=10)
axes[0].set_title("HDBSCAN, noise in grey")
plot_partition(model, X, features=(0, 1), ax=axes[1])
axes[1].set_title("tree")
