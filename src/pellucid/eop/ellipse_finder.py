"""The search for ellipses, and for the polyhedra around the rows inside of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.eop.finders import Rows, ShapeFinder
from pellucid.regions.shapes import Ellipses, Polyhedra, distances

Ellipse = tuple[np.ndarray, np.ndarray]
"""Center and shape matrix."""

_MAX_ROUNDS = 8
_SEEDS = 5

GROWTH_FACTORS = (1.0, 2.0, 4.0)
"""Squared distances from the center, relative to the boundary, within which rows are refitted."""

_MIN_VARIANCE = 1e-6
"""Added to the variance in each direction, relative to the variance of the columns."""

_MIN_SQUARED_RADIUS = 1e-18
"""Minimum squared radius of an ellipse, in standard deviations."""

_FACTORS = np.array([0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.4])
"""Scale factors that are tried when a polyhedron is recalibrated."""


class EllipseFinder(ShapeFinder):
    """Find ellipses that are grown from seeds (see `grow_from_seeds`)."""

    def grow(self, rows: Rows, gains: np.ndarray, random: np.random.RandomState) -> Ellipses | None:
        grown = grow_from_seeds(rows, gains, random)
        return None if grown is None else Ellipses(grown[0][None], grown[1][None])

    def fit(self, region: Any, rows: Rows, gains: np.ndarray) -> Ellipses:
        (center, shape), value = best_radius(rows.P, gains, region.center[0], region.shape[0])
        return Ellipses(center[None], shape[None]) if value > 0 else region

    def median(self, regions: Sequence[Any]) -> Ellipses:
        """The ellipse of median size."""
        sizes = [np.linalg.det(region.shape[0]) for region in regions]
        return regions[int(np.argsort(sizes, kind="stable")[len(sizes) // 2])]

    def join(self, regions: Sequence[Any], dim: int) -> Ellipses:
        return Ellipses.join(regions, dim)


class PolyhedronFinder(ShapeFinder):
    """Find convex hulls of the correctly classified rows in ellipses grown from seeds."""

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
        """The polyhedron of median size."""
        sizes = [np.ptp(region.vertices[0], axis=0).prod() for region in regions]
        return regions[int(np.argsort(sizes, kind="stable")[len(sizes) // 2])]

    def join(self, regions: Sequence[Any], dim: int) -> Polyhedra:
        return Polyhedra.join(regions, dim)


def grow_from_seeds(rows: Rows, gains: np.ndarray, random: np.random.RandomState) -> Ellipse | None:
    """Grow an ellipse from each of a few seeds and return the one with the largest surplus.

    Seeds are random rows that are correctly classified and not yet covered. The radius around a
    seed is chosen for the largest surplus. Center and shape are then set to the mean and the
    inverse covariance of the correctly classified rows inside and slightly beyond. This is
    repeated as long as the surplus grows.

    Returns
    -------
    None if no ellipse has a positive surplus, else:
    center : ndarray of shape (dim,)
    shape : ndarray of shape (dim, dim)
        Rows with (x - center)ᵀ shape (x - center) ≤ 1 are inside.
    """
    candidates = np.flatnonzero(gains > 0)
    best, best_value = None, 0
    for seed in random.permutation(candidates)[:_SEEDS]:
        grown, value = grow(rows, gains, seed)
        if value > best_value:
            best, best_value = grown, value
    return best


def grow(rows: Rows, gains: np.ndarray, seed: int) -> tuple[Ellipse | None, int]:
    """The ellipse grown from one seed, and its surplus."""
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
    """Scale an ellipse about its center to the size with the largest surplus.

    Returns
    -------
    (center, shape), surplus
    """
    distance = distances(P, center, shape)
    order = np.argsort(distance, kind="stable")
    ordered, total = distance[order], np.cumsum(gains[order])
    is_last = np.append(ordered[1:] > ordered[:-1], True)
    total[~is_last] = np.iinfo(np.int64).min
    end = int(np.argmax(total))
    if end + 1 < len(ordered):
        squared_radius = ordered[end] / 2 + ordered[end + 1] / 2
    else:
        squared_radius = ordered[end] * 1.01
    squared_radius = max(squared_radius, _MIN_SQUARED_RADIUS)
    return (center, shape / squared_radius), int(total[end])


def mean_and_precision(
    P: np.ndarray, units: np.ndarray, scale: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Weighted mean and inverse covariance of rows, with a regularized covariance."""
    weight = units / units.sum()
    center = weight @ P
    Z = (P - center) / scale
    covariance = (Z * weight[:, None]).T @ Z + _MIN_VARIANCE * np.eye(P.shape[1])
    return center, np.linalg.inv(covariance) / np.outer(scale, scale)
