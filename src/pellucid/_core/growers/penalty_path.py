"""Greedy trees along the depth penalty: which penalty to try next, and what each tree is worth."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import ceil, floor, inf, log, log10, sqrt

from pellucid._core.criteria.induced_cost_path import RememberedInducedCost
from pellucid._core.criteria.problem import Problem
from pellucid._core.growers.greedy import grow_greedily
from pellucid._core.growers.growing_tree import GrowthResult
from pellucid._utils.progress import Progress
from pellucid.tree import ThresholdTree
from pellucid.tree.rounding import ThresholdStyle, choose_threshold
from pellucid.tree.sizes import mean_conditions, mean_depth
from pellucid.tree.trade_off import TradeOff, TradeOffPoint

RESOLUTION = 1e-6
"""Penalties closer together than this share of themselves are not told apart."""

SMALLEST = 1e-9
"""Penalties below this, other than 0, are not tried: rounding would decide."""


class Along:
    """Trees of one problem at many penalties; everything that they share is done once.

    Parameters
    ----------
    problem : Problem
    threshold_style : {"round", "midpoint", "data"}
    progress : Progress
        Takes a step with every tree.
    max_fits : int
        Most trees to grow in `refine`, those grown before it included.

    Attributes
    ----------
    found : dict of float to TradeOffPoint
        The tree at each penalty that was tried.
    is_complete : bool
        Whether `refine` has found all trees between the penalties that were tried.
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
        self.criterion = RememberedInducedCost(problem)
        self.found: dict[float, TradeOffPoint] = {}
        self.is_complete = False
        self._measured: dict[ThresholdTree, dict[str, float]] = {}
        self._nudged: set[float] = set()

    def grow(self, penalty: float) -> GrowthResult:
        """The tree at a penalty, as a growth."""
        self.criterion.depth_penalty = penalty
        return grow_greedily(self.criterion, self.threshold_style, Progress("", 0, 0))

    def fit(self, penalty: float) -> TradeOffPoint:
        """The tree at a penalty and what it is worth."""
        penalty = float(penalty)
        if penalty not in self.found:
            growth = self.grow(penalty)
            tree = growth.builder.build()
            if tree not in self._measured:
                self._measured[tree] = measure(self.problem, tree, growth)
            values = self._measured[tree]
            self.found[penalty] = TradeOffPoint(penalty, (penalty, penalty), tree, **values)
            self.progress.step()
        return self.found[penalty]

    def refine(
        self,
        worth: Callable[[TradeOffPoint, TradeOffPoint], object] | None = None,
        until: Callable[[TradeOffPoint], bool] = lambda point: False,
    ) -> None:
        """Try penalties between those whose trees differ, until all trees are found.

        Parameters
        ----------
        worth : callable, optional
            How promising it is to look between two trees; by default, the size of the rectangle
            that they span in cost and explanation size.
        until : callable, optional
            Ends the search at the first tree for which it is true.
        """
        worth = worth or (lambda low, high: ())
        while True:
            gaps = [
                (worth(*points), _area(*points), _width(*points), points[0].penalty, penalty)
                for points in pairwise(self.points())
                if (penalty := self._between(*points)) is not None
            ]
            self.is_complete = not gaps
            if not gaps or len(self.found) >= self.max_fits:
                return
            if until(self.fit(max(gaps)[-1])):
                return

    def tidy(self, point: TradeOffPoint) -> None:
        """Look for a rounder penalty of the same tree, of five digits at most."""
        for digits in range(1, 6):
            step = 10.0 ** (floor(log10(point.penalty)) - digits + 1) if point.penalty > 0 else 1.0
            for whole in (floor(point.penalty / step), ceil(point.penalty / step)):
                penalty = float(f"{whole * step:.{digits}g}")
                if len(self.found) >= self.max_fits or self.fit(penalty).tree == point.tree:
                    return

    def points(self) -> list[TradeOffPoint]:
        """The tree at each penalty that was tried, by penalty."""
        return [self.found[penalty] for penalty in sorted(self.found)]

    def trade_off(self) -> TradeOff:
        """Every tree that was found, once, with the range of its penalties."""
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

    def _between(self, low: TradeOffPoint, high: TradeOffPoint) -> float | None:
        """Where to look between two neighbours; None where there is nothing to be found."""
        first, last = low.penalty, high.penalty
        least = first * (1 + RESOLUTION) if first > 0 else SMALLEST
        if low.tree == high.tree or not first < least < last * (1 - RESOLUTION):
            return None
        crossing = self.criterion.memory.crossing(first, last)
        if crossing is None:
            return None
        if least < crossing < last * (1 - RESOLUTION):
            return crossing
        # Two cuts are alike at this end; a little further in, the other one is better. If that has
        # been tried, rounding hides it, and halves will do.
        nudge = None
        if abs(crossing - first) <= 2 * (least - first) and first not in self._nudged:
            nudge = least
        elif abs(crossing - last) <= 2 * RESOLUTION * last and last not in self._nudged:
            nudge = last * (1 - RESOLUTION)
        if nudge is not None:
            self._nudged.add(nudge)
            return nudge
        return sqrt(first * last) if first > 0 else sqrt(least * last)


def measure(problem: Problem, tree: ThresholdTree, growth: GrowthResult) -> dict[str, float]:
    """What a tree that has been grown for a problem is worth."""
    position = tree.cluster[growth.leaf_of_rows]
    (_, cost), (_, reference) = problem.data.beside_reference(position)
    return {
        "cost": cost,
        "npc": cost / reference if reference > 0 else (1.0 if cost == 0 else inf),
        "waes": mean_conditions(tree),
        "wad": mean_depth(tree),
        "n_leaves": tree.n_leaves,
    }


def _area(low: TradeOffPoint, high: TradeOffPoint) -> float:
    return abs((low.cost - high.cost) * (low.waes - high.waes))


def _width(low: TradeOffPoint, high: TradeOffPoint) -> float:
    return log(high.penalty) - log(low.penalty) if low.penalty > 0 else inf


def _roundest(low: float, high: float) -> float:
    return choose_threshold(low, high, "round") if low < high else low
