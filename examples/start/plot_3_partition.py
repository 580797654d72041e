"""
The partition of the plane
==========================

Every leaf of a threshold tree is a box. In two columns, the boxes can be drawn beside the
clusters of k-means.
"""

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from pellucid import ExplainableKMeans
from pellucid.plotting import plot_partition

X, _ = make_blobs(500, centers=5, cluster_std=1.3, random_state=3)
kmeans = KMeans(5, n_init=10, random_state=0).fit(X)
model = ExplainableKMeans(reference=kmeans, random_state=0).fit(X)

fig, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained", sharey=True)
axes[0].scatter(*X.T, c=kmeans.labels_, cmap="tab10", vmax=9, s=10)
axes[0].set_title("k-means")
plot_partition(model, X, features=(0, 1), feature_names=["x", "y"], ax=axes[1])
axes[1].set_title(f"tree, cost compared with k-means {model.score(X) / kmeans.score(X):.3f}")

# %%
# The same as rules:

print(model.explain())
