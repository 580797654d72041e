"""The tree of least objective among all trees with one leaf per center, and the proof of it.

Branch and bound over subproblems always continues at the cut of least lower bound.

The lower bound of a subproblem S (see `pellucid._core.exact.subproblem`) is

    lower(S) = min over cuts of lower(cut),
    lower(cut) = max(lower(left side) + lower(right side) + fixed cost, bound of the cut table).

The search descends into one side of the cut of least lower bound, and stays there until another
cut, of S or of a subproblem above it, has a smaller bound. S is solved when lower(S) = upper(S),
the cost of the best tree found for it. The *incumbent* is the best tree of the whole problem so
far. The lower bound of the root rises during the search and is valid whenever it stops, so that

    gap = 1 - lower(root) / cost(incumbent)

bounds the part of the cost that any other tree can save.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any, NamedTuple

import numpy as np

from pellucid._core.criteria.base import Criterion
from pellucid._core.criteria.column_search import Split
from pellucid._core.criteria.induced_cost import InducedCost
from pellucid._core.criteria.mistakes import Mistakes
from pellucid._core.criteria.problem import Problem
from pellucid._core.exact.subproblem import (
    DEFAULT_SETTINGS,
    SearchSettings,
    Subproblem,
    SubproblemTable,
)
from pellucid._core.growers.growing_tree import GrowingTree, GrowthResult, grow_greedily
from pellucid._core.kernels import INFINITE_COST
from pellucid._utils.progress import Interrupt, Progress
from pellucid.tree.rounding import ThresholdStyle

# Listings of cuts between two trial trees, per listing that the last one needed (convention).
_TRIAL_INTERVAL = 8
# Weights of a cut's base cost and lower bound, by which trial trees choose their cuts in turn:
# bounds are tighter for some cuts than for others, and no single rule gives the best trees.
_TRIAL_WEIGHTS = ((0, 1), (1, 1), (-1, 2))


class Optimum(NamedTuple):
    growth: GrowthResult  # the best tree found
    objective: float
    lower_bound: float  # of the objective of any tree
    is_proven: bool  # whether the two are equal


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

    The objective is "mistakes", the weight of the rows in leaves of a center other than their own,
    or "surrogate", the cost of all rows to the center of their leaf. The time limit is in seconds
    of the clock.
    """
    deadline = np.inf if time_limit is None else clock() + time_limit
    # A search that is stopped needs a tree to return; ties go to the tree of IMM.
    criteria = Mistakes(problem), InducedCost(problem)
    starts = [grow_greedily(c, threshold_style, Progress("", 0, 0)) for c in criteria]
    costs, unit = objective_costs(problem, objective)
    clusters = [start.builder.build().cluster[start.leaf_of_rows] for start in starts]
    totals = [int(costs[np.arange(len(costs)), of_rows].sum()) for of_rows in clusters]

    def report(lower: int, upper: int) -> None:
        progress.report(f"objective {upper * unit:g}, lower bound {lower * unit:g}")

    table = SubproblemTable(problem, costs, settings)
    search = BranchAndBound(table, min(totals), deadline, clock)
    search.run(report)
    total, cuts = search.incumbent
    if cuts is None:
        growth = starts[totals.index(total)]
    else:
        thresholds = [cut and table.threshold(cut) for cut in cuts]
        growth = grow_cuts(criteria[objective == "surrogate"], threshold_style, thresholds)
    return Optimum(growth, total * unit, search.lower * unit, search.lower == total)


class SearchStopped(Exception):
    """Time or memory is used up, or the user has interrupted the search."""


