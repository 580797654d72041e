"""
Sensor series
=============

Daily load curves of machines, and what is known about each machine. ``XClusters`` groups the
curves such that a small tree on the properties of the machines explains the groups.
"""

import numpy as np
import pandas as pd

from pellucid import XClusters
from pellucid.plotting import plot_trends

random = np.random.default_rng(0)
n, hours = 90, np.arange(24)
machines = pd.DataFrame(
    {
        "hall": random.choice(["north", "south"], n),
        "shift": random.choice(["day", "night"], n),
        "age": random.integers(1, 20, n),
    }
)
peak = np.where(machines["shift"] == "day", 12, 23)
distance = np.abs((hours - peak[:, None] + 12) % 24 - 12)
load = np.exp(-((distance / 4) ** 2)) + 0.05 * random.normal(size=(n, 24))
load += np.where((machines["shift"] == "day") & (machines["age"] > 10), 0.6, 0)[:, None]

model = XClusters(k_range=(2, 5), random_state=0).fit(load, explanation=machines)
print(model.explain())

# %%
# The trend of each cluster, with its rule:

plot_trends(model, load, times=hours, label="load")
