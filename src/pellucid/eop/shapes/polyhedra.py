"""Convex polyhedra."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid._utils.texts import say
from pellucid.eop.shapes.ball_growing import GROWTH_FACTORS, distances, grow_from_seeds
from pellucid.eop.shapes.base import Rows, ShapeFinder
from pellucid.eop.shapes.regions import Regions, describe_extents

_FACTORS = np.array([0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.4])
"""Scale factors that are tried when a polyhedron is recalibrated."""


class Polyhedra(Regions):
    """Convex polyhedra.

    Attributes
    ----------
    vertices : list of ndarray of shape (n_vertices, dim)
        Vertices; with two columns, in order along the boundary.
    equations : list of ndarray of shape (n_facets, dim + 1)
        Facets as (normal, offset), with ``normal @ x + offset <= 0`` inside.
    """

    kind = "polyhedron"
    vertices: list[np.ndarray]
    equations: list[np.ndarray]
    dim: int

    def __init__(self, vertices: list[np.ndarray], equations: list[np.ndarray], dim: int) -> None:
        self.vertices, self.equations, self.dim = vertices, equations, dim

    @classmethod
    def around(cls, P: np.ndarray) -> Polyhedra | None:
        """The convex hull of rows; None if they lie in a lower-dimensional subspace."""
        from scipy.spatial import ConvexHull, QhullError

        dim = P.shape[1]
        if dim == 1:
            low, high = P.min(), P.max()
            equations = np.array([[-1.0, low], [1.0, -high]])
            return cls([np.array([[low], [high]])], [equations], 1) if low < high else None
        extent = P.max(axis=0) - P.min(axis=0)
        if len(P) <= dim or not (extent > 0).all():
            return None
        try:
            # Columns may have very different scales.
            hull = ConvexHull((P - P.min(axis=0)) / extent)
        except QhullError:
            return None
        equations = np.unique(np.round(hull.equations, 12), axis=0)
        normals = equations[:, :-1] / extent
        offsets = equations[:, -1] - normals @ P.min(axis=0)
        return cls([P[hull.vertices]], [np.column_stack([normals, offsets])], dim)

    def __len__(self) -> int:
        return len(self.vertices)

    def tolerance(self, i: int) -> np.ndarray:
        """Tolerance of each facet: vertices lie on their facets up to rounding errors."""
        products = self.vertices[i] @ self.equations[i][:, :-1].T
        return 1e-9 * np.abs(products).max(axis=0) + 1e-12

    def which(self, P: np.ndarray) -> np.ndarray:
        """See `Regions.which`."""
        region = np.full(len(P), -1, dtype=np.int64)
        for i in range(len(self) - 1, -1, -1):
            equations = self.equations[i]
            inside = P @ equations[:, :-1].T + equations[:, -1] <= self.tolerance(i)
            region[inside.all(axis=1)] = i
        return region

    def take(self, kept: np.ndarray) -> Polyhedra:
        """See `Regions.take`."""
        kept = kept.tolist()
        return Polyhedra(
            [self.vertices[i] for i in kept], [self.equations[i] for i in kept], self.dim
        )

    def scaled(self, factor: float) -> Polyhedra:
        """The first polyhedron, scaled about the mean of its vertices."""
        center = self.vertices[0].mean(axis=0)
        equations = self.equations[0].copy()
        at_center = equations[:, :-1] @ center
        equations[:, -1] = factor * (equations[:, -1] + at_center) - at_center
        vertices = center + factor * (self.vertices[0] - center)
        return Polyhedra([vertices], [equations], self.dim)

    def describe(self, names: Sequence[str]) -> list[str]:
        """See `Regions.describe`."""
        texts = []
        for vertices in self.vertices:
            ends = zip(names, vertices.min(axis=0), vertices.max(axis=0))
            box = describe_extents(ends)
            texts.append(say("polyhedron", n=len(vertices), box=box) if self.dim > 1 else box)
        return texts

    @property
    def costs(self) -> np.ndarray:
        """Half the number of facets; for a box, this is its number of columns."""
        return np.array([len(equations) / 2 for equations in self.equations])


class PolyhedronFinder(ShapeFinder):
    """Find convex hulls of the correctly classified rows in ellipses grown from seeds."""

    def grow(
        self, rows: Rows, gains: np.ndarray, random: np.random.RandomState
    ) -> Polyhedra | None:
        """See `ShapeFinder.grow`."""
        grown = grow_from_seeds(rows, gains, random)
        if grown is None:
            return None
        distance = distances(rows.P, *grown)
        best, best_value = None, 0
        for factor in GROWTH_FACTORS:
            hull = Polyhedra.around(rows.P[(distance <= factor) & rows.correct])
            value = 0 if hull is None else gains[hull.contains(rows.P)].sum()
            if value > best_value:
                best, best_value = hull, value
        return best

    def fit(self, region: Any, rows: Rows, gains: np.ndarray) -> Polyhedra:
        """See `ShapeFinder.fit`."""
        scaled = [region.scaled(factor) for factor in _FACTORS]
        surplus = [gains[polyhedron.contains(rows.P)].sum() for polyhedron in scaled]
        # Ties go to the smallest change.
        order = np.lexsort((np.abs(_FACTORS - 1), -np.array(surplus)))
        return scaled[int(order[0])]

    def median(self, regions: Sequence[Any]) -> Polyhedra:
        """The polyhedron of median size."""
        sizes = [np.ptp(region.vertices[0], axis=0).prod() for region in regions]
        return regions[int(np.argsort(sizes, kind="stable")[len(sizes) // 2])]

    def join(self, regions: Sequence[Any], dim: int) -> Polyhedra:
        """See `ShapeFinder.join`."""
        vertices = [v for region in regions for v in region.vertices]
        return Polyhedra(vertices, [e for region in regions for e in region.equations], dim)
