"""Write plots, texts and rows to files, completely or not at all."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from pellucid._utils.notices import notice
from pellucid.cli import CommandError, replacing
from pellucid.cli.checks import GRAPHS
from pellucid.explanation.row_explanations import RowRule
from pellucid.tables.reading import TableSource
from pellucid.tables.suffixes import FEATHER, JSON, PARQUET
from pellucid.tables.writing import to_text, write_table

PICTURE_DPI = 150
CLUSTER, RULE, NOTE = "cluster", "rule", "rule_note"


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
    """Write a text file, completely or not at all."""
    with replacing(path) as unfinished:
        unfinished.write_text(text if text.endswith("\n") else text + "\n", encoding="utf-8")


def write_rows(
    output: Path | None,
    source: TableSource,
    explanation: Any,
    leaf: np.ndarray,
    special: Mapping[int, RowRule],
    *,
    bom: bool = False,
    keep_formulas: bool = False,
) -> None:
    """Write the original table with the cluster and the rule of each row.

    A column of notes says which values were not in the training data, if there are any.

    Parameters
    ----------
    output : Path or None
        None means standard output.
    source : TableSource
    explanation : Explanation
    leaf : ndarray of int of shape (n_rows,)
        Leaf of each row; rows with -1 get empty fields.
    special : dict of int to RowRule
        Rules of rows that differ from those of their leaves, and notes.
    bom : bool
        Whether a CSV file starts with a byte order mark, which Excel needs.
    keep_formulas : bool
        Whether text that a spreadsheet executes is written to a CSV file as it is.
    """
    rules = explanation._leaf_rules
    place = np.zeros(explanation.tree_.node_count, dtype=np.int64)
    place[[rule.leaf for rule in rules]] = np.arange(len(rules))
    position = pl.Series(np.where(leaf < 0, -1, place[leaf])).replace(-1, None)
    added = [
        pl.Series(CLUSTER, [rule.cluster for rule in rules], strict=False),
        pl.Series(RULE, [rule.text for rule in rules], dtype=pl.String),
    ]
    table = source.table.with_columns(column.gather(position) for column in added)
    found = {row: each for row, each in special.items() if each.rule is not None}
    if found:
        texts = [each.rule.text for each in found.values() if each.rule is not None]
        table = table.with_columns(table[RULE].scatter(list(found), texts))
    notes = {row: "; ".join(each.notes) for row, each in found.items() if each.notes}
    if notes:
        noted = [notes.get(row) for row in range(table.height)]
        table = table.with_columns(pl.Series(NOTE, noted, dtype=pl.String))
    if output is None:
        sys.stdout.write(to_text(table, source, keep_formulas=keep_formulas))
        return
    write_table(output, table, source, bom=bom, keep_formulas=keep_formulas)


def check_added_columns(table: pl.DataFrame, output: Path) -> None:
    """Fail if the table already has the columns that are added, or cannot be written."""
    for name in (CLUSTER, RULE, NOTE):
        if name in table.columns:
            raise CommandError(
                f"the input already has a column {name!r}, which --output would add",
                hint="rename it, or remove --output",
            )
    if output.suffix.lower() in (*PARQUET, *FEATHER, *JSON):
        return
    for name, dtype in table.schema.items():
        if dtype.is_nested() or dtype in (pl.Binary, pl.Object):
            raise CommandError(
                f"column {name!r} (its type is {dtype}) cannot be written to {output.name}",
                hint=f"use {output.with_suffix('.parquet').name}, or drop the column",
            )


def report_written(files: Sequence[tuple[str, Path]]) -> None:
    """Report the files that were written."""
    for what, path in files:
        notice(f"wrote {what} to {path}")
