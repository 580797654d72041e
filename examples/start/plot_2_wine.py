"""
Wines: rules, tree and profile
==============================

The wines are clustered by k-means on standardized columns. The tree explains these clusters in
the units of the table.
"""

from sklearn.cluster import KMeans
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from pellucid import SpEx
from pellucid.plotting import plot_profile

X = load_wine(as_frame=True).data
labels = KMeans(3, n_init=10, random_state=0).fit_predict(scale(X))
model = SpEx().fit(X, labels)
print(model.explain())

# %%
# The tree. "Yes" is always on the left.

model.plot()

# %%
# What distinguishes the rows of one cluster from all others? The profile answers it also for
# columns that the tree does not use.

plot_profile(model, X, cluster=0)

# %%
# A tree of three leaves does not give every row its cluster. The model counts the others.

print(f"rows in another cluster than with k-means: {model.mistakes_:.0f} of {len(X)}")

# %%
# Why are these wines in their clusters?

print(model.explain(X[100:103]))
