"""All that a page of trees knows: counts, rules and a few rows, as plain lists and dictionaries."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np

from pellucid.report.alternatives import Choice, Subject, evenly_spaced
from pellucid.report.columns import (
    MIN_ROWS,
    CategoryColumn,
    Column,
    NumberColumn,
    Profile,
    Table,
    short,
)
from pellucid.report.facts import (
    PageColumns,
    choose_columns,
    cluster_facts,
    hide_small,
    sample_rows,
    suggest_cluster_names,
)
from pellucid.report.page import PageOptions, reference_word
from pellucid.report.trees import TreeCandidate, describe_dialects, describe_tree, split_histograms
from pellucid.xclusters.series import read_fitted_series

_MOST_CHARACTERS = 500_000  # length of all trees of a page together
_LONGEST_MODEL = 300_000  # length of the model file in a page
_MOST_TIMES = 160  # points of a line; of more times, every so-many-th


def make_payload(subject: Subject, X: Any, page: PageOptions) -> dict[str, Any]:
    """Data of the page."""
    explanation, fitted = subject.explanation, subject.fitted
    table = Table(X, explanation)
    labels, names = explanation.cluster_names_.tolist(), explanation.tree_columns_
    n_clusters = len(labels)
    choice = subject.trees(page.trade_off)
    columns = _columns(table, explanation, choice, n_clusters, page)
    profiles = {p.column.name: p for p in columns.profiles}
    categories = [p.column for p in columns.profiles if isinstance(p.column, CategoryColumn)]
    values = {column.name: column.values for column in categories}
    own = choice.trees[choice.own].position
    if not (page.cluster_names or page.suggested_names):
        suggested = suggest_cluster_names(explanation, columns.shown, own)
        page = replace(page, suggested_names=suggested)
    points = sample_rows(own, n_clusters, page.max_points)
    has_trends = page.series is not None and not page.is_private
    trends = _describe_trends(fitted, page.series, page.times) if has_trends else None

    def describe(candidate: TreeCandidate) -> dict[str, Any]:
        position = candidate.position
        facts = cluster_facts(position, n_clusters, columns.shown, page.n_typical)
        described = describe_tree(candidate, explanation, columns.place, values)
        histograms = split_histograms(candidate, names, profiles, is_private=page.is_private)
        for split, histogram in histograms.items():
            described["nodes"][split]["histogram"] = histogram
        described["clusters"] = hide_small(facts) if page.is_private else facts
        described["points"] = position[points].tolist()
        return described

    trees, own_place = _affordable(choice, describe)
    used = {name for c in choice.trees for name in table.ask(c.tree, names)}
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
            "values": [p.column.values_at(points) for p in columns.shown],
        },
        "trends": trends,
        "stability": None if page.stability is None else _stability(explanation, page),
        "guarantee": _guarantee(fitted),
        **page.page_end(fitted, explanation.method_, table.names, table.read, table.n_rows),
    }


def _stability(explanation: Any, page: PageOptions) -> dict[str, Any]:
    """How often the tree returns; the page writes the question of a node itself."""
    stability, min_rows = page.stability, MIN_ROWS if page.is_private else 1
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
    return {
        "bound": short(found.bound),
        "ratio": short(found.ratio),
        "formula": found.formula,
        "comparedWith": found.compared_with,
        "source": found.source,
    }


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
    own, names = choice.trees[choice.own], explanation.tree_columns_
    used = [name for c in [own, *choice.trees] for name in table.ask(c.tree, names)]
    cuts = table.cuts([c.tree for c in choice.trees], names)

    def read(name: str) -> Column:
        column = table.read(name)
        return column.without_rows(table.asked_values(name)) if page.is_private else column

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
    others = [i for i in range(len(choice.trees)) if i != choice.own]
    most = 0
    if others:
        longest = max(choice.trees, key=lambda c: c.tree.n_leaves)
        most = (_MOST_CHARACTERS - _length(own)) // _length(describe(longest))
    order = sorted([choice.own, *evenly_spaced(others, most)])
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
    return column.values.index(value) if value in column.values else len(column.values)


def _describe_trends(model: Any, series: Any, times: Any) -> dict[str, Any]:
    """Series of each cluster for the page: its medoid and the range of its middle half."""
    lines, times = read_fitted_series(model, series, times)
    n_times = max(map(len, lines))
    if times is not None and len(times) < n_times:
        raise ValueError(f"{len(times)} times, but there are series of {n_times} values")
    first, last = (0, n_times - 1) if times is None else (times[0], times[n_times - 1])
    table = np.array(lines) if all(len(one) == n_times for one in lines) else None
    step = max(1, -(-n_times // _MOST_TIMES))
    clusters = []
    for cluster, medoid in enumerate(model.medoid_indices_.tolist()):
        shown = {"medoid": lines[medoid]}
        members = np.flatnonzero(model.labels_ == cluster)
        if table is not None and len(members) > 1:
            shown["low"], shown["high"] = np.nanquantile(table[members], [0.25, 0.75], axis=0)
        entry = {n: [short(v, 4) for v in line[::step].tolist()] for n, line in shown.items()}
        clusters.append(entry)
    return {"first": _moment(first), "last": _moment(last), "clusters": clusters}


def _moment(time: Any) -> str:
    """Display text of a time; a date without a time of day."""
    return str(time).partition("T00:00:00")[0].partition(" 00:00:00")[0]
