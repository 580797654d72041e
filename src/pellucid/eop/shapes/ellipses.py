"""Ellipses (in more than two columns, ellipsoids)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid._utils.texts import say
from pellucid.eop.shapes.ball_growing import best_radius, distances, grow_from_seeds
from pellucid.eop.shapes.base import Rows, ShapeFinder
from pellucid.eop.shapes.regions import Regions, short_distance, short_number


class Ellipses(Regions):
    """Ellipses, ``(x - center)ᵀ shape (x - center) <= 1``.

    Attributes
    ----------
    center : ndarray of shape (n_ellipses, dim)
    shape : ndarray of shape (n_ellipses, dim, dim)
    """

    kind = "ellipse"
    center: np.ndarray
    shape: np.ndarray
    dim: int

    def __init__(self, center: np.ndarray, shape: np.ndarray) -> None:
        self.center, self.shape = center, shape
        self.dim = center.shape[1]

    def __len__(self) -> int:
        return len(self.center)

    def which(self, P: np.ndarray) -> np.ndarray:
        """See `Regions.which`."""
        region = np.full(len(P), -1, dtype=np.int64)
        for i in range(len(self) - 1, -1, -1):
            region[distances(P, self.center[i], self.shape[i]) <= 1] = i
        return region

    def take(self, kept: np.ndarray) -> Ellipses:
        """See `Regions.take`."""
        return Ellipses(self.center[kept], self.shape[kept])

    @property
    def half_width(self) -> np.ndarray:
        """Half the width of the bounding box of each ellipse, per column."""
        return np.sqrt(np.array([np.diag(np.linalg.inv(shape)) for shape in self.shape]))

    def describe(self, names: Sequence[str]) -> list[str]:
        """See `Regions.describe`."""
        return [
            say(
                "ellipse",
                columns=[
                    f"{name} = {short_number(middle, half, name)} ± {short_distance(half, name)}"
                    for name, middle, half in zip(names, center, half_widths)
                ],
            )
            for center, half_widths in zip(self.center, self.half_width if len(self) else [])
        ]

    @property
    def costs(self) -> np.ndarray:
        """Number of columns."""
        return np.full(len(self), float(self.dim))


class EllipseFinder(ShapeFinder):
    """Find ellipses that are grown from seeds (see `grow_from_seeds`)."""

    def grow(self, rows: Rows, gains: np.ndarray, random: np.random.RandomState) -> Ellipses | None:
        """See `ShapeFinder.grow`."""
        grown = grow_from_seeds(rows, gains, random)
        return None if grown is None else Ellipses(grown[0][None], grown[1][None])

    def fit(self, region: Any, rows: Rows, gains: np.ndarray) -> Ellipses:
        """See `ShapeFinder.fit`."""
        (center, shape), value = best_radius(rows.P, gains, region.center[0], region.shape[0])
        return Ellipses(center[None], shape[None]) if value > 0 else region

    def median(self, regions: Sequence[Any]) -> Ellipses:
        """The ellipse of median size."""
        sizes = [np.linalg.det(region.shape[0]) for region in regions]
        return regions[int(np.argsort(sizes, kind="stable")[len(sizes) // 2])]

    def join(self, regions: Sequence[Any], dim: int) -> Ellipses:
        """See `ShapeFinder.join`."""
        if not regions:
            return Ellipses(np.empty((0, dim)), np.empty((0, dim, dim)))
        return Ellipses(
            *(np.concatenate([getattr(r, s) for r in regions]) for s in ("center", "shape"))
        )
