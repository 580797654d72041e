"""Descriptions of clusters: suggested names, and columns that are not clustered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from pellucid.explanation import cluster_names
from pellucid.explanation.cluster_names import YES, ClusterName, NamedColumns
from pellucid.explanation.rules import ClusterRule
from pellucid.table_explainer.clustering import FittedTable
from pellucid.table_explainer.preparing import PreparedTable
from pellucid.table_explainer.roles import as_category, as_number, find_format
from pellucid.tables.column_formats import ColumnFormat


def suggest_names(
    prepared: PreparedTable,
    labels: np.ndarray,
    clusters: Iterable[object],
    rules: Sequence[ClusterRule] = (),
) -> list[ClusterName]:
    """Suggested names of clusters of the prepared rows; `rules` are those of the clusters."""
    columns = NamedColumns(
        prepared.encoding.names, prepared.features, prepared.Z, prepared.roles.formats
    )
    return cluster_names.suggest_names(columns, labels, clusters, rules)


def describe_profile(fitted: FittedTable) -> dict[str, list[str]]:
    """For each column that is described but not clustered, one text per cluster.

    Columns that repeat clustered ones are left out.
    A number is described by its mean, a category by the most frequent value and its share. Of two
    categories it is always the share of the same one: "yes", or the rarer one.
    """
    prepared, described = fitted.prepared, {}
    labels = fitted.rule_labels if prepared.roles.profile else None
    clusters = fitted.model.cluster_names_.tolist()
    for name in prepared.roles.profile:
        if name in prepared.roles.copies:
            continue
        column = prepared.cleaned[name].gather(prepared.rows)
        is_number = prepared.roles.is_quantity(column)
        describe = _mean if is_number else partial(_category, of=_one_of_two(column))
        described[name] = [describe(column.filter(pl.Series(labels == c))) for c in clusters]
    return described


def _mean(column: pl.Series) -> str:
    numbers = as_number(column).drop_nulls().drop_nans()
    if not len(numbers):
        return "-"
    mean = float(numbers.to_numpy().mean())
    known = find_format(column, ColumnFormat())
    if known.is_date:
        return known.text(float(round(mean)))
    return f"{mean:.0f}" if known.kind == "year" else f"{mean:,.4g}"


def _counts(column: pl.Series) -> list[tuple[Any, int]]:
    """The categories with their numbers of rows, the most frequent first."""
    counts = as_category(column).drop_nulls().alias("value").value_counts(name="rows")
    return counts.sort("rows", "value", descending=[True, False]).rows()


def _one_of_two(column: pl.Series) -> Any:
    """The category of a column of two categories that is described: "yes", or the rarer one."""
    counts = _counts(column)
    if len(counts) != 2:
        return None
    return next((v for v, _ in counts if str(v).casefold() in YES), counts[1][0])


def _category(column: pl.Series, of: Any) -> str:
    counts = _counts(column)
    if not counts:
        return "-"
    value, rows = counts[0] if of is None else (of, dict(counts).get(of, 0))
    return f"{value} ({rows / sum(n for _, n in counts):.0%})"
