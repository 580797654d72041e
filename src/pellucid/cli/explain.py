"""``pellucid explain``: cluster a table and print the rules."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from pellucid.cli import CommandError, check_target, replacing
from pellucid.cli.choices import METHODS, Choices, default_method
from pellucid.cli.fitting import FittedExplanation, find_reference, fit_method
from pellucid.cli.output import (
    cost_change,
    count,
    percent,
    show_line,
    show_measures,
    show_notice,
    show_rules,
    shown_notices,
)
from pellucid.cli.preparing import prepare
from pellucid.cli.progress import working
from pellucid.cli.reporting import check_page, write_explanation_report
from pellucid.cli.writing import (
    CLUSTER,
    GRAPHS,
    RULE,
    check_picture,
    draw_tree,
    write_rows,
    write_text,
)
from pellucid.tables.reading import STDIN, read_source
from pellucid.tables.suffixes import written_format


@dataclass(frozen=True)
class Targets:
    """Output files by option; None if not requested."""

    output: Path | None = None
    tree: Path | None = None
    sql: Path | None = None
    model: Path | None = None
    report: Path | None = None

    def named(self) -> dict[str, Path]:
        """The requested files by option."""
        return {f"--{name}": path for name, path in vars(self).items() if path is not None}


def explain(
    file: Path,
    targets: Targets,
    *,
    k: int | None,
    method: str | None,
    choices: Choices,
    seed: int,
    dialect: str = "standard",
    as_json: bool = False,
    **preparation: Any,
) -> None:
    """Explain the clusters of the rows of `file` and write the requested files.

    Parameters
    ----------
    file : Path
    targets : Targets
    k : int or None
        Number of clusters; None chooses one by the silhouette score.
    method : str or None
        A key of `METHODS`; None for the default.
    choices : Choices
        Parameters of the method.
    seed : int
        Random seed of k-means.
    dialect : str
        SQL dialect.
    as_json : bool
        Print JSON instead of tables.
    **preparation
        As in `prepare`.
    """
    has_labels = preparation.get("labels") is not None
    is_chosen = method is not None
    method = method or default_method(has_labels, choices)
    choices.check(method)
    if k is not None:
        choices.check_leaves(k, "-k")
        if has_labels:
            raise CommandError("-k cannot be used with --labels: the labels define the clusters")
    _check_targets(file, targets)
    _check_dialect(dialect)
    source = read_source(file)
    if targets.output is not None:
        _check_can_be_csv(source.table)
    prepared = prepare(source, **preparation)
    if has_labels and not is_chosen:
        show_notice(
            f"tree by {METHODS[method]}, which uses only the labels (use --method to change)"
        )
    reference = find_reference(prepared, k, seed, choices.objective)
    fitted = fit_method(prepared, method, reference, choices, seed=seed)
    show = _show_json if as_json else _show
    # Files are written first, because a closed pipe (such as head) ends the program.
    try:
        written = _write(fitted, targets, dialect)
    except Exception:
        # The result is printed even if a file cannot be written.
        show(fitted)
        raise
    show(fitted)
    for text in written:
        show_notice(text)


def _check_targets(file: Path, targets: Targets) -> None:
    seen: dict[Path, str] = {}
    for option, path in targets.named().items():
        check_target(path, option)
        if file != STDIN and path.resolve() == file.resolve():
            raise CommandError(f"{option}: {path} is the input; it would be overwritten")
        if path.resolve() in seen:
            raise CommandError(
                f"{seen[path.resolve()]} and {option} are the same file, {path}", exit_code=2
            )
        seen[path.resolve()] = option
    if targets.output is not None:
        written_format(targets.output)
    if targets.tree is not None:
        check_picture(targets.tree, "--tree", GRAPHS)
    if targets.report is not None:
        check_page(targets.report, "--report")


def _check_dialect(dialect: str) -> None:
    from pellucid.export.sql_dialects import DIALECTS

    if dialect not in DIALECTS:
        raise CommandError(
            f"--dialect: unknown dialect {dialect!r}", hint=f"use one of {', '.join(DIALECTS)}"
        )


def _check_can_be_csv(table: pl.DataFrame) -> None:
    for name in (CLUSTER, RULE):
        if name in table.columns:
            raise CommandError(
                f"the input already has a column {name!r}, which --output would add",
                hint="rename it, or remove --output",
            )
    for name, dtype in table.schema.items():
        if dtype.is_nested() or dtype in (pl.Binary, pl.Object):
            raise CommandError(
                f"column {name!r} (its type is {dtype}) cannot be written to a CSV file",
                hint="drop it from the input, or remove --output",
            )


def _write(fitted: FittedExplanation, targets: Targets, dialect: str) -> list[str]:
    """Write the requested files. Returns one message per file."""
    explanation, messages = fitted.explanation, []
    if targets.output is not None:
        prepared = fitted.prepared
        with working(f"writing {targets.output}"):
            write_rows(targets.output, prepared.source, explanation, prepared.rows, fitted.leaf)
        messages.append(f"wrote the rows with their cluster to {targets.output}")
    if targets.tree is not None:
        draw_tree(targets.tree, explanation)
        messages.append(f"drew the tree in {targets.tree}")
    if targets.sql is not None:
        write_text(targets.sql, explanation.to_sql(dialect=dialect))
        messages.append(f"wrote the clusters as SQL to {targets.sql}")
    if targets.model is not None:
        write_text(targets.model, explanation.to_json(indent=1))
        messages.append(
            f"wrote the model to {targets.model}; pellucid predict {targets.model} FILE uses it"
        )
    if targets.report is not None:
        with working(f"writing {targets.report}"), replacing(targets.report) as unfinished:
            write_explanation_report(unfinished, fitted)
        messages.append(f"wrote the report to {targets.report}; open it in a browser")
    return messages


def _show(fitted: FittedExplanation) -> None:
    rules, measures = fitted.explanation.rules_, fitted.measures()
    n_clusters = sum(bool(rule.rules) for rule in rules)
    splits = count(int(measures["n_leaves"]) - 1, "split")
    rows = count(len(fitted.prepared.rows), "row")
    show_line(f"{count(n_clusters, 'cluster')} of {rows}, explained by {splits}", style="bold")
    show_rules(rules)
    reference = fitted.reference
    show_measures(
        [
            (f"cost compared with {reference}", cost_change(measures["cost_ratio"])),
            (f"rows in the same cluster as {reference}", percent(measures["agreement"])),
            ("mean number of conditions per row", f"{measures['conditions']:.2f}"),
            ("mean depth of the tree", f"{measures['mean_depth']:.2f}"),
            ("maximum depth of the tree", str(measures["max_depth"])),
            ("columns used", f"{measures['n_columns_used']} of {measures['n_columns']}"),
        ]
    )


def _show_json(fitted: FittedExplanation) -> None:
    explanation = fitted.explanation
    result = {
        "rows": len(fitted.prepared.rows),
        "clusters": [
            {
                "cluster": rule.cluster,
                "rule": rule.text,
                "rows": rule.n_samples,
                "share": rule.share,
                "purity": None if np.isnan(rule.purity) else rule.purity,
            }
            for rule in explanation.rules_
        ],
        "measures": fitted.measures(),
        "decisions": shown_notices(),
        "model": explanation.to_dict(),
    }
    print(json.dumps(result, indent=2, ensure_ascii=False, allow_nan=False, default=_plain))


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)
