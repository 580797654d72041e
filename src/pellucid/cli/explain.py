"""``pellucid explain``: from a file to rules."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from pellucid.cli import CommandError, check_target, replacing
from pellucid.cli.choices import METHODS, Choices, default_method
from pellucid.cli.fitting import Fitted, find_reference, fit_method
from pellucid.cli.output import (
    cost_change,
    count,
    percent,
    said,
    show_line,
    show_measures,
    show_notice,
    show_rules,
)
from pellucid.cli.preparing import prepare
from pellucid.cli.progress import working
from pellucid.cli.reading import PARQUET, SEPARATORS, STDIN, read_source
from pellucid.cli.reporting import check_page, write_fitted_report
from pellucid.cli.writing import (
    CLUSTER,
    GRAPHS,
    RULE,
    check_picture,
    draw_tree,
    write_rows,
    write_text,
)


@dataclass(frozen=True)
class Targets:
    """Files to write, by the options that name them; None for those not asked for."""

    output: Path | None = None
    tree: Path | None = None
    sql: Path | None = None
    model: Path | None = None
    report: Path | None = None

    def named(self) -> dict[str, Path]:
        """Those that were asked for, by their options."""
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
    """Explain the clusters of the rows of `file`, and write what was asked for.

    Parameters
    ----------
    file : Path
    targets : Targets
    k : int or None
        Number of clusters; None to find one that suits.
    method : str or None
        A key of `METHODS`; None for one that suits what is explained.
    choices : Choices
        Parameters of the method.
    seed : int
        Seed of the k-means that is explained.
    dialect : str
        Of the SQL.
    as_json : bool
        Print JSON in place of tables.
    **preparation
        As in `prepare`.
    """
    has_labels = preparation.get("labels") is not None
    is_chosen = method is not None
    method = method or default_method(has_labels)
    choices.check(method)
    if k is not None:
        choices.check_leaves(k, "-k")
        if has_labels:
            raise CommandError("-k and --labels do not go together: the labels are the clusters")
    _check_targets(file, targets)
    _check_dialect(dialect)
    source = read_source(file)
    if targets.output is not None:
        _check_can_be_csv(source.table)
    prepared = prepare(source, **preparation)
    if has_labels and not is_chosen:
        show_notice(f"tree by {METHODS[method]}, which follows the labels (--method to choose)")
    reference = find_reference(prepared, k, seed, choices.objective)
    fitted = fit_method(prepared, method, reference, choices, seed=seed)
    show = _show_json if as_json else _show
    # Files come first: a reader such as head, which closes the pipe early, ends the program.
    try:
        written = _write(fitted, targets, dialect)
    except Exception:
        # What was found is not lost because a file cannot be written.
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
    output = targets.output
    if output is not None and output.suffix.lower() in {*SEPARATORS, *PARQUET} - {".csv", ".txt"}:
        raise CommandError(
            f"--output: {output} is not named as a CSV file, but that is what is written",
            hint=f"name it {output.with_suffix('.csv').name}",
        )
    if targets.tree is not None:
        check_picture(targets.tree, "--tree", GRAPHS)
    if targets.report is not None:
        check_page(targets.report, "--report")


def _check_dialect(dialect: str) -> None:
    from pellucid.export.sql_dialects import DIALECTS

    if dialect not in DIALECTS:
        raise CommandError(
            f"--dialect: {dialect!r} is not known", hint=f"use one of {', '.join(DIALECTS)}"
        )


def _check_can_be_csv(table: pl.DataFrame) -> None:
    for name in (CLUSTER, RULE):
        if name in table.columns:
            raise CommandError(
                f"the input has a column {name!r} already, which --output would add",
                hint="rename it, or leave --output out",
            )
    for name, dtype in table.schema.items():
        if dtype.is_nested() or dtype in (pl.Binary, pl.Object):
            raise CommandError(
                f"column {name!r} (its type is {dtype}) cannot be written to a CSV file",
                hint="drop it from the input, or leave --output out",
            )


def _write(fitted: Fitted, targets: Targets, dialect: str) -> list[str]:
    """Write every file that was asked for; what to say about each."""
    explanation, said_later = fitted.explanation, []
    if targets.output is not None:
        prepared = fitted.prepared
        with working(f"writing {targets.output}"):
            write_rows(targets.output, prepared.source, explanation, prepared.rows, fitted.leaf)
        said_later.append(f"wrote the rows with their cluster to {targets.output}")
    if targets.tree is not None:
        draw_tree(targets.tree, explanation)
        said_later.append(f"drew the tree in {targets.tree}")
    if targets.sql is not None:
        write_text(targets.sql, explanation.to_sql(dialect=dialect))
        said_later.append(f"wrote the clusters as SQL to {targets.sql}")
    if targets.model is not None:
        write_text(targets.model, explanation.to_json(indent=1))
        said_later.append(
            f"wrote the model to {targets.model}; pellucid predict {targets.model} FILE uses it"
        )
    if targets.report is not None:
        with working(f"writing {targets.report}"), replacing(targets.report) as unfinished:
            write_fitted_report(unfinished, fitted)
        said_later.append(f"wrote the report to {targets.report}; open it in a browser")
    return said_later


def _show(fitted: Fitted) -> None:
    rules, measures = fitted.explanation.rules_, fitted.measures()
    n_clusters = sum(bool(rule.rules) for rule in rules)
    questions = count(int(measures["n_leaves"]) - 1, "question")
    rows = count(len(fitted.prepared.rows), "row")
    show_line(f"{count(n_clusters, 'cluster')} of {rows}, explained by {questions}", style="bold")
    show_rules(rules)
    reference = fitted.reference
    show_measures(
        [
            (f"cost against {reference}", cost_change(measures["cost_ratio"])),
            (f"rows in the same cluster as {reference}", percent(measures["agreement"])),
            ("conditions per row, on average", f"{measures['conditions']:.2f}"),
            ("questions per row, on average", f"{measures['questions']:.2f}"),
            ("questions per row, at most", str(measures["most_questions"])),
            ("columns used", f"{measures['n_columns_used']} of {measures['n_columns']}"),
        ]
    )


def _show_json(fitted: Fitted) -> None:
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
        "decisions": said(),
        "model": explanation.to_dict(),
    }
    print(json.dumps(result, indent=2, ensure_ascii=False, allow_nan=False, default=_plain))


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)
