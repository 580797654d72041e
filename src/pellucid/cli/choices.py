"""Parameters of a method from the command line, and which methods support them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pellucid.cli import CommandError

METHODS = {
    "explainable": "ExplainableKMeans",
    "exshallow": "ExShallow",
    "exgreedy": "ExGreedy",
    "imm": "IMM",
    "exkmc": "ExKMC",
    "bsimm": "BSIMM",
    "emn": "EMN",
    "spex": "SpEx",
}

ANY_LEAVES = ("exkmc", "explainable", "spex")
"""Methods with a variable number of leaves."""

_FOR_A_REFERENCE = tuple(method for method in METHODS if method != "explainable")
_SUPPORTED_BY = {
    "leaves": ANY_LEAVES,
    "objective": _FOR_A_REFERENCE,
    "polish": _FOR_A_REFERENCE,
    "depth_penalty": ("exshallow", "explainable"),
    "max_depth": ("explainable",),
    "max_conditions": ("explainable",),
    "effort": ("explainable",),
}
_WHY_NOT = {
    "leaves": "{method} makes one leaf per cluster",
    "objective": "{method} minimises the k-means cost",
    "polish": "{method} always polishes its trees",
}
_PARAMETERS = {"leaves": "n_leaves"}


def default_method(has_labels: bool, choices: Choices) -> str:
    """The method that is used if none is given.

    ExplainableKMeans finds the tree of lowest k-means cost. Given labels need not have a low cost,
    so SpEx, which uses only the labels, explains them. k-medians and polishing are parameters of
    the other methods; ExShallow is the most general of them.
    """
    if has_labels:
        return "spex"
    return (
        "explainable" if choices.objective == "kmeans" and choices.polish == "no" else "exshallow"
    )


@dataclass(frozen=True)
class Choices:
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
        defaults = vars(Choices())
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
            if method not in (supported := _SUPPORTED_BY[name]):
                why = _WHY_NOT.get(name, "{method} does not support it").format(method=method)
                raise CommandError(
                    f"{_flag(name)} requires --method {_listed(supported)}; {why}", exit_code=2
                )
        if self.objective != "kmeans" and self.polish != "no":
            raise CommandError(
                "--polish minimises the k-means cost; remove it with --objective kmedians",
                exit_code=2,
            )

    def check_leaves(self, n_clusters: int, option: str) -> None:
        """Fail if there are fewer leaves than clusters, whose number comes from `option`."""
        if self.leaves is not None and self.leaves < n_clusters:
            raise CommandError(
                f"--leaves {self.leaves} is less than the {n_clusters} clusters of {option}",
                hint="every cluster needs at least one leaf",
                exit_code=2,
            )


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _listed(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
