"""
More leaves than clusters
=========================

A cluster may have several leaves, whose rules are joined by "or". ``ExKMC`` adds leaves one by
one, each where the cost falls most. A single fit gives the trees of all sizes.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from pellucid import ExKMC
from pellucid.metrics import normalized_partition_cost

X = load_digits().data
model = ExKMC(10, n_leaves=40, random_state=0).fit(X)

leaves, costs = [], []
for tree in model.staged_trees():
    leaves.append(tree.n_leaves)
    costs.append(normalized_partition_cost(X, tree.predict(X), model.reference_labels_))

fig, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
ax.plot(leaves, costs, marker=".")
ax.axhline(1, color="grey", linestyle=":")
ax.set(xlabel="leaves", ylabel="cost compared with k-means")

# %%
# The rule of a cluster with several leaves:

print(model.explain()[0])
