"""Greedy trees at many depth penalties λ: which penalty to try next, and measures of each tree."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import ceil, floor, inf, log, log10, sqrt
from typing import Any

import numpy as np

from pellucid._core.criteria.induced_cost_path import CachedInducedCost
from pellucid._core.criteria.problem import Problem
from pellucid._core.growers.growing_tree import GrowthResult, grow_greedily
from pellucid._utils.progress import Progress
from pellucid.tree import ThresholdTree
from pellucid.tree.measures import mean_conditions, mean_depth
from pellucid.tree.rounding import ThresholdStyle, choose_threshold
from pellucid.tree.trade_off import TradeOff, TradeOffPoint

RESOLUTION = 1e-6
"""Penalties whose relative difference is smaller count as equal."""

SMALLEST = 1e-9
"""Smallest positive penalty that is tried; below it, rounding would decide between splits."""


class PenaltyPath:
    """Trees of one problem at many penalties; nodes that they share are searched once.

    `max_fits` is the largest number of trees after `refine`, those grown before it included;
    `progress` has one step per tree. `fits` has the tree at each penalty tried so far, and
    `is_complete` says whether `refine` has found all trees between the lowest and the highest
    penalty.
    """

    def __init__(
        self,
        problem: Problem,
        threshold_style: ThresholdStyle,
        progress: Progress,
        max_fits: int,
    ) -> None:
        self.problem, self.threshold_style = problem, threshold_style
        self.progress, self.max_fits = progress, max_fits
        self.criterion = CachedInducedCost(problem)
        self.fits: dict[float, TradeOffPoint] = {}
        self.is_complete = False
        self._measured: dict[ThresholdTree, dict[str, Any]] = {}
        self._shifted: set[float] = set()
        self._reference_cost: int | None = None

    def grow(self, penalty: float) -> GrowthResult:
        """Grow the tree at a penalty."""
        self.criterion.depth_penalty = penalty
        return grow_greedily(self.criterion, self.threshold_style, Progress("", 0, 0))

    def fit(self, penalty: float) -> TradeOffPoint:
        """Tree at a penalty and its measures."""
        penalty = float(penalty)
        if penalty not in self.fits:
            growth = self.grow(penalty)
            tree = growth.builder.build()
            if tree not in self._measured:
                if self._reference_cost is None:
                    self._reference_cost = self.problem.own_cost(self.problem.labels)
                measures = _measure(self.problem, tree, growth, self._reference_cost)
                self._measured[tree] = measures
            values = self._measured[tree]
            self.fits[penalty] = TradeOffPoint(penalty, (penalty, penalty), tree, **values)
            self.progress.step()
        return self.fits[penalty]

    def refine(
        self,
        priority: Callable[[TradeOffPoint, TradeOffPoint], object] | None = None,
        stop: Callable[[TradeOffPoint], bool] = lambda point: False,
    ) -> None:
        """Try penalties between those whose trees differ until all trees are found.

        The pair of neighbouring trees with the greatest priority is searched next. Ties, and all
        pairs by default, go by the area between them in cost and explanation size. The
        search ends at the first tree for which `stop` is true.
        """
        priority = priority or (lambda low, high: ())
        while True:
            gaps = [
                (priority(*points), _area(*points), _width(*points), points[0].penalty, penalty)
                for points in pairwise(self.points())
                if (penalty := self._next_penalty(*points)) is not None
            ]
            self.is_complete = not gaps
            if not gaps or len(self.fits) >= self.max_fits:
                return
            if stop(self.fit(max(gaps)[-1])):
                return

    def try_rounder_penalties(self, point: TradeOffPoint) -> None:
        """Try penalties of few digits near that of a point until one gives the same tree."""
        for digits in range(1, 6):
            step = 10.0 ** (floor(log10(point.penalty)) - digits + 1) if point.penalty > 0 else 1.0
            for multiple in (floor(point.penalty / step), ceil(point.penalty / step)):
                penalty = float(f"{multiple * step:.{digits}g}")
                if len(self.fits) >= self.max_fits or self.fit(penalty).tree == point.tree:
                    return

    def points(self) -> list[TradeOffPoint]:
        """The fits by ascending penalty."""
        return [self.fits[penalty] for penalty in sorted(self.fits)]

    def trade_off(self) -> TradeOff:
        """Every distinct tree with the range of its penalties."""
        ranges: dict[ThresholdTree, list[float]] = {}
        for point in self.points():
            ranges.setdefault(point.tree, []).append(point.penalty)
        return TradeOff(
            (
                TradeOffPoint(_roundest(p[0], p[-1]), (p[0], p[-1]), tree, **self._measured[tree])
                for tree, p in ranges.items()
            ),
            self.is_complete,
        )

    def _next_penalty(self, low: TradeOffPoint, high: TradeOffPoint) -> float | None:
        """Penalty to try between two neighbours; None if there is no tree between them."""
        first, last = low.penalty, high.penalty
        least = first * (1 + RESOLUTION) if first > 0 else SMALLEST
        if low.tree == high.tree or not first < least < last * (1 - RESOLUTION):
            return None
        crossing = self.criterion.cache.crossing(first, last)
        if crossing is None:
            return None
        if least < crossing < last * (1 - RESOLUTION):
            return crossing
        # Two splits are equally good at this end, and the other one is better a little further in.
        # If a penalty there has been tried, rounding hides the crossing: bisect.
        shifted = None
        if abs(crossing - first) <= 2 * (least - first) and first not in self._shifted:
            shifted = least
        elif abs(crossing - last) <= 2 * RESOLUTION * last and last not in self._shifted:
            shifted = last * (1 - RESOLUTION)
        if shifted is not None:
            self._shifted.add(shifted)
            return shifted
        return sqrt(first * last) if first > 0 else sqrt(least * last)


def _measure(
    problem: Problem, tree: ThresholdTree, growth: GrowthResult, reference: int
) -> dict[str, Any]:
    """Cost and size of a tree; trees are compared by them, so that the costs are integers."""
    cluster = tree.cluster[growth.leaf_of_rows]
    cost, kept = problem.own_cost(cluster), np.flatnonzero(cluster == problem.labels)
    return {
        "cost": cost * problem.cost_unit,
        "npc": cost / reference if reference > 0 else (1.0 if cost == 0 else inf),
        "waes": mean_conditions(tree),
        "wad": mean_depth(tree),
        "n_leaves": tree.n_leaves,
        "agreement": problem.weights.total_of(kept) / problem.weights.total,
    }


def _area(low: TradeOffPoint, high: TradeOffPoint) -> float:
    return abs((low.cost - high.cost) * (low.waes - high.waes))


def _width(low: TradeOffPoint, high: TradeOffPoint) -> float:
    return log(high.penalty) - log(low.penalty) if low.penalty > 0 else inf


def _roundest(low: float, high: float) -> float:
    return choose_threshold(low, high, "round") if low < high else low
