"""
The regions of an image
=======================

The pixels of a photograph, clustered by color and position. The rules say in plain numbers what
the regions are: a large share of blue is the sky.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.datasets import load_sample_image

from pellucid import ExShallow

image = load_sample_image("china.jpg")[::8, ::8]
height, width = image.shape[:2]
y = np.repeat(np.arange(height), width)
pixels = pd.DataFrame(
    {
        "from_top": y / height,
        "red": image[..., 0].ravel() / 255,
        "green": image[..., 1].ravel() / 255,
        "blue": image[..., 2].ravel() / 255,
    }
)
kmeans = KMeans(5, n_init=5, random_state=0).fit(pixels)
model = ExShallow(reference=kmeans).fit(pixels)
print(model.explain())

# %%
# Every region has the mean color of its pixels.

fig, axes = plt.subplots(1, 3, figsize=(12, 3), layout="constrained")
colors = pixels[["red", "green", "blue"]].groupby(model.labels_).mean().to_numpy()
axes[0].imshow(image)
axes[1].imshow(colors[model.labels_].reshape(height, width, 3))
axes[2].imshow(model.labels_.reshape(height, width), cmap="tab10", vmax=9)
for ax, title in zip(axes, ("image", "mean color of the region", "region")):
    ax.set_title(title)
    ax.axis("off")
