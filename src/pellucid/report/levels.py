"""Levels of a model of regions for the page: as plots, as text, and for prediction on the page.

Every number that assigns rows is written in full: a row on the border must fall on the same side.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.regions.classifiers import LinearClassifier, Stump
from pellucid.regions.levels import project
from pellucid.regions.shapes import Polyhedra, Regions
from pellucid.report.columns import clipped
from pellucid.report.facts import sample_rows
from pellucid.report.profiles import short

_MOST_CORNERS = 61
"""Points of an outline, at the most."""

_CELLS = (96, 64)
"""Cells of the grid across and upwards, for regions without an exact outline."""


class LevelView:
    """The rows as every level looks at them."""

    def __init__(
        self,
        numbers: np.ndarray,
        names: list[str],
        level_of: np.ndarray,
        answer: np.ndarray,
        classes: np.ndarray,
        place: dict[str, int],
        max_points: int,
    ) -> None:
        self.numbers, self.names, self.level_of, self.answer = numbers, names, level_of, answer
        self.place, self.max_points = place, max_points
        self.position = {name: i for i, name in enumerate(classes.tolist())}

    def level(self, number: int, level: Any, rule: Any) -> dict[str, Any]:
        """One level for the page."""
        n_classes = len(self.position)
        reached = np.flatnonzero((self.level_of < 0) | (self.level_of >= number))
        is_answered = self.level_of[reached] == number
        answer = np.where(is_answered, self.answer[reached], n_classes)
        chosen = sample_rows(answer, n_classes + 1, self.max_points)
        P = project(self.numbers, level.features, reached[chosen])
        window = _window(project(self.numbers, level.features, reached))
        regions = _describe_regions(level.regions)
        is_plain = regions is not None and _is_plain(rule.pieces)
        return {
            "columns": [self.place[self.names[f]] for f in level.features],
            "window": [[short(low), short(high)] for low, high in window],
            "reached": len(reached),
            "answered": int(is_answered.sum()),
            "error": short(float(level.error)),
            "heldOutError": short(float(level.held_out_error)),
            "pieces": [self._piece(piece, rule.names) for piece in rule.pieces],
            "outlines": self._outlines(level.regions, window, rule.pieces),
            "points": {
                "values": [[short(v, 5) for v in column] for column in P.T.tolist()],
                "answers": np.where(is_answered, self.answer[reached], -1)[chosen].tolist(),
            },
            "shades": None if is_plain else _shade(level, window),
            "regions": regions,
            "classifier": _describe_classifier(level.classifier),
        }

    def _piece(self, piece: Any, names: tuple[str, ...]) -> dict[str, Any]:
        return {
            "region": piece.region,
            "answer": self.position[piece.answer],
            "text": clipped(piece.text),
            "rows": short(float(piece.support)),
            "purity": short(float(piece.purity)),
            "bounds": _ends_of(piece.bounds, names),
        }

    def _outlines(self, regions: Any, window: list[Any], pieces: Any) -> list[dict[str, Any]]:
        """Lines around the regions, with their answer where there is only one."""
        if len(window) > 2:
            return []
        found = []
        for number, outline in enumerate(regions.outlines(window)):
            answers_inside = {
                self.position[piece.answer] for piece in pieces if piece.region == number
            }
            step = max(1, -(-len(outline) // _MOST_CORNERS))
            points = [[short(float(v), 5) for v in point] for point in outline[::step]]
            found.append(
                {
                    "answer": answers_inside.pop() if len(answers_inside) == 1 else None,
                    "points": points,
                }
            )
        return found


def _is_plain(pieces: Any) -> bool:
    """Whether the outlines of the regions determine the answers."""
    regions = [piece.region for piece in pieces]
    return all(piece.bounds or regions.count(piece.region) == 1 for piece in pieces)


def _window(P: np.ndarray) -> list[tuple[float, float]]:
    """From where to where each axis reaches: the rows and a little more."""
    found = []
    for column in P.T:
        low, high = (float(column.min()), float(column.max())) if len(column) else (0.0, 1.0)
        margin = 0.04 * (high - low) or 0.5
        found.append((low - margin, high + margin))
    return found


def _shade(level: Any, window: list[tuple[float, float]]) -> list[list[int]] | None:
    """The answer at the middle of each cell of the window, -1 for none.

    A list for each row of cells, from the bottom up: answer, number of cells, answer, number of
    cells and so on. None where a level has more columns than a picture.
    """
    if len(window) > 2:
        return None
    shape = _CELLS[: len(window)]
    axes = [low + (np.arange(n) + 0.5) * (high - low) / n for (low, high), n in zip(window, shape)]
    P = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, len(window))
    answer = np.full(len(P), -1)
    inside = np.asarray(level.regions.which(P)) >= 0
    if inside.any():
        answer[inside] = level.classifier.predict(P[inside])
    return [_runs(row) for row in answer.reshape(-1, _CELLS[0])]


def _runs(row: np.ndarray) -> list[int]:
    """Equal neighbours as a value and a length."""
    starts = np.flatnonzero(np.append(True, row[1:] != row[:-1]))
    lengths = np.diff(np.append(starts, len(row)))
    return np.column_stack([row[starts], lengths]).ravel().tolist()


def _describe_regions(regions: Regions) -> list[dict[str, Any]] | None:
    """Each region as numbers; None for those that need the training rows."""
    if not regions.fields:
        return None
    found: list[dict[str, Any]] = []
    for i in range(len(regions)):
        numbers = zip(regions.fields, regions.numbers(i))
        found.append({"kind": regions.kind, **{name: _finite(v) for name, v in numbers}})
        if isinstance(regions, Polyhedra):
            # Facets decide; the corners are drawn from the outlines.
            del found[-1]["vertices"]
            found[-1]["tolerance"] = regions.tolerance(i).tolist()
    return found


def _describe_classifier(classifier: Any) -> dict[str, Any] | None:
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
            "intercept": _finite(classifier.intercept),
        }
    return None


def _ends_of(bounds: dict[str, tuple[float, float]], names: Sequence[str]) -> list[Any] | None:
    """Ends of a box in each column; None where it has no such shape."""
    return [_finite(bounds[name]) for name in names] if bounds else None


def _finite(values: Any) -> list[Any]:
    """Numbers, None where they are infinite; rows of a matrix as they are."""
    if np.ndim(values) > 1:
        return np.asarray(values).tolist()
    return [float(v) if np.isfinite(v) else None for v in values]
