"""A model of regions for the page: its levels as pictures and in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from pellucid._input import read_X
from pellucid.eop.problem import project
from pellucid.plotting.region_shapes import outlines
from pellucid.report.columns import clipped
from pellucid.report.payload import describe_cluster, describe_making
from pellucid.report.profiles import short
from pellucid.report.sample import sample_rows
from pellucid.rules import default_names

_MOST_CORNERS = 61
"""Points of an outline, at the most."""


def make_regions_payload(
    model: Any,
    X: Any,
    *,
    title: str | None = None,
    reference: str | None = None,
    max_points: int = 2000,
    made: dict[str, str] | None = None,
) -> dict[str, Any]:
    """What the page of a fitted EOP model shows; parameters as in `write_report`.

    With a `reference` its classes are called clusters.
    """
    numbers = read_X(model, X, reset=False)
    names = [str(n) for n in getattr(model, "feature_names_in_", default_names(numbers.shape[1]))]
    found = model._consult(X)
    rules = model.explain()
    sizes = np.bincount(found.answer[found.answer >= 0], minlength=len(model.classes_))
    each = max(1, max_points // max(len(model.levels_), 1)) if max_points else 0
    return {
        "format": 1,
        "kind": "regions",
        "title": clipped(title) if title else None,
        "method": type(model).__name__,
        "reference": reference,
        "rows": int(numbers.shape[0]),
        "columnsInData": int(numbers.shape[1]),
        "clusters": [
            {**describe_cluster(i, name), "rows": int(sizes[i])}
            for i, name in enumerate(model.classes_)
        ],
        "levels": [
            _level(number, level, rule, model.classes_, numbers, found, names, each)
            for number, (level, rule) in enumerate(zip(model.levels_, rules))
        ],
        "answered": int((found.level >= 0).sum()),
        "leftover": None if rules[-1].answer is None else int(model._leftover_answer),
        "made": {**describe_making(model, type(model).__name__), **(made or {})},
    }


def _level(number, level, rule, classes, numbers, found, names, max_points) -> dict[str, Any]:
    reached = np.flatnonzero((found.level < 0) | (found.level >= number))
    answered = found.level[reached] == number
    answer = np.where(answered, found.answer[reached], len(classes))
    shown = reached[sample_rows(answer, len(classes) + 1, max_points)]
    P = project(numbers, level.features, shown)
    window = _window(project(numbers, level.features, reached))
    place = {name: i for i, name in enumerate(classes.tolist())}
    pieces = [
        {
            "answer": place[piece.answer],
            "text": clipped(piece.text),
            "rows": short(float(piece.support)),
            "purity": short(float(piece.purity)),
        }
        for piece in rule.pieces
    ]
    return {
        "names": [clipped(names[f]) for f in level.features],
        "window": [[short(low), short(high)] for low, high in window],
        "reached": len(reached),
        "answered": int(answered.sum()),
        "error": short(float(level.error)),
        "pieces": pieces,
        "shapes": _shapes(level.regions, window, rule.pieces, place),
        "points": {
            "values": [[short(v, 5) for v in column] for column in P.T.tolist()],
            "answers": np.where(found.level[shown] == number, found.answer[shown], -1).tolist(),
        },
    }


def _shapes(regions: Any, window: list, pieces: Any, place: dict) -> list[dict[str, Any]]:
    """Outlines of the regions, with their answer where there is only one."""
    if len(window) > 2:
        return []
    shapes = []
    for number, outline in enumerate(outlines(regions, window)):
        said = {place[piece.answer] for piece in pieces if piece.region == number}
        step = max(1, -(-len(outline) // _MOST_CORNERS))
        kept = [[short(float(v), 5) for v in point] for point in outline[::step]]
        shapes.append({"answer": said.pop() if len(said) == 1 else None, "outline": kept})
    return shapes


def _window(P: np.ndarray) -> list[tuple[float, float]]:
    """From where to where each axis reaches: the rows and a little more."""
    found = []
    for column in P.T:
        low, high = (float(column.min()), float(column.max())) if len(column) else (0.0, 1.0)
        margin = 0.04 * (high - low) or 0.5
        found.append((low - margin, high + margin))
    return found
