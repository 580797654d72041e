"""Write plots, texts and rows to files, completely or not at all."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from pellucid.cli import replacing
from pellucid.cli.checks import GRAPHS
from pellucid.cli.checks import check_picture as check_picture
from pellucid.tables.reading import TableSource
from pellucid.tables.writing import to_text, write_table

PICTURE_DPI = 150
CLUSTER, RULE = "cluster", "rule"


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
            figure.savefig(unfinished, format=path.suffix[1:].lower(), dpi=PICTURE_DPI)
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
    rows: np.ndarray,
    leaf: np.ndarray,
    *,
    bom: bool = False,
) -> None:
    """Write the original table with the cluster and the rule of each row.

    Rows without a cluster get empty fields. `output` None means standard output. `bom` starts a
    text file with a byte order mark.
    """
    table = source.table
    rules = explanation._leaf_rules
    place = np.zeros(explanation.tree_.node_count, dtype=np.int64)
    place[[rule.leaf for rule in rules]] = np.arange(len(rules))
    which = np.full(table.height, -1)
    which[rows] = place[leaf]
    position = pl.Series(which).replace(-1, None)
    added = [
        pl.Series(CLUSTER, [rule.cluster for rule in rules], strict=False),
        pl.Series(RULE, [rule.text for rule in rules], dtype=pl.String),
    ]
    table = table.with_columns(column.gather(position) for column in added)
    if output is None:
        sys.stdout.write(to_text(table, source))
        return
    write_table(output, table, source, bom=bom)
