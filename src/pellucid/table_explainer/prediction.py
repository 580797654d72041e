"""Clusters of the rows of a table by the rules, also of rows with missing values."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import polars as pl

from pellucid._utils.notices import InputError, notice
from pellucid.explanation.explanation import Explanation
from pellucid.table_explainer.roles import as_category
from pellucid.table_explainer.wording import count
from pellucid.tables.column_formats import ColumnFormat
from pellucid.tables.encoding import Indicator
from pellucid.tables.reading import TableSource, as_format
from pellucid.tree import ThresholdTree

UNKNOWN = -1
_SHOWN = 3


class Assignment(NamedTuple):
    """The leaf of each row of a table.

    Attributes
    ----------
    leaf : ndarray of int of shape (n_rows,)
        -1 where a number that the path of the row needs is missing.
    n_unread : dict of str to int
        Number of values that are not numbers or dates, by column.
    n_missing : dict of str to int
        Number of rows without a leaf, by the column of the missing value.
    """

    leaf: np.ndarray
    n_unread: dict[str, int]
    n_missing: dict[str, int]

    @property
    def is_known(self) -> np.ndarray:
        """Which rows have a leaf."""
        return self.leaf != UNKNOWN


def assign_rows(explanation: Explanation, source: TableSource, *, model: str = "") -> Assignment:
    """The leaf of each row.

    A missing number does not matter if the splits on the path of the row do not use its column.
    The SQL of the explanation answers the same rows. Infinite numbers are treated as missing.

    Parameters
    ----------
    explanation : Explanation
    source : TableSource
    model : str
        Name of the model, for errors.
    """
    tree = explanation.tree_
    n_unread: dict[str, int] = {}
    features: dict[int, np.ndarray] = {}
    for feature in np.unique(tree.feature[~tree.is_leaf]).tolist():
        name = explanation.tree_columns_[feature]
        column = _column(source, name.column if isinstance(name, Indicator) else name, model)
        if isinstance(name, Indicator):
            categories = [
                other.value
                for other in explanation.tree_columns_
                if isinstance(other, Indicator) and other.column == name.column
            ]
            features[feature] = _is_category(source, column, name, categories)
            continue
        known_format = explanation.formats_.get(name, ColumnFormat())
        if known_format.date_format and source.text is not None:
            # The order of day and month is that of the model.
            column = source.as_written()[name]
        numbers, unread = as_format(column, known_format, decimal=source.options.decimal or ".")
        if unread:
            n_unread[name] = unread
        fill = explanation.fill_.get(name)
        numbers = numbers if fill is None else numbers.fill_null(fill)
        values = numbers.cast(pl.Float64).fill_null(float("nan")).to_numpy()
        features[feature] = np.where(np.isinf(values), np.nan, values)
    leaf, missing = find_leaves(tree, features, source.table.height)
    counts = np.bincount(missing[missing != UNKNOWN])
    n_missing = {str(explanation.tree_columns_[f]): int(counts[f]) for f in counts.nonzero()[0]}
    return Assignment(leaf, n_unread, n_missing)


def find_leaves(
    tree: ThresholdTree, features: dict[int, np.ndarray], n_rows: int
) -> tuple[np.ndarray, np.ndarray]:
    """The leaf of each row, and the column of a missing value on its path.

    Parameters
    ----------
    tree : ThresholdTree
    features : dict of int to ndarray of shape (n_rows,)
        Columns by their position in the tree; NaN is missing.
    n_rows : int

    Returns
    -------
    leaf : ndarray of int of shape (n_rows,)
        -1 if a value is missing.
    missing : ndarray of int of shape (n_rows,)
        Position of the column of the missing value; -1 if the row has a leaf.
    """
    leaf = np.full(n_rows, UNKNOWN, dtype=np.intp)
    missing = np.full(n_rows, UNKNOWN, dtype=np.intp)
    stack = [(0, np.arange(n_rows))]
    while stack:
        node, rows = stack.pop()
        if tree.children_left[node] < 0:
            leaf[rows] = node
            continue
        # A missing value is on neither side.
        feature, threshold = int(tree.feature[node]), tree.threshold[node]
        values = features[feature][rows]
        missing[rows[np.isnan(values)]] = feature
        stack.append((int(tree.children_right[node]), rows[values > threshold]))
        stack.append((int(tree.children_left[node]), rows[values <= threshold]))
    return leaf, missing


def report_assignment(explanation: Explanation, source: TableSource, found: Assignment) -> None:
    """Report rows without a cluster, values that were not read, and unseen categories."""
    for name, n in found.n_unread.items():
        notice(f"{name}: {count(n, 'value')} could not be read; treated as missing")
    n_unknown = int((~found.is_known).sum())
    if n_unknown:
        columns = ", ".join(f"{name} {n:,}" for name, n in found.n_missing.items())
        notice(
            f"{count(n_unknown, 'row')} without a cluster, because a value that the rules need is "
            f"missing ({columns})"
        )
    for column, values in explanation.count_unseen(source.table).items():
        if column in explanation.formats_:
            values = {value: n for value, n in values.items() if value is not None}
        if not values:
            continue
        n_rows = sum(values.values())
        ordered = sorted(values, key=lambda value: (-values[value], value is None, str(value)))
        texts = ("missing" if value is None else repr(str(value)) for value in ordered[:_SHOWN])
        shown = ", ".join(texts)
        more = ", ..." if len(values) > _SHOWN else ""
        how = (
            "compared by size"
            if column in explanation.formats_
            else "treated as none of the known values"
        )
        notice(
            f"{count(n_rows, 'row')} with a value of {column} that was not in the training data "
            f"({shown}{more}); {'it is' if n_rows == 1 else 'they are'} {how}"
        )


def _column(source: TableSource, name: str, model: str) -> pl.Series:
    if name not in source.table.columns:
        raise InputError(
            f"{source.name} has no column {name!r}, which {model or 'the model'} uses",
            hint=f"its columns are {', '.join(map(repr, source.table.columns))}",
        )
    return source.table[name]


def _is_category(
    source: TableSource, column: pl.Series, name: Indicator, categories: list[Any]
) -> np.ndarray:
    """1 where a column has the category of an indicator, and 0 elsewhere."""
    column = as_category(column)
    if name.value is None:
        return column.is_null().to_numpy().astype(float)
    kinds = {type(value) for value in categories if value is not None}
    if kinds <= {int, float} and column.dtype == pl.String:
        column = column.str.strip_chars().cast(pl.Float64, strict=False)
    elif kinds == {bool} and column.dtype == pl.String:
        column = column.str.to_lowercase().replace({"true": "True", "false": "False"})
        return (column == str(name.value)).fill_null(False).to_numpy().astype(float)
    elif kinds == {str} and column.dtype != pl.String:
        column = source.as_written()[column.name].cast(pl.String).str.strip_chars()
    return (column == name.value).fill_null(False).to_numpy().astype(float)
