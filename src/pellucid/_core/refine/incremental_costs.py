"""Costs of all rows to centers that move a little, over and over."""

from __future__ import annotations

from copy import copy
from fractions import Fraction

import numpy as np

from pellucid._core.data.dataset import Dataset


class MovingCosts:
    """The weighted squared distance of every row to every center, in whole units.

    Only what has changed is worked out anew. The unit stays the same as long as it can.

    Parameters
    ----------
    data : Dataset
    centers : ndarray of shape (n_clusters, n_features)

    Attributes
    ----------
    units : ndarray of shape (n_samples, n_clusters), int64
    centers : ndarray of shape (n_clusters, n_features)
    """

    def __init__(self, data: Dataset, centers: np.ndarray) -> None:
        self.data, self.centers = data, centers
        self.origin = centers.mean(axis=0)
        self.unit = self._least_unit(centers)
        self.units, _ = data.costs(centers, self.unit)

    def copy(self) -> MovingCosts:
        """Costs that can be moved without moving these."""
        other = copy(self)
        other.units = self.units.copy()
        return other

    def move(self, centers: np.ndarray) -> None:
        """Put the centers elsewhere."""
        least = self._least_unit(centers)
        changed = np.flatnonzero((centers != self.centers).any(axis=1))
        self.centers = centers
        if least > self.unit or 16 * least < self.unit:
            self.unit, changed = least, np.arange(len(centers))
        if len(changed):
            units, _ = self.data.costs(centers[changed], unit=self.unit)
            self.units[:, changed] = units

    def worth(self, units: int) -> Fraction:
        """What a number of units is worth, exactly."""
        return int(units) * Fraction(self.unit)

    def _least_unit(self, centers: np.ndarray) -> float:
        # Twice as much as must be, so that the centers have some room.
        return 2 * self.data.cost_unit(centers, self.origin)
