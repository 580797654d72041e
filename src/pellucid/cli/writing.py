"""Write the files of a command, each completely or not at all."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from pellucid._utils.files import replacing
from pellucid._utils.notices import InputError, notice
from pellucid.cli.checks import GRAPHS, OutputFiles
from pellucid.cli.output import working
from pellucid.explanation.rules import label_text
from pellucid.report import read_cluster_names
from pellucid.table_explainer.prediction import Assignment
from pellucid.tables.reading import ReadingOptions, TableSource, read_source
from pellucid.tables.suffixes import FEATHER, JSON, PARQUET
from pellucid.tables.writing import refuse_nested, to_text, write_table

PICTURE_DPI = 150
CLUSTER, RULE, NOTE = "cluster", "rule", "rule_note"

# What is written, where (None if not requested), and by which function.
FileStep = tuple[str, Path | None, Callable[[Path], Any]]


def write_and_show(
    files: OutputFiles,
    steps: Sequence[FileStep],
    exported: Any,
    data: Callable[[], Any],
    show: Callable[[], None],
) -> None:
    """Write all requested files and print the result: `data` as JSON if wanted, else by `show`.

    SQL and the model, files of all commands, are made of `exported`.
    """

    def write_sql(path: Path) -> None:
        write_text(path, exported.to_sql(dialect=files.dialect))

    def write_model(path: Path) -> None:
        write_text(path, exported.to_json(indent=1))

    def show_result() -> None:
        if files.as_json:
            # JSON has no NaN and no infinities; they are null.
            text = json.dumps(data(), default=_plain)
            found = json.loads(text, parse_constant=lambda _: None)
            print(json.dumps(found, indent=2, ensure_ascii=False))
        else:
            show()

    steps = [
        *steps,
        ("the clusters as SQL", files.sql, write_sql),
        ("the model for pellucid predict", files.model, write_model),
    ]
    # Files are written first, because a closed pipe (such as head) ends the program.
    try:
        for _, path, write in steps:
            if path is not None:
                with working(f"writing {path}"):
                    write(path)
    except Exception:
        # The result is printed even if a file cannot be written.
        show_result()
        raise
    show_result()
    for what, path, _ in steps:
        if path is not None:
            notice(f"wrote {what} to {path}")


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)


def draw_tree(path: Path, model: Any) -> None:
    """Plot the tree of a fitted model to a file in the format of its suffix."""
    if path.suffix.lower() in GRAPHS:
        write_text(path, model.to_dot())
        return
    from pellucid.plotting import plot_tree

    draw(path, lambda: plot_tree(model))


def draw(path: Path, make: Callable[[], Any]) -> None:
    """Save a plot to a file; `make` returns its axes."""
    import matplotlib

    # No window is shown, so no display is needed.
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure = make().figure
    try:
        with replacing(path) as unfinished:
            # In memory first: matplotlib hides errors of the disk in some formats.
            picture = io.BytesIO()
            figure.savefig(picture, format=path.suffix[1:].lower(), dpi=PICTURE_DPI)
            unfinished.write_bytes(picture.getvalue())
    finally:
        plt.close(figure)


def write_text(path: Path, text: str) -> None:
    with replacing(path) as unfinished:
        unfinished.write_text(text if text.endswith("\n") else text + "\n", encoding="utf-8")


def write_rows(table: pl.DataFrame, source: TableSource, files: OutputFiles) -> None:
    """Write rows to ``--output``, or to standard output, like the table that they come from."""
    keep = files.keep_formulas
    if files.output is None:
        sys.stdout.write(to_text(table, source, keep_formulas=keep))
    else:
        write_table(files.output, table, source, bom=files.bom, keep_formulas=keep)


def with_rules(source: TableSource, explanation: Any, found: Assignment) -> pl.DataFrame:
    """The table with the cluster and rule of each row; notes name values new to the model."""
    rules = explanation._leaf_rules
    place = np.zeros(explanation.tree_.node_count, dtype=np.int64)
    place[[rule.leaf for rule in rules]] = np.arange(len(rules))
    position = pl.Series(np.where(found.is_known, place[found.leaf], -1)).replace(-1, None)
    added = [
        pl.Series(CLUSTER, [rule.cluster for rule in rules], strict=False),
        pl.Series(RULE, [rule.text for rule in rules], dtype=pl.String),
    ]
    table = source.table.with_columns(column.gather(position) for column in added)
    special = explanation.special_rules(found.leaf, found.missing, found.columns)
    texts = {row: each.rule.text for row, each in special.items() if each.rule is not None}
    if texts:
        table = table.with_columns(table[RULE].scatter(list(texts), list(texts.values())))
    notes = {row: "; ".join(special[row].notes) for row in texts if special[row].notes}
    if notes:
        noted = [notes.get(row) for row in range(table.height)]
        table = table.with_columns(pl.Series(NOTE, noted, dtype=pl.String))
    return table


def check_new_columns(source: TableSource, files: OutputFiles, *names: str) -> None:
    """Fail if the table already has the columns that are added, or cannot be written."""
    for name in names:
        if name in source.table.columns:
            text = f"{source.name} already has a column {name!r}, which the output would add"
            raise InputError(text, hint="rename it")
    output = files.output
    if output is not None and output.suffix.lower() not in (*PARQUET, *FEATHER, *JSON):
        hint = f"use {output.with_suffix('.parquet').name}, or drop the column"
        refuse_nested(source.table, f"to {output.name}", hint)


def chosen_names(
    files: OutputFiles, clusters: Sequence[Any], suggested: Sequence[str]
) -> dict[Any, str]:
    """The names of ``--names``, which is a file or "suggested", by cluster."""
    if files.names == "suggested":
        return dict(zip(clusters, map(str, suggested)))
    return {} if files.names is None else read_names(files.names, clusters)


def read_names(path: str, clusters: Sequence[Any]) -> dict[Any, str]:
    """Names by label, from a table with the columns cluster and name, or from a report."""
    if Path(path).suffix.lower() in (".html", ".htm"):
        return _names_of_report(path, clusters)
    table = read_source(Path(path), ReadingOptions()).table
    if table.width < 2:
        hint = "it needs the columns cluster and name"
        raise InputError(f"--names: {path} has one column", hint=hint)
    columns = {name.strip().lower(): name for name in table.columns}
    keys = table[columns.get("cluster", table.columns[0])].cast(pl.String).to_list()
    values = table[columns.get("name", table.columns[1])].cast(pl.String).to_list()
    labels = {str(name): name for name in clusters}
    for line, key in enumerate(keys, start=2):
        if key not in labels:
            raise InputError(
                f"--names: line {line} of {path} names the cluster {key!r}; the clusters are "
                f"{', '.join(labels)}"
            )
    return {labels[key]: value for key, value in zip(keys, values) if value is not None}


def _names_of_report(path: str, clusters: Sequence[Any]) -> dict[Any, str]:
    """Names from a report of as many clusters; labels are names if the clusters were renamed."""
    try:
        named = read_cluster_names(path)
    except ValueError as error:
        raise InputError(f"--names: {error}", hint="use a table with cluster and name") from None
    if len(named) != len(clusters):
        raise InputError(
            f"--names: {path} has {len(named)} clusters, but there are {len(clusters)}",
            hint=f"-k {len(named)} gives as many",
        )
    names: list[str | None] = [name or label for label, name in named.items()]
    if all(label_text(cluster) in named for cluster in clusters):
        names = [named[label_text(cluster)] for cluster in clusters]
    return {cluster: name for cluster, name in zip(clusters, names) if name is not None}
