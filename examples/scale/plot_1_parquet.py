"""
Parquet files larger than memory
================================

:func:`pellucid.scan` reads Parquet files in batches. Its result takes the place of X in ``fit``.
The tree is the same, bit for bit, as that of the same rows in memory. The files here are small;
``memory`` sets the limit.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import polars
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

import pellucid

X, _ = make_blobs(20_000, n_features=3, centers=4, cluster_std=1.5, random_state=1)
table = polars.DataFrame(X, schema=["temperature", "pressure", "flow"])
folder = Path(tempfile.mkdtemp())
for part in range(4):
    table[part::4].write_parquet(folder / f"{part}.parquet")

# A sample is enough for the centers of k-means.
sample = table.sample(2000, seed=0).to_numpy()
centers = KMeans(4, n_init=10, random_state=0).fit(sample).cluster_centers_

data = pellucid.scan(folder / "*.parquet", memory="200MB")
streamed = pellucid.IMM(reference=centers).fit(data)
print(streamed.explain())

# %%
# The same tree in memory:

in_memory = pellucid.IMM(reference=centers).fit(table)
print("same tree:", np.array_equal(streamed.tree_.threshold, in_memory.tree_.threshold, True))

# %%
# ``predict`` of a scan is a lazy frame: the rows with a column ``cluster``, computed when needed.

counts = streamed.predict(data).group_by("cluster").len().sort("cluster").collect()
print(counts)

# %%
fig, ax = plt.subplots(figsize=(6, 4), layout="constrained")
rows = streamed.predict(data).head(2000).collect()
ax.scatter(rows["temperature"], rows["flow"], c=rows["cluster"], cmap="tab10", vmax=9, s=6)
ax.set(xlabel="temperature", ylabel="flow")
