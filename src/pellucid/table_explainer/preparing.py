"""Prepare a table for clustering: roles of columns, missing values, outliers and scales."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from operator import or_
from typing import Any, cast

import numpy as np
import polars as pl

from pellucid._utils.notices import InputError, notice, notices_held, option, report_held
from pellucid._utils.numeric_domain import MAX_VALUE, MIN_SPREAD
from pellucid._utils.texts import Message, count
from pellucid.explanation.restate import ColumnSource, MonotoneMap, TreeRestatement
from pellucid.table_explainer import tuning
from pellucid.table_explainer.arguments import ExplainOptions, one_name
from pellucid.table_explainer.cleaning import Replacements, find_replacements, with_replacements
from pellucid.table_explainer.copies import find_copies, find_unrelated
from pellucid.table_explainer.outliers import find_extremes, find_outliers, find_totals
from pellucid.table_explainer.roles import (
    ColumnRoles,
    as_category,
    as_number,
    choose_roles,
    find_format,
    is_long,
    is_nested,
    report_roles,
)
from pellucid.table_explainer.scaling import ColumnScale, find_scales
from pellucid.tables.column_formats import ColumnFormat
from pellucid.tables.encoding import Encoding, Indicator
from pellucid.tables.frames import Columns
from pellucid.tables.reading import TableSource
from pellucid.tree import ThresholdTree


@dataclass(frozen=True)
class PreparedTable:
    """A table as it is clustered."""

    source: TableSource  # its options have the replaced values
    roles: ColumnRoles
    rows: np.ndarray  # positions in the source
    table: pl.DataFrame  # the columns that are used, dates as days
    encoding: Encoding
    features: list[np.ndarray]  # the columns of `encoding`, in the units of the table
    scales: list[ColumnScale]  # those on which the features are clustered
    labels: np.ndarray | None = None  # a clustering to explain
    label_column: str | None = None
    fill: dict[str, float] = field(default_factory=dict)  # what replaces missing numbers, by column
    n_incomplete: int = 0  # rows that are left out because of gaps
    # Rows that were set apart.
    outliers: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    # Columns that are left out because of the clusters.
    described: dict[str, Message] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)  # the decisions
    # Columns in which outliers were searched for; some may have only one value without these.
    searched: tuple[str, ...] = ()

    @cached_property
    def cleaned(self) -> pl.DataFrame:
        """The table of the source without sentinels, and with one spelling of each category."""
        return with_replacements(self.source.table, self.source.options.replaced or {})

    @property
    def is_scaled(self) -> bool:
        """Whether the clustered data differ from the numbers of the table."""
        return any(scale.kind != "none" for scale in self.scales)

    @cached_property
    def Z(self) -> np.ndarray:
        return self.scaled(self.features)

    def scaled(self, features: Sequence[np.ndarray]) -> np.ndarray:
        """Columns of `encoding`, of these or other rows, on the scales of the clustering."""
        Z = np.empty((len(features[0]), len(features)))
        # In blocks of rows, so that writing by column stays in the cache.
        for start in range(0, len(Z), tuning.BLOCK_ROWS):
            part = Z[start : start + tuning.BLOCK_ROWS]
            for j, (column, scale) in enumerate(zip(features, self.scales)):
                part[:, j] = scale(column[start : start + tuning.BLOCK_ROWS])
        return Z

    def restate(
        self, tree: ThresholdTree, batches: Iterable[Sequence[np.ndarray]] | None = None
    ) -> tuple[ThresholdTree, dict[int, int]]:
        """A tree on `Z` in the units of the table, and the old leaf of each of its leaves.

        `batches` have the columns of `encoding` for all rows, by default for the clustered ones.
        """
        encoding = self.encoding
        place = {name: i for i, name in enumerate(encoding.input_names)}
        columns = [place[name] for name in encoding.sources]
        sources = [
            ColumnSource(i, (n.value,) if isinstance(n, Indicator) else (), (MonotoneMap(scale),))
            for i, n, scale in zip(columns, encoding.names, self.scales)
        ]
        restatement = TreeRestatement(tree, sources)
        for features in [self.features] if batches is None else batches:
            Z = self.Z if batches is None else self.scaled(features)
            restatement.find_gaps(Z, dict(zip(columns, features)))
        return restatement.build(encoding.input_names, encoding.names, "round", self.roles.formats)

    def find_outliers(self, n_set_apart: int) -> np.ndarray:
        """Rows of the source that are far from all others in the numbers of the table."""
        numbers = np.flatnonzero([isinstance(name, str) for name in self.encoding.names])
        found = find_extremes([np.asarray(self.features[i], dtype=np.float64) for i in numbers])
        if not len(found):
            found = find_outliers(self.Z[:, numbers], n_set_apart)
        # If no other row differs, there would be nothing to cluster without these rows.
        left = np.delete(np.arange(len(self.rows)), found)
        is_left = any((column[left] != column[left[0]]).any() for column in self.features)
        return self.rows[found] if is_left else self.rows[:0]

    @cached_property
    def n_cells(self) -> int | None:
        """Number of different rows if they only combine few values of each column, else None."""
        n_values = [len(self.table[name].unique()) for name in self.roles.numbers]
        if any(n > tuning.VALUES_OF_CELLS for n in n_values):
            return None
        n_cells = self.table.unique().height
        return n_cells if n_cells <= len(self.rows) / tuning.ROWS_PER_CELL else None

    def again(
        self,
        options: ExplainOptions,
        apart: Sequence[int] | np.ndarray,
        described: Mapping[str, Message],
    ) -> PreparedTable:
        """The table prepared again without some rows, and without clustering some columns."""
        rows = np.union1d(self.outliers, np.asarray(apart, dtype=np.intp))
        found = {**self.described, **described}
        return prepare_table(self.source, options, rows, found, self.searched)


def prepare_table(
    source: TableSource,
    options: ExplainOptions | None = None,
    set_apart: Sequence[int] | np.ndarray = (),
    described: Mapping[str, Message] | None = None,
    searched: Sequence[str] = (),
) -> PreparedTable:
    """Prepare a table. Totals, outliers and the rows `set_apart` take part in no decision. The
    columns `described` are not clustered; `searched` are columns in which rows were set apart.
    """
    options = options or ExplainOptions()
    is_search = options.outliers == "auto" and options.labels is None and options.number != 1
    totals = find_totals(source.table) if is_search else np.empty(0, dtype=np.intp)
    apart = np.union1d(totals, np.asarray(set_apart, dtype=np.intp)).astype(np.intp)
    for n_left in range(tuning.OUTLIER_ROUNDS, -1, -1):
        with notices_held() as lines:
            prepared = _prepared(source, options, apart, described or {})
        if not is_search or not n_left:
            break
        searched = tuple(dict.fromkeys([*searched, *prepared.roles.numbers]))
        found = prepared.find_outliers(len(apart) - len(totals))
        if not len(found):
            break
        apart = np.union1d(apart, found)
    prepared = replace(prepared, searched=tuple(searched))
    with notices_held() as more:
        if len(totals):
            rows = [row_name(prepared, int(row)) for row in totals[: tuning.SHOWN_ROWS]]
            n, keep = len(totals), option("outliers", "keep")
            notice(Message("totals", n=n, rows=rows, option=keep))
        if len(others := np.setdiff1d(apart, totals)):
            _report_outliers(prepared, others)
    return replace(prepared, notices=[*lines, *more])


def _prepared(
    source: TableSource,
    options: ExplainOptions,
    apart: np.ndarray,
    described: Mapping[str, Message],
) -> PreparedTable:
    """Prepare the rows of a table that are not set apart."""
    label_column = _label_column(source, options)
    reserved = () if label_column is None else (label_column,)
    used = np.setdiff1d(np.arange(source.table.height), apart)
    given = source.table[used] if len(apart) else source.table
    replaced: Replacements = {}
    if options.cleaning == "auto":
        replaced = find_replacements(given, [*reserved, *options.excluded_of(given.columns)])
        given = with_replacements(given, replaced)
    roles = choose_roles(given, source.formats, options, reserved=reserved)
    for name, reason in described.items():
        roles.describe(name, reason)
    table = _clustered_columns(given, roles)
    keep = pl.Series(np.ones(given.height, dtype=bool))
    if label_column is not None and (n := given[label_column].null_count()):
        keep = given[label_column].is_not_null()
        notice(Message("noLabel", n=n, column=repr(label_column)))
    with notices_held() as lines:
        table, complete, fill = _without_gaps(table, roles, options.missing, replaced)
    if label_column is None:
        for name in find_unrelated(table.filter(complete), roles.categories):
            if name not in roles.requested:
                roles.describe(name, Message("isUnrelated"))
        table = pl.DataFrame([column for column in table if column.name in roles.used])
        fill = {name: value for name, value in fill.items() if name in roles.used}
    replaced = {n: pairs for n, pairs in replaced.items() if n in (*roles.used, *roles.profile)}
    _report_replaced(given, source.table, replaced, roles)
    report_roles(given, roles)
    report_held(lines)
    keep &= complete
    rows = np.flatnonzero(keep.to_numpy())
    if len(rows) == 0:
        hint = f"use {option('missing', 'median')}, or {option('exclude')} columns"
        raise InputError("no row is left: every row has a missing value", hint=hint)
    if len(rows) < table.height:
        table = table[rows]
    content = Columns.of(table)
    encoding = Encoding.fit(content, categorical=roles.categories)
    features = encoding.columns(content)
    stored = {name: [list(pair) for pair in pairs] for name, pairs in replaced.items()}
    return PreparedTable(
        source=replace(source, options=replace(source.options, replaced=stored or None)),
        roles=roles,
        rows=used[rows],
        table=table,
        encoding=encoding,
        features=features,
        scales=find_scales(features, encoding.names, roles.formats, options.scale),
        labels=None if label_column is None else _labels(given[label_column], rows),
        label_column=label_column,
        fill=fill,
        n_incomplete=int((~complete).sum()),
        outliers=apart,
        described=dict(described),
    )


def _label_column(source: TableSource, options: ExplainOptions) -> str | None:
    if options.labels is None:
        return None
    found = one_name(options.labels, source.table.columns, "labels")
    if is_nested(dtype := source.table[found].dtype):
        raise InputError(
            f"column {found!r} of {option('labels')} has values of type {dtype}",
            hint="labels are numbers or text",
        )
    return found


def _clustered_columns(given: pl.DataFrame, roles: ColumnRoles) -> pl.DataFrame:
    """The columns that are clustered; those that repeat others are described instead."""
    numbers = [_in_domain(as_number(given[name])) for name in roles.numbers]
    categories = [as_category(given[name]) for name in roles.categories]
    dates = [name for name in roles.described if given[name].dtype in (pl.Date, pl.Datetime)]
    # Not by names: polars reads names such as "*" as patterns.
    compared = [*numbers, *(as_number(given[name]) for name in dates)]
    # Columns with gaps are compared on the rows in which all of them are known.
    known = [each for each in compared if each.null_count() <= tuning.MANY_GAPS * given.height]
    free = [column for column in categories if column.name not in roles.requested]
    complete = pl.DataFrame(known).drop_nulls()
    found = find_copies(complete, pl.DataFrame(free), dates=dates, requested=roles.requested)
    if len(found) < len(roles.used):
        for name, reason in found.items():
            roles.describe(name, reason)
            roles.copies.append(name)
    return pl.DataFrame([c for c in (*numbers, *categories) if c.name in roles.used])


def _report_replaced(
    given: pl.DataFrame, table: pl.DataFrame, replaced: Replacements, roles: ColumnRoles
) -> None:
    """Report values that are taken as missing, and merged spellings, each in one line."""
    sentinels, spellings = [], []
    for name, pairs in replaced.items():
        merged: dict[str, list[str]] = {}
        for value, other in pairs:
            if other is not None:
                merged.setdefault(other, []).append(repr(value))
                continue
            known = roles.formats.get(name, ColumnFormat())
            n = int((as_number(table[name]) == value).sum())
            sentinels.append(Message("sentinel", value=known.text(value), column=name, n=n))
        for one, others in merged.items():
            spellings.append(Message("spelling", column=name, category=repr(one), others=others))
    keep = option("cleaning", "keep")
    if sentinels:
        notice(Message("sentinels", values=sentinels, option=keep))
    if spellings:
        notice(Message("spellings", values=spellings[: tuning.MOST_LISTED], option=keep))


def _report_outliers(prepared: PreparedTable, rows: np.ndarray) -> None:
    """Report outliers with the column and the value that are far from all other rows."""
    reasons = _columns_of_outliers(prepared, rows)
    keep = option("outliers", "keep")
    if len(rows) <= tuning.SHOWN_ROWS:
        shown = [
            Message("outlier", row=row_name(prepared, int(row)), column=name, value=text)
            for row, (name, _, text) in zip(rows, reasons)
        ]
        notice(Message("outliers", n=len(rows), rows=shown, option=keep))
        return
    groups: dict[str, list[tuple[float, str, int]]] = {}
    for row, (name, value, text) in zip(rows, reasons):
        groups.setdefault(name, []).append((value, text, int(row)))
    parts = []
    for name, found in sorted(groups.items(), key=lambda item: -len(item[1])):
        low, high, row = min(found), max(found), row_name(prepared, found[0][2])
        key = "outlierValue" if low[0] == high[0] else "outlierRange"
        shown_values = {"column": name, "low": low[1], "high": high[1]}
        parts.append(Message(key, **shown_values, n=len(found), row=row))
    notice(Message("manyOutliers", n=len(rows), parts=parts, option=keep))


def _columns_of_outliers(prepared: PreparedTable, rows: np.ndarray) -> list[tuple[str, float, str]]:
    """For each row, the column in which it is farthest from the others, and its value there."""
    scales = dict(zip(prepared.encoding.names, prepared.scales))
    names = list(dict.fromkeys([*prepared.roles.numbers, *prepared.searched]))
    values, far = {}, np.empty((len(names), len(rows)))
    for j, name in enumerate(names):
        column = as_number(prepared.cleaned[name]).fill_null(np.nan).to_numpy()
        scale = scales.get(name) or _deviation_of(column[prepared.rows])
        values[name] = column[rows]
        with np.errstate(invalid="ignore", divide="ignore"):
            far[j] = np.abs(scale(values[name]))
    found, source = [], prepared.source
    for position, column in enumerate(np.nan_to_num(far, nan=-1.0, posinf=1e300).argmax(axis=0)):
        name = names[column]
        value = float(values[name][position])
        written = source.formats.get(name, ColumnFormat())
        known = prepared.roles.formats.get(name) or find_format(source.table[name], written)
        is_long = not (known.is_whole or known.is_date)
        found.append((name, value, known.text(float(f"{value:.4g}") if is_long else value)))
    return found


def _deviation_of(values: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """The deviation from `values` in units of their standard deviation: infinite if it is 0."""
    known = values[~np.isnan(values)]
    mean, spread = (known.mean(), known.std()) if len(known) else (np.nan, np.nan)
    return lambda others: (others - mean) / spread


_ROW_NUMBERS = re.compile(r"(?:unnamed|column \d+|index|row[ _.]?(?:names?|id|num|number)?).*")


def row_name(prepared: PreparedTable, row: int) -> Message:
    """A row by its number, with its name or identifier if the table has one, text first."""
    ignored, table = prepared.roles.ignored, prepared.source.table
    names = [name for name, reason in ignored.items() if reason in ("identifier", "text")]
    names = [name for name in names if not _ROW_NUMBERS.fullmatch(name.casefold())]
    for name in sorted(names, key=lambda name: table[name].dtype != pl.String):
        if (value := table[name][row]) is not None:
            return Message("rowWithName", row=row + 1, column=name, value=str(value))
    return Message("row", row=row + 1)


def _labels(column: pl.Series, rows: np.ndarray) -> np.ndarray:
    """Labels as integers if they are whole numbers of at most 53 bits, otherwise as text."""
    column = column.gather(rows)
    if column.dtype.is_numeric() and not is_long(column) and (column == column.round()).all():
        return column.cast(pl.Int64).to_numpy()
    return as_category(column).cast(pl.String).to_numpy().astype(str)


def _in_domain(column: pl.Series) -> pl.Series:
    """A column of numbers, NaN as missing; numbers that cannot be squared are an error."""
    column = column.fill_nan(None)
    hint = f"multiply the column by a constant, or ignore it with {option('exclude')}"
    is_large = (column.abs() > MAX_VALUE).fill_null(False)
    if is_large.any():
        row = is_large.arg_max() or 0
        raise InputError(
            f"column {column.name!r} contains {column[row]:.4g} in row {row + 1}; numbers of more "
            f"than {MAX_VALUE:g} are too large to square",
            hint=hint,
        )
    low, high = cast(Any, column.min()), cast(Any, column.max())
    if low is not None and 0 < high - low < MIN_SPREAD:
        raise InputError(
            f"the numbers of column {column.name!r} differ by at most {high - low:.4g}, which is "
            "too small to square",
            hint=hint,
        )
    return column


def _without_gaps(
    table: pl.DataFrame, roles: ColumnRoles, missing: str, replaced: Collection[str]
) -> tuple[pl.DataFrame, pl.Series, dict[str, float]]:
    """The table with missing numbers filled in, the complete rows, and the values filled in.
    Columns `replaced` had sentinels: they are filled in, as dropping rows changes clusters more.
    """
    complete = pl.Series(np.ones(table.height, dtype=bool))
    fill: dict[str, float] = {}
    gaps = {name: n for name in roles.numbers if (n := table[name].null_count())}
    if gaps and missing == "error":
        first = next(iter(gaps))
        row = (table[first].is_null().arg_max() or 0) + 1
        raise InputError(
            f"{count(sum(gaps.values()), 'value')} missing ({', '.join(_counted(gaps))}); the "
            f"first in row {row}, column {first!r}",
            hint=f"{option('missing', 'drop')} drops such rows, {option('missing', 'median')} "
            "fills in the median",
        )
    if missing == "auto":
        most = tuning.MANY_GAPS * table.height
        if few := {name: n for name, n in gaps.items() if name in replaced and n <= most}:
            table, fill = _filled(table, few, roles)
        gaps = {name: n for name, n in gaps.items() if name not in few}
        table, gaps = _without_sparse_columns(table, roles, gaps)
        n_lost = int(_incomplete(table, gaps).sum())
        is_much = n_lost > tuning.MANY_ROWS_LOST * table.height
        # Medians in many rows of the only numbers would be a cluster of their own.
        are_all = min(gaps.values(), default=0) > most and len(gaps) == len(roles.numbers)
        is_kept = are_all and 2 * n_lost <= table.height
        missing = "median" if is_much and not is_kept else "drop"
    if gaps and missing == "median":
        table, more = _filled(table, gaps, roles)
        fill |= more
    elif gaps:
        incomplete = _incomplete(table, gaps)
        counted = {"n": int(incomplete.sum()), "rows": table.height, "columns": _counted(gaps)}
        notice(Message("dropped", **counted, option=option("missing", "median")))
        complete = ~incomplete
    return table, complete, fill


def _filled(
    table: pl.DataFrame, gaps: dict[str, int], roles: ColumnRoles
) -> tuple[pl.DataFrame, dict[str, float]]:
    """The table with the median in place of missing numbers, and the medians."""
    fill = {name: _median(table[name], roles.formats[name]) for name in gaps}
    counted = {"n": int(_incomplete(table, gaps).sum()), "columns": _counted(gaps)}
    notice(Message("filled", rows=table.height, **counted, option=option("missing", "drop")))
    # Not by expressions: polars reads names such as "*" in them as patterns.
    return table.with_columns([table[name].fill_null(value) for name, value in fill.items()]), fill


def _median(column: pl.Series, known: ColumnFormat) -> float:
    """The median; a value of the column if its numbers are whole."""
    # Only columns with at least one number are used, so that there is a median.
    middle = column.quantile(0.5, interpolation="lower" if known.is_whole else "linear")
    return 0.0 if middle is None else float(middle)


def _without_sparse_columns(
    table: pl.DataFrame, roles: ColumnRoles, gaps: dict[str, int]
) -> tuple[pl.DataFrame, dict[str, int]]:
    """Ignore columns with many gaps if too many rows would be dropped otherwise."""
    if _incomplete(table, gaps).sum() <= tuning.MANY_ROWS_LOST * table.height:
        return table, gaps
    sparse = [name for name, n in gaps.items() if n > tuning.MANY_GAPS * table.height]
    if not sparse or len(sparse) == len(roles.numbers):
        return table, gaps
    for name in sparse:
        roles.ignore(name, "gaps")
    kept = table.select([column for column in table if column.name not in sparse])
    return kept, {name: n for name, n in gaps.items() if name not in sparse}


def _incomplete(table: pl.DataFrame, gaps: dict[str, int]) -> pl.Series:
    complete = pl.Series(np.zeros(table.height, dtype=bool))
    return reduce(or_, (table[name].is_null() for name in gaps), complete)


def _counted(gaps: dict[str, int]) -> list[Message]:
    most = tuning.MOST_LISTED
    shown = [Message("columnCount", column=name, n=gaps[name]) for name in list(gaps)[:most]]
    return [*shown, *([Message("andMore", n=len(gaps) - most)] if len(gaps) > most else [])]
