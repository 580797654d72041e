"""Payload of a model of regions, with its levels."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.explanation.region_list import RegionList
from pellucid.explanation.rules import default_names
from pellucid.plotting.region_shapes import window_of
from pellucid.regions.levels import project
from pellucid.regions.shapes import Regions
from pellucid.report.columns import NumberColumn, clipped, short, without_rows
from pellucid.report.facts import choose_columns, cluster_facts, hide_small, sample_rows
from pellucid.report.page import PageOptions
from pellucid.report.trees import describe_dialects, label_marks, marked_sql
from pellucid.tables.validation import read_X
from pellucid.tree.predictor import column_values

_MOST_CORNERS = 61
"""Points of an outline, at the most."""

_CELLS = (96, 64)
"""Cells of the grid across and upwards, for regions without an exact outline."""

_MOST_TEXT = 100_000
"""Maximum number of characters of the text of all levels."""

_LONGEST_EXPORT = 150_000
"""Characters of the model file, and of all SQL together, that a page contains."""


@dataclass(frozen=True)
class LevelView:
    """The rows as every level looks at them."""

    numbers: np.ndarray
    names: list[str]
    level_of: np.ndarray
    answer: np.ndarray
    position: dict[Any, int]
    """Positions of the classes."""
    place: dict[str, int]
    """Positions of the columns in the page."""
    max_points: int

    def level(self, number: int, level: Any, rule: Any) -> dict[str, Any]:
        """One level for the page."""
        n_classes = len(self.position)
        reached = np.flatnonzero((self.level_of < 0) | (self.level_of >= number))
        is_answered = self.level_of[reached] == number
        answer = np.where(is_answered, self.answer[reached], n_classes)
        chosen = sample_rows(answer, n_classes + 1, self.max_points)
        P = project(self.numbers, level.features, reached[chosen])
        window = window_of(project(self.numbers, level.features, reached))
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
            # Stumps and linear classifiers are numbers.
            "classifier": level.classifier.facts() if hasattr(level.classifier, "facts") else None,
        }

    def _piece(self, piece: Any, names: tuple[str, ...]) -> dict[str, Any]:
        return {
            "region": piece.region,
            "answer": self.position[piece.answer],
            "text": clipped(piece.text),
            "rows": short(float(piece.support)),
            "purity": short(float(piece.purity)),
            "bounds": [_finite(piece.bounds[n]) for n in names] if piece.bounds else None,
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
            answer = answers_inside.pop() if len(answers_inside) == 1 else None
            found.append({"answer": answer, "points": points})
        return found


def _is_plain(pieces: Any) -> bool:
    """Whether the outlines of the regions determine the answers."""
    regions = [piece.region for piece in pieces]
    return all(piece.bounds or regions.count(piece.region) == 1 for piece in pieces)


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
        if hasattr(regions, "tolerance"):
            # Facets of polyhedra decide; the corners are drawn from the outlines.
            del found[-1]["vertices"]
            found[-1]["tolerance"] = regions.tolerance(i).tolist()
    return found


def _finite(values: Any) -> list[Any]:
    """Numbers, None where they are infinite; rows of a matrix as they are."""
    if np.ndim(values) > 1:
        return np.asarray(values).tolist()
    return [float(v) if np.isfinite(v) else None for v in values]


def make_regions_payload(
    model: Any,
    X: Any,
    page: PageOptions,
    *,
    exported: Any = None,
    is_noise: np.ndarray | None = None,
) -> dict[str, Any]:
    """Payload of a fitted EOP model; parameters as in `write_report`.

    With a reference its classes are called clusters. Rows that are noise, of the rows of the
    fit, are left out.
    """
    values = read_X(model, X, reset=False)
    n_read = values.shape[0]
    kept = np.arange(n_read)
    if is_noise is not None and len(is_noise) == n_read:
        kept = np.flatnonzero(~is_noise)
        values = values.tocsr()[kept].tocsc() if sparse.issparse(values) else values[kept]
    n_rows, n_columns = values.shape
    names = [str(n) for n in getattr(model, "feature_names_in_", default_names(n_columns))]
    at, predicted = model.apply(X)[kept], model.predict(X)[kept]
    nearest = np.clip(np.searchsorted(model.classes_, predicted), 0, len(model.classes_) - 1)
    answer = np.where(model.classes_[nearest] == predicted, nearest, -1)  # -1: not a class
    rules = model.explain()
    n_classes, n_levels = len(model.classes_), len(model.levels_)
    # Rows without an answer are a group by themselves, which has no card.
    position = np.where(answer >= 0, answer, n_classes)
    used = dict.fromkeys(names[f] for level in model.levels_ for f in level.features)
    order = {name: i for i, name in enumerate(names)}
    everything = np.arange(n_rows)

    def read_column(name: str) -> NumberColumn:
        numbers = column_values(values, order[name], everything)
        return NumberColumn(name, numbers, model.formats_.get(name))

    read: Any = read_column
    shown = values
    if page.is_private:
        # The corners of other regions, and possibly own shapes, consist of training rows.
        if any(level.regions.kind not in ("box", "ellipse") for level in model.levels_):
            raise ValueError(
                "the corners of the regions are training rows, so that a report without rows "
                "cannot show them; use boxes or ellipses"
            )
        read = without_rows(read_column, lambda name: ())
        shown = np.nan_to_num(np.column_stack([read(name).numbers for name in names]))
    columns = choose_columns(names, read, used, position, n_classes + 1, _cuts(rules[:n_levels]))
    each = max(1, page.max_points // max(n_levels, 1)) if page.max_points else 0
    classes = {label: i for i, label in enumerate(model.classes_.tolist())}
    view = LevelView(shown, names, at[:, 0], answer, classes, columns.place, each)
    facts = cluster_facts(position, n_classes + 1, columns.shown, page.n_typical)[:n_classes]
    leftover, method = rules[-1], type(model).__name__
    return {
        "kind": "regions",
        **page.page_head(
            method=method,
            reference=page.reference,
            n_rows=n_rows,
            names=names,
            labels=model.classes_.tolist(),
            columns=columns.describe(set(used), lambda profile: None),
        ),
        "facts": hide_small(facts) if page.is_private else facts,
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
        "rules": clipped(str(rules), _MOST_TEXT),
        **_describe_exports(None if page.is_private else exported or model),
        **page.page_end(model, method, names, read_column, n_rows, n_read - n_rows),
    }


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


def _describe_exports(model: Any) -> dict[str, Any]:
    """The model file and the SQL of regions; empty for those that cannot be exported."""
    empty: dict[str, Any] = {"model": None, "sqlDialects": {}, "sql": {}}
    if model is None:
        return empty
    try:
        regions = RegionList.of(model)
        document = regions.to_dict()
    except (TypeError, ValueError):
        return empty
    marked = copy.copy(regions)
    marks = label_marks(len(regions.classes_))
    marked.classes_ = np.array(marks, dtype=object)
    sql = marked_sql(marked, marks)
    is_short = len(json.dumps(document)) <= _LONGEST_EXPORT
    return {
        "model": document if is_short else None,
        "sqlDialects": describe_dialects(regions.classes_.tolist()),
        "sql": sql if sum(map(len, sql.values())) <= _LONGEST_EXPORT else {},
    }
