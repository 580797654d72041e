"""The report of an explained table, in the units of the table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from pellucid._utils.texts import say, texts_in
from pellucid.explanation.explanation import Explanation
from pellucid.report import write_report
from pellucid.report.alternatives import AlternativeTrees, other_trees
from pellucid.report.table_facts import (
    MOST_COLUMNS,
    ColumnFacts,
    TableFacts,
    describe_numbers,
    related_columns,
    sampled_rows,
)
from pellucid.table_explainer.clustering import FittedTable
from pellucid.table_explainer.preparing import PreparedTable
from pellucid.table_explainer.roles import as_category, as_number, is_nested, known_values


def write_table_report(
    path: Path,
    fitted: FittedTable,
    explanation: Explanation,
    *,
    title: str | None = None,
    **options: Any,
) -> Path:
    """Write the report of an explained table. `explanation` is that of `fitted`, perhaps with other
    names of clusters; `options` are those of :func:`pellucid.report.write_report`.
    """
    prepared = fitted.prepared
    name = Path(prepared.source.name).name
    described = [prepared.cleaned[n].gather(prepared.rows) for n in prepared.roles.profile]
    # Codes become text, because the page describes numbers by a mean.
    shown = prepared.table.with_columns(
        as_number(c) if prepared.roles.is_quantity(c) else as_category(c).cast(pl.String)
        for c in described
    )
    # Of rows that were read in batches, the page shows a sample.
    if shown.height < fitted.n_rows and options.get("rows", "rows") == "rows":
        with texts_in(options.get("language", "en")):
            options["rows"] = say("sampledRows")
    return write_report(
        path,
        explanation,
        shown,
        fitted=fitted.model,
        title=title or name,
        reference=fitted.clustering.name,
        # The labels of rows that were read in batches are not stored.
        trade_off=_trade_off(fitted) if hasattr(fitted.model, "labels_") else None,
        made={"data": name, "rows": str(fitted.n_rows)},
        number_of_clusters=_numbers(fitted),
        table=describe_table(fitted),
        **options,
    )


def _numbers(fitted: FittedTable) -> list[dict[str, Any]]:
    return [
        {"k": s.k, "score": s.silhouette, "stability": s.stability, "smallest": s.smallest}
        | {"agreement": s.agreement, "cost": s.cost, "total": s.score}
        | {"chosen": s.k == fitted.n_clusters}
        for s in fitted.clustering.number_scores
    ]


def _trade_off(fitted: FittedTable) -> AlternativeTrees:
    """Other trees of the same clusters, in the units of the table."""
    model, prepared = fitted.model, fitted.prepared
    names = {name: i for i, name in enumerate(model.cluster_names_.tolist())}
    reference = np.array([names.get(label, -1) for label in model.reference_labels_.tolist()])
    found = other_trees(model, prepared.Z, reference)
    if not prepared.is_scaled:
        return found
    restated = [replace(o, tree=prepared.restate(o.tree)[0]) for o in found.trees]
    return AlternativeTrees(restated, found.n_searched)


def describe_table(fitted: FittedTable) -> TableFacts:
    """The rows and columns of a table, and what was done to them. Values of a sample of a table
    that was read in batches are not counted.
    """
    prepared = fitted.prepared
    table = prepared.cleaned
    is_complete = table.height == fitted.n_table_rows
    names = table.columns[:MOST_COLUMNS]
    rows = sampled_rows(table.height, len(names))
    is_sample = rows is not None or not is_complete
    scales = {n: scale.kind for n, scale in zip(prepared.encoding.sources, prepared.scales)}
    columns, numbers = [], {}
    for name in names:
        role, reason = _role(prepared, name)
        column = table[name]
        facts: dict[Any, Any] = {}
        if role in ("number", "date"):
            values = as_number(column).fill_null(np.nan).to_numpy()
            numbers[name] = values if rows is None else values[rows]
            facts = describe_numbers(numbers[name], is_sample=is_sample)
        elif is_complete and not is_nested(column.dtype):
            facts = {"n_values": column.drop_nulls().n_unique()}
        n_missing = len(column) - len(known_values(column)) if is_complete else None
        facts |= {"missing": n_missing, "filled": fitted.explanation.fill_.get(name)}
        columns.append(ColumnFacts(name, role, reason, scales.get(name), **facts))
    scores = fitted.clustering.number_scores
    chosen = next((score for score in scores if score.k == fitted.n_clusters), None)
    silhouette = fitted.clustering.silhouette
    dropped = {"gaps": fitted.n_incomplete, "outliers": len(prepared.outliers)}
    n_labels = fitted.n_table_rows - fitted.n_rows - sum(dropped.values())
    dropped["labels"] = max(n_labels, 0) if prepared.labels is not None else 0
    return TableFacts(
        n_read=fitted.n_table_rows,
        n_used=fitted.n_rows,
        dropped=dropped,
        columns=columns,
        n_further=len(table.columns) - len(names),
        silhouette=None if np.isnan(silhouette) else float(silhouette),
        stability=None if chosen is None else chosen.stability,
        **related_columns(numbers),
    )


def _role(prepared: PreparedTable, name: str) -> tuple[str, str | None]:
    """The role of a column, and the reason if it is ignored."""
    roles = prepared.roles
    if name in roles.ignored:
        return "ignored", roles.ignored[name]
    if name in roles.numbers:
        return ("date" if roles.formats[name].is_date else "number"), None
    if name in roles.categories:
        return "category", None
    if name == prepared.label_column:
        return "label", None
    if name in roles.profile:
        return "profile", roles.described.get(name)
    return "ignored", "excluded"
