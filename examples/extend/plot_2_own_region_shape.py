"""
An own region shape
===================

``EOPClassifier`` finds boxes, polyhedra, ellipses and neighborhoods. A shape of your own is a
class of regions and a search for them; calibration, levels, prediction and explanation stay the
same. Here regions are discs.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from pellucid import EOPClassifier
from pellucid.eop import Regions, ShapeFinder


class Discs(Regions):
    """Rows whose distance from a center is at most a radius."""

    kind = "disc"

    def __init__(self, centers, radii, dim):
        self.centers, self.radii = np.reshape(centers, (-1, dim)), np.atleast_1d(radii)
        self.dim = dim

    def __len__(self):
        return len(self.centers)

    def which(self, P):
        """Index of the first disc that contains each row, or -1."""
        if not len(self):
            return np.full(len(P), -1)
        inside = np.linalg.norm(P[:, None] - self.centers, axis=2) <= self.radii
        return np.where(inside.any(axis=1), inside.argmax(axis=1), -1)

    def take(self, kept):
        """Some of the discs."""
        return Discs(self.centers[kept], self.radii[kept], self.dim)

    def describe(self, names):
        """Text of each disc."""
        return [
            f"within {radius:.2g} of ({', '.join(f'{n} = {c:.2g}' for n, c in zip(names, center))})"
            for center, radius in zip(self.centers, self.radii)
        ]

    @property
    def costs(self):
        """Complexity of the test: one per column."""
        return np.full(len(self), float(self.dim))


class DiscFinder(ShapeFinder):
    """Tries discs around some rows, and the best radius of each."""

    def grow(self, rows, gains, random):
        """A disc with a large surplus, or None."""
        seeds = random.permutation(np.flatnonzero(gains > 0))[:40]
        discs = [self._best_radius(rows.P[seed], rows.P, gains) for seed in seeds]
        surplus, disc = max(discs, key=lambda pair: pair[0], default=(0, None))
        return disc if surplus > 0 else None

    def fit(self, region, rows, gains):
        """The same center with the best radius."""
        return self._best_radius(region.centers[0], rows.P, gains)[1]

    def join(self, regions, dim):
        """Several discs as one object."""
        centers = [region.centers[0] for region in regions]
        return Discs(centers, [region.radii[0] for region in regions], dim)

    @staticmethod
    def _best_radius(center, P, gains):
        distances = np.linalg.norm(P - center, axis=1)
        order = distances.argsort(kind="stable")
        sums = gains[order].cumsum()
        best = sums.argmax()
        return sums[best], Discs(center, distances[order[best]], P.shape[1])


X, y = make_blobs(300, centers=[[0, 0], [4, 0], [2, 3]], cluster_std=0.8, random_state=0)
model = EOPClassifier(regions=DiscFinder, max_levels=3, random_state=0).fit(X, y)
print(model.explain())

# %%
fig, ax = plt.subplots(figsize=(6, 4.6), layout="constrained")
ax.scatter(*X.T, c=y, cmap="tab10", vmax=9, s=12)
for number, level in enumerate(model.levels_):
    if len(level.features) == 2:
        for center, radius in zip(level.regions.centers, level.regions.radii):
            ax.add_patch(plt.Circle(center, radius, fill=False, color=f"C{number + 3}"))
ax.set(xlabel="x0", ylabel="x1", aspect="equal", title="discs of all levels, one color per level")
