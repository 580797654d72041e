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
from pellucid.plotting.regions import window_of
from pellucid.regions.levels import project
from pellucid.regions.shapes import Regions
from pellucid.report.columns import NumberColumn, clipped, short
from pellucid.report.facts import choose_columns, cluster_facts, hide_small, sample_rows
from pellucid.report.page import PageOptions
from pellucid.report.trees import describe_dialects, label_marks, marked_sql
from pellucid.tables.validation import read_X
from pellucid.tree.predictor import column_values

_NO_EXPORTS: dict[str, Any] = {"model": None, "sqlDialects": {}, "sql": {}}
_MOST_CORNERS = 61  # points of an outline
_CELLS = (96, 64)  # of the grid across and upwards, for regions without an exact outline
_MOST_TEXT = 100_000  # characters of the text of all levels
_LONGEST_EXPORT = 150_000  # characters of the model file, and of all SQL together


@dataclass(frozen=True)
class LevelView:
    """The rows as every level looks at them."""

    numbers: np.ndarray
    names: list[str]
    level_of: np.ndarray
    answer: np.ndarray
    position: dict[Any, int]  # of the classes
    place: dict[str, int]  # of the columns in the page
    max_points: int

    def level(self, number: int, level: Any, rule: Any) -> dict[str, Any]:
        n_classes = len(self.position)
        reached = np.flatnonzero((self.level_of < 0) | (self.level_of >= number))
        is_answered = self.level_of[reached] == number
        answer = np.where(is_answered, self.answer[reached], n_classes)
        chosen = sample_rows(answer, n_classes + 1, self.max_points)
        P = project(self.numbers, level.features, reached[chosen])
        window = window_of(project(self.numbers, level.features, reached))
        regions, pieces = _describe_regions(level.regions), rule.pieces
        numbers = [piece.region for piece in pieces]
        # Whether the outlines of the regions determine the answers.
        is_plain = all(piece.bounds or numbers.count(piece.region) == 1 for piece in pieces)
        return {
            "columns": [self.place[self.names[f]] for f in level.features],
            "window": [[short(low), short(high)] for low, high in window],
            "reached": len(reached),
            "answered": int(is_answered.sum()),
            "error": short(float(level.error)),
            "heldOutError": short(float(level.held_out_error)),
            "pieces": [self._piece(piece, rule.names) for piece in pieces],
            "outlines": self._outlines(level.regions, window, pieces),
            "points": {
                "values": [[short(v, 5) for v in column] for column in P.T.tolist()],
                "answers": np.where(is_answered, self.answer[reached], -1)[chosen].tolist(),
            },
            "shades": None if is_plain and regions is not None else _shade(level, window),
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
            inside = {self.position[piece.answer] for piece in pieces if piece.region == number}
            step = max(1, -(-len(outline) // _MOST_CORNERS))
            points = [[short(float(v), 5) for v in point] for point in outline[::step]]
            found.append({"answer": inside.pop() if len(inside) == 1 else None, "points": points})
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
    rows = []
    for row in answer.reshape(-1, _CELLS[0]):
        starts = np.flatnonzero(np.append(True, row[1:] != row[:-1]))
        lengths = np.diff(np.append(starts, len(row)))
        rows.append(np.column_stack([row[starts], lengths]).ravel().tolist())
    return rows


def _describe_regions(regions: Regions) -> list[dict[str, Any]] | None:
    """Each region as numbers; None for those that need the training rows."""
    if not regions.fields:
        return None
    found = []
    for i in range(len(regions)):
        numbers = dict(zip(regions.fields, regions.numbers(i)))
        entry = {"kind": regions.kind, **{name: _finite(v) for name, v in numbers.items()}}
        if hasattr(regions, "tolerance"):
            # Facets of polyhedra decide; the corners are drawn from the outlines.
            del entry["vertices"]
            entry["tolerance"] = regions.tolerance(i).tolist()
        found.append(entry)
    return found


def _finite(values: Any) -> list[Any]:
    """Numbers, None where they are infinite; rows of a matrix as they are."""
    if np.ndim(values) > 1:
        return np.asarray(values).tolist()
    return [float(v) if np.isfinite(v) else None for v in values]


def make_regions_payload(
    model: Any, X: Any, page: PageOptions, is_noise: np.ndarray | None
) -> dict[str, Any]:
    """Payload of a fitted EOP model; with a reference its classes are called clusters.

    Rows that are noise, of the rows of the fit, are left out.
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

    def read_column(name: str) -> NumberColumn:
        numbers = column_values(values, order[name], np.arange(n_rows))
        return NumberColumn(name, numbers, model.formats_.get(name))

    def read(name: str) -> NumberColumn:
        return read_column(name).without_rows() if page.is_private else read_column(name)

    shown = values
    if page.is_private:
        # The corners of other regions, and possibly own shapes, consist of training rows.
        if any(level.regions.kind not in ("box", "ellipse") for level in model.levels_):
            raise ValueError(
                "the corners of the regions are training rows, so that a report without rows "
                "cannot show them; use boxes or ellipses"
            )
        shown = np.nan_to_num(np.column_stack([read(name).numbers for name in names]))
    columns = choose_columns(names, read, used, position, n_classes + 1, _cuts(rules[:n_levels]))
    each = max(1, page.max_points // max(n_levels, 1)) if page.max_points else 0
    labels = model.classes_.tolist()
    classes = {label: i for i, label in enumerate(labels)}
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
            labels=labels,
            columns=columns.describe(set(used), lambda profile: None),
        ),
        "facts": hide_small(facts) if page.is_private else facts,
        "levels": [view.level(n, *pair) for n, pair in enumerate(zip(model.levels_, rules))],
        "answered": int((at[:, 0] >= 0).sum()),
        "leftover": {
            "answer": None if leftover.answer is None else classes[leftover.answer],
            "byNeighbours": leftover.by_neighbours,
            "purity": short(float(leftover.purity)),
        },
        "measures": _measures(model),
        "rules": clipped(str(rules), _MOST_TEXT),
        **(_NO_EXPORTS if page.is_private else _describe_exports(page.exported or model)),
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
    share = np.array([level.coverage for level in model.levels_])

    def average(name: str) -> float | None:
        values = np.array([getattr(level, name) for level in model.levels_])
        known = np.isfinite(values) & (share > 0)
        if not known.any():
            return None
        return short(float(np.average(values[known], weights=share[known])))

    return {
        "coverage": short(float(model.coverage_)),
        "error": average("error"),
        "heldOutError": average("held_out_error"),
        "effort": short(float(model.complexity_)),
    }


def _describe_exports(model: Any) -> dict[str, Any]:
    """The model file and the SQL of regions; empty for those that cannot be exported."""
    try:
        regions = RegionList.of(model)
        document = regions.to_dict()
    except (TypeError, ValueError):
        return _NO_EXPORTS
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
