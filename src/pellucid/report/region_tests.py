"""Regions and their answers, so that the page can assign rows like `predict`.

Every number is written in full: a row on the border must fall on the same side.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.eop.classifiers.linear import LinearClassifier
from pellucid.eop.classifiers.stumps import Stump
from pellucid.eop.shapes.boxes import Boxes
from pellucid.eop.shapes.ellipses import Ellipses
from pellucid.eop.shapes.polyhedra import Polyhedra


def describe_regions(regions: Any) -> list[dict[str, Any]] | None:
    """Each region as numbers; None for those that need the training rows."""
    if isinstance(regions, Boxes):
        return [
            {"kind": "box", "lower": _ends(lower), "upper": _ends(upper)}
            for lower, upper in zip(regions.lower, regions.upper)
        ]
    if isinstance(regions, Ellipses):
        return [
            {"kind": "ellipse", "center": center.tolist(), "shape": shape.tolist()}
            for center, shape in zip(regions.center, regions.shape)
        ]
    if isinstance(regions, Polyhedra):
        return [
            {
                "kind": "polyhedron",
                "equations": equations.tolist(),
                "tolerance": _tolerance(points, equations),
            }
            for points, equations in zip(regions.vertices, regions.equations)
        ]
    return None


def _tolerance(vertices: np.ndarray, equations: np.ndarray) -> list[float]:
    """How far beyond its facets a polyhedron reaches, for the rounding of its corners."""
    return (1e-9 * np.abs(vertices @ equations[:, :-1].T).max(axis=0) + 1e-12).tolist()


def describe_classifier(classifier: Any) -> dict[str, Any] | None:
    """A stump or a linear classifier as numbers; None for any other."""
    if isinstance(classifier, Stump):
        return {
            "kind": "stump",
            "position": classifier.position,
            # JSON has no infinity, where all rows are on one side.
            "threshold": float(np.nan_to_num(classifier.threshold)),
            "atMost": classifier.at_most,
            "above": classifier.above,
        }
    if isinstance(classifier, LinearClassifier):
        return {
            "kind": "linear",
            "coef": np.asarray(classifier.coef).tolist(),
            "intercept": _ends(classifier.intercept),
        }
    return None


def ends_of(bounds: dict[str, tuple[float, float]], names: Sequence[str]) -> list[Any] | None:
    """Ends of a box in each column; None where it has no such shape."""
    return [_ends(bounds[name]) for name in names] if bounds else None


def _ends(values: Any) -> list[float | None]:
    """Numbers, None where they are infinite."""
    return [float(v) if np.isfinite(v) else None for v in values]
