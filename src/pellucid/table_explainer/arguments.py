"""What a user asks `explain` for: options, choices of words, and names of columns.

This module imports nothing heavy, so that wrong arguments are reported at once.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

from pellucid._utils.notices import InputError, UsageError, option
from pellucid.methods import BY_WORD, TreeMethod, one_of

# Words of the options that are no parameters of an estimator.
CHOICES: dict[str, tuple[str, ...]] = {
    "scale": ("auto", "standard", "robust", "log", "rank", "none"),
    "missing": ("auto", "drop", "median", "error"),
    "outliers": ("auto", "keep"),
    "cleaning": ("auto", "keep"),
    "method": tuple(BY_WORD),
    "noise": ("background", "cluster"),
}
# Options of the tree. In estimators they have the same names, but for `leaves`.
_TREE_OPTIONS = (
    *("leaves", "objective", "polish", "depth_penalty", "max_depth", "max_conditions"),
    *("faithfulness", "effort"),
)
_WHY_NOT = {
    "leaves": "{method} makes one leaf per cluster",
    "objective": "{method} minimises the k-means cost",
    "polish": "{method} always polishes its trees",
}
_SHOWN = 20


@dataclass(frozen=True)
class ExplainOptions:
    """The parameters of :func:`pellucid.explain`, which describes them; `seed` is its
    `random_state`.
    """

    k: Any = "auto"
    labels: str | None = None
    noise: str = "background"
    columns: str | Sequence[str] | None = None
    include: str | Sequence[str] | None = None
    exclude: str | Sequence[str] | None = None
    categorical: str | Sequence[str] | None = None
    profile: str | Sequence[str] | None = None
    scale: str = "auto"
    missing: str = "auto"
    outliers: str = "auto"
    cleaning: str = "auto"
    method: str | None = None
    leaves: int | None = None
    objective: str = "kmeans"
    polish: str = "no"
    depth_penalty: float | None = None
    max_depth: int | None = None
    max_conditions: int | None = None
    faithfulness: float | None = None
    effort: str | None = None
    seed: int = 0

    @property
    def number(self) -> int | tuple[int, int] | None:
        """The number of clusters, a range of it, or None for ``auto``."""
        return read_number(self.k)

    @property
    def chosen_method(self) -> TreeMethod:
        """The method that was given, else the first one that has all given parameters. k-medians
        and polishing are no parameters of ExplainableKMeans; SpEx, for labels, needs no centers.
        """
        if self.method is not None:
            return BY_WORD[self.method]
        is_plain = self.objective == "kmeans" and self.polish == "no"
        other = "exshallow" if self.labels is None else "spex"
        return BY_WORD["explainable" if is_plain else other]

    def excluded_of(self, columns: Sequence[str]) -> list[str]:
        return [] if self.exclude is None else match_names(self.exclude, columns, "exclude")

    def given(self) -> dict[str, Any]:
        """Options of the tree that differ from their defaults."""
        values = {name: getattr(self, name) for name in _TREE_OPTIONS}
        return {n: value for n, value in values.items() if value != getattr(ExplainOptions, n)}

    def tree_parameters(self) -> dict[str, Any]:
        """Options of the tree by the names of the estimators."""
        found = self.given()
        if "leaves" in found:
            found["n_leaves"] = found.pop("leaves")
        if self.polish == "yes":
            found["polish"] = True
        return found

    def check(self) -> None:
        """Fail if an option is unknown, or conflicts with others, before the table is read."""
        for name, choices in CHOICES.items():
            if (value := getattr(self, name)) is not None and value not in choices:
                hint = f"use one of {', '.join(choices)}"
                raise UsageError(f"{option(name)} is {value!r}", hint=hint)
        method = self.chosen_method
        for name in self.given():
            if name not in method.options:
                why = _WHY_NOT.get(name, "{method} does not support it").format(method=method.word)
                others = one_of(word for word, m in BY_WORD.items() if name in m.options)
                raise UsageError(f"{option(name)} requires {option('method', others)}; {why}")
        if self.objective != "kmeans" and self.polish != "no":
            polish, other = option("polish"), option("objective", "kmedians")
            raise UsageError(f"{polish} minimises the k-means cost; remove it with {other}")
        self.check_number()

    def check_number(self) -> None:
        """Fail if the number of clusters conflicts with labels or with the number of leaves."""
        number = self.number
        if number is not None and self.labels is not None:
            k, labels = option("k"), option("labels")
            raise UsageError(f"{k} cannot be used with {labels}: the labels define the clusters")
        if isinstance(number, int):
            self.check_leaves(number)

    def check_leaves(self, n_clusters: int) -> None:
        if self.leaves is not None and self.leaves < n_clusters:
            raise UsageError(
                f"{option('leaves', self.leaves)} is less than the {n_clusters} clusters of "
                f"{option('k' if self.labels is None else 'labels')}",
                hint="every cluster needs at least one leaf",
            )


def needs_memory(parameter: str, value: Any = None) -> UsageError:
    """The error about an option that cannot be used in batches."""
    return UsageError(
        f"{option(parameter, value)} needs all rows in memory, but the file does not fit",
        hint=f"leave it out, or raise {option('memory')}",
    )


def read_number(k: Any) -> int | tuple[int, int] | None:
    """The number of clusters as the user gives it: ``auto`` (None), ``5``, or ``3-8`` (a tuple)."""
    if k is None or (isinstance(k, str) and k.strip().lower() == "auto"):
        return None
    parts = k if isinstance(k, (tuple, list)) else str(k).strip().split("-")
    numbers = [int(part) for part in parts if str(part).strip().isdecimal()]
    if len(numbers) == len(parts) == 1 and numbers[0] >= 1:
        return numbers[0]
    if len(numbers) == len(parts) == 2 and 2 <= numbers[0] <= numbers[1]:
        return numbers[0], numbers[1]
    raise UsageError(
        f"{option('k')} is {k!r}; it must be a positive integer, a range such as 3-8, or auto"
    )


def match_names(given: str | Sequence[str], columns: Sequence[str], parameter: str) -> list[str]:
    """The columns that a parameter names: exactly, else without regard to case, else as a pattern
    with ``*`` and ``?``. A single string is split at commas outside of quotes.
    """
    if not isinstance(given, str) and not len(given) and parameter != "columns":
        return []
    if isinstance(given, str):
        # A name with a comma or a line break may be given as it is if it is the only one.
        is_one = given in columns or len(given.splitlines()) > 1
        given = [given] if is_one else next(csv.reader([given], skipinitialspace=True), [])
    if not any(str(name).strip() for name in given):
        raise UsageError(f"{option(parameter)} names no column")
    found: list[str] = []
    for name in given:
        matches, is_pattern = _matches(str(name), columns)
        if not matches:
            similar = get_close_matches(str(name), columns, n=1)
            raise InputError(
                f"{option(parameter)}: there is no column {name!r}; the columns are "
                f"{listed(columns)}",
                hint=f"did you mean {similar[0]!r}?" if similar else None,
            )
        if not is_pattern and matches[0] in found:
            raise UsageError(f"{option(parameter)} names {matches[0]!r} more than once")
        found += [match for match in matches if match not in found]
    return found


def one_name(given: str, columns: Sequence[str], parameter: str) -> str:
    names = match_names(given, columns, parameter)
    if len(names) > 1:
        raise InputError(f"{option(parameter)} names more than one column: {listed(names)}")
    return names[0]


def _matches(name: str, columns: Sequence[str]) -> tuple[list[str], bool]:
    """The columns that a name matches, and whether the name is a pattern."""
    for candidate in (name, name.strip()):
        if candidate in columns:
            return [candidate], False
    folded = name.strip().casefold()
    same = [column for column in columns if column.casefold() == folded]
    if same:
        return same[:1], False
    return [column for column in columns if fnmatchcase(column.casefold(), folded)], True


def listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:_SHOWN]))
    return f"{shown}, and {len(names) - _SHOWN} more" if len(names) > _SHOWN else shown
