"""Clusters of the rows of a table by the rules, also of rows with missing values."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np

from pellucid._utils.notices import notice
from pellucid._utils.texts import count
from pellucid.explanation.explanation import Explanation
from pellucid.explanation.input_columns import UNKNOWN
from pellucid.tables.frames import Columns
from pellucid.tables.reading import TableSource

_SHOWN = 3


class Assignment(NamedTuple):
    """The leaf of each row of a table; -1 where a number that its path needs is missing."""

    leaf: np.ndarray
    missing: np.ndarray  # the column of the tree that is missing; -1 if the row has a leaf
    columns: Columns  # those that the tree uses, as they were read
    n_unread: dict[str, int]  # by column, the values that are not numbers or dates

    @property
    def is_known(self) -> np.ndarray:
        return self.leaf != UNKNOWN


def assign_rows(explanation: Explanation, source: TableSource, *, model: str = "") -> Assignment:
    """The leaf of each row; a missing number does not matter if the path of the row does not use
    its column. Infinite numbers are missing. `model` is the name of the model in errors.
    """
    inputs = explanation.input_columns
    columns, n_unread = inputs.read_table(source, model)
    if inputs.features:
        leaf, missing = inputs.find_leaves(inputs.encode(columns))
    else:
        leaf = np.zeros(source.table.height, dtype=np.intp)
        missing = np.full(len(leaf), UNKNOWN)
    return Assignment(leaf, missing, columns, n_unread)


def report_assignment(explanation: Explanation, found: Assignment) -> None:
    """Report rows without a cluster, values that were not read, and unseen categories."""
    for name, n in found.n_unread.items():
        notice(f"{name}: {count(n, 'value')} could not be read; treated as missing")
    if len(missing := found.missing[~found.is_known]):
        names, counts = explanation.tree_columns_, zip(*np.unique(missing, return_counts=True))
        columns = ", ".join(f"{names[feature]} {n:,}" for feature, n in counts)
        notice(
            f"{count(len(missing), 'row')} without a cluster, because a value that the rules need "
            f"is missing ({columns})"
        )
    inputs = explanation.input_columns
    for column, cells in inputs.unusual(found.columns).items():
        values = Counter(cells.values())
        how = "treated as none of the known values"
        if column in explanation.formats_:
            del values[None]
            how = "compared by size"
        if not values or column not in inputs.known:
            continue
        ordered = sorted(values, key=lambda value: (-values[value], value is None, str(value)))
        texts = ["missing" if value is None else repr(str(value)) for value in ordered]
        shown = ", ".join([*texts[:_SHOWN], "..."] if len(texts) > _SHOWN else texts)
        n_rows = values.total()
        notice(
            f"{count(n_rows, 'row')} with a value of {column} that was not in the training data "
            f"({shown}); {'it is' if n_rows == 1 else 'they are'} {how}"
        )