class BranchAndBound:
    """The search for the tree of least cost, until the clock shows the deadline.

    `upper` is the cost of a tree that is known. `incumbent` has the cost of the best tree so far,
    and its cuts in preorder, None for a leaf; a list that is None stands for the tree that was
    known. It is set in one assignment, because the search may be interrupted anywhere.
    """

    def __init__(
        self,
        table: SubproblemTable,
        upper: int = INFINITE_COST,
        deadline: float = float("inf"),
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.table, self.deadline, self._clock = table, deadline, clock
        self.root, self.fixed_cost = table.root()
        table.bound_by_pairs(self.root)
        self.incumbent: tuple[int, list[Any] | None] = (upper, None)
        self._path: list[tuple[Subproblem, int]] = []
        self._interrupt = Interrupt()
        self._n_trials = self._next_trial = 0

    @property
    def lower(self) -> int:
        """Lower bound of the cost of any tree."""
        return min(self.incumbent[0], self.root.lower + self.fixed_cost)

    def run(self, report: Callable[[int, int], None] = lambda lower, upper: None) -> None:
        """Search until the incumbent is proven optimal, or the search is stopped.

        `report` receives the lower bound and the cost of the incumbent whenever they change.
        """
        try:
            with self._interrupt:
                self._search(report)
        except (SearchStopped, KeyboardInterrupt) as reason:
            if self._interrupt.requested and isinstance(reason, KeyboardInterrupt):
                raise  # requested twice
            # Lower bounds rise by those of the subproblems below.
            for subproblem, _ in reversed([(self.root, 0), *self._path]):
                if subproblem.listed is not None:
                    cuts, rest_lower = subproblem.listed
                    k, _ = _two_least(cuts.lower)
                    if subproblem.listed_cut(k) in subproblem.branches:
                        self.table.update_cut(subproblem, k)
                    least = min(int(cuts.lower.min()), rest_lower)
                    subproblem.lower = max(subproblem.lower, least)

    def _search(self, report: Callable[[int, int], None]) -> None:
        reported = None
        while self.lower < self.incumbent[0]:
            self._check_limits()
            if self.table.n_listings >= self._next_trial:
                self._build_trial_tree()
                if reported != (reported := (self.lower, self.incumbent[0])):
                    report(*reported)
            step = self._next_step(self.root, self.incumbent[0] - self.fixed_cost)
            if step is not None:
                self._solve(*step)
            elif self.root.is_solved:
                self._build_trial_tree()
                break

    def _check_limits(self) -> None:
        out_of_memory = self.table.n_bytes > self.table.settings.max_bytes
        out_of_time = self._clock() > self.deadline
        if out_of_memory or out_of_time or self._interrupt.requested:
            raise SearchStopped

    def _solve(self, subproblem: Subproblem, limit: int) -> None:
        """Raise the lower bound of a subproblem to a limit, or find its best tree."""
        self._path = path = [(subproblem, limit)]
        while path:
            self._check_limits()
            step = self._next_step(*path[-1])
            if step is None:
                path.pop()
            else:
                path.append(step)

    def _next_step(self, subproblem: Subproblem, limit: int) -> tuple[Subproblem, int] | None:
        """The side of a cut to search next, and up to which limit; None when nothing is left."""
        table = self.table
        while subproblem.lower < min(limit, subproblem.upper):
            k, second = self._most_promising(subproblem)
            if subproblem.lower >= min(limit, subproblem.upper):
                break
            least = int(subproblem.cuts.lower[k])
            branch = table.branch(subproblem, subproblem.listed_cut(k))
            side, other = branch.left, branch.right
            for raise_bound in (table.bound_by_peers, table.bound_by_pairs):
                raise_bound(side)
                raise_bound(other)
                table.update_cut(subproblem, k)
                if subproblem.cuts.lower[k] > least or subproblem.is_solved:
                    break
            else:  # neither raises the bound of the cut
                is_smaller = len(side.centers) < len(other.centers)
                if side.is_solved or (is_smaller and not other.is_solved):
                    side, other = other, side
                return side, min(limit, max(second, least + 1)) - branch.fixed_cost - other.lower
        if subproblem.listed is not None:
            table.record(subproblem)
        if subproblem.is_solved:
            table.release(subproblem)
        return None

    def _most_promising(self, subproblem: Subproblem) -> tuple[int, int]:
        """The cut of least lower bound, and the least lower bound of all others."""
        while True:
            cuts, rest_lower = subproblem.listed or self.table.list_cuts(subproblem)
            k, second = _two_least(cuts.lower)
            least = int(cuts.lower[k])
            subproblem.lower = max(subproblem.lower, min(least, rest_lower))
            if least <= rest_lower:
                return k, min(second, rest_lower)
            self.table.list_cuts(subproblem)

    def _build_trial_tree(self) -> None:
        """Build a tree of the most promising cuts: the best tree, once the root is solved."""
        table, before, root_is_solved = self.table, self.table.n_listings, self.root.is_solved
        base_weight, lower_weight = _TRIAL_WEIGHTS[self._n_trials % len(_TRIAL_WEIGHTS)]
        tree: list[Any] = []
        cost, stack = self.fixed_cost, [self.root]
        while stack:
            subproblem = stack.pop()
            if subproblem.is_leaf:
                tree.append(None)
                cost += subproblem.lower
                continue
            table.bound_by_pairs(subproblem)
            if len(subproblem.centers) <= table.settings.n_solved_centers:
                self._solve(subproblem, INFINITE_COST)
            cut = subproblem.best
            if cut is None or not (root_is_solved or subproblem.is_solved):
                self._most_promising(subproblem)
                cuts = subproblem.cuts
                estimate = base_weight * cuts.base + lower_weight * cuts.lower
                cut = subproblem.listed_cut(int(estimate.argmin()))
            tree.append(cut)
            branch = table.branch(subproblem, cut)
            if subproblem.is_solved:
                subproblem.best = cut
                table.release(subproblem)
            cost += branch.fixed_cost
            stack += [branch.right, branch.left]
        if cost < self.incumbent[0]:
            self.incumbent = cost, tree
        self._n_trials += 1
        n_listings = max(table.n_listings - before, 1)
        self._next_trial = table.n_listings + _TRIAL_INTERVAL * n_listings


def _two_least(values: np.ndarray) -> tuple[int, int]:
    """Position of the least value, and the least of all others."""
    k = int(values.argmin())
    others = values[:k].min(initial=INFINITE_COST), values[k + 1 :].min(initial=INFINITE_COST)
    return k, int(min(others))


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
