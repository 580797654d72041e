"""Reading the columns that a tree uses from tables of any kind."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from pellucid._utils.notices import InputError
from pellucid.tables.column_formats import PLAIN, ColumnFormat
from pellucid.tables.encoding import ColumnNames, Encoding, Indicator
from pellucid.tables.frames import Columns, as_category, as_table, is_numeric, read_dates
from pellucid.tree import LEAF, ThresholdTree
from pellucid.tree.predictor import canonical_csc

if TYPE_CHECKING:
    import polars as pl

    from pellucid.tables.reading import TableSource


UNKNOWN = -1
"""Leaf of a row for which a number is missing."""


class InputColumns:
    """The columns that a tree uses; `encoding` makes numbers of them, and `tree` takes these.

    `names` describe the columns of the tree, `columns` are those of the data. `replaced` has pairs
    of a value and what it is read as, by column. If `reading`, how the table of the model was read,
    is given, every table of `pellucid.explain` can be read, and a missing number is NaN. Otherwise
    columns must have the types of the training data, and a missing number is an error.
    """

    def __init__(
        self,
        tree: ThresholdTree,
        names: ColumnNames,
        columns: list[str],
        fill: dict[str, Any],
        formats: dict[str, ColumnFormat] | None = None,
        reading: dict[str, Any] | None = None,
        replaced: dict[str, list[Any]] | None = None,
    ) -> None:
        self.indicated: dict[str, list[Indicator]] = {}
        for name in names:
            if isinstance(name, Indicator):
                self.indicated.setdefault(name.column, []).append(name)
        values: dict[tuple[str, bool], Any] = {}
        for feature in np.unique(tree.feature[~tree.is_leaf]).tolist():
            name = names[feature]
            if isinstance(name, Indicator):
                values.setdefault((name.column, True), []).append(name.value)
            else:
                values[name, False] = None
        self.encoding: Encoding = Encoding([column for column, _ in values], list(values.values()))
        position = {name: i for i, name in enumerate(names)}
        self.features: list[int] = [position[name] for name in self.encoding.names]
        encoded = {feature: i for i, feature in enumerate(self.features)}
        feature = np.array([encoded.get(f, LEAF) for f in tree.feature.tolist()])
        self.tree: ThresholdTree = tree.replace(feature=feature, n_features=max(len(encoded), 1))
        self._columns, self._fill, self._formats = columns, fill, formats or {}
        self._reading, self._replaced = reading, replaced or {}
        self._categories = {c: found[-1].categories for c, found in self.indicated.items()}

    def read(self, X: Any) -> np.ndarray:
        """The columns as finite numbers for `tree`; a data frame needs only these, by name."""
        if self._reads_tables:
            return self.encode(self.columns_of(X))
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
        is_categorical = self.encoding.is_categorical
        for name, column, is_category in zip(columns.names, columns.values, is_categorical):
            if not is_category:
                column = as_numbers(read_dates(name, column, self._formats))
            values.append(self._complete(name, column))
        return Columns(columns.names, values, columns.are_named)

    def _complete(self, name: str, column: np.ndarray) -> np.ndarray:
        """A column with sentinels and spellings replaced, then missing values."""
        pairs = self._replaced.get(name)
        if pairs and is_numeric(column):
            column = np.where(np.isin(column, [value for value, _ in pairs]), np.nan, column)
        elif pairs:
            known, cells = dict(pairs), column.tolist()
            column = np.empty(len(cells), dtype=object)
            column[:] = [known.get(cell, cell) for cell in cells]
        return fill_missing(column, self._fill[name]) if name in self._fill else column

    @property
    def _reads_tables(self) -> bool:
        return self._reading is not None and bool(self.features)

    def columns_of(self, X: Any) -> Columns:
        """The columns of a table that the tree uses: numbers, and categories of the model."""
        if not self._reads_tables:
            return self._filled(Columns.of(self._select(X)).like(self.encoding.input_names))
        if getattr(X, "shape", (1,))[0] == 0:
            names = self.encoding.input_names
            return Columns(names, [np.empty(0)] * len(names), True)
        return self.read_table(self._source(X))[0]

    def encode(self, columns: Columns) -> np.ndarray:
        """The columns as numbers for `tree`; NaN where a number is missing."""
        return self.encoding.transform(columns, allow_missing=True)

    def read_complete(self, X: Any) -> np.ndarray:
        """The rows of :meth:`read` in which no number is missing."""
        numbers = self.read(X)
        return numbers[~np.isnan(numbers).any(axis=1)]

    def find_leaves(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The leaf of each row, or -1, and the column of a missing value on its path, or -1."""
        if not np.isnan(numbers).any():
            return self.tree.apply(numbers), np.full(len(numbers), UNKNOWN)
        columns = dict(enumerate(numbers.T))
        leaf, missing = find_leaves(self.tree, columns, len(numbers))
        return leaf, np.array([*self.features, UNKNOWN])[missing]

    def read_table(self, source: TableSource, model: str = "") -> tuple[Columns, dict[str, int]]:
        """The columns of a table as the training data were read, and the values lost, by column.

        Numbers that are missing, infinite or not a number are NaN. Errors name the `model`.
        """
        from pellucid.tables.reading import as_format

        # The fields of a text file are read again only if they are needed.
        as_written = cache(source.as_written)
        decimal = source.options.decimal or "."
        n_unread: dict[str, int] = {}
        values: list[np.ndarray] = []
        names = self.encoding.input_names
        for name, is_category in zip(names, self.encoding.is_categorical):
            if name not in source.table.columns:
                raise InputError(
                    f"{source.name} has no column {name!r}, which {model or 'the model'} uses",
                    hint=f"its columns are {', '.join(map(repr, source.table.columns))}",
                )
            column = source.table[name]
            if is_category:
                found = self._read_categories(column, as_written, decimal)
            else:
                known = self._formats.get(name, PLAIN)
                # The order of day and month is that of the model.
                column = as_written()[name] if known.date_format else column
                is_frame = source.text is None and not source.suffix
                if known.is_date and is_frame and column.dtype.is_float():
                    known = PLAIN  # days since 1970-01-01, as in the tables of reports
                numbers, unread = as_format(column, known, decimal=decimal)
                n_unread |= {name: unread} if unread else {}
                found = numbers.fill_null(float("nan")).to_numpy()
            values.append(self._complete(name, found))
        return Columns(names, values, True), n_unread

    def _read_categories(self, column: pl.Series, as_written: Any, decimal: str) -> np.ndarray:
        """The categories of the model that the cells of a column are; others stay as they are."""
        import polars as pl

        from pellucid.tables.reading import as_format

        name, dtype = column.name, column.dtype
        if dtype.is_nested() or dtype in (pl.Binary, pl.Object):
            problem = f"column {name!r} has values of type {dtype}"
            raise InputError(f"{problem}; the model has categories")
        known = set(self._categories[name] or (each.value for each in self.indicated[name]))
        kinds = {type(value) for value in known if value is not None}
        cells = column.to_list()
        texts: list[Any] = cells
        if str in kinds and dtype != pl.String:
            texts = as_written()[name].to_list()
        elif kinds <= {int, float} and dtype == pl.String:
            numbers = as_format(column, PLAIN, decimal=decimal)[0].to_list()
            cells = [text if number is None else number for number, text in zip(numbers, cells)]
        # There are few different cells; each is compared once.
        pairs = list(zip(cells, texts))
        match = {pair: _as_known(*pair, known, kinds) for pair in set(pairs)}
        found = np.empty(len(pairs), dtype=object)
        found[:] = [match[pair] for pair in pairs]
        return found

    def unusual(self, columns: Columns) -> dict[str, dict[int, Any]]:
        """Values for which rules have no text, such as new categories, by column and by row."""
        found: dict[str, dict[int, Any]] = {}
        for name, column, is_category in zip(
            self.encoding.input_names, columns.values, self.encoding.is_categorical
        ):
            if new := self._unusual_cells(name, column, is_category):
                found[name] = new
        return found

    @property
    def known(self) -> dict[str, tuple[Any, ...]]:
        """All values in the training data of the columns of which they are known."""
        values = {name: written.values for name, written in self._formats.items()}
        return {name: each for name, each in (values | self._categories).items() if each}

    def _unusual_cells(self, name: str, column: np.ndarray, is_category: bool) -> dict[int, Any]:
        if is_category:
            known, cells = self._categories[name], column.tolist()
            new = {cell for cell in set(cells) if as_category(cell) not in known} if known else ()
            new_cells = ((i, cell) for i, cell in enumerate(cells) if cell in new)
            return {i: as_category(cell) for i, cell in new_cells} if new else {}
        written = self._formats.get(name, PLAIN)
        if not is_numeric(column) or not written.is_whole:
            return {}
        is_odd = (column != np.round(column)) & ~np.isnan(column)
        if written.values:
            is_odd |= ~np.isin(column, written.values)
        rows = np.flatnonzero(is_odd)
        return {row: as_category(column[row]) for row in rows.tolist()}

    def _source(self, X: Any) -> TableSource:
        """A table, an array or a sparse matrix, read like the table of the model."""
        from pellucid.tables.reading import ReadingOptions, source_of

        is_frame = not isinstance(X, (np.ndarray, list, tuple)) and not sparse.issparse(X)
        X = canonical_csc(X).toarray() if sparse.issparse(X) else X
        source = source_of(X, hints=ReadingOptions.from_dict(self._reading or {}))
        columns = source.table.columns
        if is_frame or set(self.encoding.input_names) <= set(columns):
            return source
        if (n := len(columns)) != (n_known := len(self._columns)):
            raise ValueError(f"X has {n} columns, but the explanation expects {n_known}")
        names = dict(zip(columns, self._columns))
        return replace(source, table=source.table.rename(names), given=None)

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
        n = len(self._columns)
        if X.ndim != 2 or (wanted and X.shape[1] != n):
            raise ValueError(f"X has shape {X.shape}, but the explanation expects {n} columns")
        position = {name: i for i, name in enumerate(self._columns)}
        columns = [position[name] for name in wanted]
        return canonical_csc(X)[:, columns].toarray() if is_sparse else X[:, columns]


def find_leaves(
    tree: ThresholdTree, features: dict[int, np.ndarray], n_rows: int
) -> tuple[np.ndarray, np.ndarray]:
    """The leaf of each row, or -1, and the column of a missing value on its path, or -1."""
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


def _as_known(value: Any, text: Any, known: set[Any], kinds: set[type]) -> Any:
    """The known category that a cell is, as parsed or as given in a text; else the cell itself."""
    if kinds <= {int, float}:
        is_number = isinstance(value, (bool, Decimal))
        return as_category(float(value) if is_number else value)
    if kinds == {bool}:
        if isinstance(value, str):
            return {"true": True, "false": False}.get(value.lower(), value)
        return bool(value) if value in (0, 1) else as_category(value)
    written = text.strip() if isinstance(text, str) else None
    value = as_category(value)
    if written in known and written is not None:
        return written
    if value is None or value in known:
        return value
    return str(value) if str(value) in known or written is None else written


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
