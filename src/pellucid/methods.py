"""The methods that explain a clustering by a threshold tree, and what each of them can do.

`explain`, the command line, Spark, warm-up and error messages read `METHODS`; tests compare the
classes, the contract tests and the documentation with it. This module imports nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class TreeMethod:
    """A method: an estimator in `pellucid.cluster`.

    Attributes
    ----------
    name : str
        Name of the class.
    word : str or None
        Value of `method` in `explain`, on the command line and in Spark; None if the method can
        only be used as an estimator.
    options : tuple of str
        Parameters of `explain` that the method takes: "objective" (it can minimise the k-medians
        cost, not only that of k-means), "polish", "leaves" (there may be more leaves than
        clusters), "depth_penalty", "max_depth", "max_conditions",
        "faithfulness", "effort".
    streams : bool
        Whether the tree can be grown on data that are read in batches.
    from_labels : bool
        Whether the tree depends on the labels of the rows only, not on centers.
    warm_up : tuple of dict
        Parameters of the fits that compile its loops.
    warm_up_many : bool
        Whether the first of these fits also takes thousands of rows, for loops on threads.
    """

    name: str
    word: str | None = None
    options: tuple[str, ...] = ("objective", "polish")
    streams: bool = False
    from_labels: bool = False
    warm_up: tuple[Mapping[str, Any], ...] = ({},)
    warm_up_many: bool = True

    @property
    def estimator(self) -> type[Any]:
        """The class, which is imported on first use."""
        return getattr(import_module("pellucid.cluster"), self.name)


_SEVEN_LEAVES = {"n_leaves": 7}

METHODS = (
    TreeMethod(
        "ExplainableKMeans",
        "explainable",
        options=(
            "leaves",
            "depth_penalty",
            "max_depth",
            "max_conditions",
            "faithfulness",
            "effort",
        ),
        streams=True,
        warm_up=({}, _SEVEN_LEAVES),
        warm_up_many=False,
    ),
    TreeMethod(
        "ExShallow",
        "exshallow",
        options=("objective", "polish", "depth_penalty"),
        streams=True,
        warm_up=({}, {"objective": "kmedians"}),
    ),
    TreeMethod("ExGreedy", "exgreedy", streams=True, warm_up=({"search": "beam"},)),
    TreeMethod("IMM", "imm", streams=True),
    TreeMethod(
        "ExKMC",
        "exkmc",
        options=("objective", "polish", "leaves"),
        streams=True,
        warm_up=(
            _SEVEN_LEAVES,
            {**_SEVEN_LEAVES, "polish": "deep"},
            {**_SEVEN_LEAVES, "objective": "kmedians"},
        ),
    ),
    TreeMethod("BSIMM", "bsimm", streams=True),
    TreeMethod("EMN", "emn", streams=True, warm_up=({"search": "beam"},)),
    TreeMethod(
        "SpEx",
        "spex",
        options=("objective", "polish", "leaves"),
        streams=True,
        from_labels=True,
        warm_up=(_SEVEN_LEAVES,),
    ),
    TreeMethod("ExShallowSearch"),
    TreeMethod("RandomThresholds", warm_up=({"n_draws": 3},), warm_up_many=False),
    TreeMethod(
        "OptimalTree",
        options=("polish",),
        warm_up=({}, {"criterion": "surrogate"}),
        warm_up_many=False,
    ),
)

BY_WORD = {method.word: method for method in METHODS if method.word is not None}
"""The methods of `explain` by the value of its parameter `method`."""

STREAMED = {word: method for word, method in BY_WORD.items() if method.streams}
"""Those of them whose tree can be grown in batches."""


def one_of(names: Iterable[str]) -> str:
    """Names as alternatives.

    Examples
    --------
    >>> from pellucid.methods import one_of
    >>> one_of(["exkmc"]), one_of(["imm", "emn", "exkmc"])
    ('exkmc', 'imm, emn or exkmc')
    """
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last
