"""Prepare a table for clustering: missing values, categories and scales."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np
import polars as pl

from pellucid.cli import CommandError
from pellucid.cli.columns import ColumnRoles, choose_columns, split_names
from pellucid.cli.output import count, show_notice
from pellucid.explanation.column_provenance import ColumnSource
from pellucid.explanation.monotone_maps import MonotoneMap
from pellucid.explanation.restate import TreeRestatement
from pellucid.tables.columns import Columns
from pellucid.tables.encoding import Encoding, Indicator
from pellucid.tables.reading import TableSource
from pellucid.tree import ThresholdTree

UNEVEN = 3.0
"""Columns are standardized unless their standard deviations differ by less than this factor."""

_BLOCK = 4096


@dataclass(frozen=True)
class Prepared:
    """The data of a command.

    Attributes
    ----------
    source : TableSource
    columns : ColumnRoles
    rows : ndarray of int
        Rows of the source that are clustered.
    table : polars.DataFrame
        Their values in the columns that are used.
    encoding : Encoding
    features : list of ndarray of shape (n_rows,)
        The columns of `encoding` as numbers, in the units of the table.
    center, scale : ndarray of shape (n_features,)
        The clustered data are ``(features - center) / scale``.
    labels : ndarray or None
        The clustering to explain, if a column contains it.
    fill : dict of str to float
        Value that replaces missing numbers, by column.
    """

    source: TableSource
    columns: ColumnRoles
    rows: np.ndarray
    table: pl.DataFrame
    encoding: Encoding
    features: list[np.ndarray]
    center: np.ndarray
    scale: np.ndarray
    labels: np.ndarray | None = None
    fill: dict[str, float] = field(default_factory=dict)

    @property
    def is_scaled(self) -> bool:
        """Whether the clustered data are scaled."""
        return bool((self.scale != 1).any())

    @cached_property
    def Z(self) -> np.ndarray:
        """The clustered data."""
        Z = np.empty((len(self.rows), len(self.features)))
        # In blocks of rows, so that writing by column stays in the cache.
        for start in range(0, len(Z), _BLOCK):
            part = Z[start : start + _BLOCK]
            for j, column in enumerate(self.features):
                part[:, j] = column[start : start + _BLOCK]
            if self.is_scaled:
                part -= self.center
                part /= self.scale
        return Z

    def restate(self, tree: ThresholdTree) -> tuple[ThresholdTree, dict[int, int]]:
        """A tree on `Z` in the units of the table, and the old leaf of each of its leaves."""
        names = self.encoding.input_names
        place = {name: i for i, name in enumerate(names)}
        origins: list[ColumnSource] = []
        for j, name in enumerate(self.encoding.names):
            if isinstance(name, Indicator):
                origins.append(ColumnSource(place[name.column], category=(name.value,)))
            else:
                step = MonotoneMap(partial(_scaled, center=self.center[j], scale=self.scale[j]))
                origins.append(ColumnSource(place[name], maps=(step,)))
        values = {origins[j].column: column for j, column in enumerate(self.features)}
        restatement = TreeRestatement(tree, origins)
        restatement.find_gaps(self.Z, values)
        return restatement.build(names, self.encoding.names, "round")


def prepare(
    source: TableSource,
    *,
    columns: str | None = None,
    exclude: str | None = None,
    categorical: str | None = None,
    standardize: bool | None = None,
    missing: str = "drop",
    labels: str | None = None,
) -> Prepared:
    """Prepare a table and print every decision in one line.

    Parameters
    ----------
    source : TableSource
    columns, exclude, categorical : str or None
        Names of columns, separated by commas.
    standardize : bool or None
        Whether to standardize numeric columns; None does so if their spreads differ.
    missing : {"drop", "median", "error"}
        What to do with rows with a missing number.
    labels : str or None
        Column that contains the clustering to explain.
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
        pl.col(chosen.numbers).cast(pl.Float64),
        *(as_category(source.table[name]) for name in chosen.categories),
    )
    table, rows, fill = _without_gaps(source, table, chosen, missing, reserved)
    content = Columns.of(table)
    encoding = Encoding.fit(content, categorical=chosen.categories)
    features = encoding.columns(content)
    center, scale = _scales(features, encoding, standardize)
    given = source.table[reserved[0]].gather(rows).to_numpy() if reserved else None
    if given is not None and given.dtype.kind not in "iu":
        given = given.astype(str)
    return Prepared(source, chosen, rows, table, encoding, features, center, scale, given, fill)


