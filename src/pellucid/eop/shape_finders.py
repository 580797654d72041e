"""The search for regions of one shape each: boxes, ellipses, and polyhedra around ellipses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from operator import itemgetter
from typing import Any

import numpy as np

from pellucid.eop.finders import Rows, ShapeFinder
from pellucid.regions.shapes import Boxes, Ellipses, Polyhedra, distances
from pellucid.tree.rounding import ThresholdStyle, choose_threshold

_BINS = 64  # bins per column of the grid on which boxes are searched
_BOX_SEEDS = 8
_SEED_NEIGHBORS = 20  # rows nearest to a seed whose bounding box is a start box
Ellipse = tuple[np.ndarray, np.ndarray]  # the center and the shape matrix of `Ellipses`
_MAX_ROUNDS = 8
_SEEDS = 5
# Squared distances from the center, relative to the boundary, within which rows are refitted.
GROWTH_FACTORS = (1.0, 2.0, 4.0)
_MIN_VARIANCE = 1e-6  # added in each direction, relative to the variance of the columns
_MIN_SQUARED_RADIUS = 1e-18  # minimum squared radius of an ellipse, in standard deviations
# Scale factors that are tried when a polyhedron is recalibrated.
_FACTORS = np.array([0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.4])


class BoxFinder(ShapeFinder):
    """Find boxes: optimized column by column from the best ones on grids, or around random rows."""

    def join(self, regions: Sequence[Any], dim: int) -> Boxes:
        return Boxes.join(regions, dim)

    def grow(self, rows: Rows, gains: np.ndarray, random: np.random.RandomState) -> Boxes | None:
        best, best_value = None, 0
        columns = RankedColumns(rows.P)
        for lower, upper in self._starts(columns, rows, gains, random):
            value = columns.improve(gains, rows.facet, lower, upper)
            if value > best_value:
                best, best_value = columns.box(lower, upper), value
        return best

    def _starts(
        self, columns: RankedColumns, rows: Rows, gains: np.ndarray, random: np.random.RandomState
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """First and last ranks of start boxes."""
        from pellucid.eop.box_kernels import best_grid_box

        sizes, dim = columns.sizes, len(columns.sizes)
        if dim == 1:
            yield np.zeros(1, dtype=np.int64), sizes - 1
            return
        # The last rank of each of at most `_BINS` bins with about the same number of values.
        n_bins = np.minimum(_BINS, sizes)
        edges = [np.arange(1, n + 1) * size // n - 1 for n, size in zip(n_bins, sizes)]
        codes = [np.searchsorted(e, r).astype(np.uint8) for e, r in zip(edges, columns.ranks)]
        for i, j in combinations(range(dim), 2):
            box, shape = np.zeros(4, dtype=np.int64), (int(n_bins[i]), int(n_bins[j]))
            if not best_grid_box(codes[i], codes[j], gains, shape, rows.facet, False, 0, box):
                continue
            lower, upper = np.zeros(dim, dtype=np.int64), sizes - 1
            for a, (first, last) in zip((i, j), box.reshape(2, 2)):
                lower[a] = edges[a][first - 1] + 1 if first else 0
                upper[a] = edges[a][last]
            yield lower, upper
        # Boxes around random rows that are correctly classified and not yet covered.
        seeds = random.permutation(np.flatnonzero(gains > 0)) if dim > 2 else ()
        for seed in seeds[:_BOX_SEEDS]:
            distance = (((rows.P - rows.P[seed]) / rows.scale) ** 2).sum(axis=1)
            yield columns.ends(np.argsort(distance, kind="stable")[:_SEED_NEIGHBORS])

    def fit(self, region: Any, rows: Rows, gains: np.ndarray) -> Boxes:
        inside = region.contains(rows.P)
        if not inside.any():
            return region
        columns = RankedColumns(rows.P)
        lower, upper = columns.ends(inside)
        columns.improve(gains, rows.facet, lower, upper)
        return columns.box(lower, upper)

    def median(self, regions: Sequence[Any]) -> Boxes:
        ends = [np.stack([getattr(r, side)[0] for r in regions]) for side in ("lower", "upper")]
        return Boxes(*(np.sort(e, axis=0)[len(e) // 2] for e in ends))

    def finish(self, region: Any, rows: Rows) -> Boxes:
        return round_box(region, rows.P)


def round_box(box: Boxes, P: np.ndarray, style: ThresholdStyle = "round") -> Boxes:
    """Choose ends, infinite or with the fewest digits, that keep the same rows of `P` inside."""
    lower, upper = box.lower[0].copy(), box.upper[0].copy()
    for a in range(box.dim):
        satisfied = (lower < P) & (upper >= P)
        satisfied[:, a] = True
        x = P[satisfied.all(axis=1), a]
        inside = x[(x > lower[a]) & (x <= upper[a])]
        if not len(inside):
            return box
        below, above = x[x <= lower[a]], x[x > upper[a]]
        first, last = float(inside.min()), float(inside.max())
        lower[a] = choose_threshold(float(below.max()), first, style) if len(below) else -np.inf
        upper[a] = choose_threshold(last, float(above.min()), style) if len(above) else np.inf
    return Boxes(lower, upper)


class RankedColumns:
    """The distinct values of each column, and the rank of each row in each."""

    def __init__(self, P: np.ndarray) -> None:
        columns = [np.unique(column, return_inverse=True) for column in P.T]
        self.values: list[np.ndarray] = [values for values, _ in columns]
        self.sizes: np.ndarray = np.array([len(values) for values in self.values])
        self.ranks: np.ndarray = np.array([rank.ravel() for _, rank in columns], dtype=np.int32)

    def ends(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """First and last ranks of the bounding box of some rows."""
        ranks = self.ranks[:, rows].astype(np.int64)
        return ranks.min(axis=1), ranks.max(axis=1)

    def improve(self, gains: np.ndarray, facet: int, lower: np.ndarray, upper: np.ndarray) -> int:
        """The value of a box of ranks, of which the ends are optimized in place."""
        from pellucid.eop.box_kernels import improve_box

        return improve_box(self.ranks, self.sizes, gains, facet, lower, upper)

    def box(self, lower: np.ndarray, upper: np.ndarray) -> Boxes:
        """The box ``lower < x <= upper`` of a box of ranks."""
        low, high = (np.array([v[i] for v, i in zip(self.values, e)]) for e in (lower, upper))
        return Boxes(np.nextafter(low, -np.inf), high)


class EllipseFinder(ShapeFinder):
    """Find ellipses that are grown from seeds (see `grow_from_seeds`)."""

    def join(self, regions: Sequence[Any], dim: int) -> Ellipses:
        return Ellipses.join(regions, dim)

    def grow(self, rows: Rows, gains: np.ndarray, random: np.random.RandomState) -> Ellipses | None:
        grown = grow_from_seeds(rows, gains, random)
        return None if grown is None else Ellipses(grown[0][None], grown[1][None])

    def fit(self, region: Any, rows: Rows, gains: np.ndarray) -> Ellipses:
        (center, shape), value = best_radius(rows.P, gains, region.center[0], region.shape[0])
        return Ellipses(center[None], shape[None]) if value > 0 else region

    def median(self, regions: Sequence[Any]) -> Ellipses:
        return sorted(regions, key=lambda r: np.linalg.det(r.shape[0]))[len(regions) // 2]


class PolyhedronFinder(ShapeFinder):
    """Find convex hulls of the correctly classified rows in ellipses grown from seeds."""

    def join(self, regions: Sequence[Any], dim: int) -> Polyhedra:
        return Polyhedra.join(regions, dim)

    def grow(
        self, rows: Rows, gains: np.ndarray, random: np.random.RandomState
    ) -> Polyhedra | None:
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
        scaled = [region.scaled(factor) for factor in _FACTORS]
        surplus = [gains[polyhedron.contains(rows.P)].sum() for polyhedron in scaled]
        # Ties go to the smallest change.
        order = np.lexsort((np.abs(_FACTORS - 1), -np.array(surplus)))
        return scaled[int(order[0])]

    def median(self, regions: Sequence[Any]) -> Polyhedra:
        ordered = sorted(regions, key=lambda r: np.ptp(r.vertices[0], axis=0).prod())
        return ordered[len(ordered) // 2]


def grow_from_seeds(rows: Rows, gains: np.ndarray, random: np.random.RandomState) -> Ellipse | None:
    """The ellipse of the largest surplus, grown from random seeds; None if it is not positive."""
    seeds = random.permutation(np.flatnonzero(gains > 0))[:_SEEDS]
    grown = [grow(rows, gains, seed) for seed in seeds]
    return max(grown, key=itemgetter(1), default=(None, 0))[0]


def grow(rows: Rows, gains: np.ndarray, seed: int) -> tuple[Ellipse | None, int]:
    """The ellipse grown from one seed, and its surplus.

    Center and shape become the mean and the inverse covariance of the correctly classified rows
    inside and slightly beyond, at the radius of the largest surplus, as long as that rises.
    """
    center, shape = rows.P[seed], np.diag(1 / rows.scale**2)
    best, best_value = None, 0
    grown, value = best_radius(rows.P, gains, center, shape)
    for _ in range(_MAX_ROUNDS):
        if value <= best_value:
            break
        best, best_value = grown, value
        distance = distances(rows.P, *grown)
        for factor in GROWTH_FACTORS:
            refitted = (distance <= factor) & rows.correct
            center, shape = mean_and_precision(rows.P[refitted], rows.units[refitted], rows.scale)
            trial = best_radius(rows.P, gains, center, shape)
            if trial[1] > value:
                grown, value = trial
    return best, best_value


def best_radius(
    P: np.ndarray, gains: np.ndarray, center: np.ndarray, shape: np.ndarray
) -> tuple[Ellipse, int]:
    """Scale an ellipse about its center to the size with the largest surplus, which it returns."""
    distance = distances(P, center, shape)
    order = np.argsort(distance, kind="stable")
    ordered, total = distance[order], np.cumsum(gains[order])
    is_last = np.append(ordered[1:] > ordered[:-1], True)
    total[~is_last] = np.iinfo(np.int64).min
    end = int(np.argmax(total))
    is_all = end + 1 == len(ordered)
    squared_radius = ordered[end] * 1.01 if is_all else ordered[end] / 2 + ordered[end + 1] / 2
    return (center, shape / max(squared_radius, _MIN_SQUARED_RADIUS)), int(total[end])


def mean_and_precision(
    P: np.ndarray, units: np.ndarray, scale: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Weighted mean and inverse covariance of rows, with a regularized covariance."""
    weight = units / units.sum()
    center = weight @ P
    Z = (P - center) / scale
    covariance = (Z * weight[:, None]).T @ Z + _MIN_VARIANCE * np.eye(P.shape[1])
    return center, np.linalg.inv(covariance) / np.outer(scale, scale)
