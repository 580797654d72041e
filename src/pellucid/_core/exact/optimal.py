"""Exact growth: the tree with one leaf a center that is the best of all, and the proof of it."""

from __future__ import annotations

from time import monotonic
from typing import NamedTuple

import numpy as np

from pellucid._core.criteria.base import Criterion
from pellucid._core.criteria.column_search import Cut
from pellucid._core.criteria.induced_cost import InducedCost
from pellucid._core.criteria.mistakes import Mistakes
from pellucid._core.criteria.problem import Problem
from pellucid._core.exact.branch_and_bound import BestBound
from pellucid._core.exact.subproblem_table import PartTable
from pellucid._core.growers.greedy import grow_greedily
from pellucid._core.growers.growing_tree import Growth, Plant
from pellucid._utils.progress import Progress
from pellucid.tree.rounding import ThresholdStyle


class Optimum(NamedTuple):
    """What the search found.

    Attributes
    ----------
    growth : Growth
        The best tree.
    objective, lower_bound : float
        What the rows pay in it, and what they pay at least in any tree.
    is_proven : bool
        Whether the two are the same.
    """

    growth: Growth
    objective: float
    lower_bound: float
    is_proven: bool


def grow_optimally(
    problem: Problem,
    objective: str,
    threshold_style: ThresholdStyle,
    progress: Progress,
    time_limit: float | None = None,
) -> Optimum:
    """Find the tree of least objective; when interrupted or out of time, the best so far.

    Parameters
    ----------
    problem : Problem
    objective : {"mistakes", "surrogate"}
        Weight of the rows that end in the leaf of another center than their own, or cost of all
        rows to the center of their leaf.
    threshold_style : {"round", "midpoint", "data"}
    progress : Progress
    time_limit : float, optional
        Seconds, counted from here on.
    """
    end = np.inf if time_limit is None else monotonic() + time_limit
    # An interrupted search needs a tree to return; the first of equals is IMM's.
    criteria = Mistakes(problem), InducedCost(problem)
    starts = [grow_greedily(c, threshold_style, Progress("", 0, 0)) for c in criteria]
    costs, unit = _costs(problem, objective)
    values = [_value(growth, costs) for growth in starts]

    def tell(lower: int, upper: int) -> None:
        progress.note(f"objective {upper * unit:g} so far, {lower * unit:g} at the least")

    parts = PartTable(problem, costs)
    search = BestBound(parts, min(values), end)
    search.run(tell)
    value, tree = search.best
    if tree is None:
        growth = starts[values.index(value)]
    else:
        growth = _plant(criteria[objective == "surrogate"], threshold_style, parts, tree)
    return Optimum(growth, value * unit, search.lower * unit, search.lower == value)


def _costs(problem: Problem, objective: str) -> tuple[np.ndarray, float]:
    """What each row pays at each center in whole units, and what a unit is worth."""
    if objective == "surrogate":
        return problem.costs, problem.cost_unit
    elsewhere = problem.labels[:, None] != np.arange(problem.n_clusters)
    return problem.weights.units[:, None] * elsewhere, 1 / problem.weights.units_per_weight


def _value(growth: Growth, costs: np.ndarray) -> int:
    """What the rows pay in a tree."""
    cluster = growth.builder.build().cluster[growth.leaf_of_rows]
    return int(costs[np.arange(len(costs)), cluster].sum())


def _plant(
    criterion: Criterion, threshold_style: ThresholdStyle, parts: PartTable, tree: list
) -> Growth:
    """Grow the tree whose cuts are given in preorder, None for a leaf."""
    plant = Plant(criterion, threshold_style)
    waiting = [0]
    for cut in tree:
        number = waiting.pop()
        if cut is not None:
            left, right = plant.split(number, Cut(0.0, *parts.threshold(cut)))
            waiting += [right, left]
    return plant.growth()
