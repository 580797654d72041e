"""Tables with categories as numbers: one indicator column per category."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from numbers import Number
from typing import Any

import numpy as np

from pellucid._utils.texts import rule_words
from pellucid.tables.frames import Columns, as_category, is_numeric


@dataclass(frozen=True)
class Indicator:
    """A column that is 1 where `column` is `value`, and 0 elsewhere. As a column name, it gives
    conditions such as "district is Gangnam" or "cyl = 6" instead of "x > 0.5".
    """

    column: str
    value: Any  # the category; None for a missing value
    # All known categories of the column; empty if they are not known.
    categories: tuple[Any, ...] = field(default=(), compare=False, repr=False)

    @property
    def word(self) -> str:
        return _word(self.value)

    @property
    def negation(self) -> str:
        """Text of the condition that the column is 0."""
        others = [value for value in self.categories if value != self.value]
        if len(others) == 1:
            return _included_text(self.column, others)
        return _excluded_text(self.column, [self.value])

    def __str__(self) -> str:
        return _included_text(self.column, [self.value])


ColumnNames = Sequence[str | Indicator]  # descriptions of the columns of a tree


@dataclass(frozen=True)
class CategorySet:
    """A condition on a categorical column: its value is in a set, or is not in a set."""

    column: str
    values: frozenset[Any]
    is_excluded: bool  # whether `values` are those that the column does not have
    # All known categories of the column; empty if they are not known.
    categories: tuple[Any, ...] = field(default=(), compare=False, repr=False)

    @classmethod
    def of(cls, tests: Iterable[tuple[Indicator, bool]]) -> CategorySet:
        """The set that satisfies all tests of one column: indicators, each with whether it is 1."""
        tests = list(tests)
        first = tests[0][0]
        included = {name.value for name, holds in tests if holds}
        excluded = {name.value for name, holds in tests if not holds}
        if not included:
            return cls(first.column, frozenset(excluded), True, first.categories)
        # A value is one category only: a column that is two categories at once has no rows.
        values = frozenset() if len(included) > 1 else frozenset(included - excluded)
        return cls(first.column, values, False, first.categories)

    @property
    def holds_always(self) -> bool:
        return self.is_excluded and not self.values

    def __or__(self, other: CategorySet) -> CategorySet:
        """The condition that one of two conditions of one column holds."""
        if not (self.is_excluded or other.is_excluded):
            return replace(self, values=self.values | other.values)
        if self.is_excluded and other.is_excluded:
            return replace(self, values=self.values & other.values)
        first, second = (self, other) if self.is_excluded else (other, self)
        return replace(first, values=first.values - second.values)

    @property
    def text(self) -> str:
        """The condition as text. Excluded categories are listed if the others are not known, or are
        at least two more; an unknown category satisfies a condition that excludes categories.
        """
        listed = [value for value in self.categories if value in self.values]
        listed += sorted(self.values - set(listed), key=_rank)
        if not self.is_excluded:
            return _included_text(self.column, listed)
        allowed = [value for value in self.categories if value not in self.values]
        if allowed and len(allowed) <= len(listed) + 1:
            return _included_text(self.column, allowed)
        text = _excluded_text(self.column, listed)
        if None not in allowed:
            return text
        say = rule_words()
        negation = text.removeprefix(f"{self.column} ").removeprefix(f"{say.is_} ")
        return f"{self.column} {say.is_} {say.missing} {say.or_} {negation}"


class Encoding:
    """One-hot encoding of a table: numeric columns stay, each category becomes a column, and so
    does a missing value among categories. `names` describe the columns of the matrix, `input_names`
    are those of the table.
    """

    input_names: list[str]

    def __init__(self, input_names: Sequence[str], categories: Sequence[list[Any] | None]) -> None:
        self.input_names = list(input_names)
        self._categories = list(categories)
        self.names: list[str | Indicator] = []
        for name, values in zip(self.input_names, self._categories):
            known = tuple(values or ())
            self.names += [name] if values is None else [Indicator(name, v, known) for v in known]

    @classmethod
    def fit(cls, table: Any, categorical: Iterable[Any] | None = None) -> Encoding:
        """Learn the categories of all columns but those of numbers, and of those in `categorical`,
        by name or position.
        """
        columns = Columns.of(table)
        wanted = _positions(columns.names, categorical)
        categories = [
            _categories(column) if i in wanted or not is_numeric(column) else None
            for i, column in enumerate(columns.values)
        ]
        return cls(columns.names, categories)

    @property
    def sources(self) -> list[str]:
        """For each column of the matrix, the name of the column of the table."""
        return list(map(column_of, self.names))

    @property
    def is_categorical(self) -> list[bool]:
        """For each column of the table, whether it holds categories."""
        return [values is not None for values in self._categories]

    def transform(self, table: Any, *, allow_missing: bool = False) -> np.ndarray:
        """The rows of a table as numbers; an unknown category is 0 in all columns of its feature.
        With `allow_missing`, a missing or infinite number becomes NaN instead of an error.
        """
        columns = self.columns(table, allow_missing=allow_missing)
        return np.column_stack(columns).astype(np.float64, copy=False)

    def columns(self, table: Any, *, allow_missing: bool = False) -> list[np.ndarray]:
        """The columns of :meth:`transform`: numeric ones unchanged, indicators as booleans."""
        given = Columns.of(table).like(self.input_names)
        found: list[np.ndarray] = []
        for name, values, column in zip(self.input_names, self._categories, given.values):
            if values is None:
                found.append(_numbers(column, name, allow_missing))
            else:
                found += _indicators(column, values)
        return found


def column_of(name: str | Indicator) -> str:
    """The column of the data that a description of a column is about."""
    return name.column if isinstance(name, Indicator) else str(name)


def columns_of(names: Iterable[str | Indicator]) -> list[str]:
    """The columns of the data that descriptions are about, each once."""
    return list(dict.fromkeys(map(column_of, names)))


def _positions(names: list[str], wanted: Iterable[Any] | None) -> set[int]:
    found = set()
    for column in () if wanted is None else wanted:
        if isinstance(column, str) and column not in names:
            raise ValueError(
                f"categorical contains {column!r}, which is not a column; the columns are "
                f"{', '.join(map(repr, names))}"
            )
        position = names.index(column) if isinstance(column, str) else int(column)
        if not 0 <= position < len(names):
            raise ValueError(
                f"categorical contains column {column}; there are {len(names)} columns"
            )
        found.add(position)
    return found


def _categories(column: np.ndarray) -> list[Any]:
    return sorted({as_category(value) for value in set(column.tolist())}, key=_rank)


def _rank(value: Any) -> tuple[Any, ...]:
    """Sort key: numbers by value, then all others by their text; missing last."""
    if isinstance(value, Number):
        return (0, value, "")
    return (2 if value is None else 1, 0, str(value))


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "missing" if value is None else str(value)


def _included_text(column: str, values: list[Any]) -> str:
    say = rule_words()
    if not values:
        return f"{column} {say.is_} {say.nothing}"
    words = [_word(value) for value in values]
    listed = f" {say.or_} ".join(filter(None, (", ".join(words[:-1]), words[-1])))
    return f"{column} {'=' if _are_numbers(values) else say.is_} {listed}"


def _excluded_text(column: str, values: list[Any]) -> str:
    say = rule_words()
    if not values:
        return f"{column} {say.is_} {say.anything}"
    if len(values) > 1:
        return f"{column} {say.is_} {say.none_of} {', '.join(map(_word, values))}"
    word = _word(values[0])
    return f"{column} ≠ {word}" if _are_numbers(values) else f"{column} {say.is_not} {word}"


def _are_numbers(values: list[Any]) -> bool:
    """Whether the first of some categories is a number, and all others that are not missing."""
    known = [value for value in values if value is not None]
    are_numbers = (isinstance(v, Number) and not isinstance(v, bool) for v in known)
    return values[0] is not None and all(are_numbers)


def _indicators(column: np.ndarray, values: list[Any]) -> list[np.ndarray]:
    position = {value: i for i, value in enumerate(values)}
    cells = column.tolist()
    # There are few distinct values; each is converted once.
    code_of = {v: position.get(as_category(v), -1) for v in set(cells)}
    code = np.fromiter(map(code_of.__getitem__, cells), np.intp, len(cells))
    return [code == i for i in range(len(values))]


def _numbers(column: np.ndarray, name: str, allow_missing: bool) -> np.ndarray:
    if not is_numeric(column):
        value = column.tolist()[0]
        raise ValueError(f"column {name!r} was numeric in fit; now it contains {value!r}")
    numbers = column.astype(np.float64, copy=False)
    is_bad = ~np.isfinite(numbers)
    if allow_missing:
        return np.where(is_bad, np.nan, numbers)
    if is_bad.any():
        row = int(is_bad.argmax())
        what = "NaN" if np.isnan(numbers[row]) else "infinity (inf)"
        raise ValueError(
            f"column {name!r} contains {what}, first at row {row}: drop such rows, or impute "
            "the values, for example with sklearn.impute.SimpleImputer"
        )
    return numbers
