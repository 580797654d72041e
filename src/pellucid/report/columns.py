"""The columns of a report, read one at a time; their distributions and how clusters differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse

from pellucid.explanation.explanation import Explanation
from pellucid.explanation.input_columns import as_numbers, fill_missing
from pellucid.explanation.rules import default_names
from pellucid.plotting.axis_ranges import Axis, choose_axis
from pellucid.tables.column_formats import ColumnFormat
from pellucid.tables.encoding import Indicator
from pellucid.tables.frames import Columns, as_category, as_table, frame_column, is_numeric
from pellucid.tree import ThresholdTree
from pellucid.tree.predictor import canonical_csc

# Categories per column that are counted separately, in addition to those of the tree.
MOST_VALUES = 12
# A page without rows has no sampled and no typical rows. It could still show values of single rows:
# the smallest and the largest number, the mean of a cluster of one row, a category that is unique.
# These are left out; what the model itself contains, its thresholds and categories, stays.
MIN_ROWS = 10  # of a group of which anything but the number of rows is shown
_STEPS = 2  # digits of the range of a column that are kept
_LONGEST = 200  # characters of a name or a category that are shown
_SHOWN = ("kind", "prefix", "suffix", "values")  # of the format of a column


@dataclass(frozen=True)
class NumberColumn:
    """A column of numbers; NaN where one is missing."""

    name: str
    numbers: np.ndarray = field(repr=False)
    format: ColumnFormat | None = None

    def values_at(self, rows: np.ndarray) -> list[Any]:
        """The values of some rows, rounded."""
        return [short(v, 5) for v in self.numbers[rows].tolist()]

    def written(self, row: int) -> Any:
        """The value of one row for display."""
        return short(float(self.numbers[row]), 12)

    def without_rows(self, asked: Collection[Any] = ()) -> NumberColumn:
        """For a page without rows: no extremes, on a grid of about a hundredth of the range."""
        numbers = self.numbers
        there = np.sort(numbers[np.isfinite(numbers)])
        if len(there) < MIN_ROWS:
            return replace(self, numbers=np.full(len(numbers), np.nan))
        low, high = there[MIN_ROWS // 2 - 1], there[-(MIN_ROWS // 2)]
        size = max(high - low, abs(low), abs(high)) if high == low else high - low
        step = 10.0 ** (np.floor(np.log10(size)) - _STEPS + 1) if size > 0 else 1.0
        with np.errstate(over="ignore", invalid="ignore"):
            rounded = np.round(np.clip(numbers, low, high) / step) * step
        found = self.format
        if found is not None and found.values:
            common = [v for v in found.values if np.count_nonzero(numbers == v) >= MIN_ROWS]
            found = replace(found, values=tuple(common))
        return replace(self, numbers=rounded, format=found)


@dataclass(frozen=True)
class CategoryColumn:
    """A column of categories: positions in `values`, or their number for any other."""

    name: str
    codes: np.ndarray = field(repr=False)
    values: list[Any]
    n_others: int  # how many further categories there are

    def values_at(self, rows: np.ndarray) -> list[Any]:
        """The positions of the categories of some rows."""
        return self.codes[rows].tolist()

    def written(self, row: int) -> Any:
        """The category of one row for display."""
        code = int(self.codes[row])
        return word(self.values[code]) if code < len(self.values) else "other"

    def without_rows(self, asked: Collection[Any] = ()) -> CategoryColumn:
        """For a page without rows: categories of many rows, and those of the model (`asked`)."""
        n_values = len(self.values)
        counts = np.bincount(self.codes, minlength=n_values + 1)
        kept = [i for i, v in enumerate(self.values) if counts[i] >= MIN_ROWS or v in asked]
        position = np.full(n_values + 1, len(kept))
        position[kept] = np.arange(len(kept))
        n_others = self.n_others + n_values - len(kept)
        values = [self.values[i] for i in kept]
        return replace(self, codes=position[self.codes], values=values, n_others=n_others)


Column = NumberColumn | CategoryColumn


class Table:
    """Columns of a table, array or sparse matrix as an explanation sees them."""

    n_rows: int

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
        self.names: list[str] = list(self._place)
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
        values = list(self.asked_values(name))
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


class Profile:
    """One column with the bin of every row and a description of the bins.

    `cuts` are the thresholds on a column of numbers, `cluster` is the cluster of each row. `is_log`
    says that the column was clustered on a logarithmic scale.
    """

    bin: np.ndarray
    n_bins: int
    mean: float
    spread: float
    axis: Axis
    edges: np.ndarray
    axis_spread: float

    def __init__(
        self, column: Column, cuts: Sequence[float] = (), cluster: Any = None, is_log: bool = False
    ) -> None:
        self.column = column
        self.is_number: bool = isinstance(column, NumberColumn)
        if isinstance(column, CategoryColumn):
            self.bin, self.n_bins = column.codes, len(column.values) + (column.n_others > 0)
            return
        self._numbers = column.numbers
        self._is_there = np.isfinite(self._numbers)
        there = self._numbers[self._is_there]
        self._is_whole = bool(len(there) == 0 or (there == np.floor(there)).all())
        self._range, self.mean, self.spread = (0.0, 0.0), 0.0, 0.0
        if len(there):
            self._range = float(there.min()), float(there.max())
            self.mean, self.spread = float(there.mean()), float(there.std())
        self._format = column.format or ColumnFormat("integer" if self._is_whole else "number")
        self.axis = choose_axis(
            there,
            is_whole=self._is_whole,
            may_be_log=self._format.kind in ("number", "integer"),
            must_be_log=is_log,
            cuts=cuts,
            cluster=None if cluster is None else cluster[self._is_there],
        )
        self.edges = self.axis.edges
        # Differences are those of the positions on the axis, which is the scale of a skewed column.
        self._positions = self.axis.positions(self._numbers)
        self.axis_spread = float(self._positions[self._is_there].std()) if len(there) else 0.0
        self.n_bins = len(self.edges) - 1
        found = np.searchsorted(self.edges[1:-1], self._numbers, side="right")
        # Many columns are kept side by side, so that bins should be small; -1 where one is missing.
        self.bin = np.where(self._is_there, found, -1).astype(np.int8)

    def describe(self) -> dict[str, Any]:
        column, counts = self.column, self.counts(np.zeros(len(self.bin), dtype=np.intp), 1)[0]
        if isinstance(column, CategoryColumn):
            values = [word(value) for value in column.values]
            return {"kind": "category", "values": values, "others": column.n_others, "all": counts}
        return {
            "kind": "number",
            "whole": self._is_whole,
            "low": short(self._range[0], 10),
            "high": short(self._range[1], 10),
            "mean": short(self.mean),
            "spread": short(self.spread),
            "axisSpread": None if self.axis.unit is None else short(self.axis_spread),
            "edges": [short(edge, 10) for edge in self.edges.tolist()],
            "unit": self.axis.unit,
            "beyond": [self.axis.n_below, self.axis.n_above],
            "format": {k: v for k, v in self._format.as_dict().items() if k in _SHOWN},
            "all": counts,
        }

    def counts(self, cluster: np.ndarray, n_clusters: int) -> list[list[int]]:
        """Rows in each bin, by cluster."""
        there = self.bin >= 0
        cell = cluster * self.n_bins + self.bin
        cell = cell if there.all() else cell[there]
        table = np.bincount(cell, minlength=n_clusters * self.n_bins)
        return table.reshape(n_clusters, self.n_bins).tolist()

    def means(self, cluster: np.ndarray, n_clusters: int) -> tuple[np.ndarray, np.ndarray]:
        """Mean of the numbers of each cluster, and of all rows outside it; NaN if none."""
        found = self._means_of(self._numbers, self.mean, cluster, n_clusters)
        # Exactly 0 where all values are 0, without rounding errors.
        least = 1e-12 * (abs(self.mean) + self.spread)
        inside, outside = (np.where(np.abs(means) < least, 0.0, means) for means in found)
        return inside, outside

    def axis_means(self, cluster: np.ndarray, n_clusters: int) -> tuple[np.ndarray, np.ndarray]:
        """The same of the positions on the axis, which is logarithmic for skewed columns."""
        return self._means_of(self._positions, 0.0, cluster, n_clusters)

    def _means_of(
        self, numbers: np.ndarray, middle: float, cluster: np.ndarray, n_clusters: int
    ) -> tuple[np.ndarray, np.ndarray]:
        there = self._is_there
        groups = cluster if there.all() else cluster[there]
        # Centred, so that little is lost where the mean is large against the spread.
        numbers = (numbers if there.all() else numbers[there]) - middle
        sums = np.bincount(groups, weights=numbers, minlength=n_clusters)
        counts = np.bincount(groups, minlength=n_clusters)
        with np.errstate(invalid="ignore", divide="ignore"):
            inside = sums / counts
            outside = (sums.sum() - sums) / (counts.sum() - counts)
        return inside + middle, outside + middle

    def differences(
        self, cluster: np.ndarray, n_clusters: int, means: tuple[Any, ...] | None = None
    ) -> np.ndarray:
        """How far each cluster is from the rest, as in `plotting.profile.standardized_differences`.

        On the scale of the axis; of categories, that of the one that is farthest. `means` are
        those of the numbers, where they are known.
        """
        if self.is_number:
            if self.axis.unit is not None:
                means = self.axis_means(cluster, n_clusters)
            inside, outside = self.means(cluster, n_clusters) if means is None else means
            return (inside - outside) / (self.axis_spread or 1.0)
        table = np.array(self.counts(cluster, n_clusters), dtype=np.float64)
        sizes = table.sum(axis=1, keepdims=True)
        share = table.sum(axis=0) / max(table.sum(), 1.0)
        spread = np.sqrt(share * (1 - share))
        with np.errstate(invalid="ignore", divide="ignore"):
            inside = table / sizes
            outside = (table.sum(axis=0) - table) / (sizes.sum() - sizes)
            found = (inside - outside) / np.where(spread > 0, spread, 1.0)
        farthest = np.abs(np.nan_to_num(found)).argmax(axis=1)
        return found[np.arange(n_clusters), farthest]


def short(value: float | None, digits: int = 6) -> float | int | None:
    """A number rounded to a few significant digits; None for NaN and None."""
    if value is None or not np.isfinite(value):
        return None
    rounded = float(f"{value:.{digits}g}") + 0.0
    return int(rounded) if rounded.is_integer() and abs(rounded) < 2**53 else rounded
