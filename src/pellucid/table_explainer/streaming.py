"""`explain` for a file that does not fit into memory.

A sample of the rows, every s-th row of the file, is explained in memory: it decides about columns,
missing values, scales and clusters. Then the tree is grown on all rows, in batches, and restated in
the units of the table. Only columns of numbers take part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from pellucid._utils.notices import (
    InputError,
    UsageError,
    impure_rules_allowed,
    notice,
    option,
)
from pellucid._utils.texts import Message
from pellucid.scale import KMeans
from pellucid.scale.scan import BatchScan, scan
from pellucid.table_explainer import tuning
from pellucid.table_explainer.arguments import ExplainOptions, match_names, needs_memory, one_name
from pellucid.table_explainer.cleaning import with_replacements
from pellucid.table_explainer.clustering import (
    Clustering,
    FittedTable,
    find_problems,
    make_estimator,
    make_explanation,
)
from pellucid.table_explainer.explainer import TableExplanation, explain_source
from pellucid.table_explainer.preparing import PreparedTable
from pellucid.table_explainer.roles import as_category
from pellucid.tables.frames import Columns
from pellucid.tables.reading.files import source_of
from pellucid.tables.reading.large_files import LargeTable, memory_of
from pellucid.tables.reading.source import ReadingOptions


@dataclass(frozen=True)
class StreamedTable(FittedTable):
    """A model of all rows of a file, of which `prepared` has a sample."""

    def agreement(self) -> float:
        """Share of the rows whose own cluster is that of their leaf."""
        rows = self.model.tree_.n_node_samples
        right = sum(r.purity * rows[r.leaf] for r in self.model._leaf_rules if rows[r.leaf])
        return float(right / rows[0])

    def reference_sizes(self) -> dict[Any, int]:
        """Not known: the own cluster of a row is not stored."""
        return {}


class _Batches:
    """The batches of a file as they are clustered, prepared like a sample of its rows."""

    def __init__(self, table: LargeTable, prepared: PreparedTable, missing: str) -> None:
        self.table, self.prepared, self.missing = table, prepared, missing
        self.fill = dict(prepared.fill)
        if missing == "median":
            for name in prepared.roles.numbers:
                middle = prepared.table[name].quantile(0.5, interpolation="lower")
                self.fill.setdefault(name, float(middle or 0.0))
        self.names = [f"x{j}" for j in range(len(prepared.encoding.names))]
        self.filled: set[str] = set()
        self.n_rows, self.n_gaps = 0, 0

    def __call__(self) -> Iterator[pl.DataFrame]:
        """The clustered data, with the column ``label`` if labels are explained."""
        for features, labels in self.features():
            Z = pl.DataFrame(self.prepared.scaled(features), schema=self.names)
            yield Z if labels is None else Z.with_columns(label=labels)

    def features(self) -> Iterator[tuple[list[np.ndarray], pl.Series | None]]:
        """Columns of the encoding in the units of the table, and labels."""
        prepared, label = self.prepared, self.prepared.label_column
        roles, encoding = prepared.roles, prepared.encoding
        replaced = prepared.source.options.replaced or {}
        wanted = [*roles.used, *([] if label is None else [label])]
        n_rows = n_gaps = 0
        for batch in self.table.batches(wanted, tuning.BATCH_ROWS):
            # Not by expressions: polars reads names such as "*" in them as patterns.
            numbers = batch.select([batch[name].cast(pl.Float64) for name in roles.numbers])
            numbers = with_replacements(numbers, replaced)
            numbers = numbers.with_columns(pl.when(pl.all().is_finite()).then(pl.all()))
            is_complete = self._complete(numbers, n_rows)
            numbers = numbers.with_columns(
                numbers[name].fill_null(value) for name, value in self.fill.items()
            )
            if label is not None:
                is_complete &= batch[label].is_not_null()
            table = numbers.with_columns(
                as_category(_typed(batch[name], prepared.table[name].dtype))
                for name in roles.categories
            ).filter(is_complete)
            n_rows += batch.height
            n_gaps += batch.height - table.height
            if table.height:
                labels = None if label is None else batch[label].filter(is_complete)
                if labels is not None and not labels.dtype.is_numeric():
                    labels = labels.cast(pl.String)
                yield encoding.columns(Columns.of(table)), labels
        self.n_rows, self.n_gaps = n_rows, n_gaps

    def _complete(self, numbers: pl.DataFrame, first: int) -> pl.Series:
        """Rows that are kept; gaps that are filled in are noted."""
        is_complete = pl.Series(np.ones(numbers.height, dtype=bool))
        for column in numbers:
            if not column.null_count():
                continue
            if self.missing == "error":
                row = first + (column.is_null().arg_max() or 0) + 1
                raise InputError(f"a value is missing in row {row:,}, column {column.name!r}")
            if column.name in self.fill:
                self.filled.add(column.name)
            else:
                is_complete &= column.is_not_null()
        return is_complete


class _ScannedTable(LargeTable):
    """The columns of a scan, read in its batches."""

    @classmethod
    def of(cls, scan: BatchScan) -> _ScannedTable:
        """The table; its rows are counted by a pass."""
        source, label = scan.source, [] if scan.labels is None else [scan.labels]
        numbers = [name for name in source.numeric if name != scan.labels]
        # A scan without columns= has all columns of numbers.
        others = source.others if [*scan.columns] == numbers else []
        others = [*others, *(name for name in label if name not in others)]
        known, n_rows, whole = [*scan.columns, *others], 0, list[str]()
        for chunk in source.read(known, tuning.BATCH_ROWS):
            if not n_rows:
                whole = [n for n in scan.columns if chunk.columns[n].dtype.kind in "iu"]
            n_rows += chunk.n_rows
        return cls("the scan", scan, [*scan.columns], others, whole, n_rows, ReadingOptions(), "")

    def batches(self, columns: Sequence[str], n_rows: int) -> Iterator[pl.DataFrame]:
        """All rows of some columns, in their order."""
        for chunk in self.frame.source.read(columns, n_rows):
            series = [
                pl.Series(name, array.tolist() if array.dtype.kind == "O" else array)
                for name, array in chunk.columns.items()
            ]
            yield pl.DataFrame([s.fill_nan(None) if s.dtype.is_float() else s for s in series])

    @property
    def n_bytes(self) -> int:
        """Memory that all rows take while they are explained."""
        return memory_of(self.n_rows, len(self.columns) + len(self.others))


def explain_scan(scan: BatchScan, options: ExplainOptions) -> TableExplanation:
    """Explain the rows of a scan: in memory if they fit, else in batches."""
    if scan.weight is not None:
        raise InputError(
            f"explain takes no weights, but the scan has the column {scan.weight!r} of weights",
            hint="fit an estimator on it, such as ExShallow().fit(scan)",
        )
    if scan.labels is not None and options.labels is None:
        options = replace(options, labels=scan.labels)
    table = _ScannedTable.of(scan)
    if not table.n_rows:
        raise InputError("the data have no rows")
    if table.n_bytes > scan.memory:
        return explain_large(table, scan.memory, options)
    rows = table.sample([*table.columns, *table.others], table.n_rows)
    return explain_source(source_of(rows, table.name), options)


def explain_large(table: LargeTable, memory: int, options: ExplainOptions) -> TableExplanation:
    """Explain the clusters of a file that is read in batches, in `memory` bytes.

    Outliers are kept.
    """
    is_free = options.method is None and options.labels is not None
    if options.labels is not None:
        column = one_name(options.labels, [*table.columns, *table.others], "labels")
        options = replace(options, labels=column, method=options.method or "explainable")
    _check(options)
    if is_free:
        method = options.chosen_method.name
        notice(Message("treeBy", method=method, option=option("method")))
    names = _usable(table, options)
    labels = options.labels
    read = [*names, *([] if labels is None or labels in names else [labels])]
    most = memory // (tuning.SAMPLE_PART * 8 * len(read))
    n_sampled = int(np.clip(most, tuning.FEWEST_SAMPLE_ROWS, tuning.SAMPLE_ROWS))
    sample = source_of(table.sample(read, n_sampled), table.name)
    sample = replace(sample, options=table.options, suffix=table.suffix)
    schema = sample.table.schema.items()
    dates = [n for n, t in schema if n != labels and not (t.is_numeric() or t == pl.Boolean)]
    if dates:
        notice(Message("noDatesInBatches", columns=dates))
        kept = [column for column in sample.table if column.name not in dates]
        sample = replace(sample, table=sample.table.select(kept))
    if sample.table.height < table.n_rows:
        notice(Message("sampleInBatches", n=sample.table.height, rows=table.n_rows))
    columns = None if options.columns is None else names
    options = replace(options, outliers="keep", columns=columns, exclude=None)
    found = explain_source(sample, options)
    if found.fitted.has_more_leaves:
        options = replace(options, leaves=found.fitted.model.n_leaves)
    fitted = _fit_all(table, memory, found.fitted.clustering, options)
    return replace(
        found, fitted=fitted, explanation=fitted.explanation, warnings=list(find_problems(fitted))
    )


def _check(options: ExplainOptions) -> None:
    """Fail if an option needs all rows in memory."""
    options.check()
    if not options.chosen_method.streams:
        raise needs_memory("method", options.method)
    for parameter in ("polish", "objective", "categorical", "profile"):
        if getattr(options, parameter) != getattr(ExplainOptions, parameter):
            raise needs_memory(parameter)


def _usable(table: LargeTable, options: ExplainOptions) -> list[str]:
    """Columns that may be clustered; columns of other types are reported."""
    names, labels = [*table.columns, *table.others], options.labels
    excluded = options.excluded_of(names)
    if options.columns is not None:
        chosen = match_names(options.columns, names, "columns")
        if both := [name for name in chosen if name in excluded]:
            raise UsageError(f"{both[0]!r} is in {option('columns')} and in {option('exclude')}")
        if wrong := [name for name in chosen if name in table.others and name != labels]:
            raise InputError(
                f"column {wrong[0]!r} is not one of plain numbers, and the file does not fit into "
                "memory",
                hint=f"leave it out of {option('columns')}, or raise {option('memory')}",
            )
        return chosen
    others = [name for name in table.others if name not in (*excluded, labels)]
    if others:
        notice(Message("onlyNumbersInBatches", columns=others, option=option("memory")))
    usable = [name for name in table.columns if name not in excluded]
    if not usable:
        raise InputError(f"{table.name} has no column of numbers to cluster")
    return usable


def _fit_all(
    table: LargeTable, memory: int, clustering: Clustering, options: ExplainOptions
) -> StreamedTable:
    """Grow the tree on all rows, for the clusters of the sample."""
    prepared = clustering.prepared
    batches = _Batches(table, prepared, options.missing)
    labels = None if prepared.labels is None else "label"
    data = scan(batches, batches.names, labels=labels, memory=memory // 2)
    if clustering.reference is not None and prepared.source.table.height < table.n_rows:
        # Centers of the sample are moved to the means of all rows.
        centers = clustering.reference.cluster_centers_
        kmeans = KMeans(len(centers), init=centers).fit(data)
        clustering = replace(
            clustering, reference=kmeans, labels=kmeans.predict(data.named(prepared.Z))
        )
    model = make_estimator(clustering.reference, options)
    with impure_rules_allowed():
        model.fit(data)
    tree, old_leaf = prepared.restate(model.tree_, (part for part, _ in batches.features()))
    fill = {name: batches.fill[name] for name in prepared.roles.numbers if name in batches.filled}
    explanation = make_explanation(prepared, model, tree, old_leaf, fill)
    n_read, n_gaps = batches.n_rows, batches.n_gaps
    return StreamedTable(model, explanation, clustering, old_leaf, n_read - n_gaps, n_read, n_gaps)


def _typed(column: pl.Series, dtype: Any) -> pl.Series:
    """A column with the type of the sample; numbers with decimals are no integers."""
    if column.dtype.is_float() and dtype.is_integer():
        column = column.set(column != column.round(), None)
    return column.cast(dtype, strict=False)
