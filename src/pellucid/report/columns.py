"""The columns that a report shows, read one at a time from whatever holds them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.explanation.explanation import Explanation
from pellucid.explanation.input_columns import as_numbers, fill_missing
from pellucid.explanation.rules import default_names
from pellucid.tables.column_formats import ColumnFormat
from pellucid.tables.columns import Columns, as_category, frame_column, is_numeric
from pellucid.tables.encoding import Indicator
from pellucid.tables.frames import as_table
from pellucid.tree import ThresholdTree
from pellucid.tree.predictor import canonical_csc

MOST_VALUES = 12
"""Categories per column that are counted separately, in addition to those of the tree."""

# A page without rows has no sampled and no typical rows. It could still show values of single rows:
# the smallest and the largest number, the mean of a cluster of one row, a category that is unique.
# These are left out; what the model itself contains, its thresholds and categories, stays.
MIN_ROWS = 10
"""Rows of a group of which anything but the number of rows is shown."""

_STEPS = 2
"""Digits of the range of a column that are kept."""

_LONGEST = 200
"""Characters of a name or a category that are shown."""


@dataclass(frozen=True)
class NumberColumn:
    """A column of numbers; NaN where one is missing."""

    name: str
    numbers: np.ndarray = field(repr=False)
    format: ColumnFormat | None = None


@dataclass(frozen=True)
class CategoryColumn:
    """A column of categories: positions in `values`, or their number for any other."""

    name: str
    codes: np.ndarray = field(repr=False)
    values: list[Any]
    n_others: int
    """How many further categories there are."""


Column = NumberColumn | CategoryColumn


class Table:
    """Columns of a table, array or sparse matrix as an explanation sees them."""

    n_rows: int
    names: list[str]

    def __init__(self, X: Any, explanation: Explanation) -> None:
        known = getattr(explanation, "feature_names_in_", None)
        names = default_names(explanation.n_features_in_) if known is None else known.tolist()
        self._fill = explanation.fill_
        self._formats: dict[str, ColumnFormat] = explanation.formats_
        self._X = canonical_csc(X) if sparse.issparse(X) else X
        self._is_sparse = sparse.issparse(X)
        self._frame = None if self._is_sparse or isinstance(X, list) else as_table(X)
        if self._frame is not None:
            there = {str(name): name for name in self._frame.columns}
            self._place = {name: there[name] for name in names if name in there}
            self.n_rows = len(self._frame)
        else:
            if not self._is_sparse and not isinstance(X, np.ndarray):
                self._X = np.array(X, dtype=object)
            self._place = {name: i for i, name in enumerate(names)}
            self.n_rows = self._X.shape[0]
        self.names = list(self._place)
        self._asked_values: dict[str, list[Any]] = {}
        self._plain: set[str] = set()
        for described in explanation.tree_columns_:
            if isinstance(described, Indicator):
                self._asked_values.setdefault(described.column, [])
            else:
                self._plain.add(described)

    def ask(self, tree: ThresholdTree, described: list[str | Indicator]) -> list[str]:
        """Names of the columns that a tree uses, ordered by the number of rows."""
        inner = np.flatnonzero(~tree.is_leaf)
        rows: Counter = Counter()
        for node in inner.tolist():
            name = described[tree.feature[node]]
            if isinstance(name, Indicator):
                values = self._asked_values[name.column]
                if name.value not in values:
                    values.append(name.value)
                name = name.column
            rows[name] += int(tree.n_node_samples[node])
        return [name for name, _ in rows.most_common()]

    def cuts(
        self, trees: Iterable[ThresholdTree], described: list[str | Indicator]
    ) -> dict[Any, Any]:
        """Thresholds of some trees, by column of numbers."""
        found: dict[str, set[float]] = {}
        for tree in trees:
            for node in np.flatnonzero(~tree.is_leaf).tolist():
                name = described[tree.feature[node]]
                if not isinstance(name, Indicator):
                    found.setdefault(name, set()).add(float(tree.threshold[node]))
        return {name: sorted(values) for name, values in found.items()}

    def asked_values(self, name: str) -> list[Any]:
        """Categories of a column that trees ask about; `ask` collects them."""
        return self._asked_values.get(name, [])

    def read(self, name: str) -> Column:
        """One column with missing values replaced as in the explanation."""
        values = self._raw(name)
        if name in self._formats:
            values = self._formats[name].read(values)
        if name in self._plain:
            values = as_numbers(values)
        if name in self._fill:
            values = fill_missing(values, self._fill[name])
        if name not in self._asked_values and is_numeric(values):
            numbers = values.astype(np.float64, copy=False)
            return NumberColumn(name, numbers, self._formats.get(name))
        return self._categories(name, values)

    def _raw(self, name: str) -> np.ndarray:
        place = self._place[name]
        if self._frame is not None:
            return frame_column(self._frame, place)
        if self._is_sparse:
            return self._X[:, [place]].toarray().ravel()
        return Columns.of(self._X[:, [place]]).values[0]

    def _categories(self, name: str, column: np.ndarray) -> CategoryColumn:
        counts: Counter = Counter()
        category_of = {}
        raw = [v if v.__hash__ else str(v) for v in column.tolist()]
        for value, n in Counter(raw).items():
            category_of[value] = as_category(value)
            counts[category_of[value]] += n
        values = list(self._asked_values.get(name, []))
        often = sorted(counts, key=lambda v: (-counts[v], str(v)))
        values += [v for v in often if v not in values][: max(MOST_VALUES - len(values), 0)]
        position = {value: i for i, value in enumerate(values)}
        code_of = {v: position.get(c, len(values)) for v, c in category_of.items()}
        codes = np.fromiter((code_of[v] for v in raw), np.intp, len(raw))
        return CategoryColumn(name, codes, values, len(set(counts) - set(values)))


def word(value: Any) -> str:
    """Display text of a category."""
    return clipped(Indicator("", value).word)


def clipped(text: str, longest: int = _LONGEST) -> str:
    """The beginning of a text that is too long to be shown."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def without_rows(
    read: Callable[[str], Column], asked: Callable[[str], Collection[Any]]
) -> Callable[[str], Column]:
    """`read` for a page without rows; `asked` gives the categories of a column in the model."""

    def read_coarse(name: str) -> Column:
        column = read(name)
        if isinstance(column, NumberColumn):
            return _coarse(column)
        return _frequent(column, asked(name))

    return read_coarse


