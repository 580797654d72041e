"""Which column of the data each column of a transformed matrix comes from, and how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pellucid._utils.sklearn_compat import input_columns
from pellucid.explanation.monotone_maps import Step, direction, one_column
from pellucid.tables.encoding import Indicator

_KNOWN = (
    "StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, PowerTransformer, "
    "QuantileTransformer, KBinsDiscretizer(encode='ordinal'), Binarizer, OneHotEncoder, "
    "SimpleImputer, feature selectors, FunctionTransformer of NumPy's logarithms, roots and the "
    "like, and Pipeline, ColumnTransformer and FeatureUnion of these"
)


@dataclass(frozen=True)
class Source:
    """Where one column of a transformed matrix comes from.

    Attributes
    ----------
    column : int
        Position in the data.
    category : tuple
        Empty, or the one category for which the column was 1, before `steps`.
    steps : tuple of Step
        What happened to the numbers since.
    fill : object
        What missing values were replaced by, before `steps`; None if they were not.
    problem : str
        Why the column cannot be traced; empty if it can.
    """

    column: int
    category: tuple = ()
    steps: tuple[Step, ...] = ()
    fill: Any = None
    problem: str = ""

    @property
    def is_plain(self) -> bool:
        """Whether the column is one of the data, as it is but for missing values."""
        return not (self.category or self.steps or self.problem)

    @property
    def is_rising(self) -> bool:
        """Whether larger numbers in the data are larger here."""
        return sum(not step.is_rising for step in self.steps) % 2 == 0

    def name(self, columns: Sequence[str]) -> str | Indicator:
        """What the column is about, in terms of the data."""
        column = columns[self.column]
        return Indicator(column, self.category[0]) if self.category else column

    def transform(self, values: np.ndarray) -> np.ndarray:
        """Numbers of the data (or zeros and ones of the category) as they are here."""
        for step in self.steps:
            values = step(values)
        return values


def trace(transformer: Any, sources: list[Source], width: int) -> list[Source]:
    """Sources of the columns that a fitted transformer makes of columns with known sources.

    Parameters
    ----------
    transformer : fitted scikit-learn transformer, None or "passthrough"
    sources : list of Source
        Of the columns that go in.
    width : int
        How many columns come out.

    Returns
    -------
    list of Source
        As many as `width`; those that cannot be traced say why.
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
        found = [sources[i] for i in transformer.get_support(indices=True)]
    elif isinstance(transformer, impute.SimpleImputer):
        found = _trace_imputer(transformer, sources)
    elif isinstance(transformer, preprocessing.OneHotEncoder):
        found = _trace_categories(transformer, sources)
    elif (is_rising := direction(transformer)) is not None:
        found = [
            replace(source, steps=(*source.steps, Step(one_column(transformer, i), is_rising)))
            for i, source in enumerate(sources)
        ]
    else:
        found = []
    if len(found) == width:
        return found
    problem = f"{type(transformer).__name__} cannot be undone column by column"
    return [Source(-1, problem=problem)] * width


def trace_steps(steps: list[Any], sources: list[Source], width: int) -> list[Source]:
    """The same for transformers one after the other."""
    steps = [step for step in steps if step not in (None, "passthrough")]
    for step, then in zip(steps, [*steps[1:], None]):
        sources = trace(step, sources, width if then is None else _width(then, sources))
    return sources


def _width(transformer: Any, sources: list[Source]) -> int:
    return getattr(transformer, "n_features_in_", len(sources))


def why_not(source: Source) -> str:
    """A message for a column that cannot be traced."""
    return (
        f"the tree asks about a column that comes from no single column of the data: "
        f"{source.problem}. Those that can be are {_KNOWN}. To explain this clustering by the "
        "columns of the data, fit the tree on them, with its labels as y: "
        "ExShallow().fit(X, pipeline.predict(X))"
    )


def _trace_columns(transformer: Any, sources: list[Source], width: int) -> list[Source]:
    found: list[Source] = [Source(-1, problem="ColumnTransformer")] * width
    for name, part, _ in transformer.transformers_:
        places = transformer.output_indices_[name]
        if places.start == places.stop:
            continue
        chosen = [sources[i] for i in input_columns(transformer, name)]
        found[places] = trace(part, chosen, places.stop - places.start)
    return found


def _trace_union(transformer: Any, sources: list[Source]) -> list[Source]:
    found: list[Source] = []
    for _, part in transformer.transformer_list:
        if isinstance(part, str):
            found += sources if part == "passthrough" else []
        else:
            found += trace(part, sources, len(part.get_feature_names_out()))
    return found


def _trace_imputer(transformer: Any, sources: list[Source]) -> list[Source]:
    missing = transformer.missing_values
    found = []
    for source, value in zip(sources, transformer.statistics_.tolist()):
        if not transformer.keep_empty_features and value != value:
            continue  # a column without a single value is left out
        if not (missing is None or missing != missing):
            problem = f"SimpleImputer(missing_values={missing!r}) replaces a value that is there"
            found.append(replace(source, problem=source.problem or problem))
        elif source.steps or source.category:
            problem = "SimpleImputer comes after a scaler or an encoder: put it first"
            found.append(replace(source, problem=source.problem or problem))
        else:
            found.append(replace(source, fill=value if source.fill is None else source.fill))
    if transformer.indicator_ is not None:
        problem = "SimpleImputer(add_indicator=True) adds a column that says what was missing"
        found += [Source(-1, problem=problem)] * len(transformer.indicator_.features_)
    return found


def _trace_categories(transformer: Any, sources: list[Source]) -> list[Source]:
    found = []
    rare = getattr(transformer, "infrequent_categories_", [None] * len(sources))
    dropped = transformer.drop_idx_
    for i, (source, values) in enumerate(zip(sources, transformer.categories_)):
        values = [_plain(value) for value in values]
        gathered = [] if rare[i] is None else [_plain(value) for value in rare[i]]
        without = [] if dropped is None or dropped[i] is None else [values[dropped[i]]]
        problem = source.problem
        if not (problem or source.is_plain):
            problem = "OneHotEncoder comes after a transformer that changes the values"
        for value in values:
            if value not in gathered + without:
                found.append(replace(source, category=(value,), problem=problem))
        if gathered and not set(gathered) & set(without):
            problem = problem or "OneHotEncoder gathers rare categories in one column"
            found.append(replace(source, problem=problem))
    return found


def _plain(value: Any) -> Any:
    """A category as `Encoding` has it: None if missing, whole numbers as integers."""
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or value != value:
        return None
    return int(value) if isinstance(value, float) and value.is_integer() else value
