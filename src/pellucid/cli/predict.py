"""``pellucid predict``: assign rows to clusters by a saved model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from pellucid.cli import CommandError, check_target
from pellucid.cli.output import count, show_notice
from pellucid.cli.preparing import as_category
from pellucid.cli.reading import STDIN, TableSource, read_source
from pellucid.cli.writing import CLUSTER, RULE, write_rows
from pellucid.explanation.explanation import Explanation
from pellucid.tables.encoding import Indicator


def predict(model: Path, file: Path, output: Path | None) -> None:
    """Write the rows of `file` with their cluster and rule, to a file or to standard output.

    Rows with a missing number in a column of the tree have no cluster.
    """
    if output is not None:
        check_target(output, "--output")
        if file != STDIN and output.resolve() == file.resolve():
            raise CommandError(f"--output: {output} is the input; it would be overwritten")
    explanation = read_model(model)
    source = read_source(file)
    for name in (CLUSTER, RULE):
        if name in source.table.columns:
            raise CommandError(f"{source.name} already has a column {name!r}", hint="rename it")
    table = _tree_columns(source, explanation, model)
    fill = explanation.fill_
    numbers = [n for n, dtype in table.schema.items() if dtype == pl.Float64 and n not in fill]
    known = table.select(pl.all_horizontal(pl.col(numbers).is_finite().fill_null(False)))
    rows = np.flatnonzero(known.to_series().to_numpy()) if numbers else np.arange(table.height)
    leaf = explanation.apply(table[rows])
    write_rows(output, source, explanation, rows, leaf)
    if len(rows) < table.height:
        show_notice(
            f"{count(table.height - len(rows), 'row')} with a missing value in "
            f"{', '.join(numbers)}: no cluster"
        )
    if output is not None:
        show_notice(f"wrote {count(table.height, 'row')} with their cluster to {output}")


def read_model(path: Path) -> Explanation:
    """Read a model file written by ``--model``."""
    from pellucid import from_json

    try:
        return from_json(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise CommandError(
            f"{path} is not a model: {error}",
            hint="create one with pellucid explain FILE --model MODEL",
        ) from error


def _tree_columns(source: TableSource, explanation: Explanation, model: Path) -> pl.DataFrame:
    """The columns that the tree uses."""
    tree = explanation.tree_
    used = {explanation.tree_columns_[f] for f in tree.feature[~tree.is_leaf].tolist()}
    columns = []
    for name in explanation.feature_names_in_.tolist():
        is_number = name in used
        if not is_number and not any(_is_indicator_of(a, name) for a in used):
            continue
        if name not in source.table.columns:
            raise CommandError(
                f"{source.name} has no column {name!r}, which {model} uses",
                hint=f"its columns are {', '.join(map(repr, source.table.columns))}",
            )
        dtype = source.table.schema[name]
        if is_number and not (dtype.is_numeric() or dtype == pl.Null):
            raise CommandError(f"column {name!r} is not numeric (its type is {dtype})")
        column = source.table[name]
        known = [a.value for a in explanation.tree_columns_ if _is_indicator_of(a, name)]
        columns.append(
            column.cast(pl.Float64) if is_number else _as_model_categories(column, known)
        )
    return source.table.select(columns) if columns else source.table


def _is_indicator_of(description: str | Indicator, column: str) -> bool:
    return isinstance(description, Indicator) and description.column == column


def _as_model_categories(column: pl.Series, categories: list) -> pl.Series:
    """Convert categories to the type of those in the model."""
    column = as_category(column)
    kinds = {type(value) for value in categories if value is not None}
    if kinds == {str}:
        return column.cast(pl.String)
    if kinds <= {int, float} and column.dtype == pl.String:
        numbers = column.cast(pl.Float64, strict=False)
        # Text is no category of this model, but it is not missing either.
        other = max(value for value in categories if value is not None) + 1.0
        return (
            pl.select(
                pl.when(numbers.is_null() & column.is_not_null()).then(other).otherwise(numbers)
            )
            .to_series()
            .alias(column.name)
        )
    return column
