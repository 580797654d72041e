"""Clusters of the rows of a table, as far as the rules can tell them despite missing values."""

from __future__ import annotations

from typing import NamedTuple

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
        -1 where a missing value leaves more than one cluster possible.
    n_unread : dict of str to int
        Number of values that are not numbers or dates, by column.
    """

    leaf: np.ndarray
    n_unread: dict[str, int]

    @property
    def is_known(self) -> np.ndarray:
        """Which rows have a leaf."""
        return self.leaf != UNKNOWN


def assign_rows(explanation: Explanation, source: TableSource, *, model: str = "") -> Assignment:
    """The leaf of each row.

    A missing number does not matter if the splits on the path of the row do not use its column,
    or if all leaves that the row may reach have the same cluster.

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
        features[feature] = numbers.cast(pl.Float64).fill_null(float("nan")).to_numpy()
    return Assignment(find_leaves(tree, features, source.table.height), n_unread)


def find_leaves(tree: ThresholdTree, features: dict[int, np.ndarray], n_rows: int) -> np.ndarray:
    """The leaf of each row; -1 if rows with missing values may reach different clusters.

    Parameters
    ----------
    tree : ThresholdTree
    features : dict of int to ndarray of shape (n_rows,)
        Columns by their position in the tree; NaN is missing.
    n_rows : int
    """
    leaf = np.full(n_rows, UNKNOWN, dtype=np.intp)
    is_unclear = np.zeros(n_rows, dtype=bool)
    stack = [(0, np.arange(n_rows))]
    while stack:
        node, rows = stack.pop()
        if tree.children_left[node] < 0:
            cluster = tree.cluster[node]
            seen = leaf[rows] != UNKNOWN
            is_unclear[rows[seen]] |= tree.cluster[leaf[rows[seen]]] != cluster
            leaf[rows[~seen]] = node
            continue
        values = features[int(tree.feature[node])][rows]
        is_missing = np.isnan(values)
        left = values <= tree.threshold[node]
        stack.append((int(tree.children_right[node]), rows[~left | is_missing]))
        stack.append((int(tree.children_left[node]), rows[left | is_missing]))
    leaf[is_unclear] = UNKNOWN
    return leaf


def report_assignment(explanation: Explanation, source: TableSource, found: Assignment) -> None:
    """Report rows without a cluster, values that were not read, and unseen categories."""
    for name, n in found.n_unread.items():
        notice(f"{name}: {count(n, 'value')} could not be read; treated as missing")
    n_unknown = int((~found.is_known).sum())
    if n_unknown:
        notice(
            f"{count(n_unknown, 'row')} without a cluster, because a value that the rules need is "
            "missing"
        )
    for column, values in explanation.count_unseen(source.table).items():
        n_rows = sum(values.values())
        shown = ", ".join(repr(str(value)) for value in list(values)[:_SHOWN])
        more = ", ..." if len(values) > _SHOWN else ""
        notice(
            f"{count(n_rows, 'row')} with a value of {column} that was not in the training data "
            f"({shown}{more}); they are treated as none of the known values"
        )


def _column(source: TableSource, name: str, model: str) -> pl.Series:
    if name not in source.table.columns:
        raise InputError(
            f"{source.name} has no column {name!r}, which {model or 'the model'} uses",
            hint=f"its columns are {', '.join(map(repr, source.table.columns))}",
        )
    return source.table[name]


def _is_category(
    source: TableSource, column: pl.Series, name: Indicator, categories: list
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
