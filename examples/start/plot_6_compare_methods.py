"""
All methods side by side
========================

The same reference clustering, explained by several methods. Lower left is better: a low cost, and
few conditions per row.
"""

from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

import pellucid
from pellucid.baselines import CARTExplainer
from pellucid.plotting import plot_comparison

X = load_digits().data
kmeans = KMeans(10, n_init=10, random_state=0).fit(X)
models = {
    "IMM": pellucid.IMM(),
    "EMN": pellucid.EMN(),
    "BSIMM": pellucid.BSIMM(),
    "ExGreedy": pellucid.ExGreedy(),
    "ExShallow": pellucid.ExShallow(),
    "SpEx": pellucid.SpEx(),
    "CART": CARTExplainer(),
    "ExplainableKMeans": pellucid.ExplainableKMeans(effort="fast"),
}
for model in models.values():
    model.set_params(reference=kmeans, random_state=0).fit(X)

plot_comparison(models, reference="k-means")

# %%
# The depth of the trees differs as well.

for name, model in models.items():
    print(f"{name:18} cost {model.inertia_ / kmeans.inertia_:.3f}, depth {model.get_depth()}")
