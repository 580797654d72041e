"""
Regions in scatter plots
========================

``EOPClassifier`` describes classes by regions in one or two columns, level by level. The first
region that contains a row gives the answer.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from pellucid import EOPClassifier
from pellucid.plotting import plot_level

wine = load_wine(as_frame=True)
X, y = wine.data, wine.target_names[wine.target]
model = EOPClassifier(random_state=0).fit(X, y)
print(model.explain())

# %%
# Rows of later levels are grey, errors are crossed out.

fig, axes = plt.subplots(1, model.n_levels_, figsize=(10, 4), layout="constrained")
for level, ax in enumerate(axes):
    plot_level(model, X, y, level=level, ax=ax)
