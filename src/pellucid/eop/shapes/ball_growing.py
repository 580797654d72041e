"""Round sets of rows grown from a seed: what polyhedra and ellipses are made of."""

from __future__ import annotations

import numpy as np

from pellucid.eop.shapes.base import Rows

_ROUNDS = 8
_SEEDS = 5

GROWTH_FACTORS = (1.0, 2.0, 4.0)
"""Squared distances, in those of its border, up to which an ellipse looks at rows around it."""

_FLAT = 1e-6
"""Least variance in a direction, in those of the columns."""

_LEAST_RADIUS = 1e-18
"""Least squared distance that an ellipse reaches, in standard deviations."""


def distances(P: np.ndarray, center: np.ndarray, shape: np.ndarray) -> np.ndarray:
    """Squared distances (x - c)ᵀ A (x - c)."""
    away = P - center
    return ((away @ shape) * away).sum(axis=1)


def grow_from_seeds(rows: Rows, gains: np.ndarray, random) -> tuple[np.ndarray, np.ndarray] | None:
    """The ellipse of largest surplus that grows from one of a few seeds.

    Seeds are rows drawn at random that are classified rightly and not yet covered. Around a
    seed, rows are added by distance as far as the surplus is largest; then center and shape
    become those of the right rows inside and a little beyond, and so on as long as it pays.

    Returns
    -------
    center : ndarray of shape (dim,)
    shape : ndarray of shape (dim, dim)
        Rows with (x - center)ᵀ shape (x - center) ≤ 1 are inside.
    """
    candidates = np.flatnonzero(gains > 0)
    best, best_value = None, 0
    for seed in random.permutation(candidates)[:_SEEDS]:
        grown, value = _grow(rows, gains, seed)
        if value > best_value:
            best, best_value = grown, value
    return best


def _grow(rows: Rows, gains: np.ndarray, seed: int):
    center, shape = rows.P[seed], np.diag(1 / rows.scale**2)
    best, best_value = None, 0
    grown, value = best_radius(rows.P, gains, center, shape)
    for _ in range(_ROUNDS):
        if value <= best_value:
            break
        best, best_value = grown, value
        distance = distances(rows.P, *grown)
        for reach in GROWTH_FACTORS:
            near = (distance <= reach) & rows.right
            trial = best_radius(rows.P, gains, *spread(rows.P[near], rows.units[near], rows.scale))
            if trial[1] > value:
                grown, value = trial
    return best, best_value


def best_radius(P: np.ndarray, gains: np.ndarray, center: np.ndarray, shape: np.ndarray):
    """The ellipse of this center and form, of the size that has the largest surplus.

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
        radius = ordered[end] / 2 + ordered[end + 1] / 2
    else:
        radius = ordered[end] * 1.01
    radius = max(radius, _LEAST_RADIUS)
    return (center, shape / radius), int(total[end])


def spread(P: np.ndarray, units: np.ndarray, scale: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean of rows and the inverse of their covariance, never quite flat."""
    weight = units / units.sum()
    center = weight @ P
    Z = (P - center) / scale
    covariance = (Z * weight[:, None]).T @ Z + _FLAT * np.eye(P.shape[1])
    return center, np.linalg.inv(covariance) / np.outer(scale, scale)
