"""``pellucid explain``: cluster a table and print the rules."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.table import Table

from pellucid._utils.notices import UsageError
from pellucid.cli.names import read_names
from pellucid.cli.output import (
    cost_change,
    open_console,
    plain_table,
    show_line,
    show_measures,
    show_rules,
    show_warning,
    shown_notices,
)
from pellucid.cli.progress import working
from pellucid.cli.streaming import explain_in_batches, limit_of
from pellucid.cli.writing import (
    check_added_columns,
    draw_tree,
    report_written,
    write_rows,
    write_text,
)
from pellucid.table_explainer.arguments import MethodOptions
from pellucid.table_explainer.explainer import TableExplanation, explain_source
from pellucid.table_explainer.number_of_clusters import NumberScore
from pellucid.table_explainer.prediction import report_assignment
from pellucid.table_explainer.wording import count, percent
from pellucid.tables.reading import ReadingOptions, read_source

if TYPE_CHECKING:
    from pellucid._utils.estimators import SQLDialect


@dataclass(frozen=True)
class Targets:
    """Output files by option; None if not requested."""

    output: Path | None = None
    tree: Path | None = None
    sql: Path | None = None
    model: Path | None = None
    report: Path | None = None


@dataclass(frozen=True)
class Appearance:
    """Options of the output that do not change the result."""

    as_json: bool = False
    dialect: SQLDialect = "standard"
    bom: bool = False
    title: str | None = None
    rows: str = "rows"
    no_rows: bool = False
    language: str = "en"
    keep_formulas: bool = False


def explain(
    file: Path,
    targets: Targets,
    *,
    reading: ReadingOptions,
    k: str,
    method: str | None,
    options: MethodOptions,
    names: str | None,
    appearance: Appearance,
    seed: int,
    memory: str | None = None,
    **more: Any,
) -> None:
    """Explain the clusters of the rows of `file` and write the requested files.

    Parameters
    ----------
    file : Path
    targets : Targets
    reading : ReadingOptions
    k, method, options, seed, **more
        As in `explain_source`.
    names : str or None
        A file with names of clusters, or ``suggested``.
    appearance : Appearance
    memory : str or None
        Memory from which on the file is read in batches; None: half of what is available.
    """
    how = {"k": k, "method": method, "options": options, "seed": seed, **more}
    if (limit := limit_of(file, memory)) is not None:
        if targets.output is not None:
            raise UsageError(
                "--output needs all rows in memory, but the file does not fit",
                hint="write --sql or --model instead, or raise --memory",
            )
        found = explain_in_batches(file, limit, reading, **how)
    else:
        with working(f"reading {file}"):
            source = read_source(file, reading)
        if targets.output is not None:
            check_added_columns(source.table, targets.output)
        with working("explaining"):
            found = explain_source(source, **how)
    found = replace(found, decisions=shown_notices())
    if names is not None:
        found = found.rename(
            "suggested"
            if names == "suggested"
            else read_names(names, found.explanation.cluster_names_.tolist())
        )
    show = _show_json if appearance.as_json else _show
    # Files are written first, because a closed pipe (such as head) ends the program.
    try:
        written = _write(found, targets, appearance)
    except Exception:
        # The result is printed even if a file cannot be written.
        show(found)
        raise
    show(found, with_scores="-" in str(k))
    report_written(written)


def _write(
    found: TableExplanation, targets: Targets, appearance: Appearance
) -> list[tuple[str, Path]]:
    """Write the requested files. Returns what was written, and where."""
    explanation, written = found.explanation, []
    if targets.output is not None:
        assignment = found.assignment()
        source = found.fitted.prepared.source
        report_assignment(explanation, assignment)
        with working(f"writing {targets.output}"):
            write_rows(
                targets.output,
                source,
                explanation,
                assignment.leaf,
                assignment.special_rules(explanation),
                bom=appearance.bom,
                keep_formulas=appearance.keep_formulas,
            )
        written.append(("the rows with their cluster", targets.output))
    if targets.tree is not None:
        draw_tree(targets.tree, explanation)
        written.append(("the plot of the tree", targets.tree))
    if targets.sql is not None:
        write_text(targets.sql, explanation.to_sql(dialect=appearance.dialect))
        written.append(("the clusters as SQL", targets.sql))
    if targets.model is not None:
        write_text(targets.model, explanation.to_json(indent=1))
        written.append(("the model for pellucid predict", targets.model))
    if targets.report is not None:
        with working(f"writing {targets.report}"):
            found.report(
                targets.report,
                title=appearance.title,
                rows=appearance.rows,
                no_rows=appearance.no_rows,
                language=appearance.language,
            )
        written.append(("the report", targets.report))
    return written


def _show(found: TableExplanation, *, with_scores: bool = False) -> None:
    fitted, measures = found.fitted, found.measures
    if with_scores:
        _show_scores(found.number_scores, fitted.n_clusters)
    n_clusters = sum(bool(rule.rules) for rule in found.rules)
    splits = count(int(measures["n_leaves"]) - 1, "split")
    rows = count(fitted.n_rows, "row")
    show_line(f"{count(n_clusters, 'cluster')} of {rows}, explained by {splits}", style="bold")
    show_rules(found.rules, [] if found.is_renamed else found.suggested_names)
    _show_profile(found)
    reference = fitted.clustering.name
    agreement = (
        f"rows whose rule gives the cluster of {reference}"
        if fitted.prepared.labels is None
        else "rows whose rule gives their own label"
    )
    show_measures(
        [
            (
                f"cost (spread within clusters), compared with {reference}",
                cost_change(measures["cost_ratio"]),
            ),
            (agreement, percent(measures["agreement"])),
            ("conditions per row, on average", f"{measures['conditions']:.2f}"),
            ("longest path in the tree", count(int(measures["max_depth"]), "question")),
            ("columns used", f"{measures['n_columns_used']} of {measures['n_columns']}"),
        ]
    )
    show_line(f"purity: share of the rows in the same cluster of {reference}")
    for text in found.warnings:
        show_warning(text)


def _show_scores(scores: Sequence[NumberScore], chosen: int) -> None:
    table = plain_table("clusters", "silhouette", "stability", "smallest cluster", "agreement")
    for score in scores:
        mark = " (chosen)" if score.k == chosen else ""
        table.add_row(
            f"{score.k}{mark}",
            f"{score.silhouette:.2f}",
            f"{score.stability:.2f}",
            percent(score.smallest),
            "-" if score.agreement is None else percent(score.agreement),
        )
    open_console().print(table)
    show_line(
        "silhouette: separation, 1 is perfect; stability: agreement with clusterings of parts of "
        "the rows, 1 is perfect; agreement: rows that a tree assigns to their cluster"
    )


def _show_profile(found: TableExplanation) -> None:
    profile = found.profile
    if not profile:
        return
    clusters = [str(rule.cluster) for rule in found.rules]
    table = Table(box=None, padding=(0, 2), pad_edge=False)
    table.add_column("not clustered", no_wrap=True)
    for cluster in clusters:
        table.add_column(cluster, justify="right")
    for column, texts in profile.items():
        table.add_row(column, *texts)
    open_console().print(table)


def _show_json(found: TableExplanation, *, with_scores: bool = False) -> None:
    explanation, fitted = found.explanation, found.fitted
    result = {
        "rows": fitted.n_rows,
        "clusters": [
            {
                "cluster": rule.cluster,
                "rule": rule.text,
                "rows": rule.n_samples,
                "share": rule.share,
                "purity": None if np.isnan(rule.purity) else rule.purity,
                "suggested_name": name,
            }
            for rule, name in zip(found.rules, found.suggested_names)
        ],
        "measures": {n: None if np.isnan(v) else v for n, v in found.measures.items()},
        "numbers_of_clusters": [vars(score) for score in found.number_scores],
        "outliers": found.outliers.tolist(),
        "profile": found.profile,
        "decisions": found.decisions,
        "warnings": found.warnings,
        "model": explanation.to_dict(),
    }
    print(json.dumps(result, indent=2, ensure_ascii=False, allow_nan=False, default=_plain))


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)
