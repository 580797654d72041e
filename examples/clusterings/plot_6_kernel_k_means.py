"""
Kernel k-means: two rings
=========================

k-means cannot separate two rings, whose means are at one place. It can in the features of a kernel,
which nobody can read. ``fit(X, space=Z)`` asks about the columns of X, and measures the cost in the
space Z of these features.
"""

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.datasets import make_circles
from sklearn.kernel_approximation import Nystroem

from pellucid import ExplainableKMeans
from pellucid.plotting import plot_partition

rings, _ = make_circles(600, factor=0.35, noise=0.06, random_state=0)
X = pd.DataFrame(rings.round(2), columns=["east", "north"])
Z = Nystroem(gamma=4, n_components=60, random_state=0).fit_transform(rings)
kernel_k_means = KMeans(2, n_init=10, random_state=0).fit(Z)

model = ExplainableKMeans(n_leaves=5, reference=kernel_k_means).fit(X, space=Z)
print(model.explain())
cost = model.inertia_ / model.reference_inertia_
kept = (model.labels_ == kernel_k_means.labels_).mean()
print(f"cost in the space {cost:.3f} times that of kernel k-means; {kept:.1%} of the rows kept")

# %%
# Left: k-means on the columns. Right: the tree for kernel k-means, a box around the inner ring.

plain = ExplainableKMeans(2, random_state=0).fit(X)
fig, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained", sharey=True)
for ax, found, title in zip(axes, (plain, model), ("k-means on the columns", "kernel k-means")):
    plot_partition(found, X, features=(0, 1), ax=ax)
    ax.set_title(title)
