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
    """A method: the estimator `name` in `pellucid.cluster`, with what it is for in `summary`.

    `similar` are methods to look at instead. `word` is the value of `method` in `explain`, on the
    command line and in Spark; None if the method can only be used as an estimator. `options` are
    the parameters of `explain` that the method takes: "objective" (it can minimise the k-medians
    cost, not only that of k-means), "polish", "leaves" (there may be more leaves than clusters),
    "depth_penalty", "max_depth", "max_conditions", "faithfulness", "effort".

    A method `streams` if the tree can be grown on data that are read in batches. It is
    `from_labels` if the tree depends on the labels of the rows only, not on centers. `warm_up` has
    the parameters of the fits that compile its loops; with `warm_up_many`, the first of these fits
    also takes thousands of rows, for loops on threads.
    """

    name: str
    summary: str
    similar: tuple[str, ...]
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
_SEARCH = "leaves", "depth_penalty", "max_depth", "max_conditions", "faithfulness", "effort"

METHODS = (
    TreeMethod(
        "ExplainableKMeans",
        "The default: low cost, and the clusters of the reference are kept.",
        ("ExShallow", "ExKMC", "OptimalTree"),
        "explainable",
        options=_SEARCH,
        streams=True,
        warm_up=({}, _SEVEN_LEAVES),
        warm_up_many=False,
    ),
    TreeMethod(
        "ExShallow",
        "Low cost and short rules, one leaf per cluster.",
        ("ExplainableKMeans", "ExGreedy", "ExShallowSearch"),
        "exshallow",
        options=("objective", "polish", "depth_penalty"),
        streams=True,
        warm_up=({}, {"objective": "kmedians"}),
    ),
    TreeMethod(
        "ExGreedy",
        "Cuts of least cost, one leaf per cluster.",
        ("ExShallow", "IMM"),
        "exgreedy",
        streams=True,
        warm_up=({"search": "beam"},),
    ),
    TreeMethod(
        "IMM",
        "Cuts with the fewest mistakes; the first method with a guarantee.",
        ("ExKMC", "BSIMM", "EMN", "OptimalTree"),
        "imm",
        streams=True,
    ),
    TreeMethod(
        "ExKMC",
        "More leaves than clusters, each of which lowers the cost.",
        ("ExplainableKMeans", "IMM"),
        "exkmc",
        options=("objective", "polish", "leaves"),
        streams=True,
        warm_up=(
            _SEVEN_LEAVES,
            {**_SEVEN_LEAVES, "polish": "deep"},
            {**_SEVEN_LEAVES, "objective": "kmedians"},
        ),
    ),
    TreeMethod(
        "BSIMM",
        "IMM by beam search, with no more mistakes.",
        ("IMM", "OptimalTree"),
        "bsimm",
        streams=True,
    ),
    TreeMethod(
        "EMN",
        "Few mistakes in a shallow tree.",
        ("IMM", "ExShallow"),
        "emn",
        streams=True,
        warm_up=({"search": "beam"},),
    ),
    TreeMethod(
        "SpEx",
        "The method of the SpEx paper, for labels or neighbour graphs.",
        ("ExplainableKMeans",),
        "spex",
        options=("objective", "polish", "leaves"),
        streams=True,
        from_labels=True,
        warm_up=(_SEVEN_LEAVES,),
    ),
    TreeMethod(
        "ExShallowSearch",
        "The depth penalty of ExShallow for a given cost or size.",
        ("ExShallow",),
    ),
    TreeMethod(
        "RandomThresholds",
        "Random cuts, with the best guarantees in theory.",
        ("IMM", "ExGreedy"),
        warm_up=({"n_draws": 3},),
        warm_up_many=False,
    ),
    TreeMethod(
        "OptimalTree",
        "The best tree for few clusters, with a proof.",
        ("IMM", "ExplainableKMeans"),
        options=("polish",),
        warm_up=({}, {"criterion": "surrogate"}),
        warm_up_many=False,
    ),
)

BY_NAME = {method.name: method for method in METHODS}
"""The methods by the name of their class."""

BY_WORD = {method.word: method for method in METHODS if method.word is not None}
"""The methods of `explain` by the value of its parameter `method`."""

STREAMED = {word: method for word, method in BY_WORD.items() if method.streams}
"""Those of them whose tree can be grown in batches."""


def one_of(names: Iterable[str]) -> str:
    """Names as alternatives, such as "imm, emn or exkmc"."""
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last
