"""Shapes of regions: boxes, polyhedra, ellipses, and the interface of all shapes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self

import numpy as np

from pellucid._utils.texts import say
from pellucid.regions.words import (
    column_texts,
    describe_box,
    describe_extents,
    short_distance,
    short_number,
)
from pellucid.tables.encoding import Indicator

Window = Sequence[tuple[float, float]]  # lower and upper end of each axis of a plot


class Regions(ABC):
    """The regions of one level.

    Attributes
    ----------
    kind : str
        Name of the shape.
    fields : tuple of str
        Attributes whose entries define each region. They are empty for shapes that other
        languages cannot state, such as those that consist of training rows.
    dim : int
        Number of columns of the projection.
    classifier_cost : int
        Constant term of the complexity of a prediction (see `levels.complexity`).
    scores : ndarray or None
        Leave-one-out scores of the training rows; None for shapes that are not defined by a
        score.
    """

    kind: str
    fields: tuple[str, ...] = ()
    dim: int
    classifier_cost: int = 0
    scores: np.ndarray | None = None

    @abstractmethod
    def __len__(self) -> int:
        """Number of regions."""

    @abstractmethod
    def which(self, P: np.ndarray) -> np.ndarray:
        """Index of the first region that contains each row of `P`, or -1.

        Parameters
        ----------
        P : ndarray of shape (n_rows, dim)
            Values of the projection.
        """

    def contains(self, P: np.ndarray) -> np.ndarray:
        """Whether any region contains each row of `P`.

        Parameters
        ----------
        P : ndarray of shape (n_rows, dim)
            Values of the projection.

        Returns
        -------
        ndarray of shape (n_rows,), bool
            True for rows inside.
        """
        return self.which(P) >= 0

    @abstractmethod
    def take(self, kept: np.ndarray) -> Regions:
        """Only the regions with the given indices, in this order.

        Parameters
        ----------
        kept : ndarray of int
            Indices of the regions.
        """

    def first(self, k: int) -> Regions:
        """Only the first `k` regions.

        Parameters
        ----------
        k : int
            Number of regions.

        Returns
        -------
        Regions
            The first regions; all of them if they are fewer.
        """
        return self.take(np.arange(min(k, len(self))))

    @abstractmethod
    def describe(self, names: Sequence[str]) -> list[str]:
        """Describe each region as text.

        Parameters
        ----------
        names : sequence of str
            Names of the columns of the projection.
        """

    def texts(self, names: Sequence[str | Indicator]) -> list[str]:
        """Describe each region as text; columns may be categories.

        Parameters
        ----------
        names : sequence of str or Indicator
            Descriptions of the columns of the projection.

        Returns
        -------
        list of str
            A text per region.
        """
        return self.describe(column_texts(names))

    def box_bounds(self, region: int) -> tuple[np.ndarray, np.ndarray] | None:
        """Lower and upper ends of a region that is a box; None for other shapes.

        Parameters
        ----------
        region : int
            Index of the region.
        """
        return None

    def numbers(self, region: int) -> tuple[np.ndarray, ...]:
        """The numbers that define a region, in the order of `fields`.

        Parameters
        ----------
        region : int
            Index of the region.

        Returns
        -------
        tuple of ndarray
            One array per field.
        """
        return tuple(np.asarray(getattr(self, field)[region]) for field in self.fields)

    def inequalities(
        self, region: int, columns: Sequence[str], number: Callable[[float], str]
    ) -> list[str]:
        """Inequalities of a region that is not a box, as in SQL, Python and most languages.

        Parameters
        ----------
        region : int
            Index of the region.
        columns : sequence of str
            Expressions for the columns of the projection.
        number : callable
            Writes a number.

        Returns
        -------
        list of str
            Sums of products that are at most a number. Empty for boxes; see `box_bounds`.
        """
        return []

    def outlines(self, window: Window) -> list[np.ndarray]:
        """The outline of each region on one or two axes.

        Parameters
        ----------
        window : sequence of tuple of float
            Lower and upper end of each axis.

        Returns
        -------
        list of ndarray of shape (n_points, 2)
            Closed lines; empty if the shape has no exact outline.
        """
        return []

    def with_middle_ends(self, axes: Iterable[int]) -> Regions:
        """The same regions with 0.5 as the end between the two values of a category.

        Parameters
        ----------
        axes : iterable of int
            Columns of zeros and ones.

        Returns
        -------
        Regions
            For plots. Shapes other than boxes stay as they are.
        """
        return self

    def explain_points(
        self, P: np.ndarray, names: Sequence[str]
    ) -> list[tuple[dict[str, tuple[float, float]], str]] | None:
        """Bounds and text that explain each row of `P`; None if `describe` is sufficient.

        Parameters
        ----------
        P : ndarray of shape (n_rows, dim)
            Values of the projection.
        names : sequence of str
            Names of the columns of the projection.
        """
        return None

    @property
    def n_facets(self) -> np.ndarray:
        """Number of inequalities of each region; by default two per column."""
        return np.full(len(self), 2 * self.dim, dtype=np.int64)

    @property
    @abstractmethod
    def costs(self) -> np.ndarray:
        """Complexity of the membership test of each region, as defined in the EOP paper."""


class NumericRegions(Regions):
    """Regions that are defined by two arrays of numbers each."""

    @classmethod
    @abstractmethod
    def of_numbers(cls, first: Sequence[Any], second: Sequence[Any], dim: int) -> Self:
        """Regions from the entries of their two `fields`; `dim` is the number of columns."""

    @classmethod
    def join(cls, regions: Sequence[Regions], dim: int) -> Self:
        """All regions of several objects as one object."""
        entries = [each.numbers(i) for each in regions for i in range(len(each))]
        return cls.of_numbers([e[0] for e in entries], [e[1] for e in entries], dim)

    def __len__(self) -> int:
        return len(getattr(self, self.fields[0]))

    def take(self, kept: np.ndarray) -> Self:
        entries = [self.numbers(i) for i in kept.tolist()]
        return self.of_numbers([e[0] for e in entries], [e[1] for e in entries], self.dim)

    def which(self, P: np.ndarray) -> np.ndarray:
        region = np.full(len(P), -1, dtype=np.int64)
        for i in range(len(self) - 1, -1, -1):
            region[self._inside(i, P)] = i
        return region

    @abstractmethod
    def _inside(self, region: int, P: np.ndarray) -> np.ndarray:
        """Whether a region contains each row of `P`."""


class Boxes(NumericRegions):
    """Boxes, ``lower < x <= upper`` in every column; ends without rows beyond are infinite."""

    kind = "box"
    fields: tuple[str, ...] = ("lower", "upper")

    def __init__(self, lower: np.ndarray, upper: np.ndarray) -> None:
        self.lower: np.ndarray = np.atleast_2d(lower)
        self.upper: np.ndarray = np.atleast_2d(upper)
        self.dim: int = self.lower.shape[1]

    @classmethod
    def of_numbers(cls, first: Sequence[Any], second: Sequence[Any], dim: int) -> Self:
        return cls(*(np.array(ends, dtype=float).reshape(-1, dim) for ends in (first, second)))

    def _inside(self, region: int, P: np.ndarray) -> np.ndarray:
        return ((self.lower[region] < P) & (self.upper[region] >= P)).all(axis=1)

    def describe(self, names: Sequence[str | Indicator]) -> list[str]:
        return [describe_box(low, high, names) for low, high in zip(self.lower, self.upper)]

    def texts(self, names: Sequence[str | Indicator]) -> list[str]:
        return self.describe(names)

    def box_bounds(self, region: int) -> tuple[np.ndarray, np.ndarray]:
        return self.lower[region].copy(), self.upper[region].copy()

    def outlines(self, window: Window) -> list[np.ndarray]:
        left, right = np.array(window, dtype=float).T
        low = np.maximum(self.lower, left - (right - left))
        high = np.minimum(self.upper, right + (right - left))
        if len(window) == 1:
            low, high = np.insert(low, 1, 0.02, axis=1), np.insert(high, 1, 0.98, axis=1)
        corners = zip(*low.T, *high.T)
        return [np.array([[a, b], [c, b], [c, d], [a, d], [a, b]]) for a, b, c, d in corners]

    def with_middle_ends(self, axes: Iterable[int]) -> Boxes:
        both = np.stack([self.lower, self.upper])
        for axis in axes:
            both[..., axis][np.isfinite(both[..., axis])] = 0.5
        return Boxes(*both)

    @property
    def n_facets(self) -> np.ndarray:
        """Number of finite ends of each box."""
        return (np.isfinite(self.lower).astype(int) + np.isfinite(self.upper)).sum(axis=1)

    @property
    def costs(self) -> np.ndarray:
        """Number of columns with a finite end."""
        return (np.isfinite(self.lower) | np.isfinite(self.upper)).sum(axis=1).astype(float)


class Polyhedra(NumericRegions):
    """Convex polyhedra: vertices, and equations with ``normal @ x + offset <= 0`` inside."""

    kind = "polyhedron"
    fields: tuple[str, ...] = ("vertices", "equations")

    def __init__(self, vertices: list[np.ndarray], equations: list[np.ndarray], dim: int) -> None:
        self.vertices = vertices
        self.equations = equations
        self.dim = dim

    @classmethod
    def of_numbers(cls, first: Sequence[Any], second: Sequence[Any], dim: int) -> Self:
        return cls(list(first), list(second), dim)

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

    def tolerance(self, i: int) -> np.ndarray:
        """Tolerance of each facet: vertices lie on their facets up to rounding errors."""
        products = self.vertices[i] @ self.equations[i][:, :-1].T
        return 1e-9 * np.abs(products).max(axis=0) + 1e-12

    def _inside(self, region: int, P: np.ndarray) -> np.ndarray:
        equations = self.equations[region]
        values = P @ equations[:, :-1].T + equations[:, -1]
        return (values <= self.tolerance(region)).all(axis=1)

    def scaled(self, factor: float) -> Polyhedra:
        """The first polyhedron, scaled about the mean of its vertices."""
        center = self.vertices[0].mean(axis=0)
        equations = self.equations[0].copy()
        at_center = equations[:, :-1] @ center
        equations[:, -1] = factor * (equations[:, -1] + at_center) - at_center
        vertices = center + factor * (self.vertices[0] - center)
        return Polyhedra([vertices], [equations], self.dim)

    def describe(self, names: Sequence[str]) -> list[str]:
        texts = []
        for vertices in self.vertices:
            box = describe_extents(zip(names, vertices.min(axis=0), vertices.max(axis=0)))
            texts.append(say("polyhedron", n=len(vertices), box=box) if self.dim > 1 else box)
        return texts

    def inequalities(
        self, region: int, columns: Sequence[str], number: Callable[[float], str]
    ) -> list[str]:
        facets = zip(self.equations[region].tolist(), self.tolerance(region).tolist())
        return [
            f"{_products(normal, columns, number)} + {number(offset)} <= {number(tolerance)}"
            for (*normal, offset), tolerance in facets
        ]

    def outlines(self, window: Window) -> list[np.ndarray]:
        if len(window) == 1:
            return []
        found = []
        for points in self.vertices:
            away = points - points.mean(axis=0)
            order = np.argsort(np.arctan2(away[:, 1], away[:, 0]), kind="stable")
            found.append(points[[*order, order[0]]])
        return found

    @property
    def costs(self) -> np.ndarray:
        """Half the number of facets; for a box, this is its number of columns."""
        return np.array([len(equations) / 2 for equations in self.equations])


class Ellipses(NumericRegions):
    """Ellipses or, in more columns, ellipsoids: ``(x - center)ᵀ shape (x - center) <= 1``."""

    kind = "ellipse"
    fields: tuple[str, ...] = ("center", "shape")

    def __init__(self, center: np.ndarray, shape: np.ndarray) -> None:
        self.center = center
        self.shape = shape
        self.dim: int = center.shape[1]

    @classmethod
    def of_numbers(cls, first: Sequence[Any], second: Sequence[Any], dim: int) -> Self:
        center, shape = np.array(first, dtype=float), np.array(second, dtype=float)
        return cls(center.reshape(-1, dim), shape.reshape(-1, dim, dim))

    def _inside(self, region: int, P: np.ndarray) -> np.ndarray:
        return distances(P, self.center[region], self.shape[region]) <= 1

    def describe(self, names: Sequence[str]) -> list[str]:
        texts = []
        for center, shape in zip(self.center, self.shape):
            half_widths = np.sqrt(np.diag(np.linalg.inv(shape)))  # of the bounding box
            columns = [
                f"{name} = {short_number(middle, half, name)} ± {short_distance(half, name)}"
                for name, middle, half in zip(names, center, half_widths)
            ]
            texts.append(say("ellipse", columns=columns))
        return texts

    def inequalities(
        self, region: int, columns: Sequence[str], number: Callable[[float], str]
    ) -> list[str]:
        centers = self.center[region].tolist()
        parts = [f"({column} - {number(c)})" for column, c in zip(columns, centers)]
        sums = [
            f"({_products(factors, parts, number)}) * {part}"
            for factors, part in zip(self.shape[region].T.tolist(), parts)
        ]
        return [f"{' + '.join(sums)} <= 1"]

    def outlines(self, window: Window) -> list[np.ndarray]:
        if len(window) == 1:
            return []
        angle = np.linspace(0, 2 * np.pi, 181)
        circle = np.column_stack([np.cos(angle), np.sin(angle)])
        found = []
        for center, shape in zip(self.center, self.shape):
            values, vectors = np.linalg.eigh(shape)
            found.append(center + circle / np.sqrt(np.maximum(values, 1e-300)) @ vectors.T)
        return found

    @property
    def costs(self) -> np.ndarray:
        """Number of columns."""
        return np.full(len(self), float(self.dim))


# Shapes that other languages can state, by their kind.
SHAPES: dict[str, type[NumericRegions]] = {
    shape.kind: shape for shape in (Boxes, Polyhedra, Ellipses)
}


def distances(P: np.ndarray, center: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """Squared distances (x - c)ᵀ A (x - c)."""
    difference = P - center
    return ((difference @ shape) * difference).sum(axis=1)


def _products(factors: list[float], terms: Sequence[str], number: Callable[[float], str]) -> str:
    return " + ".join(f"{number(factor)} * {term}" for factor, term in zip(factors, terms))
