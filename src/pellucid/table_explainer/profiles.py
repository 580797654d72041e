"""Columns that are not clustered, described by cluster."""

from __future__ import annotations

import polars as pl

from pellucid.table_explainer.fitting import FittedTable
from pellucid.table_explainer.preparing import PreparedTable
from pellucid.table_explainer.roles import as_category, as_number, find_format, is_quantity
from pellucid.tables.column_formats import ColumnFormat


def describe_profile(fitted: FittedTable) -> dict[str, list[str]]:
    """For each column of the parameter `profile`, one text per cluster.

    A number is described by its mean, a category by the most frequent value and its share.
    """
    prepared = fitted.prepared
    if not prepared.roles.profile:
        return {}
    labels = fitted.model.labels_
    clusters = fitted.model.cluster_names_.tolist()
    described = {}
    for name in prepared.roles.profile:
        column = prepared.source.table[name].gather(prepared.rows)
        describe = _mean if is_quantity(column) else _most_frequent
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


def _most_frequent(column: pl.Series) -> str:
    column = as_category(column).drop_nulls()
    if not len(column):
        return "-"
    counts = column.alias("value").value_counts(name="rows")
    value, rows = counts.sort("rows", "value", descending=[True, False]).row(0)
    return f"{value} ({rows / len(column):.0%})"


def with_profile(prepared: PreparedTable) -> pl.DataFrame:
    """The clustered table, with the columns that are only described."""
    columns = [prepared.source.table[name].gather(prepared.rows) for name in prepared.roles.profile]
    return prepared.table.with_columns(
        as_number(column) if is_quantity(column) else as_category(column) for column in columns
    )
