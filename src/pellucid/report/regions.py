"""Payload of a model of regions."""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.explanation.region_list import RegionList
from pellucid.explanation.rules import default_names
from pellucid.report.columns import NumberColumn
from pellucid.report.facts import choose_columns, cluster_facts
from pellucid.report.head import PageOptions
from pellucid.report.levels import LevelView
from pellucid.report.privacy import hide_small, without_rows
from pellucid.report.profiles import short
from pellucid.report.trees import describe_dialects, label_mark, marked_sql
from pellucid.tables.validation import read_X
from pellucid.tree.predictor import column_values

_MOST_TEXT = 100_000
"""Maximum number of characters of the text of all levels."""

_LONGEST_EXPORT = 150_000
"""Characters of the model file, and of all SQL together, that a page contains."""


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
    at, answer = model.apply(X)[kept], _positions(model.classes_, model.predict(X)[kept])
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
        _refuse_rows(model)
        read = without_rows(read_column, lambda name: ())
        shown = np.nan_to_num(np.column_stack([read(name).numbers for name in names]))
    columns = choose_columns(names, read, used, position, n_classes + 1, _cuts(rules[:n_levels]))
    each = max(1, page.max_points // max(n_levels, 1)) if page.max_points else 0
    view = LevelView(shown, names, at[:, 0], answer, model.classes_, columns.place, each)
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
        "rules": _cut(str(rules)),
        **_describe_exports(None if page.is_private else exported or model),
        **page.page_end(model, method, names, read_column, n_rows, n_read - n_rows),
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
    marks = [label_mark(i) for i in range(len(regions.classes_))]
    marked.classes_ = np.array(marks, dtype=object)
    sql = marked_sql(marked, marks)
    is_short = len(json.dumps(document)) <= _LONGEST_EXPORT
    return {
        "model": document if is_short else None,
        "sqlDialects": describe_dialects(regions.classes_.tolist()),
        "sql": sql if sum(map(len, sql.values())) <= _LONGEST_EXPORT else {},
    }
