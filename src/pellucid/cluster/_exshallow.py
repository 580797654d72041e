"""ExShallow: induced cost with a penalty on depth; ExShallow*: a search for the penalty."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from math import inf
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import clone

from pellucid._core.criteria.induced_cost import InducedCost
from pellucid._core.criteria.problem import Problem
from pellucid._core.growers import grow
from pellucid._core.growers.penalty_path import PenaltyPath
from pellucid._utils.progress import Progress
from pellucid._utils.sklearn_compat import Interval, validate_parameters
from pellucid.cluster._base import BaseThresholdTree
from pellucid.cluster._docs import common_parameters
from pellucid.cluster._reference_tree import BaseReferenceTree, BaseSearchTree
from pellucid.metrics import weighted_average_explanation_size
from pellucid.tree import ThresholdTree
from pellucid.tree.trade_off import TradeOff, TradeOffPoint

START, STEP, _N_STEPS = 0.03, 4.0, 3
"""First penalty, and factor between further ones and their number until there is a bracket."""

_ROUNDING = 1 + 1e-9  # relative tolerance of the goals


@common_parameters
class ExShallow(BaseSearchTree):
    r"""A tree with one leaf per cluster, of low cost and with short rules.

    Among cuts of similar cost, it takes the one that leads to a shallow tree, so that the rules of
    most rows have few conditions. The depth penalty λ says how much cost a shorter rule is worth.

    A node u is cut where this is least: the induced cost of its rows after the cut, relative to
    their cost before, plus λ times an estimate of the mean number of cuts below the node,

    .. math:: \frac{\mathrm{InducedCost}(u, \mathrm{cut})}{\mathrm{Cost}(u)}
        + \lambda \cdot \mathrm{EvalWAD}(u, \mathrm{cut}).

    Parameters
    ----------
    {n_clusters}
    depth_penalty : float, default=0.03
        Fraction of a node's cost that one split less per row is worth, λ of the paper. 0 is
        ExGreedy.
    {common}

    Notes
    -----
    Sample weights count as rows in the same way as for :class:`~pellucid.ExGreedy`.

    EvalWAD (algorithm 2) sends K · r_c of the K centers of an estimated node to the left. This
    number is rounded up and kept between 1 and K - 1, as in the published package; the real number
    that the paper prints need never come down to 1.

    References
    ----------
    Laber, Murtinho, Oliveira (2023). Shallow decision trees for explainable k-means
    clustering. Pattern Recognition.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from pellucid import ExShallow
    >>> model = ExShallow(3, random_state=0).fit(load_wine(as_frame=True).data)
    >>> print(model.explain())
    cluster 0: proline ≤ 590
        69 rows (38.8%, 100.0% pure)
    cluster 1: proline > 950
        47 rows (26.4%, 100.0% pure)
    cluster 2: 590 < proline ≤ 950
        62 rows (34.8%, 100.0% pure)
    """

    _parameter_constraints = {"depth_penalty": [Interval(Real, 0, None, closed="left")]}
    depth_penalty: float = 0.03

    def _grow(self, problem, progress):
        criterion = problem.criterion(InducedCost, self.depth_penalty)
        return grow(criterion, self.search, self.threshold_style, progress)

    def path(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        penalties: Any = None,
        *,
        max_fits: int = 200,
    ) -> TradeOff:
        """All trees over a range of depth penalties: cost against explanation size.

        The tree is constant over ranges of penalties and changes where another cut becomes the
        best of its node. These penalties are computed from the cuts on either side, so that no
        tree of the range is missed unless `max_fits` is reached first. The reference is found
        once, and a node is searched again only if its cut may have changed. The estimator is not
        modified and need not be fitted; its own `depth_penalty` is not used.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows, as in `fit`.
        y : array-like of shape (n_samples,), default=None
            Labels to explain, as in `fit`.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.
        penalties : array-like of float, optional
            Penalties to start with; the range is from the least to the greatest. Default: 0, 0.03
            and 1.
        max_fits : int, default=200
            Largest number of penalties to try; those in `penalties` are always tried.

        Returns
        -------
        TradeOff
            The trees that are not dominated (no other is as good in cost, WAES and WAD and better
            in one), shortest explanations first. One point per tree.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from pellucid import ExShallow
        >>> path = ExShallow(3, random_state=0).path(load_wine().data)
        >>> print(path)
        cost ratio  agreement   WAES    WAD  leaves  setting
             1.007      97.8%   1.33   1.59       3  depth penalty 0.9
             1.004      98.3%   1.33   1.60       3  depth penalty 0.7
             1.002      98.9%   1.34   1.60       3  depth penalty 0.4
             1.000     100.0%   1.35   1.61       3  depth penalty 0
        """
        penalties = _read_penalties(penalties)
        model = copy(self)  # reading X sets attributes, and a clone would drop a fitted reference
        progress = Progress(f"{type(self).__name__}: penalties", max_fits, self.verbose)
        with model._prepare(X, y, sample_weight) as (_, _, problem):
            path = PenaltyPath(problem, self.threshold_style, progress, max_fits)
            for penalty in penalties:
                path.fit(penalty)
            path.refine()
        return path.trade_off().undominated()


def _read_penalties(penalties: Any) -> list[float]:
    values = np.asarray([0.0, 0.03, 1.0] if penalties is None else penalties, dtype=np.float64)
    if values.ndim != 1 or len(values) == 0:
        expected = "penalties must be a 1-D array of at least one number"
        raise ValueError(f"{expected}; got shape {values.shape}")
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if len(bad):
        problem = f"penalties[{bad[0]}] is {values[bad[0]]}"
        raise ValueError(f"{problem}; penalties must be finite and at least 0")
    return values.tolist()


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

    _parameter_constraints = {
        "goal_cost": [Interval(Real, 0, None, closed="neither"), BaseThresholdTree, None],
        "goal_size": [Interval(Real, 0, None, closed="left"), BaseThresholdTree, None],
        "max_fits": [Interval(Integral, 1, None, closed="left")],
    }
    goal_cost: Any = None
    goal_size: Any = None
    max_fits: int = 50
    best_depth_penalty_: float = field(init=False)
    reached_: bool = field(init=False)
    path_: TradeOff = field(init=False)
    n_fits_: int = field(init=False)

    def _grow(self, problem, progress):
        goals = self._find_goals(problem)
        trees = Progress(f"{type(self).__name__}: trees", self.max_fits, self.verbose)
        path = PenaltyPath(problem, self.threshold_style, trees, self.max_fits)
        _search(path, goals)
        path.try_rounder_penalties(goals.choose(list(path.trade_off())))
        everything = path.trade_off()
        best = goals.choose(list(everything))
        self.best_depth_penalty_, self.reached_ = best.penalty, goals.meet(best)
        self.path_, self.n_fits_ = everything.undominated(), len(path.fits)
        return path.grow(best.penalty)

    def _find_goals(self, problem: Problem) -> Goals:
        trees: dict[int, ThresholdTree] = {}

        def tree_of(name: str, goal: BaseThresholdTree) -> ThresholdTree:
            if id(goal) not in trees:
                trees[id(goal)] = _tree_of(name, goal, problem)
            return trees[id(goal)]

        goals = {"ratio": self.goal_cost, "size": self.goal_size}
        if isinstance(self.goal_cost, BaseThresholdTree):
            position = tree_of("goal_cost", goals.pop("ratio")).predict(problem.X)
            goals["cost"] = problem.own_cost(position) * problem.cost_unit
        if isinstance(self.goal_size, BaseThresholdTree):
            tree, weight = tree_of("goal_size", self.goal_size), problem.weights.values
            size = weighted_average_explanation_size(tree, problem.X, sample_weight=weight)
            goals["size"] = size
        return Goals(**{name: goal for name, goal in goals.items() if goal is not None})


@dataclass(frozen=True)
class Goals:
    """Upper limits of a tree: absolute `cost`, `ratio` to the reference's, and `size`, the WAES."""

    cost: float = inf
    ratio: float = inf
    size: float = inf

    @property
    def has_cost(self) -> bool:
        return min(self.cost, self.ratio) < inf

    def is_cheap(self, point: TradeOffPoint) -> bool:
        return point.cost <= self.cost * _ROUNDING and point.npc <= self.ratio * _ROUNDING

    def is_small(self, point: TradeOffPoint) -> bool:
        return point.waes <= self.size * _ROUNDING

    def is_first_met(self, point: TradeOffPoint) -> bool:
        """Whether a tree is within the cost if that has a limit, else within the size."""
        return self.is_cheap(point) if self.has_cost else self.is_small(point)

    def meet(self, point: TradeOffPoint) -> bool:
        return self.is_cheap(point) and self.is_small(point)

    def end_with(self, point: TradeOffPoint) -> bool:
        """Whether the search may stop at a tree; with one goal, a better tree may exist."""
        return self.has_cost and self.size < inf and self.meet(point)

    def part(self, low: TradeOffPoint, high: TradeOffPoint) -> bool:
        """Whether exactly one of two trees meets a goal, so that the limit lies between them."""
        return self.is_first_met(low) != self.is_first_met(high)

    def choose(self, points: list[TradeOffPoint]) -> TradeOffPoint:
        """The tree to return, as described in the notes of :class:`ExShallowSearch`."""

        def by_size(p: TradeOffPoint) -> tuple[float, ...]:
            return p.waes, p.cost, p.wad, p.penalty

        def by_cost(p: TradeOffPoint) -> tuple[float, ...]:
            return p.cost, p.waes, p.wad, p.penalty

        best, nearest = (by_size, by_cost) if self.has_cost else (by_cost, by_size)
        met = [point for point in points if self.is_first_met(point)]
        return min(met, key=best) if met else min(points, key=nearest)


def _search(path: PenaltyPath, goals: Goals) -> None:
    """Try penalties until a tree ends the search or `path` has tried as many as it may."""
    start = path.fit(START)
    if min(goals.cost, goals.ratio, goals.size) == inf or goals.end_with(start):
        return
    falls = [START / STEP**i for i in range(1, _N_STEPS)] + [0.0]
    rises = [START * STEP**i for i in range(1, _N_STEPS + 1)]
    is_met = goals.is_first_met(start)
    for penalty in (rises if is_met == goals.has_cost else falls)[: path.max_fits - 1]:
        point = path.fit(penalty)
        if goals.end_with(point):
            return
        if goals.is_first_met(point) != is_met:
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
        found, width = goal.tree_.n_features, problem.n_features
        raise ValueError(f"the tree of {name} has {found} columns, but X has {width}")
    return goal.tree_
