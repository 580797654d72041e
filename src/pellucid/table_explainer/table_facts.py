"""Facts about a prepared table for its report."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from pellucid.report.table_facts import (
    MOST_COLUMNS,
    ColumnFacts,
    TableFacts,
    describe_numbers,
    related_columns,
    sampled_rows,
)
from pellucid.table_explainer.fitting import FittedTable
from pellucid.table_explainer.number_of_clusters import NumberScore
from pellucid.table_explainer.preparing import PreparedTable
from pellucid.table_explainer.roles import as_number, is_nested
from pellucid.tables.encoding import Indicator


def describe_table(fitted: FittedTable) -> TableFacts:
    """The rows and columns of a table, and what was done to them.

    Of a table that was read in batches, `fitted.prepared` has a sample: values of columns are then
    not counted.
    """
    prepared = fitted.prepared
    table = prepared.source.table
    is_complete = table.height == fitted.n_table_rows
    names = table.columns[:MOST_COLUMNS]
    rows = sampled_rows(table.height, len(names))
    is_sample = rows is not None or not is_complete
    scales = _scales(prepared)
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
        columns.append(
            ColumnFacts(
                name,
                role,
                reason=reason,
                scale=scales.get(name),
                missing=_n_missing(column) if is_complete else None,
                filled=fitted.explanation.fill_.get(name),
                **facts,
            )
        )
    chosen = _chosen_score(fitted)
    silhouette = fitted.clustering.silhouette
    n_labels = fitted.n_table_rows - fitted.n_rows - fitted.n_incomplete - len(prepared.outliers)
    return TableFacts(
        n_read=fitted.n_table_rows,
        n_used=fitted.n_rows,
        dropped={
            "gaps": fitted.n_incomplete,
            "outliers": len(prepared.outliers),
            "labels": max(n_labels, 0) if prepared.labels is not None else 0,
        },
        columns=columns,
        n_further=len(table.columns) - len(names),
        silhouette=None if np.isnan(silhouette) else float(silhouette),
        stability=None if chosen is None else chosen.stability,
        **related_columns(numbers),
    )


def _chosen_score(fitted: FittedTable) -> NumberScore | None:
    number = fitted.clustering.number
    scores = () if number is None else number.scores
    return next((score for score in scores if score.k == fitted.n_clusters), None)


def _n_missing(column: pl.Series) -> int:
    n_nan = int(column.is_nan().sum()) if column.dtype.is_float() else 0
    return column.null_count() + n_nan


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
    return ("profile", None) if name in roles.profile else ("ignored", "excluded")


def _scales(prepared: PreparedTable) -> dict[str, str]:
    """How each column that was clustered is scaled."""
    return {
        name.column if isinstance(name, Indicator) else name: scale.kind
        for name, scale in zip(prepared.encoding.names, prepared.scales)
    }
