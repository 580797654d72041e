"""
Is there a better tree?
=======================

``OptimalTree`` searches all trees with one leaf per cluster by branch and bound, and proves that
no other has fewer mistakes. With ``time_limit`` it stops early and states the gap.
"""

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from pellucid import BSIMM, IMM, OptimalTree

mistakes = {"IMM": [], "BSIMM": [], "OptimalTree": []}
for seed in range(8):
    X, _ = make_blobs(300, n_features=4, centers=6, cluster_std=2.5, random_state=seed)
    kmeans = KMeans(6, n_init=10, random_state=0).fit(X)
    for Method in (IMM, BSIMM, OptimalTree):
        mistakes[Method.__name__].append(Method(reference=kmeans).fit(X).mistakes_)

# %%
# Rows in another cluster than with k-means, on eight random data sets:

fig, ax = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
for (name, numbers), shift in zip(mistakes.items(), (-0.25, 0, 0.25)):
    ax.bar([i + shift for i in range(8)], numbers, width=0.25, label=name)
    print(f"{name}: {sum(numbers):.0f} mistakes in all")
ax.set(xlabel="data set", ylabel="mistakes")
ax.legend()
