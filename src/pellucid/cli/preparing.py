"""From a table to what is clustered: no gaps, categories as numbers, even scales."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from pellucid.cli import CommandError
from pellucid.cli.columns import Columns, choose_columns, split_names
from pellucid.cli.reading import Source
from pellucid.cli.show import count, show_notice
from pellucid.encoding import Encoding, Indicator

UNEVEN = 3.0
"""Columns are scaled unless their standard deviations are all within this factor."""


@dataclass(frozen=True)
class Prepared:
    """The data of a command.

    Attributes
    ----------
    source : Source
    columns : Columns
    rows : ndarray of int
        Rows of the source that are used.
    table : polars.DataFrame
        Their values in the columns that are used.
    encoding : Encoding
    X : ndarray of shape (n_rows, n_features)
        The same as numbers, in the units of the table.
    center, scale : ndarray of shape (n_features,)
        What is clustered is ``(X - center) / scale``.
    labels : ndarray or None
        The clustering to explain, if a column holds it.
    fill : dict of str to float
        What missing numbers were filled in with, by column.
    """

    source: Source
    columns: Columns
    rows: np.ndarray
    table: pl.DataFrame
    encoding: Encoding
    X: np.ndarray
    center: np.ndarray
    scale: np.ndarray
    labels: np.ndarray | None = None
    fill: dict[str, float] = field(default_factory=dict)

    @property
    def is_scaled(self) -> bool:
        """Whether clustering sees other numbers than the table holds."""
        return bool((self.scale != 1).any())

    @property
    def Z(self) -> np.ndarray:
        """What is clustered."""
        return (self.X - self.center) / self.scale if self.is_scaled else self.X


def prepare(
    source: Source,
    *,
    columns: str | None = None,
    exclude: str | None = None,
    categorical: str | None = None,
    standardize: bool | None = None,
    missing: str = "drop",
    labels: str | None = None,
) -> Prepared:
    """Make a table ready; every decision is said in one line.

    Parameters
    ----------
    source : Source
    columns, exclude, categorical : str or None
        Names of columns, with commas between them.
    standardize : bool or None
        Whether columns of numbers are given the same spread; None if their spreads differ.
    missing : {"drop", "median", "error"}
        What to do with rows that lack a number.
    labels : str or None
        Column that holds the clustering to explain.
    """
    reserved = () if labels is None else tuple(split_names(labels, source.table, "--labels"))
    if len(reserved) > 1:
        raise CommandError("--labels names more than one column", exit_code=2)
    chosen = choose_columns(
        source.table,
        source.name,
        columns=columns,
        exclude=exclude,
        categorical=categorical,
        reserved=reserved,
    )
    table = source.table.select(chosen.used).with_columns(
        pl.col(chosen.numbers).cast(pl.Float64), pl.col(chosen.categories).cast(pl.String)
    )
    table, rows, fill = _without_gaps(source, table, chosen, missing, reserved)
    encoding = Encoding.fit(table, categorical=chosen.categories)
    X = encoding.transform(table)
    center, scale = _scales(X, encoding, standardize)
    given = source.table[reserved[0]].gather(rows).to_numpy() if reserved else None
    if given is not None and given.dtype.kind not in "iu":
        given = given.astype(str)
    return Prepared(source, chosen, rows, table, encoding, X, center, scale, given, fill)


def _without_gaps(
    source: Source, table: pl.DataFrame, chosen: Columns, missing: str, reserved: tuple[str, ...]
) -> tuple[pl.DataFrame, np.ndarray, dict[str, float]]:
    """The table without missing numbers, which rows of it are left, and what was filled in."""
    fill: dict[str, float] = {}
    table = table.with_columns(pl.col(chosen.numbers).fill_nan(None))
    for name in chosen.numbers:
        if table[name].is_infinite().any():
            raise CommandError(
                f"column {name!r} contains infinite values",
                hint="remove them from the file, or leave the column out with --exclude",
            )
    gaps = {name: table[name].null_count() for name in chosen.numbers}
    gaps = {name: n for name, n in gaps.items() if n}
    unlabelled = {name: source.table[name].null_count() for name in reserved}
    keep = pl.Series(np.ones(table.height, dtype=bool))
    for name, n in unlabelled.items():
        if n:
            keep &= source.table[name].is_not_null()
            show_notice(f"{count(n, 'row')} without a value in {name!r} left out")
    if gaps:
        where = ", ".join(f"{name}: {n:,}" for name, n in gaps.items())
        if missing == "error":
            first = next(iter(gaps))
            row = int(table[first].is_null().arg_max()) + 1
            raise CommandError(
                f"{count(sum(gaps.values()), 'value')} missing ({where}); the first in row {row}, "
                f"column {first!r}",
                hint="--missing drop leaves such rows out, --missing median fills them in",
            )
        if missing == "median":
            fill = {name: float(table[name].median()) for name in gaps}
            table = table.with_columns(pl.col(name).fill_null(at) for name, at in fill.items())
            show_notice(f"missing values filled with the median: {where} (--missing to change)")
        else:
            full = table.select(pl.all_horizontal(pl.col(list(gaps)).is_not_null())).to_series()
            keep &= full
            show_notice(
                f"{count(int((~full).sum()), 'row')} with missing values left out: {where} "
                "(--missing median fills them in)"
            )
    rows = np.flatnonzero(keep.to_numpy())
    if len(rows) == 0:
        raise CommandError(
            "no row is left: each lacks a value", hint="use --missing median, or --exclude columns"
        )
    return (table if len(rows) == table.height else table[rows]), rows, fill


def _scales(X: np.ndarray, encoding: Encoding, standardize: bool | None):
    """What is taken off each column, and by what it is divided."""
    center, scale = np.zeros(X.shape[1]), np.ones(X.shape[1])
    numbers = [j for j, name in enumerate(encoding.names) if not isinstance(name, Indicator)]
    if not numbers or standardize is False:
        return center, scale
    spread = X[:, numbers].std(axis=0)
    spread[spread == 0] = 1.0
    if standardize is None:
        has_categories = len(numbers) < X.shape[1]
        if spread.max() <= UNEVEN * spread.min() and not has_categories:
            return center, scale
        show_notice(
            "columns are given the same spread before clustering; rules are in the units of the "
            "file (--no-standardize to leave them)"
        )
    center[numbers], scale[numbers] = X[:, numbers].mean(axis=0), spread
    return center, scale
