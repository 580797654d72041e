"""What the user chose about a method, and whether the method knows it."""

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
"""Methods that make as many leaves as they are asked for."""

_FOR_A_REFERENCE = tuple(method for method in METHODS if method != "explainable")
_KNOWN_TO = {
    "leaves": ANY_LEAVES,
    "objective": _FOR_A_REFERENCE,
    "polish": _FOR_A_REFERENCE,
    "depth_penalty": ("exshallow", "explainable"),
    "max_depth": ("explainable",),
    "max_conditions": ("explainable",),
    "effort": ("explainable",),
}
_WHY_NOT = {
    "leaves": "{method} makes one leaf for each cluster",
    "objective": "{method} lowers the cost of k-means",
    "polish": "{method} polishes every tree as it is",
}
_PARAMETERS = {"leaves": "n_leaves"}


def default_method(has_labels: bool) -> str:
    """The method where none is asked for.

    ExShallow looks for cheap clusters near those of k-means. Labels of whatever origin need not
    be cheap at all: SpEx looks at nothing but them.
    """
    return "spex" if has_labels else "exshallow"


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
        """What differs from the defaults."""
        usual = vars(Choices())
        return {name: value for name, value in vars(self).items() if value != usual[name]}

    def parameters(self) -> dict[str, Any]:
        """As the estimators have them."""
        found = {_PARAMETERS.get(name, name): value for name, value in self.given().items()}
        if self.polish == "yes":
            found["polish"] = True
        return found

    def check(self, method: str) -> None:
        """Fail if the method does not know one of them, or two do not go together."""
        for name in self.given():
            if method not in (known := _KNOWN_TO[name]):
                why = _WHY_NOT.get(name, "{method} has no such limit").format(method=method)
                raise CommandError(
                    f"{_flag(name)} goes with --method {_listed(known)}; {why}", exit_code=2
                )
        if self.objective != "kmeans" and self.polish != "no":
            raise CommandError(
                "--polish lowers the cost of k-means; leave it out with --objective kmedians",
                exit_code=2,
            )

    def check_leaves(self, n_clusters: int, option: str) -> None:
        """Fail if there are fewer leaves than clusters, which `option` of the command line says."""
        if self.leaves is not None and self.leaves < n_clusters:
            raise CommandError(
                f"--leaves {self.leaves} is less than the {n_clusters} clusters of {option}",
                hint="every cluster needs a leaf",
                exit_code=2,
            )


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _listed(names: tuple[str, ...]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
