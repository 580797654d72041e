"""
Clusters of an embedding
========================

Clusters are often found in an embedding, whose axes mean nothing. The tree explains them by the
original columns. UMAP is used if it is installed (``pip install umap-learn``), otherwise t-SNE of
scikit-learn.
"""

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from pellucid import SpEx

X = load_wine(as_frame=True).data
try:
    from umap import UMAP
except ImportError:
    from sklearn.manifold import TSNE

    print("umap-learn is not installed; t-SNE is used instead")
    embedding = TSNE(random_state=0).fit_transform(scale(X))
else:
    embedding = UMAP(random_state=0, n_jobs=1).fit_transform(scale(X))

labels = KMeans(3, n_init=10, random_state=0).fit_predict(embedding)
model = SpEx().fit(X, labels)
print(model.explain())

# %%
# Left: the clusters of the embedding. Right: the clusters of the rules.

fig, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained", sharey=True)
for ax, title, found in zip(axes, ("embedding", "rules"), (labels, model.labels_)):
    ax.scatter(*embedding.T, c=found, cmap="tab10", vmax=9, s=14)
    ax.set(title=title, xticks=[], yticks=[])
