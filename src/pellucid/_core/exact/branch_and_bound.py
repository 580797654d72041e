"""Branch and bound over subproblems, always continuing at the cut of least lower bound.

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
from typing import Any

import numpy as np

from pellucid._core.exact.subproblem import Branch, Subproblem
from pellucid._core.exact.subproblem_table import SubproblemTable
from pellucid._core.kernels import INFINITE_COST
from pellucid._utils.progress import Interrupt

_TRIAL_INTERVAL = 8
"""Listings of cuts between two trial trees, per listing that the last trial tree needed."""

_TRIAL_WEIGHTS = ((0, 1), (1, 1), (-1, 2))
"""Weights of a cut's base cost and lower bound, by which trial trees choose their cuts in turn.

Bounds are tighter for some cuts than for others; no single rule gives the best trees.
"""


class SearchStopped(Exception):
    """Time or memory is used up, or the user has interrupted the search."""


class BranchAndBound:
    """The search for the tree of least cost.

    Parameters
    ----------
    table : SubproblemTable
    upper : int
        Cost of a tree that is known.
    deadline : float
        Time at which to stop.
    clock : callable
        Returns the current time in seconds.

    Attributes
    ----------
    incumbent : tuple of int and list or None
        Cost of the best tree so far, and its cuts in preorder, None for a leaf; a list that is None
        stands for the tree that was known. Set in one assignment, because the search may be
        interrupted anywhere.
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

        Parameters
        ----------
        report : callable
            Receives the lower bound and the cost of the incumbent whenever they change.
        """
        try:
            with self._interrupt:
                self._search(report)
        except (SearchStopped, KeyboardInterrupt) as reason:
            if self._interrupt.requested and isinstance(reason, KeyboardInterrupt):
                raise  # requested twice
            for subproblem, _ in reversed([(self.root, 0), *self._path]):
                self._propagate(subproblem)

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
            if self._tighten(subproblem, k, branch, table.bound_by_peers):
                continue
            if self._tighten(subproblem, k, branch, table.bound_by_pairs):
                continue
            side, other = branch.left, branch.right
            if side.is_solved or (len(side.centers) < len(other.centers) and not other.is_solved):
                side, other = other, side
            return side, min(limit, max(second, least + 1)) - branch.fixed_cost - other.lower
        if subproblem.listed is not None:
            table.record(subproblem)
        if subproblem.is_solved:
            table.release(subproblem)
        return None

    def _tighten(
        self,
        subproblem: Subproblem,
        k: int,
        branch: Branch,
        raise_bound: Callable[[Subproblem], None],
    ) -> bool:
        """Tighten cut k by the bounds of its sides; True if it rose or the subproblem is solved."""
        least = subproblem.cuts.lower[k]
        raise_bound(branch.left)
        raise_bound(branch.right)
        self.table.update_cut(subproblem, k)
        return subproblem.cuts.lower[k] > least or subproblem.is_solved

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

    def _propagate(self, subproblem: Subproblem) -> None:
        """Update a lower bound from the subproblems below, after the search was stopped."""
        if subproblem.listed is not None:
            cuts, rest_lower = subproblem.listed
            k, _ = _two_least(cuts.lower)
            if subproblem.listed_cut(k) in subproblem.branches:
                self.table.update_cut(subproblem, k)
            subproblem.lower = max(subproblem.lower, min(int(cuts.lower.min()), rest_lower))

    def _build_trial_tree(self) -> None:
        """Build a tree of the most promising cuts: the best tree, once the root is solved."""
        table, before = self.table, self.table.n_listings
        root_is_solved = self.root.is_solved
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
