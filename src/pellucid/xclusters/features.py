"""Accuracy and explanation features: their columns, and the input of the distances."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from pellucid.tables.encoding import Encoding
from pellucid.tables.frames import Columns, as_table, is_numeric, with_names
from pellucid.xclusters.distances.kinds import SCIPY_METRICS


@dataclass(frozen=True)
class FeatureReader:
    """Extracts accuracy and explanation features from the data of `fit` and from new rows."""

    accuracy_indices: list[int]
    explanation_indices: list[int]
    accuracy_names: list[str]  # empty if X is not a table
    explanation_names: list[str]
    is_one_table: bool  # whether both kinds of features are columns of X
    is_strict: bool  # whether a table of new rows must have exactly the columns of `fit`

    @classmethod
    def fit(cls, estimator: Any, X: Any, explanation: Any) -> tuple[FeatureReader, Any, Columns]:
        """A reader, the accuracy features (columns, or X itself) and the explanation features.

        Number and names of the columns that `predict` expects are stored in the estimator.
        """
        selections = estimator.accuracy_features, estimator.explanation_features
        table = read_table(estimator, X if explanation is None else explanation, reset=True)
        accuracy, accuracy_names, chosen, others = X, [], None, None
        if explanation is None:
            chosen, others = choose_features(table.names, table.are_numeric, *selections)
            accuracy = table
        else:
            others = _find_columns(table.names, selections[1], "explanation_features")
            if selections[0] is not None or _is_frame(X):
                accuracy = Columns.of(X)
                chosen = _find_columns(accuracy.names, selections[0], "accuracy_features")
        if isinstance(accuracy, Columns):
            chosen = list(range(len(accuracy.names))) if chosen is None else chosen
            accuracy = accuracy.take(chosen)
            accuracy_names = accuracy.names
        others = list(range(len(table.names))) if others is None else others
        explained = table.take(others)
        is_strict = len(others) == len(table.names)
        names = accuracy_names, explained.names
        reader = cls(chosen or [], others, *names, explanation is None, is_strict)
        return reader, accuracy, explained

    def explanation_positions(self, columns: Any, parameter: str) -> list[int] | None:
        """Positions of columns, given by name or by index, among the explanation features."""
        if columns is None:
            return None
        indices = self.explanation_indices
        positions = []
        for column in [columns] if isinstance(columns, (str, Integral)) else columns:
            known: list[Any] = indices if isinstance(column, Integral) else self.explanation_names
            if column not in known:
                raise ValueError(
                    f"{parameter} contains {column!r}, which is not an explanation feature; these "
                    f"are {format_names(self.explanation_names)}"
                )
            positions.append(known.index(column))
        return positions

    def explanation(self, estimator: Any, X: Any) -> Columns:
        if _is_frame(X) and not self.is_strict:
            return Columns.of(X).like(self.explanation_names)
        return read_table(estimator, X, reset=False).take(self.explanation_indices)

    def accuracy(self, estimator: Any, X: Any) -> Any:
        if not self.accuracy_names:
            return X
        if _is_frame(X):
            return Columns.of(X).like(self.accuracy_names)
        if self.is_one_table:
            return read_table(estimator, X, reset=False).take(self.accuracy_indices)
        return Columns.of(X).take(self.accuracy_indices)


def read_table(estimator: Any, X: Any, *, reset: bool) -> Columns:
    """Read the columns of a table; store (`reset`) or check their number and names."""
    if (frame := as_table(X) if _is_frame(X) else None) is not None:
        validate_data(estimator, with_names(X, frame), reset=reset, skip_check_array=True)
        if 0 in frame.shape:
            check_array(np.empty(frame.shape), estimator=estimator)
        return Columns.of(X)
    if isinstance(X, (list, tuple)):
        # With dtype=object, numbers next to strings stay numbers.
        X = np.array(X, dtype=object)
        if X.ndim == 1 and len(X) and np.ndim(X[0]) == 1:
            raise ValueError(
                "the rows of X have different lengths, so X is not a table; pass the explanation "
                "features of series separately: fit(X, explanation=...)"
            )
    array = check_array(X, dtype=None, ensure_all_finite=False, estimator=estimator)
    validate_data(estimator, array, reset=reset, skip_check_array=True)
    return Columns.of(array)


def _is_frame(X: Any) -> bool:
    return not isinstance(X, (list, tuple, np.ndarray)) and as_table(X) is not None


def choose_features(
    names: Sequence[str],
    numeric: Sequence[bool],
    accuracy_features: Any = None,
    explanation_features: Any = None,
) -> tuple[list[int], list[int]]:
    """Indices of the accuracy features and of the explanation features, as in XClusters."""
    all_columns = list(range(len(names)))
    accuracy = _find_columns(names, accuracy_features, "accuracy_features")
    explanation = _find_columns(names, explanation_features, "explanation_features")
    if accuracy is None and explanation is None:
        accuracy = [i for i in all_columns if numeric[i]]
        if len(accuracy) in (0, len(names)):
            accuracy = explanation = all_columns
    if explanation is None:
        explanation = [i for i in all_columns if i not in (accuracy or ())]
    if accuracy is None:
        accuracy = [i for i in all_columns if i not in explanation]
    kinds = ("accuracy", "explanation")
    for chosen, kind, other in zip((accuracy, explanation), kinds, kinds[::-1]):
        if not chosen:
            raise ValueError(
                f"no column is left for the {kind} features, because all {len(names)} columns are "
                f"{other} features; set {kind}_features too"
            )
    return accuracy, explanation


def _find_columns(names: Sequence[str], selection: Any, parameter: str) -> list[int] | None:
    """Sorted indices of the selected columns; None if nothing is selected."""
    if selection is None:
        return None
    selection = [selection] if isinstance(selection, (str, Integral)) else list(selection)
    return sorted({i for column in selection for i in _match_column(names, column, parameter)})


def _match_column(names: Sequence[str], column: Any, parameter: str) -> Iterable[int]:
    """Indices of the columns that a name, a pattern or an index matches."""
    if isinstance(column, Integral):
        if not 0 <= int(column) < len(names):
            raise ValueError(
                f"{parameter} contains column {column}, but there are {len(names)} columns"
            )
        return [int(column)]
    # An exact name takes precedence over a pattern.
    indices = [i for i, name in enumerate(names) if name == column]
    indices = indices or [i for i, name in enumerate(names) if fnmatchcase(name, column)]
    if not indices:
        close = get_close_matches(column, names, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"columns: {format_names(names)}"
        raise ValueError(f"{parameter}: no column has the name or pattern {column!r}; {hint}")
    return indices


def format_names(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:_MAX_SHOWN]))
    n_more = len(names) - _MAX_SHOWN
    return f"{shown} and {n_more} more" if n_more > 0 else shown


_MAX_SHOWN = 12  # names of columns in a message
# Distances that are only defined for numbers.
NUMERIC_METRICS = ("dtw", "euclidean", "manhattan", "cosine", *SCIPY_METRICS)


def accuracy_data(accuracy: Any, metric: str | Callable[..., Any]) -> Any:
    """Accuracy features as input of `pairwise`; unchanged if they are not a table."""
    if not isinstance(accuracy, Columns):
        return accuracy
    if metric in NUMERIC_METRICS or (callable(metric) and all(accuracy.are_numeric)):
        return accuracy_numbers(accuracy)
    return as_objects(accuracy)


def explanation_data(
    explanation: Columns, encoding: Encoding, metric: str | Callable[..., Any]
) -> Any:
    """Explanation features as input of `pairwise`; one-hot encoded for numeric distances."""
    if metric in NUMERIC_METRICS:
        return encoding.transform(explanation)
    objects = as_objects(explanation)
    for i, is_categorical in enumerate(encoding.is_categorical):
        # As strings, numeric codes are not treated as numbers.
        if is_categorical and is_numeric(explanation.values[i]):
            objects[:, i] = [str(value) for value in explanation.values[i]]
    return objects


def accuracy_numbers(columns: Columns) -> np.ndarray:
    """Accuracy features as a matrix of finite numbers."""
    for name, column in zip(columns.names, columns.values):
        if not is_numeric(column):
            raise ValueError(
                f"column {name!r} is an accuracy feature, but contains {column[0]!r}, which is not "
                "a number; remove it from accuracy_features, or use accuracy_distance='gower'"
            )
    matrix = np.column_stack(columns.values).astype(np.float64, copy=False)
    bad = np.argwhere(~np.isfinite(matrix))
    if len(bad):
        row, column = bad[0]
        value = "NaN" if np.isnan(matrix[row, column]) else "infinity (inf)"
        raise ValueError(
            f"the accuracy features contain {value}: column {columns.names[column]!r}, first at "
            f"row {row}; drop such rows, or impute the values, for example by "
            "pellucid.xclusters.series_from_long(..., interpolate=True)"
        )
    return matrix


def as_objects(columns: Columns) -> np.ndarray:
    return np.column_stack([column.astype(object) for column in columns.values])


def take_rows(data: Any, rows: np.ndarray) -> Any:
    if isinstance(data, Columns):
        return data.take_rows(rows)
    if isinstance(data, (list, tuple)):
        return [data[row] for row in rows]
    if sparse.issparse(data):
        return sparse.csr_array(data)[rows].toarray()
    table = as_table(data)
    if table is not None:
        return table[rows.tolist()].to_numpy().astype(object)
    return np.asarray(data)[rows]
