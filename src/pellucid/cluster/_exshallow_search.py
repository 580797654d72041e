"""ExShallow*: search for the depth penalty that reaches a cost and an explanation size."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from numbers import Integral, Real
from typing import Any

from sklearn.base import clone

from pellucid._core.criteria.problem import Problem
from pellucid._core.growers.penalty_path import PenaltyPath
from pellucid._utils.estimators import Noise, Objective, Polish, store_parameters
from pellucid._utils.progress import Progress
from pellucid._utils.sklearn_compat import Interval, validate_parameters
from pellucid.cluster._base import BaseThresholdTree
from pellucid.cluster._docs import common_parameters
from pellucid.cluster._reference_tree import BaseReferenceTree
from pellucid.metrics import weighted_average_explanation_size
from pellucid.tree import ThresholdTree
from pellucid.tree.rounding import ThresholdStyle
from pellucid.tree.trade_off import TradeOff, TradeOffPoint

START = 0.03
"""Penalty at which the search starts."""

STEP = 4.0
"""Factor between successive penalties while a bracket is searched."""

_N_STEPS = 3
_ROUNDING = 1 + 1e-9
"""Relative tolerance of the goals."""


@common_parameters
class ExShallowSearch(BaseReferenceTree):
    r"""The ExShallow tree that reaches a given cost, or a given length of the rules.

    It finds the depth penalty λ of :class:`~pellucid.ExShallow` for you: ask for at most 10 % more
    cost than k-means, or for rules of three conditions.

    This is ExShallow* of the paper: with goals C and S, a λ for which

    .. math:: \mathrm{cost}(T_\lambda) \leq C \quad\text{and}\quad
        \mathrm{WAES}(T_\lambda) \leq S.

    The search over the depth penalty λ starts at 0.03, decreases λ if the tree costs too much
    and increases it if the explanations are too long, and then continues between the penalties
    tried so far, first between one that meets a goal and one that does not. All trees share one
    reference, and a node is searched again only if its cut may have changed.

    Parameters
    ----------
    {n_clusters}
    goal_cost : float, estimator or None, default=None
        Largest cost of the tree. A number is a ratio to the cost of the reference: 1.1 for at
        most 10% more. A fitted tree estimator of this package stands for the cost of its tree on
        these rows; an unfitted one is cloned and grown for the same reference first.
    goal_size : float, estimator or None, default=None
        Largest WAES, the mean number of conditions in the rule of a row: a number, or an
        estimator whose tree has this size. The same estimator as both goals requests a tree that
        is no worse in either.
    max_fits : int, default=50
        Largest number of penalties to try.
    {common}

    Attributes
    ----------
    best_depth_penalty_ : float
        Penalty of `tree_`; ``ExShallow(depth_penalty=best_depth_penalty_)`` grows the same tree.
    reached_ : bool
        Whether `tree_` meets the goals.
    path_ : TradeOff
        The trees that the search found, as from :meth:`ExShallow.path`.
    n_fits_ : int
        Number of penalties that were tried.
    {attributes}

    Notes
    -----
    With both goals, the search ends at the first tree that meets both. If none does, the whole
    range of penalties from 0 to 1.92 is searched, as far as `max_fits` allows, and the tree is the
    one of least WAES among those that meet `goal_cost`, as in the paper, or, if none meets that
    either, the cheapest of all. With one goal, the tree is the best in the other respect: the
    least WAES within `goal_cost`, or the least cost within `goal_size` (if there is none, the
    least WAES). Without goals the tree is that of ExShallow.

    With ``noise="drop"``, costs do not include rows of noise.

    References
    ----------
    Laber, Murtinho, Oliveira (2023). Shallow decision trees for explainable k-means
    clustering. Pattern Recognition.

    Examples
    --------
    The smallest explanations that cost at most 25% more than k-means:

    >>> from sklearn.datasets import load_digits
    >>> from pellucid import ExKMC, ExShallowSearch
    >>> X = load_digits().data
    >>> model = ExShallowSearch(10, goal_cost=1.25, random_state=0).fit(X)
    >>> model.reached_, bool(model.inertia_ <= 1.25 * model.reference_inertia_)
    (True, True)

    A tree that is cheaper and no larger than that of another method:

    >>> rival = ExKMC(10, base=None, n_leaves=10, random_state=0).fit(X)
    >>> model = ExShallowSearch(10, goal_cost=rival, goal_size=rival, random_state=0).fit(X)
    >>> model.reached_, bool(model.inertia_ < rival.inertia_)
    (True, True)
    """

    _parameter_constraints: dict[Any, Any] = {
        **BaseReferenceTree._parameter_constraints,
        "goal_cost": [Interval(Real, 0, None, closed="neither"), BaseThresholdTree, None],
        "goal_size": [Interval(Real, 0, None, closed="left"), BaseThresholdTree, None],
        "max_fits": [Interval(Integral, 1, None, closed="left")],
    }
    best_depth_penalty_: float
    reached_: bool
    path_: TradeOff
    n_fits_: int
    goal_cost: Any
    goal_size: Any
    max_fits: int

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        goal_cost: Any = None,
        goal_size: Any = None,
        max_fits: int = 50,
        reference: Any = None,
        objective: Objective = "kmeans",
        noise: Noise = "group",
        threshold_style: ThresholdStyle = "round",
        polish: Polish = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        store_parameters(self, locals())

    def _grow(self, problem, progress):
        goals = self._find_goals(problem)
        trees = Progress(f"{type(self).__name__}: trees", self.max_fits, self.verbose)
        path = PenaltyPath(problem, self.threshold_style, trees, self.max_fits)
        _search(path, goals)
        path.try_rounder_penalties(goals.choose(list(path.trade_off())))
        everything = path.trade_off()
        best = goals.choose(list(everything))
        self.best_depth_penalty_ = best.penalty
        self.reached_ = goals.meet(best)
        self.path_ = everything.undominated()
        self.n_fits_ = len(path.fits)
        return path.grow(best.penalty)

    def _find_goals(self, problem: Problem) -> Goals:
        """The goals as numbers for this problem."""
        trees: dict[int, ThresholdTree] = {}

        def tree_of(name: str, goal: BaseThresholdTree) -> ThresholdTree:
            if id(goal) not in trees:
                trees[id(goal)] = _tree_of(name, goal, problem)
            return trees[id(goal)]

        cost, ratio, size = inf, inf, inf
        weight = problem.weights.values
        if isinstance(self.goal_cost, BaseThresholdTree):
            position = tree_of("goal_cost", self.goal_cost).predict(problem.X)
            cost = problem.own_cost(position) * problem.cost_unit
        elif self.goal_cost is not None:
            ratio = self.goal_cost
        if isinstance(self.goal_size, BaseThresholdTree):
            tree = tree_of("goal_size", self.goal_size)
            size = weighted_average_explanation_size(tree, problem.X, sample_weight=weight)
        elif self.goal_size is not None:
            size = self.goal_size
        return Goals(cost, ratio, size)


@dataclass(frozen=True)
class Goals:
    """Upper limits for a tree; infinite if there is none.

    `cost` is absolute, `ratio` relative to that of the reference, and `size` is the WAES.
    """

    cost: float
    ratio: float
    size: float

    @property
    def has_cost(self) -> bool:
        """Whether there is a limit for the cost."""
        return min(self.cost, self.ratio) < inf

    @property
    def has_size(self) -> bool:
        """Whether there is a limit for the size."""
        return self.size < inf

    @property
    def are_none(self) -> bool:
        """Whether there is no limit."""
        return not (self.has_cost or self.has_size)

    def is_cheap(self, point: TradeOffPoint) -> bool:
        """Whether a tree is within the cost."""
        return point.cost <= self.cost * _ROUNDING and point.npc <= self.ratio * _ROUNDING

    def is_small(self, point: TradeOffPoint) -> bool:
        """Whether a tree is within the size."""
        return point.waes <= self.size * _ROUNDING

    def meet(self, point: TradeOffPoint) -> bool:
        """Whether a tree is within both."""
        return self.is_cheap(point) and self.is_small(point)

    def end_with(self, point: TradeOffPoint) -> bool:
        """Whether the search may stop at a tree; with one goal, a better tree may exist."""
        return self.has_cost and self.has_size and self.meet(point)

    def part(self, low: TradeOffPoint, high: TradeOffPoint) -> bool:
        """Whether exactly one of two trees meets a goal, so that the limit lies between them."""
        if self.has_cost:
            return self.is_cheap(low) != self.is_cheap(high)
        return self.is_small(low) != self.is_small(high)

    def choose(self, points: list[TradeOffPoint]) -> TradeOffPoint:
        """The tree to return, as described in the notes of :class:`ExShallowSearch`."""

        def by_size(p: TradeOffPoint) -> tuple[float, ...]:
            return p.waes, p.cost, p.wad, p.penalty

        def by_cost(p: TradeOffPoint) -> tuple[float, ...]:
            return p.cost, p.waes, p.wad, p.penalty

        if self.has_cost:
            cheap = [point for point in points if self.is_cheap(point)]
            return min(cheap, key=by_size) if cheap else min(points, key=by_cost)
        small = [point for point in points if self.is_small(point)]
        return min(small, key=by_cost) if small else min(points, key=by_size)


def _search(path: PenaltyPath, goals: Goals) -> None:
    """Try penalties until a tree ends the search or `path` has tried as many as it may."""
    start = path.fit(START)
    if goals.are_none or goals.end_with(start):
        return
    falls = [START / STEP**i for i in range(1, _N_STEPS)] + [0.0]
    rises = [START * STEP**i for i in range(1, _N_STEPS + 1)]
    if goals.has_cost:
        penalties, wanted = (rises, False) if goals.is_cheap(start) else (falls, True)
        is_there = goals.is_cheap
    else:
        penalties, wanted = (falls, False) if goals.is_small(start) else (rises, True)
        is_there = goals.is_small
    for penalty in penalties[: path.max_fits - 1]:
        point = path.fit(penalty)
        if goals.end_with(point):
            return
        if is_there(point) == wanted:
            break
    # Cost and size are not monotone in the penalty: if the bracket has no such tree, the rest may.
    for ends in ((), (falls[-1], rises[-1])):
        for penalty in ends[: path.max_fits - len(path.fits)]:
            if goals.end_with(path.fit(penalty)):
                return
        path.refine(goals.part, goals.end_with)
        if any(map(goals.end_with, path.points())):
            return


def _tree_of(name: str, goal: BaseThresholdTree, problem: Problem) -> ThresholdTree:
    """The tree of a fitted estimator, or the one that an unfitted one grows for the problem."""
    if not hasattr(goal, "tree_"):
        validate_parameters(goal)
        return clone(goal)._grow(problem, Progress("", 0, 0)).builder.build()
    if goal.tree_.n_features != problem.n_features:
        raise ValueError(
            f"the tree of {name} has {goal.tree_.n_features} columns, but X has "
            f"{problem.n_features}"
        )
    return goal.tree_
