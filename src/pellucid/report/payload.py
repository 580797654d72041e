"""All that a page of trees knows: counts, rules and a few rows, as plain lists and dictionaries."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np

from pellucid.report.alternatives import Choice, Subject
from pellucid.report.columns import (
    MIN_ROWS,
    CategoryColumn,
    NumberColumn,
    Profile,
    Table,
    short,
    without_rows,
)
from pellucid.report.facts import (
    PageColumns,
    choose_columns,
    cluster_facts,
    hide_small,
    sample_rows,
    suggest_cluster_names,
    values_of,
)
from pellucid.report.page import PageOptions, reference_word
from pellucid.report.trees import (
    TreeCandidate,
    describe_dialects,
    describe_tree,
    split_histograms,
)
from pellucid.xclusters.series import read_fitted_series

_MOST_CHARACTERS = 500_000
"""Length of all trees of a page together."""

_LONGEST_MODEL = 300_000
"""Length of the model file in a page, at the most."""

_MOST_TIMES = 160
"""Points of a line; of more times, every so-many-th."""


def make_payload(
    subject: Subject,
    X: Any,
    page: PageOptions,
    *,
    trade_off: Any = "auto",
    series: Any = None,
    times: Any = None,
    stability: Any = None,
) -> dict[str, Any]:
    """Data of the page; parameters as in :func:`pellucid.report.write_report`."""
    explanation, fitted = subject.explanation, subject.fitted
    table = Table(X, explanation)
    labels = explanation.cluster_names_.tolist()
    n_clusters = len(labels)
    choice = subject.trees(trade_off)
    columns = _columns(table, explanation, choice, n_clusters, page)
    profiles = {p.column.name: p for p in columns.profiles}
    categories = [p.column for p in columns.profiles if isinstance(p.column, CategoryColumn)]
    values = {column.name: column.values for column in categories}
    own = choice.trees[choice.own].position
    if not (page.cluster_names or page.suggested_names):
        suggested = suggest_cluster_names(explanation, columns.shown, own)
        page = replace(page, suggested_names=suggested)
    points = sample_rows(own, n_clusters, page.max_points)

    def describe(candidate: TreeCandidate) -> dict[str, Any]:
        position = candidate.position
        facts = cluster_facts(position, n_clusters, columns.shown, page.n_typical)
        described = describe_tree(candidate, explanation, columns.place, values)
        names = explanation.tree_columns_
        histograms = split_histograms(candidate, names, profiles, is_private=page.is_private)
        for split, histogram in histograms.items():
            described["nodes"][split]["histogram"] = histogram
        return {
            **described,
            "clusters": hide_small(facts) if page.is_private else facts,
            "points": position[points].tolist(),
        }

    trees, own_place = _affordable(choice, describe)
    used = {name for c in choice.trees for name in table.ask(c.tree, explanation.tree_columns_)}
    return {
        **page.page_head(
            method=explanation.method_,
            reference=page.reference or reference_word(fitted),
            n_rows=table.n_rows,
            names=table.names,
            labels=labels,
            columns=columns.describe(used, lambda profile: _fill(explanation, profile)),
        ),
        "objective": getattr(fitted, "objective", "kmeans"),
        # The model file lists all categories, also rare ones.
        "model": None if page.is_private else _model(explanation),
        "sqlDialects": describe_dialects(labels),
        "trees": trees,
        "own": own_place,
        "steps": choice.steps if len(trees) > 1 else {"kinds": [], "sample": None},
        "points": {
            "rows": len(points),
            "values": [values_of(p, points) for p in columns.shown],
        },
        "trends": None
        if series is None or page.is_private
        else _describe_trends(fitted, series, times),
        "stability": None
        if stability is None
        else _stability(stability, explanation, MIN_ROWS if page.is_private else 1),
        "guarantee": _guarantee(fitted),
        **page.page_end(fitted, explanation.method_, table.names, table.read, table.n_rows),
    }


def _stability(stability: Any, explanation: Any, min_rows: int) -> dict[str, Any]:
    """How often the tree returns; the page writes the question of a node itself."""
    inner = np.flatnonzero(~explanation.tree_.is_leaf).tolist()
    if [question.node for question in stability.questions] != inner:
        raise ValueError("stability is that of another tree; pass pellucid.stability(model, X)")
    return {
        "draws": stability.n_draws,
        "refit": stability.reference == "refit",
        "fraction": stability.fraction,
        "agreement": short(stability.agreement),
        "ari": short(stability.mean_ari),
        "questions": [[q.node, q.returns, q.column_used] for q in stability.questions],
        "clusters": [
            short(c.stability) if c.rows >= min_rows else None for c in stability.clusters
        ],
    }


def _guarantee(fitted: Any) -> dict[str, Any] | None:
    """The proven bound on the cost, if there is one."""
    found = getattr(fitted, "guarantee_", None)
    if found is None:
        return None
    entry = {name: short(getattr(found, name)) for name in ("bound", "ratio")}
    words = {"formula": found.formula, "comparedWith": found.compared_with, "source": found.source}
    return {**entry, **words}


def _model(explanation: Any) -> dict[str, Any] | None:
    """The model file as a dictionary; None if it cannot be written or is too long."""
    try:
        model = explanation.to_dict()
        return model if _length(model) <= _LONGEST_MODEL else None
    except (TypeError, ValueError):
        return None


def _columns(
    table: Table, explanation: Any, choice: Choice, n_clusters: int, page: PageOptions
) -> PageColumns:
    own = choice.trees[choice.own]
    used: dict[str, None] = {}
    for candidate in [own, *choice.trees]:
        used.update(dict.fromkeys(table.ask(candidate.tree, explanation.tree_columns_)))
    cuts = table.cuts([c.tree for c in choice.trees], explanation.tree_columns_)
    read = without_rows(table.read, table.asked_values) if page.is_private else table.read
    known = page.table.columns if page.table else ()
    logarithmic = {c.name for c in known if c.scale == "log"}
    first = [*used, *(c.name for c in known if c.role == "profile")]
    return choose_columns(table.names, read, first, own.position, n_clusters, cuts, logarithmic)


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


def _describe_trends(model: Any, series: Any, times: Any) -> dict[str, Any]:
    """Series of each cluster for the page: its medoid and the range of its middle half."""
    lines, times = read_fitted_series(model, series, times)
    n_times = max(map(len, lines))
    if times is not None and len(times) < n_times:
        raise ValueError(f"{len(times)} times, but there are series of {n_times} values")
    first, last = (0, n_times - 1) if times is None else (times[0], times[n_times - 1])
    is_even = all(len(one) == n_times for one in lines)
    table = np.array(lines) if is_even else None
    clusters = []
    for cluster, medoid in enumerate(model.medoid_indices_.tolist()):
        entry: dict[str, Any] = {"medoid": _thinned(lines[medoid], n_times)}
        members = np.flatnonzero(model.labels_ == cluster)
        if table is not None and len(members) > 1:
            low, high = np.nanquantile(table[members], [0.25, 0.75], axis=0)
            entry["low"], entry["high"] = _thinned(low, n_times), _thinned(high, n_times)
        clusters.append(entry)
    return {"first": _moment(first), "last": _moment(last), "clusters": clusters}


def _thinned(line: np.ndarray, n_times: int) -> list[Any]:
    step = max(1, -(-n_times // _MOST_TIMES))
    return [short(value, 4) for value in line[::step].tolist()]


def _moment(time: Any) -> str:
    """Display text of a time; a date without a time of day."""
    text = str(time)
    for ending in ("T00:00:00", " 00:00:00"):
        text = text.partition(ending)[0]
    return text
