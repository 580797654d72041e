"""Convex polyhedra."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pellucid.eop.shapes.ball_growing import GROWTH_FACTORS, distances, grow_from_seeds
from pellucid.eop.shapes.base import ShapeFinder
from pellucid.eop.shapes.regions import Regions, describe_extent

_FACTORS = np.array([0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.4])
"""Sizes, of what it was, that a polyhedron may take on when it is mended."""


class Polyhedra(Regions):
    """Convex polyhedra.

    Attributes
    ----------
    vertices : list of ndarray of shape (n_vertices, dim)
        Corners; in two columns, in the order in which they are met on the way around.
    equations : list of ndarray of shape (n_facets, dim + 1)
        ``normal @ x + offset <= 0`` on the inner side of each facet.
    """

    kind = "polyhedron"

    def __init__(self, vertices: list[np.ndarray], equations: list[np.ndarray], dim: int) -> None:
        self.vertices, self.equations, self.dim = vertices, equations, dim

    @classmethod
    def around(cls, P: np.ndarray) -> Polyhedra | None:
        """The hull of some rows; None where they are too flat to have one."""
        from scipy.spatial import ConvexHull, QhullError

        dim = P.shape[1]
        if dim == 1:
            low, high = P.min(), P.max()
            equations = np.array([[-1.0, low], [1.0, -high]])
            return cls([np.array([[low], [high]])], [equations], 1) if low < high else None
        size = P.max(axis=0) - P.min(axis=0)
        if len(P) <= dim or not (size > 0).all():
            return None
        try:
            # The columns may be of very different sizes.
            hull = ConvexHull((P - P.min(axis=0)) / size)
        except QhullError:
            return None
        equations = np.unique(np.round(hull.equations, 12), axis=0)
        normals = equations[:, :-1] / size
        offsets = equations[:, -1] - normals @ P.min(axis=0)
        return cls([P[hull.vertices]], [np.column_stack([normals, offsets])], dim)

    def __len__(self) -> int:
        return len(self.vertices)

    def which(self, P: np.ndarray) -> np.ndarray:
        """See `Regions.which`."""
        found = np.full(len(P), -1, dtype=np.int64)
        for number in range(len(self) - 1, -1, -1):
            equations = self.equations[number]
            # Corners lie on their facets, up to rounding.
            room = 1e-9 * np.abs(self.vertices[number] @ equations[:, :-1].T).max(axis=0)
            inside = P @ equations[:, :-1].T + equations[:, -1] <= room + 1e-12
            found[inside.all(axis=1)] = number
        return found

    def first(self, k: int) -> Polyhedra:
        """See `Regions.first`."""
        return Polyhedra(self.vertices[:k], self.equations[:k], self.dim)

    def scaled(self, factor: float) -> Polyhedra:
        """The first one, stretched from the mean of its corners."""
        middle = self.vertices[0].mean(axis=0)
        equations = self.equations[0].copy()
        at_middle = equations[:, :-1] @ middle
        equations[:, -1] = factor * (equations[:, -1] + at_middle) - at_middle
        vertices = middle + factor * (self.vertices[0] - middle)
        return Polyhedra([vertices], [equations], self.dim)

    def describe(self, names: Sequence[str]) -> list[str]:
        """See `Regions.describe`."""
        found = []
        for vertices in self.vertices:
            ends = zip(names, vertices.min(axis=0), vertices.max(axis=0))
            within = " and ".join(describe_extent(name, a, b) for name, a, b in ends)
            shape = f"in a shape of {len(vertices)} corners within " if self.dim > 1 else ""
            found.append(shape + within)
        return found

    @property
    def costs(self) -> np.ndarray:
        """Half the number of facets, so that a box would count its columns."""
        return np.array([len(equations) / 2 for equations in self.equations])


class PolyhedronFinder(ShapeFinder):
    """Hulls of the right rows in ellipses that grow around seeds."""

    def _grow(self, rows, gains, random):
        grown = grow_from_seeds(rows, gains, random)
        if grown is None:
            return None
        distance = distances(rows.P, *grown)
        best, best_value = None, 0
        for reach in GROWTH_FACTORS:
            hull = Polyhedra.around(rows.P[(distance <= reach) & rows.right])
            value = 0 if hull is None else gains[hull.contains(rows.P)].sum()
            if value > best_value:
                best, best_value = hull, value
        return best

    def _fit(self, region, rows, gains):
        forms = [region.scaled(factor) for factor in _FACTORS]
        values = [gains[form.contains(rows.P)].sum() for form in forms]
        # Of equal ones the one that is least changed.
        order = np.lexsort((np.abs(_FACTORS - 1), -np.array(values)))
        return forms[int(order[0])]

    def _median_form(self, regions):
        """The one whose size is in the middle."""
        sizes = [np.ptp(region.vertices[0], axis=0).prod() for region in regions]
        return regions[int(np.argsort(sizes, kind="stable")[len(sizes) // 2])]

    def _join(self, regions, dim):
        vertices = [v for region in regions for v in region.vertices]
        return Polyhedra(vertices, [e for region in regions for e in region.equations], dim)
