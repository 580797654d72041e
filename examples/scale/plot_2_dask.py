"""
Dask
====

A Dask DataFrame is a source like any other. Every partition is a batch, and the current scheduler
does the work. It needs ``pip install "pellucid[dask]"``.
"""

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine

import pellucid

columns = ["alcohol", "flavanoids", "proline"]
wine = load_wine(as_frame=True).data[columns]
kmeans = KMeans(3, n_init=10, random_state=0).fit(wine.to_numpy())

try:
    import dask.dataframe as dd
except ImportError:
    print('Dask is not installed (pip install "pellucid[dask]"); the rows are read as batches')
    source = lambda: (wine[start : start + 60] for start in range(0, len(wine), 60))  # noqa: E731
else:
    source = dd.from_pandas(wine, npartitions=3)

data = pellucid.scan(source, columns=columns)
model = pellucid.ExShallow(reference=kmeans.cluster_centers_).fit(data)
print(model.explain())

# %%
# The tree, as if all rows had been in memory:

model.plot()

# %%
# The clusters of all rows:

sizes = pd.Series(model.predict(wine)).value_counts().sort_index()
fig, ax = plt.subplots(figsize=(5, 3), layout="constrained")
sizes.plot.bar(xlabel="cluster", ylabel="rows", rot=0, ax=ax)
