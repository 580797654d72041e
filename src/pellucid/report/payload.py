"""All that a page of trees knows: counts, rules and a few rows, as plain lists and dictionaries."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np

from pellucid.report.cluster_names import Names
from pellucid.report.columns import CategoryColumn, NumberColumn, Table, clipped
from pellucid.report.data_notes import DataNotes
from pellucid.report.facts import PageColumns, choose_columns, cluster_facts, data_names
from pellucid.report.model_view import Choice, Subject
from pellucid.report.privacy import hide_small, notes_without_values, without_rows
from pellucid.report.profiles import Profile
from pellucid.report.provenance import describe_making, reference_word
from pellucid.report.sample import sample_rows, values_of
from pellucid.report.split_histograms import split_histograms
from pellucid.report.table_facts import find_table_facts
from pellucid.report.trees import TreeCandidate, describe_dialects, describe_tree
from pellucid.report.trends import describe_trends

_MOST_CHARACTERS = 500_000
"""Length of all trees of a page together."""


_LONGEST_MODEL = 300_000
"""Length of the model file in a page, at the most."""


def make_payload(
    subject: Subject,
    X: Any,
    *,
    title: str | None = None,
    rows: str = "rows",
    reference: str | None = None,
    trade_off: Any = "auto",
    max_points: int = 2000,
    n_typical: int = 3,
    series: Any = None,
    times: Any = None,
    made: dict[str, str] | None = None,
    notes: DataNotes | None = None,
    cluster_names: Names | None = None,
) -> dict[str, Any]:
    """Data of the page; parameters as in :func:`pellucid.report.write_report`."""
    explanation = subject.explanation
    notes = notes or DataNotes()
    table = Table(X, explanation)
    n_clusters = len(explanation.cluster_names_)
    choice = subject.trees(trade_off)
    is_private = not max_points and not n_typical
    columns = _columns(table, explanation, choice, n_clusters, is_private)
    notes = notes_without_values(notes) if is_private else notes
    if notes.table is None:
        notes = replace(notes, table=find_table_facts(table.names, table.read, table.n_rows))
    profiles = {p.column.name: p for p in columns.profiles}
    categories = [p.column for p in columns.profiles if isinstance(p.column, CategoryColumn)]
    values = {column.name: column.values for column in categories}
    points = sample_rows(choice.trees[choice.own].position, n_clusters, max_points)

    def describe(candidate: TreeCandidate) -> dict[str, Any]:
        position = candidate.position
        facts = cluster_facts(position, n_clusters, columns.shown, n_typical)
        described = describe_tree(candidate, explanation, columns.place, values)
        names = explanation.tree_columns_
        histograms = split_histograms(candidate, names, profiles, is_private=is_private)
        for split, histogram in histograms.items():
            described["nodes"][split]["histogram"] = histogram
        return {
            **described,
            "clusters": hide_small(facts) if is_private else facts,
            "points": position[points].tolist(),
        }

    trees, own = _affordable(choice, describe)
    used = {name for c in choice.trees for name in table.ask(c.tree, explanation.tree_columns_)}
    return {
        "format": 1,
        "title": clipped(title) if title else None,
        "method": explanation.method_,
        "reference": reference or reference_word(subject.fitted),
        "rows": table.n_rows,
        "rowsAre": clipped(rows),
        "columnsInData": len(table.names),
        "clusters": (cluster_names or Names()).describe(explanation.cluster_names_.tolist()),
        "columns": columns.describe(used, lambda profile: _fill(explanation, profile)),
        "dataNames": data_names(table.names),
        "objective": getattr(subject.fitted, "objective", "kmeans"),
        # The model file lists all categories, also rare ones.
        "model": None if is_private else _model(explanation),
        "sqlDialects": describe_dialects(explanation.cluster_names_.tolist()),
        "trees": trees,
        "own": own,
        "steps": choice.steps if len(trees) > 1 else {"kinds": [], "sample": None},
        "points": {
            "rows": len(points),
            "values": [values_of(p, points) for p in columns.shown],
        },
        "trends": None
        if series is None or is_private
        else describe_trends(subject.fitted, series, times),
        "made": {**describe_making(subject.fitted, explanation.method_), **(made or {})},
        **notes.describe(),
    }


def _model(explanation: Any) -> dict[str, Any] | None:
    """The model file as a dictionary; None if it cannot be written or is too long."""
    try:
        model = explanation.to_dict()
        return model if _length(model) <= _LONGEST_MODEL else None
    except (TypeError, ValueError):
        return None


def _columns(
    table: Table, explanation: Any, choice: Choice, n_clusters: int, is_private: bool
) -> PageColumns:
    own = choice.trees[choice.own]
    used: dict[str, None] = {}
    for candidate in [own, *choice.trees]:
        used.update(dict.fromkeys(table.ask(candidate.tree, explanation.tree_columns_)))
    cuts = table.cuts([c.tree for c in choice.trees], explanation.tree_columns_)
    read = without_rows(table.read, table.asked_values) if is_private else table.read
    return choose_columns(table.names, read, used, own.position, n_clusters, cuts)


def _affordable(choice: Choice, describe: Any) -> tuple[list[dict[str, Any]], int]:
    """The trees for the page, as many as keep it small, and where the model's own is.

    Of too many, those that lie evenly between the ends stay; what is too long about the model's
    own tree is its SQL, with very many leaves or very long names.
    """
    own = describe(choice.trees[choice.own])
    while own["sql"] and _length(own) > _MOST_CHARACTERS:
        own["sql"].popitem()
    n_others = len(choice.trees) - 1
    if n_others:
        longest = max(choice.trees, key=lambda c: c.tree.n_leaves)
        n_others = min(n_others, (_MOST_CHARACTERS - _length(own)) // _length(describe(longest)))
    others = [i for i in range(len(choice.trees)) if i != choice.own]
    picked = np.linspace(0, len(others) - 1, max(n_others, 0)).astype(int)
    order = sorted({choice.own, *(others[i] for i in picked)})
    trees = [own if i == choice.own else describe(choice.trees[i]) for i in order]
    return trees, order.index(choice.own)


def _length(entry: Any) -> int:
    return len(json.dumps(entry, separators=(",", ":")))


def _fill(explanation: Any, profile: Profile) -> Any:
    """Replacement of a missing value: a number, the position of a category, or None."""
    column = profile.column
    if column.name not in explanation.fill_:
        return None
    value = explanation.fill_[column.name]
    if isinstance(column, NumberColumn):
        return float(value)
    values = column.values
    return values.index(value) if value in values else len(values)