def as_category(column: pl.Series) -> pl.Series:
    """A categorical column: numbers, booleans and texts as they are, other types as text.

    Categories that are numbers stay numbers, so that SQL and `predict` compare numbers.
    """
    plain = column.dtype.is_integer() or column.dtype in (pl.Float32, pl.Float64, pl.Boolean)
    return column if plain else column.cast(pl.String)


def _without_gaps(
    source: TableSource,
    table: pl.DataFrame,
    chosen: ColumnRoles,
    missing: str,
    reserved: tuple[str, ...],
) -> tuple[pl.DataFrame, np.ndarray, dict[str, float]]:
    """The table without missing numbers, the remaining rows, and the values filled in."""
    fill: dict[str, float] = {}
    table = table.with_columns(pl.col(chosen.numbers).fill_nan(None))
    for name in chosen.numbers:
        if table[name].is_infinite().any():
            raise CommandError(
                f"column {name!r} contains infinite values",
                hint="remove them from the file, or ignore the column with --exclude",
            )
    gaps = {name: table[name].null_count() for name in chosen.numbers}
    gaps = {name: n for name, n in gaps.items() if n}
    unlabelled = {name: source.table[name].null_count() for name in reserved}
    keep = pl.Series(np.ones(table.height, dtype=bool))
    for name, n in unlabelled.items():
        if n:
            keep &= source.table[name].is_not_null()
            show_notice(f"{count(n, 'row')} ignored: no value in {name!r}")
    if gaps:
        where = ", ".join(f"{name}: {n:,}" for name, n in gaps.items())
        if missing == "error":
            first = next(iter(gaps))
            row = int(table[first].is_null().arg_max()) + 1
            raise CommandError(
                f"{count(sum(gaps.values()), 'value')} missing ({where}); the first in row {row}, "
                f"column {first!r}",
                hint="--missing drop ignores such rows, --missing median fills in the median",
            )
        if missing == "median":
            fill = {name: float(table[name].median()) for name in gaps}
            table = table.with_columns(pl.col(name).fill_null(at) for name, at in fill.items())
            show_notice(
                f"missing numbers replaced by the median: {where} (use --missing to change)"
            )
        else:
            full = table.select(pl.all_horizontal(pl.col(list(gaps)).is_not_null())).to_series()
            keep &= full
            show_notice(
                f"{int((~full).sum()):,} of {count(table.height, 'row')} ignored, missing "
                f"numbers: {where} (--missing median fills in the median)"
            )
    rows = np.flatnonzero(keep.to_numpy())
    if len(rows) == 0:
        raise CommandError(
            "no row is left: every row has a missing value",
            hint="use --missing median, or --exclude columns",
        )
    return (table if len(rows) == table.height else table[rows]), rows, fill


def _scaled(values: np.ndarray, *, center: float, scale: float) -> np.ndarray:
    return (values - center) / scale


def _scales(features: list[np.ndarray], encoding: Encoding, standardize: bool | None):
    """Center and scale of each column."""
    center, scale = np.zeros(len(features)), np.ones(len(features))
    numbers = [j for j, name in enumerate(encoding.names) if not isinstance(name, Indicator)]
    if not numbers or standardize is False:
        return center, scale
    spread = np.array([features[j].std() for j in numbers])
    spread[spread == 0] = 1.0
    if standardize is None:
        has_categories = len(numbers) < len(features)
        if spread.max() <= UNEVEN * spread.min() and not has_categories:
            return center, scale
        show_notice(
            "columns are standardized before clustering; rules keep the units of the file "
            "(--no-standardize turns it off)"
        )
    center[numbers], scale[numbers] = [features[j].mean() for j in numbers], spread
    return center, scale
