"""Trees behind scalers and encoders, restated in the units and categories of the data."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from pellucid._utils.sklearn_compat import input_columns
from pellucid.explanation.explanation import Explanation
from pellucid.explanation.input_columns import as_numbers, fill_missing
from pellucid.explanation.rules import default_names
from pellucid.tables.column_formats import PLAIN, ColumnFormat
from pellucid.tables.encoding import Indicator
from pellucid.tables.frames import Columns, as_category
from pellucid.tables.validation import read_X
from pellucid.tree import ThresholdTree, TreeBuilder
from pellucid.tree.predictor import column_values
from pellucid.tree.rounding import ThresholdStyle

_POWER_LIMIT = 1e25
"""Values beyond this, and nearer to 0 than its inverse, are clipped before powers are taken."""

_INCREASING = (
    *(None, np.arcsinh, np.arctan, np.cbrt, np.exp, np.exp2, np.expm1, np.log, np.log10),
    *(np.log1p, np.log2, np.sinh, np.sqrt, np.tanh),
)
_FUNCTIONS: dict[Any, bool] = {**dict.fromkeys(_INCREASING, True), np.negative: False}
"""Functions that are increasing (True) or decreasing (False) wherever they are defined."""

_TRACEABLE = (
    "StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, PowerTransformer, "
    "QuantileTransformer, KBinsDiscretizer(encode='ordinal'), Binarizer, OneHotEncoder, "
    "SimpleImputer, feature selectors, FunctionTransformer of NumPy's logarithms, roots and the "
    "like, and Pipeline, ColumnTransformer and FeatureUnion of these"
)

_AT_ONCE = 1024  # numbers that are tried at once in looking for one

LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class MonotoneMap:
    """An increasing or decreasing map of one column onto another."""

    function: Callable[[np.ndarray], np.ndarray]
    is_increasing: bool = True

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """The map; where it overflows or is not defined, the largest or smallest number."""
        with np.errstate(all="ignore"):
            mapped = np.asarray(self.function(values), dtype=np.float64)
        # Logarithms and roots are not defined for small values, whose images count as smallest.
        below = -LARGEST if self.is_increasing else LARGEST
        return np.clip(np.where(np.isnan(mapped), below, mapped), -LARGEST, LARGEST)


@dataclass(frozen=True)
class ColumnSource:
    """The column of the data that a column of a transformed matrix is computed from."""

    column: int
    category: tuple[Any, ...] = ()
    """Empty, or the category for which an indicator column is 1, before `maps`."""
    maps: tuple[MonotoneMap, ...] = ()
    """Maps applied to the numbers, in order."""
    fill: Any = None
    """Replacement of missing values, before `maps`; None if they were not replaced."""
    problem: str = ""
    """Why the column cannot be traced; empty if it can."""
    categories: tuple[Any, ...] = ()
    """All known categories of the column, if it is an indicator column."""

    @property
    def is_plain(self) -> bool:
        """Whether the column is one of the data, except for replaced missing values."""
        return not (self.category or self.maps or self.problem)

    @property
    def is_increasing(self) -> bool:
        """Whether larger numbers in the data are larger here."""
        return sum(not step.is_increasing for step in self.maps) % 2 == 0

    def name(self, columns: Sequence[str]) -> str | Indicator:
        """Description of the column in terms of the data."""
        column = columns[self.column]
        return Indicator(column, self.category[0], self.categories) if self.category else column

    def transform(self, values: np.ndarray) -> np.ndarray:
        """Numbers of the data (or the indicator of the category) after all maps."""
        for step in self.maps:
            values = step(values)
        return values


class TreeRestatement:
    """The splits of a tree, restated as splits of the columns of the data; a source per column."""

    def __init__(self, tree: ThresholdTree, sources: list[ColumnSource]) -> None:
        self.tree: ThresholdTree = tree
        self.sources: list[ColumnSource] = sources
        self.gaps: dict[int, tuple[float, float]] = {}
        """By node, the values of the data nearest to the threshold on both sides."""
        self._nearest: dict[int, tuple[float, float]] = {}

    def find_gaps(self, Z: Any, values: Sequence[np.ndarray] | Mapping[int, np.ndarray]) -> None:
        """Find the values of the data on both sides of each numeric split; may be called by batch.

        `Z` has rows in the columns of the tree, `values` the same in the columns of the data.
        """
        for node, rows in self.tree.rows_by_node(Z):
            source = self.sources[self.tree.feature[node]]
            if self.tree.children_left[node] < 0 or source.category:
                continue
            left = column_values(Z, self.tree.feature[node], rows) <= self.tree.threshold[node]
            numbers = values[source.column][rows].astype(np.float64)
            is_low = left if source.is_increasing else ~left
            low, high = self._nearest.get(node, (-np.inf, np.inf))
            low = float(numbers.max(initial=low, where=is_low))
            high = float(numbers.min(initial=high, where=~is_low))
            self._nearest[node] = low, high
            if -np.inf < low < high < np.inf:
                self.gaps[node] = (low, high)
            else:
                self.gaps.pop(node, None)

    def build(
        self,
        names: Sequence[str],
        described: Sequence[str | Indicator],
        style: ThresholdStyle,
        formats: Mapping[str, ColumnFormat] | None = None,
    ) -> tuple[ThresholdTree, dict[int, int]]:
        """The restated tree, and for each of its nodes the node of the original tree.

        `names` are the columns of the data, `described` those of the tree. Splits with a gap get
        thresholds in the `style`, by :meth:`ColumnFormat.choose_threshold`.
        """
        tree, builder = self.tree, TreeBuilder(len(described))
        position = {name: i for i, name in enumerate(described)}
        old_of, stack = {}, [(0, 0)]
        while stack:
            old, new = stack.pop()
            if tree.children_left[old] < 0:
                builder.set_cluster(new, int(tree.cluster[old]))
            else:
                low, high, threshold = self._restate_split(old, names, style, formats or {})
                if np.isinf(threshold):
                    # All values of the column go to one side.
                    stack.append((low if threshold > 0 else high, new))
                    continue
                name = self.sources[tree.feature[old]].name(names)
                children = builder.split(new, feature=position[name], threshold=threshold)
                stack += zip((low, high), children)
            weight = tree.weighted_n_node_samples[old]
            builder.set_counts(new, tree.n_node_samples[old], weight)
            old_of[new] = old
        return builder.build(), dict(enumerate(old_of[new] for new in builder.preorder()))

    def _restate_split(
        self,
        node: int,
        names: Sequence[str],
        style: ThresholdStyle,
        formats: Mapping[str, ColumnFormat],
    ) -> tuple[int, int, float]:
        """Child of low values of the column, child of high values, and the threshold."""
        source, threshold = self.sources[self.tree.feature[node]], self.tree.threshold[node]
        children = [int(self.tree.children_left[node]), int(self.tree.children_right[node])]
        low, high = children if source.is_increasing else children[::-1]

        def is_low(values: np.ndarray) -> np.ndarray:
            return (source.transform(values) <= threshold) == source.is_increasing

        if source.category:
            zero, one = is_low(np.array([0.0, 1.0]))
            return low, high, 0.5 if zero != one else np.inf if zero else -np.inf
        if node in self.gaps:
            written = formats.get(names[source.column], PLAIN)
            return low, high, written.choose_threshold(*self.gaps[node], style)
        return low, high, last_where(is_low)


def last_where(holds: Callable[[np.ndarray], np.ndarray]) -> float:
    """The largest float64 up to which something holds; infinite where it holds for all or none."""
    last = int(np.finfo(np.float64).max.view(np.int64))
    first, last = -last, last
    if not holds(_floats([first]))[0]:
        return -np.inf
    if holds(_floats([last]))[0]:
        return np.inf
    while last - first > 1:
        step = max((last - first) // _AT_ONCE, 1)
        places = [first, *range(first + step, last, step), last]
        n_held = int(np.argmin(np.append(holds(_floats(places[1:-1])), False)))
        first, last = places[n_held], places[n_held + 1]
    return float(_floats([first])[0])


def _floats(places: list[int]) -> np.ndarray:
    """The float64 at each place in the order of all of them, 0 being at 0."""
    signed = np.array(places, dtype=np.int64)
    return np.copysign(np.abs(signed).view(np.float64), signed)


class UntraceableColumn(ValueError):
    """A tree splits a column that is not computed from a single column of the data."""


def restate_model(model: Any, steps: list[Any], X: Any = None) -> Explanation:
    """A tree on transformed columns, in those of the data, whose values set thresholds if given."""
    first = steps[0] if steps else model
    n_columns = int(first.n_features_in_)
    names = list(map(str, getattr(first, "feature_names_in_", default_names(n_columns))))
    sources = trace_steps(steps, n_columns, model.n_features_in_)
    used = [sources[i] for i in np.unique(model.tree_.feature[~model.tree_.is_leaf])]
    for source in used:
        if source.problem:
            raise UntraceableColumn(
                "the tree splits a column that is not computed from a single column of the data: "
                f"{source.problem}. Transformers that can be traced are {_TRACEABLE}. To explain "
                "this clustering by the columns of the data, pass them: explain_pipeline(pipeline, "
                "X)"
            )
    fill = _fills(used, names)
    described = list(dict.fromkeys(s.name(names) for s in sources if not s.problem))
    restatement = TreeRestatement(model.tree_, sources)
    rows = None
    if X is not None:
        rows = read_X(model, transformed(steps, X), reset=False)
        restatement.find_gaps(rows, _values(X, names, fill))
    tree, old_leaf = restatement.build(names, described, model.threshold_style)
    rules = {rule.leaf: rule for rule in model._leaf_rules}
    leaves = {new: rules[old] for new, old in old_leaf.items() if old in rules}
    explanation = Explanation(
        tree,
        names=described,
        clusters=model.cluster_names_.tolist(),
        purity={leaf: rule.purity for leaf, rule in leaves.items()},
        noise={leaf: rule.n_noise for leaf, rule in leaves.items()},
        columns=names,
        fill=fill,
        method=type(model).__name__,
    )
    if rows is not None and not np.array_equal(
        explanation.predict(X), model.cluster_names_[model.tree_.predict(rows)]
    ):
        raise ValueError(
            "the transformers do not preserve the order of the values in X, so no thresholds on "
            "its columns give the same clusters; unless a transformer is your own, please report "
            "this as a bug of pellucid"
        )
    return explanation


def transformed(steps: list[Any], X: Any) -> Any:
    """The data after some fitted transformers."""
    for step in steps:
        X = step.transform(X)
    return X


def trace_steps(steps: list[Any], n_columns: int, width: int) -> list[ColumnSource]:
    """Sources of the `width` columns that fitted transformers make of those of the data."""
    return _trace_steps(steps, [ColumnSource(i) for i in range(n_columns)], width)


def _values(X: Any, names: list[str], fill: dict[str, Any]) -> list[np.ndarray]:
    """The columns of the data, missing values replaced."""
    X = X.toarray() if sparse.issparse(X) else X
    return [
        fill_missing(as_numbers(column), fill[name]) if name in fill else as_numbers(column)
        for name, column in zip(names, Columns.of(X).like(names).values)
    ]


def _fills(sources: list[ColumnSource], names: list[str]) -> dict[str, Any]:
    """Replacement of missing values, by column."""
    fill: dict[str, Any] = {}
    for source in sources:
        name = names[source.column]
        if fill.setdefault(name, source.fill) != source.fill:
            raise ValueError(
                f"missing values of column {name!r} are replaced by {fill[name]!r} in one place "
                f"and by {source.fill!r} in another; replace them once, in the first step"
            )
    return {name: value for name, value in fill.items() if value is not None}


def _trace(transformer: Any, sources: list[ColumnSource], width: int) -> list[ColumnSource]:
    """Sources of the `width` output columns of a fitted transformer, given those of its input."""
    from sklearn import compose, feature_selection, impute, pipeline, preprocessing

    if transformer is None or isinstance(transformer, str):
        found = sources
    elif isinstance(transformer, pipeline.Pipeline):
        found = _trace_steps([step for _, step in transformer.steps], sources, width)
    elif isinstance(transformer, compose.ColumnTransformer):
        found = _trace_columns(transformer, sources, width)
    elif isinstance(transformer, pipeline.FeatureUnion):
        found = []
        for _, part in transformer.transformer_list:
            if not isinstance(part, str):
                found += _trace(part, sources, len(part.get_feature_names_out()))
            elif part == "passthrough":
                found += sources
    elif isinstance(transformer, feature_selection.SelectorMixin):
        found = [sources[i] for i in np.flatnonzero(transformer.get_support())]
    elif isinstance(transformer, impute.SimpleImputer):
        found = _trace_imputer(transformer, sources)
    elif isinstance(transformer, preprocessing.OneHotEncoder):
        found = _trace_categories(transformer, sources)
    elif (is_increasing := _is_increasing_map(transformer)) is not None:
        found = []
        for i, source in enumerate(sources):
            step = MonotoneMap(_column_function(transformer, i), is_increasing)
            found.append(replace(source, maps=(*source.maps, step)))
    else:
        found = []
    if len(found) == width:
        return found
    problem = f"{type(transformer).__name__} cannot be undone column by column"
    return [ColumnSource(-1, problem=problem)] * width


def _trace_steps(steps: list[Any], sources: list[ColumnSource], width: int) -> list[ColumnSource]:
    """The same for a sequence of transformers."""
    steps = [step for step in steps if step not in (None, "passthrough")]
    for step, then in zip(steps, [*steps[1:], None]):
        given = width if then is None else getattr(then, "n_features_in_", len(sources))
        sources = _trace(step, sources, given)
    return sources


def _trace_columns(transformer: Any, sources: list[ColumnSource], width: int) -> list[ColumnSource]:
    found: list[ColumnSource] = [ColumnSource(-1, problem="ColumnTransformer")] * width
    for name, part, _ in transformer.transformers_:
        places = transformer.output_indices_[name]
        if places.start == places.stop:
            continue
        chosen = [sources[i] for i in input_columns(transformer, name)]
        found[places] = _trace(part, chosen, places.stop - places.start)
    return found


def _trace_imputer(transformer: Any, sources: list[ColumnSource]) -> list[ColumnSource]:
    missing, problem = transformer.missing_values, ""
    if not (missing is None or missing != missing):
        problem = f"SimpleImputer(missing_values={missing!r}) replaces values that are not missing"
    found = []
    for source, value in zip(sources, transformer.statistics_.tolist()):
        if not transformer.keep_empty_features and value != value:
            continue  # columns without any value are dropped
        if problem or source.maps or source.category:
            late = "SimpleImputer comes after a scaler or an encoder: put it first"
            found.append(replace(source, problem=source.problem or problem or late))
        else:
            found.append(replace(source, fill=value if source.fill is None else source.fill))
    if transformer.indicator_ is not None:
        problem = "SimpleImputer(add_indicator=True) adds an indicator of missing values"
        found += [ColumnSource(-1, problem=problem)] * len(transformer.indicator_.features_)
    return found


def _trace_categories(transformer: Any, sources: list[ColumnSource]) -> list[ColumnSource]:
    found = []
    infrequent = getattr(transformer, "infrequent_categories_", [None] * len(sources))
    dropped = transformer.drop_idx_
    for i, (source, values) in enumerate(zip(sources, transformer.categories_)):
        values = list(map(as_category, values))
        grouped = [] if infrequent[i] is None else list(map(as_category, infrequent[i]))
        removed = [] if dropped is None or dropped[i] is None else [values[dropped[i]]]
        problem = source.problem
        if not (problem or source.is_plain):
            problem = "OneHotEncoder comes after a transformer that changes the values"
        if source.fill is not None and None in values:
            # An imputer of NaN leaves None as it is, and the encoder makes it a category.
            if as_category(source.fill) in values:
                problem = problem or (
                    "SimpleImputer replaces NaN and leaves None, and the column has both: use "
                    "one of them for missing values"
                )
            source = replace(source, fill=None)
        for value in values:
            if value not in grouped + removed:
                indicator = replace(source, category=(value,), categories=tuple(values))
                found.append(replace(indicator, problem=problem))
        if grouped and not set(grouped) & set(removed):
            problem = problem or "OneHotEncoder groups infrequent categories in one column"
            found.append(replace(source, problem=problem))
    return found


def _is_increasing_map(transformer: Any) -> bool | None:
    """Whether columns are mapped by increasing or decreasing (False) functions; None if neither."""
    from sklearn import preprocessing as p

    scalers = (p.Binarizer, p.MaxAbsScaler, p.MinMaxScaler, p.RobustScaler, p.StandardScaler)
    if isinstance(transformer, (*scalers, p.PowerTransformer, p.QuantileTransformer)):
        return True
    if isinstance(transformer, p.KBinsDiscretizer):
        return True if transformer.encode == "ordinal" else None
    if isinstance(transformer, p.FunctionTransformer) and not transformer.kw_args:
        function = transformer.func
        return _FUNCTIONS.get(function) if function is None or callable(function) else None
    return None


def _column_function(transformer: Any, position: int) -> Callable[[np.ndarray], np.ndarray]:
    """The function that a transformer applies to one of its columns."""
    from sklearn import preprocessing as p

    if isinstance(transformer, p.FunctionTransformer):
        return (lambda values: values) if transformer.func is None else transformer.func
    lowest, highest = -LARGEST, LARGEST
    if isinstance(transformer, p.PowerTransformer):
        # Powers overflow, and Box-Cox is defined for positive values only.
        highest = _POWER_LIMIT
        lowest = 1 / highest if transformer.method == "box-cox" else -highest

    def function(values: np.ndarray) -> np.ndarray:
        rows = np.ones((len(values), transformer.n_features_in_))
        rows[:, position] = np.clip(values, lowest, highest)
        with warnings.catch_warnings():
            # Missing column names, and overflow in the formula of the transformer.
            warnings.simplefilter("ignore")
            return np.asarray(transformer.transform(rows))[:, position]

    return function
