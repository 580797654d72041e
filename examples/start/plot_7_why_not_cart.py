"""
Why not CART?
=============

CART counts rows with a wrong label. It does not see how far they are from their cluster.
``make_synthetic_1`` is the data set of the ExKMC paper for this: few rows far away decide the
cost, and CART does not separate them.
"""

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans

from pellucid import ExKMC
from pellucid.baselines import CARTExplainer
from pellucid.datasets import make_synthetic_1

X, labels = make_synthetic_1(1000, 200, n_flipped=40, random_state=0)
kmeans = KMeans(3, n_init=10, random_state=0).fit(X)

fig, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
for name, Method in (("ExKMC", ExKMC), ("CART", CARTExplainer)):
    costs = {}
    for n_leaves in (3, 4, 6, 8, 10, 12):
        model = Method(n_leaves=n_leaves, reference=kmeans, random_state=0).fit(X)
        costs[model.n_leaves_] = model.inertia_ / model.reference_inertia_
    ax.plot(list(costs), list(costs.values()), marker="o", label=name)
    print(name, {leaves: round(float(cost), 2) for leaves, cost in costs.items()})
ax.set(xlabel="leaves", ylabel="cost compared with k-means", ylim=0)
ax.legend()
