"""Arguments of `explain`: methods with their parameters, and choices of words.

This module imports nothing heavy, so that wrong arguments are reported at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pellucid._utils.notices import UsageError, option
from pellucid.methods import BY_WORD, one_of

SCALES = ("auto", "standard", "robust", "log", "rank", "none")
MISSING = ("auto", "drop", "median", "error")
OUTLIERS = ("auto", "keep")

_WHY_NOT = {
    "leaves": "{method} makes one leaf per cluster",
    "objective": "{method} minimises the k-means cost",
    "polish": "{method} always polishes its trees",
}
_PARAMETERS = {"leaves": "n_leaves"}


def default_method(has_labels: bool, options: MethodOptions) -> str:
    """The method that is used if none is given.

    ExplainableKMeans finds the tree of lowest k-means cost. Given labels need not have a low cost,
    so SpEx, which uses only the labels, explains them. k-medians and polishing are parameters of
    the other methods; ExShallow is the most general of them.
    """
    if has_labels:
        return "spex"
    return (
        "explainable" if options.objective == "kmeans" and options.polish == "no" else "exshallow"
    )


@dataclass(frozen=True)
class MethodOptions:
    """Parameters of the estimator; those at their defaults are not passed on.

    Attributes
    ----------
    leaves : int or None
    objective : {"kmeans", "kmedians"}
    polish : {"no", "yes", "deep"}
    depth_penalty : float or None
    max_depth, max_conditions : int or None
    effort : str or None
    """

    leaves: int | None = None
    objective: str = "kmeans"
    polish: str = "no"
    depth_penalty: float | None = None
    max_depth: int | None = None
    max_conditions: int | None = None
    effort: str | None = None

    def given(self) -> dict[str, Any]:
        """Parameters that differ from the defaults."""
        defaults = vars(MethodOptions())
        return {name: value for name, value in vars(self).items() if value != defaults[name]}

    def parameters(self) -> dict[str, Any]:
        """Parameters by the names of the estimators."""
        found = {_PARAMETERS.get(name, name): value for name, value in self.given().items()}
        if self.polish == "yes":
            found["polish"] = True
        return found

    def check(self, method: str) -> None:
        """Fail if the method does not support a parameter, or if two parameters conflict."""
        for name in self.given():
            if name not in BY_WORD[method].options:
                why = _WHY_NOT.get(name, "{method} does not support it").format(method=method)
                others = one_of(word for word, m in BY_WORD.items() if name in m.options)
                raise UsageError(f"{option(name)} requires {option('method', others)}; {why}")
        if self.objective != "kmeans" and self.polish != "no":
            raise UsageError(
                f"{option('polish')} minimises the k-means cost; remove it with "
                f"{option('objective', 'kmedians')}"
            )

    def check_leaves(self, n_clusters: int, parameter: str) -> None:
        """Fail if there are fewer leaves than clusters, whose number comes from `parameter`."""
        if self.leaves is not None and self.leaves < n_clusters:
            raise UsageError(
                f"{option('leaves', self.leaves)} is less than the {n_clusters} clusters of "
                f"{option(parameter)}",
                hint="every cluster needs at least one leaf",
            )


def check_method(
    method: str | None,
    options: MethodOptions,
    number: int | tuple[int, int] | None,
    has_labels: bool,
) -> str:
    """The method to use; conflicting options are an error, before the table is read."""
    if method is not None:
        check_choice("method", method, tuple(BY_WORD))
    chosen = method or default_method(has_labels, options)
    options.check(chosen)
    check_number(number, has_labels, options)
    return chosen


def check_number(
    number: int | tuple[int, int] | None, has_labels: bool, options: MethodOptions | None = None
) -> None:
    """Fail if the number of clusters conflicts with labels or with the number of leaves."""
    if number is not None and has_labels:
        raise UsageError(
            f"{option('k')} cannot be used with {option('labels')}: the labels define the clusters"
        )
    if isinstance(number, int) and options is not None:
        options.check_leaves(number, "k")


def read_number(k: Any) -> int | tuple[int, int] | None:
    """The number of clusters as the user gives it: ``auto``, ``5`` or ``3-8``.

    Returns
    -------
    int, tuple of int or None
        None for ``auto``; a tuple is the smallest and the largest number to try.

    Examples
    --------
    >>> from pellucid.table_explainer.arguments import read_number
    >>> read_number("auto"), read_number(5), read_number("3-8"), read_number((3, 8))
    (None, 5, (3, 8), (3, 8))
    """
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


def check_choice(parameter: str, value: str, choices: Sequence[str]) -> None:
    """Fail unless the value of a parameter is one of `choices`."""
    if value not in choices:
        raise UsageError(
            f"{option(parameter)} is {value!r}", hint=f"use one of {', '.join(choices)}"
        )
