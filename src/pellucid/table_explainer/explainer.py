"""`explain`: from a table to rules, with every decision on the way."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

import numpy as np
import polars as pl

from pellucid._utils.notices import UsageError, notice, notices_to, option
from pellucid._utils.texts import Message, count, texts_in
from pellucid.explanation import cluster_names
from pellucid.explanation.cluster_names import YES, ClusterName, NamedColumns
from pellucid.explanation.explanation import Explanation
from pellucid.explanation.mixins import CommonExportMixin, PlotTreeMixin
from pellucid.explanation.rules import ClusterRule, RuleList
from pellucid.resampling.draws import measure_stability, restated
from pellucid.resampling.result import Stability
from pellucid.table_explainer.arguments import ExplainOptions, needs_memory
from pellucid.table_explainer.clustering import FittedTable, choose_clusters, find_problems
from pellucid.table_explainer.number_of_clusters import NumberScore
from pellucid.table_explainer.prediction import Assignment, assign_rows, report_assignment
from pellucid.table_explainer.preparing import PreparedTable, prepare_table
from pellucid.table_explainer.roles import as_category, as_number, find_format
from pellucid.tables.column_formats import ColumnFormat
from pellucid.tables.reading import ReadingOptions, TableSource, read_source, source_of

if TYPE_CHECKING:
    from pellucid.report.writing import ReportOptions


@dataclass(eq=False)
class TableExplanation(CommonExportMixin, PlotTreeMixin):
    """The explanation of the clusters of a table; see :func:`pellucid.explain`.

    Attributes
    ----------
    rules : RuleList
        The rule of each cluster, in the units of the table. Prints as text.
    model : estimator
        The fitted estimator. Its data are scaled and encoded.
    explanation : Explanation
        The tree in the units of the table; it predicts and exports.
    decisions : list of str
        What was decided about the table, one sentence each.
    warnings : list of str
        Why the explanation may not be trusted; empty if no problem was found.
    suggested_names : list of str
        A short description of each cluster. Its attribute ``claims`` has the shares of the rows
        of the cluster, and of the others, for which each part holds.
    fitted : FittedTable
        The prepared data, the clustering and the tree.
    stability : Stability or None
        How often the tree returns on other draws of the rows; see :meth:`with_stability`.
    """

    fitted: FittedTable
    explanation: Explanation
    decisions: list[str]
    warnings: list[str]
    suggested_names: list[ClusterName]
    stability: Stability | None = None

    @property
    def rules(self) -> RuleList[ClusterRule]:
        """The rule of each cluster."""
        return self.explanation.rules_

    @property
    def model(self) -> Any:
        """The fitted estimator."""
        return self.fitted.model

    @property
    def is_renamed(self) -> bool:
        """Whether the clusters have other names than those of the model."""
        return self.explanation is not self.fitted.explanation

    @property
    def measures(self) -> dict[str, float]:
        """Cost, agreement and size of the explanation."""
        return self.fitted.measures()

    @property
    def number_scores(self) -> tuple[NumberScore, ...]:
        """Scores of the numbers of clusters that were tried; empty if k was given."""
        return self.fitted.clustering.number_scores

    @property
    def profile(self) -> dict[str, list[str]]:
        """For each column of the parameter `profile`, one text per cluster."""
        return describe_profile(self.fitted)

    @property
    def outliers(self) -> np.ndarray:
        """Positions of the rows that were set apart."""
        return self.fitted.prepared.outliers

    @property
    def labels(self) -> np.ndarray:
        """Cluster of each row by the rules; -1 if a value that they need is missing."""
        return self.explanation.labels_of(self.assignment().leaf)

    def assignment(self) -> Assignment:
        """The leaf of each row of the table, also of rows that were not clustered.

        Returns
        -------
        Assignment
            The leaf of each row, and whether it is known.
        """
        return assign_rows(self.explanation, self.fitted.prepared.source)

    def predict(self, table: Any) -> np.ndarray:
        """Cluster of each row of a new table.

        Parameters
        ----------
        table : data frame, array-like or path
            As in :func:`pellucid.explain`. It needs the columns that the rules use.

        Returns
        -------
        ndarray of shape (n_rows,)
            The label -1, as text if the labels are texts, where a value that the rules need is
            missing.
        """
        reading = ReadingOptions.from_dict(self.explanation.reading_ or {})
        source = as_source(table, reading)
        found = assign_rows(self.explanation, source)
        with notices_to(print_notice):
            report_assignment(self.explanation, found)
        return self.explanation.labels_of(found.leaf)

    def rename(self, names: Mapping[Any, str] | str) -> TableExplanation:
        """Give the clusters other names, which all texts and exports then use.

        Parameters
        ----------
        names : dict or "suggested"
            Name by cluster, for some or all clusters; ``"suggested"`` takes `suggested_names`.

        Returns
        -------
        TableExplanation
            The explanation itself, which is changed.
        """
        if isinstance(names, str):
            if names != "suggested":
                raise UsageError(f"names is {names!r}", hint='use a dict, or "suggested"')
            clusters = self.explanation.cluster_names_.tolist()
            names = dict(zip(clusters, self.suggested_names))
        self.explanation = self.explanation.rename_clusters(dict(names))
        if self.stability is not None:
            clusters = zip(self.stability.clusters, self.explanation.cluster_names_.tolist())
            renamed = tuple(entry._replace(cluster=name) for entry, name in clusters)
            self.stability = replace(self.stability, clusters=renamed)
        return self

    def with_stability(
        self,
        *,
        n_bootstraps: int = 100,
        fraction: float | None = None,
        reference: Literal["fixed", "refit"] = "fixed",
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> TableExplanation:
        """The explanation with its `stability`, which texts, reports and JSON then show.

        Parameters
        ----------
        n_bootstraps, fraction, reference, n_jobs, random_state, verbose : optional
            As in :func:`pellucid.stability`.

        Returns
        -------
        TableExplanation
            A copy with the stability.
        """
        options = locals().copy()
        del options["self"]
        if not hasattr(self.model, "labels_"):
            raise needs_memory("stability")
        table = restated(self.explanation, self.fitted.old_leaf)
        found = measure_stability(self.model, self.fitted.prepared.Z, table=table, **options)
        return replace(self, stability=found)

    def report(self, path: str | PathLike[str], **options: Unpack[ReportOptions]) -> Path:
        """Write a report: one HTML file. `options` are those of `write_report`.

        Parameters
        ----------
        path : path-like
            The file.
        **options
            Options of :func:`pellucid.report.write_report`.

        Returns
        -------
        Path
            The file.
        """
        from pellucid.table_explainer.reporting import write_table_report

        suggested = [] if self.is_renamed else self.suggested_names
        # Rows that were read in batches have no labels.
        if suggested and options.get("language") == "de" and hasattr(self.model, "labels_"):
            with texts_in("de"):
                suggested = _suggested_names(self.fitted)
        texts = {"decisions": self.decisions, "warnings": self.warnings}
        given: dict[str, Any] = {"stability": self.stability, **options}
        given = dict(**given, **texts, suggested_names=suggested)
        return write_table_report(Path(path), self.fitted, self.explanation, **given)

    def __str__(self) -> str:
        stability = [] if self.stability is None else self.stability.sentences()
        warnings = [f"warning: {text}" for text in self.warnings]
        return "\n".join([str(self.rules), *warnings, *stability])

    def __repr__(self) -> str:
        return f"<TableExplanation: {count(len(self.rules), 'cluster')}>\n{self}"

    def _repr_html_(self) -> str:
        return self.explanation.to_html()


def explain_source(source: TableSource, options: ExplainOptions) -> TableExplanation:
    """The same for a table that was read; decisions go to the listeners of notices."""
    options.check()
    if options.labels is not None and options.method is None:
        method = options.chosen_method.name
        notice(Message("treeByLabels", method=method, option=option("method")))
    fitted = choose_clusters(prepare_table(source, options), options)
    fitted.report()
    names = _suggested_names(fitted)
    return TableExplanation(fitted, fitted.explanation, [], list(find_problems(fitted)), names)


def _suggested_names(fitted: FittedTable) -> list[ClusterName]:
    """A description of each cluster, in the current language."""
    model = fitted.model
    clusters = model.cluster_names_.tolist()
    return suggest_names(fitted.prepared, model.labels_, clusters, fitted.explanation.rules_)


def as_source(table: Any, hints: ReadingOptions = ReadingOptions()) -> TableSource:  # noqa: B008
    """A table, or the path of a file, as it is explained."""
    if isinstance(table, TableSource):
        return table
    if isinstance(table, (str, PathLike)):
        return read_source(Path(table), hints=hints)
    return source_of(table, hints=hints)


def print_notice(text: str) -> None:
    print(text, file=sys.stderr)


def suggest_names(
    prepared: PreparedTable,
    labels: np.ndarray,
    clusters: Iterable[object],
    rules: Sequence[ClusterRule] = (),
) -> list[ClusterName]:
    """Suggested names of clusters of the prepared rows; `rules` are those of the clusters."""
    names, formats = prepared.encoding.names, prepared.roles.formats
    columns = NamedColumns(names, prepared.features, prepared.Z, formats)
    return cluster_names.suggest_names(columns, labels, clusters, rules)


def describe_profile(fitted: FittedTable) -> dict[str, list[str]]:
    """For each column that is described but repeats no clustered one, one text per cluster: the
    mean of a number, or the most frequent category and its share. Of two categories it is always
    the share of the same one: "yes", or the rarer one.
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
