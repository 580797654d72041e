"""
k-medians against outliers
==========================

Squared distances give far rows much weight. ``objective="kmedians"`` uses absolute differences,
both for the reference and for the tree.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from pellucid import ExGreedy
from pellucid.plotting import plot_partition

X, _ = make_blobs([120, 120, 120], centers=[[0, 0], [6, 0], [3, 5]], random_state=0)
X = np.vstack([X, np.random.default_rng(0).normal([38, 3], 2, (12, 2))])

fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
for ax, objective in zip(axes, ("kmeans", "kmedians")):
    model = ExGreedy(3, objective=objective, random_state=0).fit(X)
    plot_partition(model, X, features=(0, 1), ax=ax, feature_names=["x", "y"])
    ax.set_title(objective)
    print(f"{objective}: rows per cluster {np.bincount(model.labels_).tolist()}")
