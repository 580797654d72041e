"""``pellucid explain``: from a file to rules."""

from __future__ import annotations

import csv
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import polars as pl

from pellucid import (
    BSIMM,
    EMN,
    IMM,
    ExGreedy,
    ExKMC,
    ExplainableKMeans,
    ExShallow,
    SpEx,
    metrics,
)
from pellucid.cli import CommandError, check_target, replacing
from pellucid.cli.show import (
    cost_change,
    count,
    percent,
    show_line,
    show_measures,
    show_notice,
    show_rules,
)

METHODS = {
    "exshallow": ExShallow,
    "exgreedy": ExGreedy,
    "imm": IMM,
    "exkmc": ExKMC,
    "explainable": ExplainableKMeans,
    "bsimm": BSIMM,
    "emn": EMN,
    "spex": SpEx,
}
ANY_LEAVES = ("exkmc", "explainable", "spex")
"""Methods that make as many leaves as they are asked for."""


SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
PARQUET = (".parquet", ".pq")
PICTURES = (".png", ".svg", ".pdf")
PICTURE_DPI = 150

# Ways to write that a value is missing; polars itself knows only the empty field.
MISSING = ("NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?")

CLUSTER = "cluster"


def explain(
    file: Path,
    *,
    k: int,
    method: str,
    columns: str | None,
    leaves: int | None,
    output: Path | None,
    tree: Path | None,
    seed: int,
) -> None:
    """Cluster the rows of `file`, print the rules, and write what was asked for.

    Parameters
    ----------
    file : Path
    k : int
        Number of clusters.
    method : str
        A key of `METHODS`.
    columns : str or None
        Names of the columns to use, with commas between them; None for all numeric ones.
    leaves : int or None
        Number of leaves, for the methods in `ANY_LEAVES` only.
    output : Path or None
        Where to write the rows with their cluster.
    tree : Path or None
        Where to draw the tree.
    seed : int
        Seed of the k-means that is explained.
    """
    model = _make_model(method, k, leaves, seed)
    _check_targets(file, output, tree)
    table = _read_table(file)
    if output is not None:
        _check_can_be_csv(table)
    data = table.select(_choose_columns(table, columns, file))
    model.fit(data)
    # Files come first: a reader such as head, which closes the pipe early, ends the program.
    try:
        if output is not None:
            _write_rows(output, file, table, model.labels_)
        if tree is not None:
            draw_tree(tree, model)
    except Exception:
        # What was found is not lost because a file cannot be written.
        _show(model, data)
        raise
    _show(model, data)
    if output is not None:
        show_notice(f"wrote the rows with their cluster to {output}")
    if tree is not None:
        show_notice(f"drew the tree in {tree}")


def draw_tree(path: Path, model: Any) -> None:
    """Draw the tree of a fitted model into a file, in the format that its suffix says."""
    import matplotlib

    # A window is never shown, so no display is needed, and none must be looked for.
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    from pellucid.plotting import plot_tree

    figure = plot_tree(model).figure
    try:
        with replacing(path) as unfinished:
            figure.savefig(unfinished, format=path.suffix[1:].lower(), dpi=PICTURE_DPI)
    finally:
        plt.close(figure)


def _make_model(method: str, k: int, leaves: int | None, seed: int) -> Any:
    if method in ANY_LEAVES:
        if leaves is not None and leaves < k:
            raise CommandError(
                f"--leaves {leaves} is less than the {k} clusters of -k",
                hint="every cluster needs a leaf",
                exit_code=2,
            )
        return METHODS[method](k, n_leaves=leaves, random_state=seed)
    if leaves is not None:
        raise CommandError(
            f"--leaves goes with --method exkmc, explainable or spex; {method} makes one leaf for "
            "each cluster",
            exit_code=2,
        )
    return METHODS[method](k, random_state=seed)


def _check_targets(file: Path, output: Path | None, tree: Path | None) -> None:
    for path, option in ((output, "--output"), (tree, "--tree")):
        if path is not None:
            check_target(path, option)
            if path.resolve() == file.resolve():
                raise CommandError(f"{option}: {path} is the input; it would be overwritten")
    if output is not None and output.suffix.lower() in {*SEPARATORS, *PARQUET} - {".csv"}:
        raise CommandError(
            f"--output: {output} is not named as a CSV file, but that is what is written",
            hint=f"name it {output.with_suffix('.csv').name}",
        )
    if tree is not None and tree.suffix.lower() not in PICTURES:
        raise CommandError(
            f"--tree: no picture format has the suffix {tree.suffix!r}",
            hint=f"use one of {', '.join(PICTURES)}",
        )
    if output is not None and tree is not None and output.resolve() == tree.resolve():
        raise CommandError(f"--output and --tree are the same file, {tree}", exit_code=2)


