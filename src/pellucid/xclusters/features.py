"""Which columns of a table say what a cluster is like, and which say who is in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

import numpy as np

from pellucid.columns import Columns, is_numeric


class Sides(NamedTuple):
    """Positions of the columns on either side."""

    accuracy: list[int]
    explanation: list[int]


def choose_sides(
    names: Sequence[str],
    numeric: Sequence[bool],
    accuracy_features: Any = None,
    explanation_features: Any = None,
) -> Sides:
    """Split the columns of a table into accuracy and explanation features.

    Columns are named by themselves, by patterns with ``*``, ``?`` and ``[...]``, or by their
    positions; one side that is left out is all the other leaves. Without either, columns of
    numbers are accuracy features and all others explanation features; where there are only
    columns of one kind, all are both.

    Parameters
    ----------
    names : sequence of str
        Names of all columns.
    numeric : sequence of bool
        Which of them hold numbers.
    accuracy_features, explanation_features : str, int or iterable of these, optional

    Examples
    --------
    >>> from pellucid.xclusters.features import choose_sides
    >>> choose_sides(["day 1", "day 2", "age", "sex"], [True, True, True, False], "day *")
    Sides(accuracy=[0, 1], explanation=[2, 3])
    """
    everything = list(range(len(names)))
    accuracy = _matches(names, accuracy_features, "accuracy_features")
    explanation = _matches(names, explanation_features, "explanation_features")
    if accuracy is None and explanation is None:
        accuracy = [i for i in everything if numeric[i]]
        explanation = [i for i in everything if not numeric[i]]
        if not accuracy or not explanation:
            accuracy = explanation = everything
    elif accuracy is None:
        accuracy = [i for i in everything if i not in explanation]
    elif explanation is None:
        explanation = [i for i in everything if i not in accuracy]
    for side, what in ((accuracy, "accuracy"), (explanation, "explanation")):
        if not side:
            raise ValueError(
                f"no column is left for the {what} features: the other side takes all "
                f"{len(names)}; set {what}_features too"
            )
    return Sides(accuracy, explanation)


def _matches(names: Sequence[str], wanted: Any, parameter: str) -> list[int] | None:
    """Positions of what is asked for, in the order of the table."""
    if wanted is None:
        return None
    wanted = [wanted] if isinstance(wanted, (str, int, np.integer)) else list(wanted)
    found: set[int] = set()
    for one in wanted:
        found.update(_match(names, one, parameter))
    return sorted(found)


def _match(names: Sequence[str], one: Any, parameter: str) -> Iterable[int]:
    if isinstance(one, (int, np.integer)):
        if not 0 <= one < len(names):
            raise ValueError(f"{parameter} names column {one}; there are {len(names)}")
        return [int(one)]
    # A name is a name even if there are signs of a pattern in it.
    found = [i for i, name in enumerate(names) if name == one]
    found = found or [i for i, name in enumerate(names) if fnmatchcase(name, one)]
    if not found:
        near = get_close_matches(one, names, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"the columns are {_listed(names)}"
        raise ValueError(f"{parameter}: no column is called, or matches, {one!r}; {hint}")
    return found


def _listed(names: Sequence[str], most: int = 12) -> str:
    shown = ", ".join(map(repr, names[:most]))
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def accuracy_numbers(columns: Columns) -> np.ndarray:
    """Accuracy features as a matrix of finite numbers."""
    for name, column in zip(columns.names, columns.values):
        if not is_numeric(column):
            raise ValueError(
                f"column {name!r} is an accuracy feature, but holds {column[0]!r}, which is no "
                "number; leave it out of accuracy_features, or use accuracy_distance='gower'"
            )
    matrix = np.column_stack(columns.values).astype(np.float64, copy=False)
    bad = np.argwhere(~np.isfinite(matrix))
    if len(bad):
        row, column = bad[0]
        what = "NaN" if np.isnan(matrix[row, column]) else "infinity (inf)"
        raise ValueError(
            f"the accuracy features contain {what}: column {columns.names[column]!r}, first at "
            f"row {row}; drop such rows, or fill them in, for example by "
            "pellucid.xclusters.series_from_long(..., interpolate=True)"
        )
    return matrix


def as_objects(columns: Columns) -> np.ndarray:
    """Columns of any kind side by side, each value as it is."""
    array = np.empty((len(columns), len(columns.values)), dtype=object)
    for i, column in enumerate(columns.values):
        array[:, i] = column
    return array


def read_series(X: Any) -> Any:
    """A list of series, as a matrix if all are of one length; None for anything else."""
    is_list = isinstance(X, (list, tuple)) or (
        isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 1
    )
    if not is_list or not len(X) or np.ndim(X[0]) != 1:
        return None
    series = [_read_one(one, row) for row, one in enumerate(X)]
    return np.stack(series) if len({len(one) for one in series}) == 1 else series


def _read_one(one: Any, row: int) -> np.ndarray:
    values = np.asarray(one, dtype=np.float64)
    if values.ndim != 1:
        raise ValueError(f"series {row} has shape {values.shape}; a series is flat")
    if len(values) == 0:
        raise ValueError(f"series {row} is empty; every series needs at least one value")
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        raise ValueError(
            f"series {row} contains {values[bad[0]]} at place {bad[0]}; fill it in, or leave out "
            "the series"
        )
    return values
