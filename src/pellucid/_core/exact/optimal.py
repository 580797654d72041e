"""The tree of least objective among all trees with one leaf per center, and the proof of it."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import NamedTuple

import numpy as np

from pellucid._core.criteria.base import Criterion
from pellucid._core.criteria.column_search import Split
from pellucid._core.criteria.induced_cost import InducedCost
from pellucid._core.criteria.mistakes import Mistakes
from pellucid._core.criteria.problem import Problem
from pellucid._core.exact.branch_and_bound import BranchAndBound
from pellucid._core.exact.subproblem_table import (
    DEFAULT_SETTINGS,
    SearchSettings,
    SubproblemTable,
)
from pellucid._core.growers.growing_tree import GrowingTree, GrowthResult, grow_greedily
from pellucid._utils.progress import Progress
from pellucid.tree.rounding import ThresholdStyle


class Optimum(NamedTuple):
    """Result of the exact search.

    Attributes
    ----------
    growth : GrowthResult
        The best tree found.
    objective, lower_bound : float
        Its objective, and a lower bound of the objective of any tree.
    is_proven : bool
        Whether the two are equal.
    """

    growth: GrowthResult
    objective: float
    lower_bound: float
    is_proven: bool


def grow_optimally(
    problem: Problem,
    objective: str,
    threshold_style: ThresholdStyle,
    progress: Progress,
    time_limit: float | None = None,
    settings: SearchSettings = DEFAULT_SETTINGS,
    clock: Callable[[], float] = monotonic,
) -> Optimum:
    """Find the tree of least objective; the best tree so far if the search is stopped.

    Parameters
    ----------
    problem : Problem
    objective : {"mistakes", "surrogate"}
        Weight of the rows in leaves of a center other than their own, or cost of all rows to the
        center of their leaf.
    threshold_style : {"round", "midpoint", "data"}
    progress : Progress
    time_limit : float, optional
        Seconds from now.
    settings : SearchSettings
    clock : callable
        Returns the current time in seconds.
    """
    deadline = np.inf if time_limit is None else clock() + time_limit
    # A search that is stopped needs a tree to return; ties go to the tree of IMM.
    criteria = Mistakes(problem), InducedCost(problem)
    starts = [grow_greedily(c, threshold_style, Progress("", 0, 0)) for c in criteria]
    costs, unit = objective_costs(problem, objective)
    totals = [_total_cost(growth, costs) for growth in starts]

    def report(lower: int, upper: int) -> None:
        progress.report(f"objective {upper * unit:g}, lower bound {lower * unit:g}")

    table = SubproblemTable(problem, costs, settings)
    search = BranchAndBound(table, min(totals), deadline, clock)
    search.run(report)
    total, cuts = search.incumbent
    if cuts is None:
        growth = starts[totals.index(total)]
    else:
        criterion = criteria[objective == "surrogate"]
        growth = grow_cuts(
            criterion, threshold_style, [cut and table.threshold(cut) for cut in cuts]
        )
    return Optimum(growth, total * unit, search.lower * unit, search.lower == total)


def objective_costs(problem: Problem, objective: str) -> tuple[np.ndarray, float]:
    """Cost of each row at each center in integer units, and the unit."""
    if objective == "surrogate":
        return problem.costs, problem.cost_unit
    is_mistake = problem.labels[:, None] != np.arange(problem.n_clusters)
    return problem.weights.units[:, None] * is_mistake, 1 / problem.weights.units_per_weight


def grow_cuts(
    criterion: Criterion, threshold_style: ThresholdStyle, cuts: list[tuple[int, float] | None]
) -> GrowthResult:
    """The tree whose cuts (feature, threshold) are given in preorder, None for a leaf."""
    growing = GrowingTree(criterion, threshold_style)
    stack = [0]
    for cut in cuts:
        number = stack.pop()
        if cut is not None:
            left, right = growing.split(number, Split(0.0, *cut))
            stack += [right, left]
    return growing.result()


def _total_cost(growth: GrowthResult, costs: np.ndarray) -> int:
    """Sum over rows of the cost at the center of their leaf."""
    cluster = growth.builder.build().cluster[growth.leaf_of_rows]
    return int(costs[np.arange(len(costs)), cluster].sum())
