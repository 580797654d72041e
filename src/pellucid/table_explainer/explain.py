"""`pellucid.explain`: the rows of a table, of a file or of a scan, in memory or in batches. Of rows
that do not fit into memory, a sample, every s-th row, is explained in memory; then the tree is
grown on all rows, in batches. Only columns of numbers take part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np
import polars as pl

from pellucid._utils.estimators import Effort, Objective
from pellucid._utils.notices import InputError, UsageError, notice, notices_to, option
from pellucid._utils.texts import Message
from pellucid.scale import KMeans
from pellucid.scale.scan import BatchScan, scan
from pellucid.table_explainer import tuning
from pellucid.table_explainer.arguments import ExplainOptions, match_names, needs_memory, one_name
from pellucid.table_explainer.cleaning import with_replacements
from pellucid.table_explainer.clustering import Clustering, FittedTable, find_problems, fit_model
from pellucid.table_explainer.explainer import (
    TableExplanation,
    as_source,
    explain_source,
    print_notice,
)
from pellucid.table_explainer.preparing import PreparedTable
from pellucid.table_explainer.roles import as_category
from pellucid.tables.frames import Columns
from pellucid.tables.reading.files import source_of
from pellucid.tables.reading.large_files import LargeTable, memory_of
from pellucid.tables.reading.source import ReadingOptions


def explain(
    table: Any,
    *,
    k: int | str | tuple[int, int] = "auto",
    labels: str | None = None,
    noise: Literal["background", "cluster"] = "background",
    columns: str | Sequence[str] | None = None,
    include: str | Sequence[str] | None = None,
    exclude: str | Sequence[str] | None = None,
    categorical: str | Sequence[str] | None = None,
    profile: str | Sequence[str] | None = None,
    scale: Literal["auto", "standard", "robust", "log", "rank", "none"] = "auto",
    missing: Literal["auto", "drop", "median", "error"] = "auto",
    outliers: Literal["auto", "keep"] = "auto",
    cleaning: Literal["auto", "keep"] = "auto",
    names: Mapping[Any, str] | str | None = None,
    method: str | None = None,
    leaves: int | None = None,
    objective: Objective = "kmeans",
    polish: Literal["no", "yes", "deep"] = "no",
    depth_penalty: float | None = None,
    max_depth: int | None = None,
    max_conditions: int | None = None,
    faithfulness: float | None = None,
    effort: Effort | None = None,
    random_state: int = 0,
    verbose: bool = True,
) -> TableExplanation:
    """Cluster the rows of a table and explain each cluster by a rule.

    Takes every decision that a table needs: which columns to use and how, what to do with missing
    values, scales, outliers, the number of clusters, and the tree. Every decision is printed with
    the parameter that changes it. The command ``pellucid explain`` does the same.

    Parameters
    ----------
    table : data frame, array-like, path or BatchScan
        A pandas, polars or pyarrow data frame, a two-dimensional array, the path of a file, or what
        `pellucid.scan` returns. Rows that do not fit into the memory of a scan are read in
        batches, of which only columns of numbers are used.
    k : int, "auto" or range, default="auto"
        Number of clusters. ``"auto"`` chooses one from 2 to 10, ``(3, 8)`` or ``"3-8"`` one of
        this range.
    labels : str, optional
        Column that contains the clusters to explain, instead of clustering.
    noise : {"background", "cluster"}, default="background"
        Whether rows with the label -1 are left out, and counted in each rule, or explained as a
        cluster of their own.
    columns : str or sequence of str, optional
        Columns to use. Patterns such as ``"dep_*"`` are possible, here and below.
    include : str or sequence of str, optional
        Columns to cluster on although they would be ignored or only described, as dates, codes,
        results and copies of other columns are.
    exclude : str or sequence of str, optional
        Columns to ignore.
    categorical : str or sequence of str, optional
        Columns to treat as categories.
    profile : str or sequence of str, optional
        Columns that are kept out of the clustering but described in the result.
    scale : {"auto", "standard", "robust", "log", "rank", "none"}, default="auto"
        Scale of numeric columns before clustering. ``"auto"`` standardizes them, skewed
        non-negative ones on a logarithmic scale.
    missing : {"auto", "drop", "median", "error"}, default="auto"
        What to do with rows with a missing number. ``"auto"`` drops them if they are at most
        10% of the rows, or if all columns of numbers have many gaps; otherwise it ignores columns
        with many gaps or fills in the median.
    outliers : {"auto", "keep"}, default="auto"
        Whether rows that are far from all others, and totals, are set apart before clustering.
    cleaning : {"auto", "keep"}, default="auto"
        Whether numbers such as -999 that are far from all others and frequent are missing, and
        spellings of a category that differ by case or blanks are merged.
    names : dict or "suggested", optional
        Names of clusters; see :meth:`TableExplanation.rename`.
    method : str, optional
        Method that builds the tree, such as ``"explainable"``, ``"imm"`` or ``"exkmc"``.
        Default: ``"explainable"``, which finds a tree of low cost that keeps the clusters, or for
        given labels the one that agrees best with them.
    leaves : int, optional
        Number of leaves. Default: that of the clusters, or a few more if less than 90% of the rows
        get their cluster otherwise and no other parameter of the tree is given.
    objective, polish, depth_penalty, max_depth, max_conditions : optional
        Further parameters of the method.
    faithfulness, effort : optional
        Further parameters of ``"explainable"``.
    random_state : int, default=0
        Random seed of k-means. The scores of the numbers of clusters do not depend on it.
    verbose : bool, default=True
        Whether to print the decisions and warnings on standard error.

    Returns
    -------
    TableExplanation
        The rules, the decisions and the warnings.

    See Also
    --------
    ExplainableKMeans : The estimator, for numbers that are ready.
    explain_clusters : Regions of given clusters.
    stability : Whether the tree returns on other rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import pellucid
    >>> flowers = load_iris(as_frame=True).data
    >>> found = pellucid.explain(flowers, k=3, verbose=False)
    >>> found.predict(flowers.iloc[[0, 60, 140]]).tolist() == found.labels[[0, 60, 140]].tolist()
    True
    """
    given = locals()
    values = {each.name: given[each.name] for each in fields(ExplainOptions) if each.name in given}
    options = ExplainOptions(**values, seed=random_state)
    decisions: list[str] = []
    with notices_to(decisions.append), notices_to(print_notice) if verbose else nullcontext():
        if isinstance(table, BatchScan):
            found = explain_scan(table, options)
        else:
            found = explain_source(as_source(table), options)
    found = replace(found, decisions=decisions)
    if verbose:
        for text in found.warnings:
            print_notice(f"warning: {text}")
    return found if names is None else found.rename(names)


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
        self.names = [f"x{j}" for j in range(len(prepared.encoding.names))]
        self.filled: set[str] = set()
        self.n_rows = self.n_gaps = 0
        self.fill = dict(prepared.fill)
        if missing == "median":
            for name in prepared.roles.numbers:
                middle = prepared.table[name].quantile(0.5, interpolation="lower")
                self.fill.setdefault(name, float(middle or 0.0))

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
            numbers = numbers.with_columns(numbers[n].fill_null(v) for n, v in self.fill.items())
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
        source = scan.source
        numbers = [name for name in source.numeric if name != scan.labels]
        # A scan without columns= has all columns of numbers.
        others = source.others if [*scan.columns] == numbers else []
        if scan.labels is not None and scan.labels not in others:
            others = [*others, scan.labels]
        known, n_rows, whole = [*scan.columns, *others], 0, list[str]()
        for chunk in source.read(known, tuning.BATCH_ROWS):
            if not n_rows:
                whole = [n for n in scan.columns if chunk.columns[n].dtype.kind in "iu"]
            n_rows += chunk.n_rows
        return cls("the scan", scan, [*scan.columns], others, whole, n_rows, ReadingOptions(), "")

    def batches(self, columns: Sequence[str], n_rows: int) -> Iterator[pl.DataFrame]:
        for chunk in self.frame.source.read(columns, n_rows):
            series = [
                pl.Series(name, array.tolist() if array.dtype.kind == "O" else array)
                for name, array in chunk.columns.items()
            ]
            yield pl.DataFrame([s.fill_nan(None) if s.dtype.is_float() else s for s in series])


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
    columns = [*table.columns, *table.others]
    if memory_of(table.n_rows, len(columns)) > scan.memory:
        return explain_large(table, scan.memory, options)
    return explain_source(source_of(table.sample(columns, table.n_rows), table.name), options)


def explain_large(table: LargeTable, memory: int, options: ExplainOptions) -> TableExplanation:
    """Explain the clusters of a file that is read in batches, in `memory` bytes."""
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
    warnings = list(find_problems(fitted))
    return replace(found, fitted=fitted, explanation=fitted.explanation, warnings=warnings)


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
    label = None if prepared.labels is None else "label"
    data = scan(batches, batches.names, labels=label, memory=memory // 2)
    if clustering.reference is not None and prepared.source.table.height < table.n_rows:
        # Centers of the sample are moved to the means of all rows.
        centers = clustering.reference.cluster_centers_
        kmeans = KMeans(len(centers), init=centers).fit(data)
        labels = kmeans.predict(data.named(prepared.Z))
        clustering = replace(clustering, reference=kmeans, labels=labels)
    model = fit_model(clustering.reference, options, data)
    restated = prepared.restate(model.tree_, (part for part, _ in batches.features()))
    fill = {name: batches.fill[name] for name in prepared.roles.numbers if name in batches.filled}
    n_read, n_gaps = batches.n_rows, batches.n_gaps
    return StreamedTable.of(model, clustering, restated, fill, (n_read - n_gaps, n_read, n_gaps))


def _typed(column: pl.Series, dtype: Any) -> pl.Series:
    """A column with the type of the sample; numbers with decimals are no integers."""
    if column.dtype.is_float() and dtype.is_integer():
        column = column.set(column != column.round(), None)
    return column.cast(dtype, strict=False)
