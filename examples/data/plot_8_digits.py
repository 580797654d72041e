"""
Which pixels decide?
====================

The tree of the digits data compares single pixels with thresholds. The importances say where in
the image the clusters differ.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from pellucid import ExShallow

X = load_digits(as_frame=True).data
model = ExShallow(10, random_state=0).fit(X)

fig, axes = plt.subplots(2, 6, figsize=(10, 3.8), layout="constrained")
axes[0, 0].imshow(model.feature_importances_.reshape(8, 8), cmap="viridis")
axes[0, 0].set_title("importance", fontsize=9)
for ax in axes.flat:
    ax.axis("off")
for cluster, ax in enumerate([*axes[0, 1:], *axes[1, :5]]):
    ax.imshow(model.cluster_centers_[cluster].reshape(8, 8), cmap="gray_r")
    ax.set_title(f"cluster {cluster}", fontsize=9)

# %%
# The rule of the first cluster; ``pixel_2_5`` is in row 2 and column 5.

print(model.explain()[0])
