"""Clusters of the rows of a table by the rules, also of rows with missing values."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np

from pellucid._utils.notices import notice
from pellucid._utils.texts import count
from pellucid.explanation.explanation import Explanation
from pellucid.explanation.input_columns import UNKNOWN
from pellucid.explanation.rules import RowRule
from pellucid.tables.frames import Columns
from pellucid.tables.reading import TableSource

_SHOWN = 3


class Assignment(NamedTuple):
    """The leaf of each row of a table; -1 where a number that its path needs is missing.

    `missing` is the column of the tree that is missing, -1 if the row has a leaf. `columns` are
    those that the tree uses, as they were read. `n_unread` is the number of values that are not
    numbers or dates, by column.
    """

    leaf: np.ndarray
    missing: np.ndarray
    columns: Columns
    n_unread: dict[str, int]

    @property
    def is_known(self) -> np.ndarray:
        """Which rows have a leaf."""
        return self.leaf != UNKNOWN

    def special_rules(self, explanation: Explanation) -> dict[int, RowRule]:
        """Rules of the rows for which the text of the rule of their leaf may be false."""
        return explanation.special_rules(self.leaf, self.missing, self.columns)


def assign_rows(explanation: Explanation, source: TableSource, *, model: str = "") -> Assignment:
    """The leaf of each row; `model` is the name of the model in errors.

    A missing number does not matter if the splits on the path of the row do not use its column.
    The SQL of the explanation answers the same rows. Infinite numbers are treated as missing.
    """
    inputs = explanation.input_columns
    columns, n_unread = inputs.read_table(source, model)
    if not inputs.features:
        n_rows = source.table.height
        return Assignment(
            np.zeros(n_rows, dtype=np.intp), np.full(n_rows, UNKNOWN), columns, n_unread
        )
    return Assignment(*inputs.find_leaves(inputs.encode(columns)), columns, n_unread)


def report_assignment(explanation: Explanation, found: Assignment) -> None:
    """Report rows without a cluster, values that were not read, and unseen categories."""
    for name, n in found.n_unread.items():
        notice(f"{name}: {count(n, 'value')} could not be read; treated as missing")
    n_unknown = int((~found.is_known).sum())
    if n_unknown:
        features, counts = np.unique(found.missing[~found.is_known], return_counts=True)
        names = [str(explanation.tree_columns_[feature]) for feature in features]
        columns = ", ".join(f"{name} {n:,}" for name, n in zip(names, counts))
        notice(
            f"{count(n_unknown, 'row')} without a cluster, because a value that the rules need is "
            f"missing ({columns})"
        )
    inputs = explanation.input_columns
    for column, cells in inputs.unusual(found.columns).items():
        values = Counter(cells.values())
        if column in explanation.formats_:
            del values[None]
        if not values or column not in inputs.known:
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
