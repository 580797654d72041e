"""
Where is each cluster?
======================

:func:`pellucid.explain_clusters` describes given clusters by regions in one or two columns. In no
region, more than ``max_error`` of the rows are of other clusters.
"""

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.preprocessing import scale

from pellucid import explain_clusters
from pellucid.plotting import plot_level

X = load_iris(as_frame=True).data
labels = KMeans(3, n_init=10, random_state=0).fit_predict(scale(X))
found = explain_clusters(X, labels)
print(found)

# %%
# The first level of regions:

fig, ax = plt.subplots(figsize=(6, 4.2), layout="constrained")
plot_level(found.model, X, labels, ax=ax)
