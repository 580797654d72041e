"""Which columns of a table say what a cluster is like, and which say who is in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from pellucid.tables.columns import Columns
from pellucid.tables.frames import as_table, with_names


class Sides(NamedTuple):
    """Positions of the columns on either side."""

    accuracy: list[int]
    explanation: list[int]


class FeatureReader:
    """Knows where accuracy and explanation features are, in the data of `fit` and in new rows.

    Attributes
    ----------
    accuracy_names, explanation_names : list of str
        Names of the columns on either side; those of accuracy features are empty if there is
        no table of them.
    """

    def __init__(self, sides: Sides, names: Sides, is_one_table: bool, is_strict: bool) -> None:
        self.sides, self.is_one_table, self.is_strict = sides, is_one_table, is_strict
        self.accuracy_names, self.explanation_names = names

    @classmethod
    def fit(
        cls,
        estimator: Any,
        X: Any,
        explanation: Any,
        accuracy_features: Any,
        explanation_features: Any,
    ) -> tuple[FeatureReader, Any, Columns]:
        """A reader, the accuracy features (columns, or whatever X is), the explanation features.

        The table that is seen when rows are predicted is noted with the estimator.
        """
        if explanation is None:
            table = read_table(estimator, X, reset=True)
            sides = choose_sides(
                table.names, table.are_numeric, accuracy_features, explanation_features
            )
            parts = [table.take(side) for side in sides]
            is_strict = len(sides.explanation) == len(table.names)
            names = Sides(parts[0].names, parts[1].names)
            return cls(sides, names, True, is_strict), *parts
        table = read_table(estimator, explanation, reset=True)
        at = _matches(table.names, explanation_features, "explanation_features")
        sides = Sides([], list(range(len(table.names))) if at is None else at)
        accuracy, names = X, []
        if accuracy_features is not None or _is_frame(X):
            accuracy = Columns.of(X)
            at = _matches(accuracy.names, accuracy_features, "accuracy_features")
            sides.accuracy.extend(range(len(accuracy.names)) if at is None else at)
            accuracy = accuracy.take(sides.accuracy)
            names = accuracy.names
        told = table.take(sides.explanation)
        is_strict = len(told.names) == len(table.names)
        return cls(sides, Sides(names, told.names), False, is_strict), accuracy, told

    def explanation_positions(self, wanted: Any, parameter: str) -> list[int] | None:
        """Positions among the explanation features of columns named, or numbered in the table."""
        if wanted is None:
            return None
        at = self.sides.explanation
        found = []
        for one in [wanted] if isinstance(wanted, (str, Integral)) else wanted:
            if not (one in self.explanation_names or (isinstance(one, Integral) and one in at)):
                raise ValueError(
                    f"{parameter} names {one!r}, which is no explanation feature; these are "
                    f"{_listed(self.explanation_names)}"
                )
            by_name = isinstance(one, str)
            found.append(self.explanation_names.index(one) if by_name else at.index(one))
        return found

    def explanation(self, estimator: Any, X: Any) -> Columns:
        """The explanation features of new rows."""
        named = _is_frame(X)
        if named and not self.is_strict:
            return Columns.of(X).like(self.explanation_names)
        return read_table(estimator, X, reset=False).take(self.sides.explanation)

    def accuracy(self, estimator: Any, X: Any) -> Any:
        """The accuracy features of new rows."""
        if not self.accuracy_names:
            return X
        if _is_frame(X):
            return Columns.of(X).like(self.accuracy_names)
        if self.is_one_table:
            return read_table(estimator, X, reset=False).take(self.sides.accuracy)
        return Columns.of(X).take(self.sides.accuracy)


def read_table(estimator: Any, X: Any, *, reset: bool) -> Columns:
    """The columns of a table, with its width and its names noted or compared."""
    if (frame := as_table(X) if _is_frame(X) else None) is not None:
        validate_data(estimator, with_names(X, frame), reset=reset, skip_check_array=True)
        if 0 in frame.shape:
            check_array(np.empty(frame.shape), estimator=estimator)
        return Columns.of(X)
    if isinstance(X, (list, tuple)):
        # Numbers beside words stay numbers.
        X = np.array(X, dtype=object)
        if X.ndim == 1 and len(X) and np.ndim(X[0]) == 1:
            raise ValueError(
                "the rows of X are of different lengths, so they are no table; give series as X "
                "and the explanation features apart: fit(X, explanation=...)"
            )
    array = check_array(X, dtype=None, ensure_all_finite=False, estimator=estimator)
    validate_data(estimator, array, reset=reset, skip_check_array=True)
    return Columns.of(array)


def _is_frame(X: Any) -> bool:
    return not isinstance(X, (list, tuple, np.ndarray)) and as_table(X) is not None


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
    wanted = [wanted] if isinstance(wanted, (str, Integral)) else list(wanted)
    found: set[int] = set()
    for one in wanted:
        found.update(_match(names, one, parameter))
    return sorted(found)


def _match(names: Sequence[str], one: Any, parameter: str) -> Iterable[int]:
    if isinstance(one, Integral):
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