def _coarse(column: NumberColumn) -> NumberColumn:
    """Numbers without extremes, on a grid of about a hundredth of their range."""
    numbers = column.numbers
    there = np.sort(numbers[np.isfinite(numbers)])
    if len(there) < MIN_ROWS:
        return replace(column, numbers=np.full(len(numbers), np.nan))
    low, high = there[MIN_ROWS // 2 - 1], there[-(MIN_ROWS // 2)]
    size = max(high - low, abs(low), abs(high)) if high == low else high - low
    step = 10.0 ** (np.floor(np.log10(size)) - _STEPS + 1) if size > 0 else 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = np.round(np.clip(numbers, low, high) / step) * step
    found = column.format
    if found is not None and found.values:
        common = [v for v in found.values if np.count_nonzero(numbers == v) >= MIN_ROWS]
        found = replace(found, values=tuple(common))
    return replace(column, numbers=rounded, format=found)


def _frequent(column: CategoryColumn, asked: Collection[Any]) -> CategoryColumn:
    """Categories of many rows, and those of the model; all others are counted together."""
    n_values = len(column.values)
    counts = np.bincount(column.codes, minlength=n_values + 1)
    kept = [i for i, v in enumerate(column.values) if counts[i] >= MIN_ROWS or v in asked]
    position = np.full(n_values + 1, len(kept))
    position[kept] = np.arange(len(kept))
    n_others = column.n_others + n_values - len(kept)
    values = [column.values[i] for i in kept]
    return replace(column, codes=position[column.codes], values=values, n_others=n_others)
