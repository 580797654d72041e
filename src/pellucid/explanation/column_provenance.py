"""The column of the data that each column of a transformed matrix is computed from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid._utils.sklearn_compat import input_columns
from pellucid.explanation.monotone_maps import MonotoneMap, column_function, is_increasing_map
from pellucid.tables.encoding import Indicator

_TRACEABLE = (
    "StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, PowerTransformer, "
    "QuantileTransformer, KBinsDiscretizer(encode='ordinal'), Binarizer, OneHotEncoder, "
    "SimpleImputer, feature selectors, FunctionTransformer of NumPy's logarithms, roots and the "
    "like, and Pipeline, ColumnTransformer and FeatureUnion of these"
)


@dataclass(frozen=True)
class ColumnSource:
    """The column of the data that a column of a transformed matrix is computed from.

    Attributes
    ----------
    column : int
        Position in the data.
    category : tuple
        Empty, or the category for which an indicator column is 1, before `maps`.
    categories : tuple
        All known categories of the column, if it is an indicator column.
    maps : tuple of MonotoneMap
        Maps applied to the numbers, in order.
    fill : object
        Replacement of missing values, before `maps`; None if they were not replaced.
    problem : str
        Why the column cannot be traced; empty if it can.
    """

    column: int
    category: tuple[Any, ...] = ()
    maps: tuple[MonotoneMap, ...] = ()
    fill: Any = None
    problem: str = ""
    categories: tuple[Any, ...] = ()

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


def trace(transformer: Any, sources: list[ColumnSource], width: int) -> list[ColumnSource]:
    """Sources of the output columns of a fitted transformer.

    Parameters
    ----------
    transformer : fitted scikit-learn transformer, None or "passthrough"
    sources : list of ColumnSource
        Sources of the input columns.
    width : int
        Number of output columns.

    Returns
    -------
    list of ColumnSource
        One per output column; `problem` is set for those that cannot be traced.
    """
    from sklearn import compose, feature_selection, impute, pipeline, preprocessing

    if transformer is None or isinstance(transformer, str):
        found = sources
    elif isinstance(transformer, pipeline.Pipeline):
        found = trace_steps([step for _, step in transformer.steps], sources, width)
    elif isinstance(transformer, compose.ColumnTransformer):
        found = _trace_columns(transformer, sources, width)
    elif isinstance(transformer, pipeline.FeatureUnion):
        found = _trace_union(transformer, sources)
    elif isinstance(transformer, feature_selection.SelectorMixin):
        found = [sources[i] for i in np.flatnonzero(transformer.get_support())]
    elif isinstance(transformer, impute.SimpleImputer):
        found = _trace_imputer(transformer, sources)
    elif isinstance(transformer, preprocessing.OneHotEncoder):
        found = _trace_categories(transformer, sources)
    elif (is_increasing := is_increasing_map(transformer)) is not None:
        found = [
            replace(
                source,
                maps=(*source.maps, MonotoneMap(column_function(transformer, i), is_increasing)),
            )
            for i, source in enumerate(sources)
        ]
    else:
        found = []
    if len(found) == width:
        return found
    problem = f"{type(transformer).__name__} cannot be undone column by column"
    return [ColumnSource(-1, problem=problem)] * width


def trace_steps(steps: list[Any], sources: list[ColumnSource], width: int) -> list[ColumnSource]:
    """The same for a sequence of transformers."""
    steps = [step for step in steps if step not in (None, "passthrough")]
    for step, then in zip(steps, [*steps[1:], None]):
        sources = trace(step, sources, width if then is None else _width(then, sources))
    return sources


def _width(transformer: Any, sources: list[ColumnSource]) -> int:
    return getattr(transformer, "n_features_in_", len(sources))


def untraceable_message(source: ColumnSource) -> str:
    """Error message for a column that cannot be traced."""
    return (
        "the tree splits a column that is not computed from a single column of the data: "
        f"{source.problem}. Transformers that can be traced are {_TRACEABLE}. To explain this "
        "clustering by the columns of the data, fit a tree on them with its labels as y: "
        "ExShallow().fit(X, pipeline.predict(X))"
    )


def _trace_columns(transformer: Any, sources: list[ColumnSource], width: int) -> list[ColumnSource]:
    found: list[ColumnSource] = [ColumnSource(-1, problem="ColumnTransformer")] * width
    for name, part, _ in transformer.transformers_:
        places = transformer.output_indices_[name]
        if places.start == places.stop:
            continue
        chosen = [sources[i] for i in input_columns(transformer, name)]
        found[places] = trace(part, chosen, places.stop - places.start)
    return found


def _trace_union(transformer: Any, sources: list[ColumnSource]) -> list[ColumnSource]:
    found: list[ColumnSource] = []
    for _, part in transformer.transformer_list:
        if isinstance(part, str):
            found += sources if part == "passthrough" else []
        else:
            found += trace(part, sources, len(part.get_feature_names_out()))
    return found


def _trace_imputer(transformer: Any, sources: list[ColumnSource]) -> list[ColumnSource]:
    missing = transformer.missing_values
    found = []
    for source, value in zip(sources, transformer.statistics_.tolist()):
        if not transformer.keep_empty_features and value != value:
            continue  # columns without any value are dropped
        if not (missing is None or missing != missing):
            problem = (
                f"SimpleImputer(missing_values={missing!r}) replaces values that are not missing"
            )
            found.append(replace(source, problem=source.problem or problem))
        elif source.maps or source.category:
            problem = "SimpleImputer comes after a scaler or an encoder: put it first"
            found.append(replace(source, problem=source.problem or problem))
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
        values = [_plain(value) for value in values]
        grouped = [] if infrequent[i] is None else [_plain(v) for v in infrequent[i]]
        removed = [] if dropped is None or dropped[i] is None else [values[dropped[i]]]
        problem = source.problem
        if not (problem or source.is_plain):
            problem = "OneHotEncoder comes after a transformer that changes the values"
        if source.fill is not None and None in values:
            # An imputer of NaN leaves None as it is, and the encoder makes it a category.
            if _plain(source.fill) in values:
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


def _plain(value: Any) -> Any:
    """A category as in `Encoding`: None if missing, integral floats as integers."""
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or value != value:
        return None
    return int(value) if isinstance(value, float) and value.is_integer() else value
