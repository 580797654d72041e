"""Reading the columns that a tree uses from tables of any kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.tables.column_formats import PLAIN, ColumnFormat
from pellucid.tables.columns import Columns
from pellucid.tables.encoding import Encoding, Indicator, as_category
from pellucid.tables.frames import as_table
from pellucid.tree import ThresholdTree
from pellucid.tree.predictor import canonical_csc


class InputColumns:
    """The columns of the data that the splits of a tree use.

    Parameters
    ----------
    tree : ThresholdTree
    names : sequence of str or Indicator
        Description of each column of the tree.
    columns : list of str
        Columns of the data, in order.
    fill : dict of str to value
        Replacement of missing values, by column of the data.
    formats : dict of str to ColumnFormat
        Formats of columns of the data. Dates are converted to days since 1970-01-01.

    Attributes
    ----------
    encoding : Encoding
        The encoding of these columns as numbers.
    features : list of int
        Columns of the tree, in the order of the encoded columns.
    tree : ThresholdTree
        The tree restricted to the encoded columns.
    """

    encoding: Encoding
    features: list[int]
    tree: ThresholdTree

    def __init__(
        self,
        tree: ThresholdTree,
        names: Sequence[str | Indicator],
        columns: list[str],
        fill: dict[str, Any],
        formats: dict[str, ColumnFormat] | None = None,
    ) -> None:
        values: dict[tuple[str, bool], Any] = {}
        for feature in np.unique(tree.feature[~tree.is_leaf]).tolist():
            name = names[feature]
            if isinstance(name, Indicator):
                values.setdefault((name.column, True), []).append(name.value)
            else:
                values[name, False] = None
        self.encoding = Encoding([column for column, _ in values], list(values.values()))
        position = {name: i for i, name in enumerate(names)}
        self.features = [position[name] for name in self.encoding.names]
        self.tree = _restrict(tree, self.features)
        self._columns, self._fill, self._formats = columns, fill, formats or {}

    def read(self, X: Any) -> np.ndarray:
        """The columns as finite numbers, for `tree`.

        Parameters
        ----------
        X : data frame, array-like or sparse matrix
            A data frame needs only these columns, by name; any other input needs all columns of
            the data in their order.

        Returns
        -------
        ndarray of shape (n_samples, len(features)), float32 or float64
        """
        X, encoding = self._select(X), self.encoding
        if not self.features:
            return np.zeros((X.shape[0], 1))
        is_plain = isinstance(X, np.ndarray) and X.dtype.kind in "fiub"
        if is_plain and not any(encoding.is_categorical) and np.isfinite(X).all():
            return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
        return encoding.transform(self._filled(Columns.of(X).like(encoding.input_names)))

    def _filled(self, columns: Columns) -> Columns:
        """The columns with dates and booleans as numbers and missing values replaced."""
        values = []
        for name, column, is_category in zip(
            columns.names, columns.values, self.encoding.is_categorical
        ):
            if not is_category:
                column = as_numbers(self._read_dates(name, column))
            is_filled = name in self._fill
            values.append(fill_missing(column, self._fill[name]) if is_filled else column)
        return Columns(columns.names, values, columns.are_named)

    def _read_dates(self, name: str, column: np.ndarray) -> np.ndarray:
        try:
            return self._formats.get(name, PLAIN).read(column)
        except (TypeError, ValueError) as error:
            raise ValueError(f"column {name!r} holds dates, but {error}") from None

    def count_values(self, X: Any, known: dict[str, tuple[Any, ...]]) -> dict[str, dict[Any, int]]:
        """Count the values that are not among the known ones, by column of the data.

        Parameters
        ----------
        X : data frame, array-like or sparse matrix
        known : dict of str to tuple
            Known values of some of the columns.

        Returns
        -------
        dict of str to dict
            For each of these columns that has other values, their counts, the most frequent
            first. None stands for missing values.
        """
        names = self.encoding.input_names
        if not any(name in known for name in names):
            return {}
        found: dict[str, dict[Any, int]] = {}
        columns = self._filled(Columns.of(self._select(X)).like(names))
        for name, column in zip(names, columns.values):
            if name in known:
                counts: Counter = Counter()
                for value, n in Counter(column.tolist()).items():
                    counts[as_category(value)] += n
                new = {v: n for v, n in counts.most_common() if v not in known[name]}
                found |= {name: new} if new else {}
        return found

    def _select(self, X: Any) -> Any:
        """The columns as a table or an array."""
        wanted = self.encoding.input_names
        if not isinstance(X, (np.ndarray, list)) and (table := as_table(X)) is not None:
            known = {str(name): position for position, name in enumerate(table.columns)}
            for name in wanted:
                if name not in known:
                    raise ValueError(
                        f"X has no column {name!r}, which the tree uses; its columns are "
                        f"{', '.join(map(repr, known))}"
                    )
            if not wanted:
                return np.empty((len(table), 0))
            # By position, since the names of pandas columns need not be strings.
            return table[:, [known[name] for name in dict.fromkeys(wanted)]].to_native()
        is_sparse = sparse.issparse(X)
        X = X if is_sparse or isinstance(X, np.ndarray) else np.array(X, dtype=object)
        if X.ndim != 2 or X.shape[1] != len(self._columns):
            raise ValueError(
                f"X has shape {X.shape}, but the explanation expects {len(self._columns)} columns"
            )
        position = {name: i for i, name in enumerate(self._columns)}
        columns = [position[name] for name in wanted]
        return canonical_csc(X)[:, columns].toarray() if is_sparse else X[:, columns]


def _restrict(tree: ThresholdTree, features: list[int]) -> ThresholdTree:
    """The tree for a matrix that consists of the given columns."""
    position = {feature: i for i, feature in enumerate(features)}
    feature = np.array([position.get(f, -1) for f in tree.feature.tolist()], dtype=np.intp)
    return tree.replace(feature=feature, n_features=max(len(features), 1))


def as_numbers(column: np.ndarray) -> np.ndarray:
    """A column of booleans as zeros and ones; any other column as it is."""
    if column.dtype != object or not all(v is None or isinstance(v, bool) for v in column.tolist()):
        return column
    return column.astype(np.float64)


def fill_missing(column: np.ndarray, value: Any) -> np.ndarray:
    """A column of numbers or objects with missing values replaced by `value`."""
    if column.dtype.kind == "f":
        is_missing = np.isnan(column)
    else:
        missing = [v is None or (v != v) is not False for v in column.tolist()]
        is_missing = np.array(missing, dtype=bool)
    if not is_missing.any():
        return column
    filled = column.copy()
    filled[is_missing] = value
    return filled
