"""``pellucid predict``: assign rows to clusters by a saved model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from pellucid.cli import CommandError, check_target
from pellucid.cli.output import count, show_notice
from pellucid.cli.preparing import as_category
from pellucid.cli.progress import working
from pellucid.cli.writing import CLUSTER, RULE, write_rows
from pellucid.explanation.explanation import Explanation
from pellucid.tables.column_formats import ColumnFormat
from pellucid.tables.encoding import Indicator
from pellucid.tables.reading import STDIN, ReadingOptions, TableSource, as_format, read_source
from pellucid.tables.suffixes import written_format


def predict(
    model: Path,
    file: Path,
    output: Path | None,
    *,
    options: ReadingOptions = ReadingOptions(),  # noqa: B008
    bom: bool = False,
) -> None:
    """Write the rows of `file` with their cluster and rule, to a file or to standard output.

    Rows with a missing number in a column of the tree have no cluster.

    Parameters
    ----------
    model : Path
        A file written by ``--model``. How its table was read decides what `file` leaves open.
    file : Path
    output : Path or None
        The suffix gives the format. None is CSV on standard output.
    options : ReadingOptions
        How `file` is read.
    bom : bool
        Whether a CSV file starts with a byte order mark.
    """
    if output is not None:
        check_target(output, "--output")
        written_format(output)
        if file != STDIN and output.resolve() == file.resolve():
            raise CommandError(f"--output: {output} is the input; it would be overwritten")
    explanation = read_model(model)
    hints = ReadingOptions.from_dict(explanation.reading_ or {})
    with working(f"reading {file}"):
        source = read_source(file, options, hints)
    for name in (CLUSTER, RULE):
        if name in source.table.columns:
            raise CommandError(f"{source.name} already has a column {name!r}", hint="rename it")
    table = _tree_columns(source, explanation, model)
    fill = explanation.fill_
    numbers = [n for n, dtype in table.schema.items() if dtype == pl.Float64 and n not in fill]
    known = table.select(pl.all_horizontal(pl.col(numbers).is_finite().fill_null(False)))
    rows = np.flatnonzero(known.to_series().to_numpy()) if numbers else np.arange(table.height)
    leaf = explanation.apply(table[rows])
    write_rows(output, source, explanation, rows, leaf, bom=bom)
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
        if is_number:
            columns.append(
                _as_numbers(source, name, explanation.formats_.get(name, ColumnFormat()))
            )
        else:
            known = [a.value for a in explanation.tree_columns_ if _is_indicator_of(a, name)]
            columns.append(_as_model_categories(source, name, known))
    return source.table.select(columns) if columns else source.table


def _as_numbers(source: TableSource, name: str, column_format: ColumnFormat) -> pl.Series:
    """A column as numbers, read as in the model."""
    column = source.table[name]
    if column_format.date_format and source.text is not None:
        column = source.as_written()[name]  # the order of day and month is that of the model
    decimal = source.options.decimal or "."
    numbers, n_unread = as_format(column, column_format, decimal=decimal)
    if n_unread:
        what = "dates" if column_format.is_date else "numbers"
        show_notice(f"{name}: {count(n_unread, 'value')} cannot be read as {what}")
    return numbers


def _is_indicator_of(description: str | Indicator, column: str) -> bool:
    return isinstance(description, Indicator) and description.column == column


def _as_model_categories(source: TableSource, name: str, categories: list) -> pl.Series:
    """A column of categories in the type of those in the model."""
    column = as_category(source.table[name])
    kinds = {type(value) for value in categories if value is not None}
    if kinds == {str} and column.dtype != pl.String:
        column = source.as_written()[name].cast(pl.String).str.strip_chars()
        column = column.set((column == "").fill_null(False), None)
    elif kinds <= {int, float} and column.dtype == pl.String:
        numbers = column.cast(pl.Float64, strict=False)
        # Text is no category of this model, but it is not missing either.
        other = max(value for value in categories if value is not None) + 1.0
        is_text = numbers.is_null() & column.is_not_null()
        column = pl.select(pl.when(is_text).then(other).otherwise(numbers)).to_series().alias(name)
    _report_unseen(source.table[name], column, categories)
    return column


def _report_unseen(written: pl.Series, column: pl.Series, categories: list) -> None:
    """Print how many rows have a category that is not in the model."""
    present = [value for value in categories if value is not None]
    is_unseen = column.is_not_null()
    if present:
        is_unseen &= ~column.is_in(pl.Series(present, strict=False).cast(column.dtype))
    n_unseen = int(is_unseen.sum())
    if n_unseen:
        examples = written.filter(is_unseen).cast(pl.String).unique().sort().head(3).to_list()
        shown = ", ".join(f'"{each}"' for each in examples)
        rows = "row has a value" if n_unseen == 1 else "rows have values"
        show_notice(f"{column.name}: {n_unseen:,} {rows} that the model has not seen ({shown})")
