"""``pellucid explain``, ``predict`` and ``demo``: clusters of a table and their rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
from rich.filesize import decimal
from rich.table import Table

import pellucid
from pellucid._utils.memory import available_memory
from pellucid._utils.notices import InputError, UsageError, notice, option
from pellucid._utils.texts import Message, count, percent
from pellucid.cli import output, writing
from pellucid.cli.checks import DEMO_PICTURE, DEMO_REPORT, OutputFiles, TableRequest
from pellucid.cli.writing import CLUSTER, NOTE, RULE, FileStep
from pellucid.explanation.explanation import Explanation
from pellucid.scale.scan import read_memory
from pellucid.table_explainer.arguments import needs_memory
from pellucid.table_explainer.explainer import TableExplanation, explain_source
from pellucid.table_explainer.number_of_clusters import NumberScore
from pellucid.table_explainer.prediction import assign_rows, report_assignment
from pellucid.tables.reading import ReadingOptions, read_source
from pellucid.tables.reading.large_files import memory_needed, open_large

N_CLUSTERS = 3


def explain(
    request: TableRequest, memory: str | None = None, n_bootstraps: int | None = None
) -> None:
    """Explain the clusters of a table, read in batches if it is large, and write the files."""
    file, options, files = request.file, request.options, request.files
    if (limit := _limit_of(file, memory)) is not None:
        if files.output is not None:
            text = "--output needs all rows in memory, but the file does not fit"
            raise UsageError(text, hint="write --sql or --model instead, or raise --memory")
        if n_bootstraps is not None:
            raise needs_memory("stability")
        from pellucid.table_explainer.explain import explain_large

        with output.working(f"reading {file}"):
            table = open_large(file, request.reading)
        with output.working("explaining"):
            found = explain_large(table, limit, options)
    else:
        with output.working(f"reading {file}"):
            source = read_source(file, request.reading)
        if files.output is not None:
            writing.check_new_columns(source, files, CLUSTER, RULE, NOTE)
        with output.working("explaining"):
            found = explain_source(source, options)
    found = replace(found, decisions=output.shown_notices())
    if (names := files.names) is not None:
        labels = found.explanation.cluster_names_.tolist()
        found = found.rename(names if names == "suggested" else writing.read_names(names, labels))
    if n_bootstraps is not None:
        with output.working("fitting again"):
            found = found.with_stability(n_bootstraps=n_bootstraps, random_state=options.seed)
    explanation = found.explanation

    def write_labelled(path: Path) -> None:
        assignment, source = found.assignment(), found.fitted.prepared.source
        report_assignment(explanation, assignment)
        writing.write_rows(writing.with_rules(source, explanation, assignment), source, files)

    page = {name: getattr(files, name) for name in ("title", "rows", "no_rows", "language")}
    steps: list[FileStep] = [
        ("the rows with their cluster", files.output, write_labelled),
        ("the plot of the tree", files.tree, lambda path: writing.draw_tree(path, explanation)),
        ("the report", files.report, lambda path: found.report(path, **page)),
    ]
    writing.write_and_show(files, steps, explanation, partial(_data, found), partial(_show, found))


def _limit_of(file: Path, memory: str | None) -> int | None:
    """The memory for a file that has to be read in batches, as in `explain`; None if it fits."""
    needed = memory_needed(file)
    limit = read_memory(memory) if memory is not None else (available_memory() or 0) // 2
    if needed is None or not limit or needed <= limit:
        return None
    sizes = {"needed": decimal(needed), "limit": decimal(limit)}
    notice(Message("inBatches", file=str(file), **sizes, option=option("memory")))
    return limit


def _show(found: TableExplanation) -> None:
    fitted, measures = found.fitted, found.measures
    if found.number_scores:
        _show_scores(found.number_scores, fitted.n_clusters)
    clusters = count(sum(bool(rule.rules) for rule in found.rules), "cluster")
    splits = count(int(measures["n_leaves"]) - 1, "split")
    rows = count(fitted.n_rows, "row")
    output.show_line(f"{clusters} of {rows}, explained by {splits}", style="bold")
    output.show_rules(found.rules, [] if found.is_renamed else found.suggested_names)
    if found.profile:
        _show_profile(found)
    reference = fitted.clustering.name
    cost = f"cost (spread within clusters), compared with {reference}"
    is_labelled = fitted.prepared.labels is not None
    right = "their own label" if is_labelled else f"the cluster of {reference}"
    shown = {
        cost: output.cost_change(measures["cost_ratio"]),
        f"rows whose rule gives {right}": percent(measures["agreement"]),
        "conditions per row, on average": f"{measures['conditions']:.2f}",
        "longest path in the tree": count(int(measures["max_depth"]), "question"),
        "columns used": f"{measures['n_columns_used']} of {measures['n_columns']}",
    }
    output.show_measures(shown.items())
    output.show_line(f"purity: share of the rows in the same cluster of {reference}")
    if found.stability is not None:
        output.show_line(f"\n{found.stability}\n")
    for text in found.warnings:
        output.show_warning(text)


def _show_scores(scores: Sequence[NumberScore], chosen: int) -> None:
    heads = ("clusters", "score", "silhouette", "stability", "smallest", "agreement", "cost")
    rows = [
        (
            f"{s.k} (chosen)" if s.k == chosen else str(s.k),
            *(f"{s.score:.3f}", f"{s.silhouette:.3f}", f"{s.stability:.2f}"),
            *(percent(s.smallest), percent(s.agreement), output.cost_change(s.cost)),
        )
        for s in scores
    ]
    output.show_table(heads, rows)
    output.show_line(
        "score: decides about the number; silhouette: separation, 1 is perfect; stability: "
        "agreement with clusterings of parts of the rows, 1 is perfect; smallest: cluster; "
        "agreement and cost: of a tree with a leaf per cluster\n"
    )


def _show_profile(found: TableExplanation) -> None:
    table = Table(box=None, padding=(0, 2), pad_edge=False)
    table.add_column("not clustered", no_wrap=True)
    for rule in found.rules:
        table.add_column(str(rule.cluster), justify="right")
    for column, texts in found.profile.items():
        table.add_row(column, *texts)
    output.open_console().print(table)


def _data(found: TableExplanation) -> dict[str, Any]:
    explanation, fitted = found.explanation, found.fitted
    return {
        "rows": fitted.n_rows,
        "clusters": [
            {
                "cluster": rule.cluster,
                "rule": rule.text,
                "rows": rule.n_samples,
                "noise": rule.n_noise,
                "share": rule.share,
                "purity": rule.purity,
                "suggested_name": name,
                "name_claims": [claim._asdict() for claim in name.claims],
            }
            for rule, name in zip(found.rules, found.suggested_names)
        ],
        "measures": found.measures,
        "numbers_of_clusters": [{**vars(s), "score": s.score} for s in found.number_scores],
        "outliers": found.outliers.tolist(),
        "profile": found.profile,
        "stability": None if found.stability is None else found.stability.to_dict(),
        "decisions": found.decisions,
        "warnings": found.warnings,
        "model": explanation.to_dict(),
    }


def predict(model: Path, file: Path, files: OutputFiles, reading: ReadingOptions) -> None:
    """Write the rows of `file` with their cluster and rule or region.

    The file is read like the one that the model was made of, unless `reading` says otherwise.
    Rows have no cluster if a value that their path needs is missing.
    """
    from pellucid import from_json

    try:
        found = from_json(model)
    except ValueError as error:
        hint = "create one with pellucid explain FILE --model MODEL"
        raise InputError(f"{model} is not a model: {error}", hint=hint) from error
    with output.working(f"reading {file}"):
        source = read_source(file, reading, ReadingOptions.from_dict(found.reading_ or {}))
    if isinstance(found, Explanation):
        writing.check_new_columns(source, files, CLUSTER, RULE, NOTE)
        assignment = assign_rows(found, source, model=str(model))
        writing.write_rows(writing.with_rules(source, found, assignment), source, files)
        report_assignment(found, assignment)
    else:
        from pellucid.cli.regions import REGION, with_regions

        writing.check_new_columns(source, files, CLUSTER, REGION)
        writing.write_rows(with_regions(source, found), source, files)
    if files.output is not None:
        notice(f"wrote {count(source.table.height, 'row')} with their cluster to {files.output}")


def demo(folder: Path) -> None:
    """Explain the wine data, print the rules, and write the tree and the report to `folder`."""
    from sklearn.datasets import load_wine

    picture, report = folder / DEMO_PICTURE, folder / DEMO_REPORT
    wine = load_wine()
    frame = pl.DataFrame(wine.data, schema=list(wine.feature_names))
    # Before the fit, which compiles loops when it is the first one.
    output.show_line(
        f"k-means finds {N_CLUSTERS} clusters in the {frame.height} wines of scikit-learn's wine "
        f"data, by {frame.width} standardized measurements.\n"
        "ExplainableKMeans explains them by thresholds in the original units:"
    )
    choices: Any = {"scale": "standard", "outliers": "keep"}
    with output.notices(quiet=True):
        found = pellucid.explain(frame, k=N_CLUSTERS, verbose=False, **choices)
    output.show_rules(found.rules)
    cost, same = output.cost_change(found.measures["cost_ratio"]), found.measures["agreement"]
    rows = ("rows in the same cluster as k-means", percent(same))
    output.show_measures([("cost compared with k-means", cost), rows])
    output.show_line(f"\nThe tree:\n{pellucid.export_text(found.explanation)}\n")
    folder.mkdir(parents=True, exist_ok=True)
    writing.draw_tree(picture, found.explanation)
    output.show_line(f"The plot of the tree is {picture}")
    found.report(report, title="The wines of scikit-learn", rows="wines")
    output.show_line(f"The report is {report}; open it in a browser")
