"""
Labels of any origin
====================

Gaussian mixtures, agglomerative and spectral clustering, explained by the same call. The labels
need not be numbers.
"""

import matplotlib.pyplot as plt
from sklearn.cluster import AgglomerativeClustering, SpectralClustering
from sklearn.datasets import load_iris
from sklearn.mixture import GaussianMixture

from pellucid import SpEx
from pellucid.metrics import reference_agreement

iris = load_iris(as_frame=True)
X = iris.data
clusterings = {
    "Gaussian mixture": GaussianMixture(3, random_state=0).fit_predict(X),
    "agglomerative": AgglomerativeClustering(3).fit_predict(X),
    "spectral": SpectralClustering(3, random_state=0).fit_predict(X),
    "species": iris.target_names[iris.target],
}
agreement = {}
for name, labels in clusterings.items():
    model = SpEx().fit(X, labels)
    agreement[name] = 100 * reference_agreement(model.labels_, labels)

# %%
# How many rows have the same cluster as before, with one leaf per cluster?

fig, ax = plt.subplots(figsize=(6, 2.8), layout="constrained")
bars = ax.barh(list(agreement), list(agreement.values()))
ax.bar_label(bars, fmt="%.1f %%", padding=3)
ax.set(xlabel="rows with the same cluster, %", xlim=(0, 115))
ax.invert_yaxis()

# %%
# The rules of the last one:

print(model.explain())