def _read_table(file: Path, *, as_text: bool = False) -> pl.DataFrame:
    """The table in a file; `as_text` leaves every field of a text file as it is written."""
    suffix = file.suffix.lower()
    if suffix not in {*SEPARATORS, *PARQUET}:
        raise CommandError(
            f"{file}: cannot tell the format from the suffix {suffix!r}",
            hint=f"use one of {', '.join([*SEPARATORS, *PARQUET])}",
        )
    # The operating system says more clearly than polars why a file cannot be opened.
    file.open("rb").close()
    try:
        if suffix in PARQUET:
            return pl.read_parquet(file)
        separator = SEPARATORS[suffix]
        if as_text:
            return pl.read_csv(file, separator=separator, infer_schema_length=0)
        # A column is numeric if all of it is, not only the first rows.
        return pl.read_csv(
            file, separator=separator, infer_schema_length=None, null_values=list(MISSING)
        )
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        why = next(iter(str(error).splitlines()), type(error).__name__)
        hint = "save the file as UTF-8" if "utf-8" in why.lower() else None
        raise CommandError(f"{file} cannot be read: {why}", hint=hint) from error


def _check_can_be_csv(table: pl.DataFrame) -> None:
    if CLUSTER in table.columns:
        raise CommandError(
            f"the input has a column {CLUSTER!r} already, which --output would add",
            hint="rename it, or leave --output out",
        )
    for name, dtype in table.schema.items():
        if dtype.is_nested() or dtype in (pl.Binary, pl.Object):
            raise CommandError(
                f"column {name!r} (its type is {dtype}) cannot be written to a CSV file",
                hint="drop it from the input, or leave --output out",
            )


def _choose_columns(table: pl.DataFrame, columns: str | None, file: Path) -> list[str]:
    numeric = [name for name, dtype in table.schema.items() if _is_numeric(dtype)]
    if columns is not None:
        return _named_columns(table, columns, numeric)
    if not numeric:
        raise CommandError(
            f"{file} has no numeric column; its columns are {_listed(table.columns)}",
            hint=_separator_hint(table),
        )
    if left_out := [name for name in table.columns if name not in numeric]:
        show_notice(f"left out, not numeric: {', '.join(left_out)}")
    return numeric


def _named_columns(table: pl.DataFrame, columns: str, numeric: list[str]) -> list[str]:
    # Read as CSV, so that a name with a comma can be given in quotes.
    names = next(csv.reader([columns], skipinitialspace=True), [])
    names = [name if name in table.columns else name.strip() for name in names]
    if not any(names):
        raise CommandError("--columns names no column", exit_code=2)
    for name in names:
        if name not in table.columns:
            near = get_close_matches(name, table.columns, n=1)
            raise CommandError(
                f"there is no column {name!r}; the columns are {_listed(table.columns)}",
                hint=f"did you mean {near[0]!r}?" if near else None,
            )
        if name not in numeric:
            raise CommandError(
                f"column {name!r} is not numeric (its type is {table.schema[name]})",
                hint="leave it out of --columns, or turn it into numbers first",
            )
        if names.count(name) > 1:
            raise CommandError(f"--columns names {name!r} more than once", exit_code=2)
    return names


def _is_numeric(dtype: pl.DataType) -> bool:
    return dtype.is_numeric() or dtype == pl.Boolean


def _listed(names: list[str]) -> str:
    return ", ".join(map(repr, names))


def _separator_hint(table: pl.DataFrame) -> str | None:
    if table.width == 1 and any(sign in table.columns[0] for sign in ";\t|"):
        return "the fields seem to be separated by something else than the suffix says"
    return None


def _show(model: Any, data: pl.DataFrame) -> None:
    tree = model.tree_
    n_clusters = sum(bool(rule.rules) for rule in model.rules_)
    questions = count(tree.n_leaves - 1, "question")
    rows = count(data.height, "row")
    show_line(f"{count(n_clusters, 'cluster')} of {rows}, explained by {questions}", style="bold")
    show_rules(model.rules_)
    used = {condition.feature for rule in model._leaf_rules for condition in rule.conditions}
    agreement = metrics.reference_agreement(model.labels_, model.reference_labels_)
    show_measures(
        [
            ("cost against k-means", cost_change(_cost_ratio(model))),
            ("rows in the same cluster as k-means", percent(agreement)),
            (
                "conditions per row, on average",
                f"{metrics.weighted_average_explanation_size(tree):.2f}",
            ),
            ("questions per row, on average", f"{metrics.weighted_average_depth(tree):.2f}"),
            ("questions per row, at most", str(tree.max_depth)),
            ("features used", f"{len(used)} of {data.width}"),
        ]
    )


def _cost_ratio(model: Any) -> float:
    if model.reference_inertia_ == 0:
        return 1.0 if model.inertia_ == 0 else float("inf")
    return model.inertia_ / model.reference_inertia_


def _write_rows(output: Path, file: Path, table: pl.DataFrame, labels: Any) -> None:
    # From the text itself: numbers as polars reads them are not always written as they were.
    is_text = file.suffix.lower() in SEPARATORS
    rows = _read_table(file, as_text=True) if is_text else table
    if rows.height != len(labels):
        raise CommandError(f"{file} has changed while it was being explained; nothing written")
    with replacing(output) as unfinished:
        rows.with_columns(pl.Series(CLUSTER, labels)).write_csv(unfinished)
