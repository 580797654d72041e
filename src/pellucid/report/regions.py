"""Payload of a model of regions: levels as plots, as text, and for prediction on the page."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.eop.problem import project
from pellucid.explanation.rules import default_names
from pellucid.plotting.region_shapes import outlines
from pellucid.report.cluster_names import Names
from pellucid.report.columns import NumberColumn, clipped
from pellucid.report.data_notes import DataNotes
from pellucid.report.facts import choose_columns, cluster_facts, data_names
from pellucid.report.privacy import hide_small, notes_without_values, without_rows
from pellucid.report.profiles import short
from pellucid.report.provenance import describe_making
from pellucid.report.region_exports import describe_exports
from pellucid.report.region_tests import describe_classifier, describe_regions, ends_of
from pellucid.report.sample import sample_rows
from pellucid.report.shading import shade
from pellucid.report.table_facts import find_table_facts
from pellucid.tables.validation import read_X
from pellucid.tree.predictor import column_values

_MOST_CORNERS = 61
"""Points of an outline, at the most."""

_MOST_TEXT = 100_000
"""Maximum number of characters of the text of all levels."""


def make_regions_payload(
    model: Any,
    X: Any,
    *,
    title: str | None = None,
    rows: str = "rows",
    reference: str | None = None,
    max_points: int = 2000,
    n_typical: int = 3,
    made: dict[str, str] | None = None,
    notes: DataNotes | None = None,
    cluster_names: Names | None = None,
    exported: Any = None,
    is_noise: np.ndarray | None = None,
) -> dict[str, Any]:
    """Payload of a fitted EOP model; parameters as in `write_report`.

    With a `reference` its classes are called clusters. Rows that are noise, of the rows of the
    fit, are left out.
    """
    numbers = read_X(model, X, reset=False)
    n_read = numbers.shape[0]
    kept = np.arange(n_read)
    if is_noise is not None and len(is_noise) == n_read:
        kept = np.flatnonzero(~is_noise)
        numbers = numbers.tocsr()[kept].tocsc() if sparse.issparse(numbers) else numbers[kept]
    n_rows, n_columns = numbers.shape
    names = [str(n) for n in getattr(model, "feature_names_in_", default_names(n_columns))]
    at, answer = model.apply(X)[kept], _positions(model.classes_, model.predict(X)[kept])
    rules = model.explain()
    n_classes = len(model.classes_)
    # Rows without an answer are a group by themselves, which has no card.
    position = np.where(answer >= 0, answer, n_classes)
    used = dict.fromkeys(names[f] for level in model.levels_ for f in level.features)
    order = {name: i for i, name in enumerate(names)}
    everything = np.arange(n_rows)

    values = numbers

    def read_column(name: str) -> NumberColumn:
        numbers = column_values(values, order[name], everything)
        return NumberColumn(name, numbers, model.formats_.get(name))

    read: Any = read_column

    is_private = not max_points and not n_typical
    notes = notes or DataNotes()
    if is_private:
        _refuse_rows(model)
        read = without_rows(read, lambda name: ())
        notes = notes_without_values(notes)
        numbers = np.nan_to_num(np.column_stack([read(name).numbers for name in names]))
    if notes.table is None:
        table = find_table_facts(names, read_column, n_rows)
        table = replace(table, n_read=n_read, dropped={"noise": n_read - n_rows})
        notes = replace(notes, table=table)
    columns = choose_columns(
        names, read, used, position, n_classes + 1, _cuts(rules[: len(model.levels_)])
    )
    each = max(1, max_points // max(len(model.levels_), 1)) if max_points else 0
    view = _View(numbers, names, at[:, 0], answer, model.classes_, columns.place, each)
    facts = cluster_facts(position, n_classes + 1, columns.shown, n_typical)[:n_classes]
    leftover = rules[-1]
    return {
        "format": 1,
        "kind": "regions",
        "title": clipped(title) if title else None,
        "method": type(model).__name__,
        "reference": reference,
        "rows": n_rows,
        "rowsAre": clipped(rows),
        "columnsInData": n_columns,
        "dataNames": data_names(names),
        "clusters": (cluster_names or Names()).describe(model.classes_.tolist()),
        "columns": columns.describe(set(used), lambda profile: None),
        "facts": hide_small(facts) if is_private else facts,
        "levels": [
            view.level(number, level, rule)
            for number, (level, rule) in enumerate(zip(model.levels_, rules))
        ],
        "answered": int((at[:, 0] >= 0).sum()),
        "leftover": {
            "answer": None
            if leftover.answer is None
            else int(np.flatnonzero(model.classes_ == leftover.answer)[0]),
            "byNeighbours": leftover.by_neighbours,
            "purity": short(float(leftover.purity)),
        },
        "measures": _measures(model),
        "rules": _cut(str(rules)),
        **describe_exports(None if is_private else exported or model),
        "made": {**describe_making(model, type(model).__name__), **(made or {})},
        **notes.describe(),
    }


def _refuse_rows(model: Any) -> None:
    """Fail if the regions of a model consist of training rows, or may do so (own shapes)."""
    if any(level.regions.kind not in ("box", "ellipse") for level in model.levels_):
        raise ValueError(
            "the corners of the regions are training rows, so that a report without rows cannot "
            "show them; use boxes or ellipses"
        )


def _positions(classes: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Positions of answers among the classes; -1 if an answer is not a class."""
    at = np.clip(np.searchsorted(classes, found), 0, len(classes) - 1)
    return np.where(classes[at] == found, at, -1)


def _cuts(rules: Any) -> dict[str, list[float]]:
    """Bounds of the regions, by column."""
    found: dict[str, set[float]] = {}
    for piece in (piece for rule in rules for piece in rule.pieces):
        for name, bounds in piece.bounds.items():
            found.setdefault(name, set()).update(float(v) for v in bounds if np.isfinite(v))
    return {name: sorted(values) for name, values in found.items()}


def _measures(model: Any) -> dict[str, Any]:
    """Measures of all levels together."""
    share = np.array([level.coverage for level in model.levels_])

    def average(name: str) -> float | None:
        values = np.array([getattr(level, name) for level in model.levels_])
        known = np.isfinite(values) & (share > 0)
        return (
            short(float(np.average(values[known], weights=share[known]))) if known.any() else None
        )

    return {
        "coverage": short(float(model.coverage_)),
        "error": average("error"),
        "heldOutError": average("held_out_error"),
        "effort": short(float(model.complexity_)),
    }


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT]}…"


class _View:
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
        regions = describe_regions(level.regions)
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
            "shades": None if is_plain else shade(level, window),
            "regions": regions,
            "classifier": describe_classifier(level.classifier),
        }

    def _piece(self, piece: Any, names: tuple[str, ...]) -> dict[str, Any]:
        return {
            "region": piece.region,
            "answer": self.position[piece.answer],
            "text": clipped(piece.text),
            "rows": short(float(piece.support)),
            "purity": short(float(piece.purity)),
            "bounds": ends_of(piece.bounds, names),
        }

    def _outlines(self, regions: Any, window: list[Any], pieces: Any) -> list[dict[str, Any]]:
        """Lines around the regions, with their answer where there is only one."""
        if len(window) > 2:
            return []
        found = []
        for number, outline in enumerate(outlines(regions, window)):
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
