"""Greedy trees at many depth penalties λ: which penalty to try next, and measures of each tree.

The best splits of the nodes that trees have in common are cached.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from math import ceil, floor, inf, log, log10, sqrt
from typing import Any

import numpy as np

from pellucid._core.criteria.base import Node, NodeRows
from pellucid._core.criteria.column_search import Split
from pellucid._core.criteria.induced_cost import InducedCost
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


class CutCache:
    """Best splits of a node at the penalties searched so far, and the caches of its children.

    The objective of a split is a straight line in the penalty, Price + λ DExp, and the best split
    is the lowest line. A line that is lowest at two penalties is lowest at all penalties between
    them, so no search is needed there. `penalties` are ascending; `splits` have the lowest of their
    thresholds. `_lines` have the Price and the DExp of each split.
    """

    def __init__(self) -> None:
        self.penalties: list[float] = []
        self.splits: list[Split | None] = []
        self._lines: dict[Any, tuple[float, float]] = {}
        self._children: dict[Any, tuple[CutCache, CutCache]] = {}

    @property
    def n_searches(self) -> int:
        """Number of searches of this node and its descendants."""
        children = (child for pair in self._children.values() for child in pair)
        return len(self.penalties) + sum(child.n_searches for child in children)

    def covers(self, penalty: float) -> bool:
        """Whether the searches so far determine the best split at a penalty."""
        i = bisect_left(self.penalties, penalty)
        if i == len(self.penalties):
            return False
        if self.penalties[i] == penalty:
            return True
        return i > 0 and _key(self.splits[i - 1]) == _key(self.splits[i])

    def split(self, penalty: float) -> Split | None:
        """Best split at a covered penalty."""
        return self.splits[bisect_left(self.penalties, penalty)]

    def add(self, penalty: float, split: Split | None, depth: float) -> None:
        """Store the best split at a penalty and its DExp."""
        i = bisect_left(self.penalties, penalty)
        self.penalties.insert(i, penalty)
        self.splits.insert(i, split)
        if split is not None:
            self._lines.setdefault(_key(split), (split.objective - penalty * depth, depth))

    def children(self, penalty: float) -> tuple[CutCache, CutCache]:
        """Caches of the children under the best split at a covered penalty."""
        return self._children.setdefault(_key(self.split(penalty)), (CutCache(), CutCache()))

    def crossing(self, low: float, high: float) -> float | None:
        """Penalty at which the trees of two penalties may begin to differ.

        At the first node at which their splits differ, the penalty at which the lines of the two
        splits cross; None if the trees are equal.
        """
        stack = [self]
        while stack:
            node = stack.pop()
            if not node.penalties:  # a leaf
                continue
            keys = _key(node.split(low)), _key(node.split(high))
            if None in keys:
                continue
            if keys[0] == keys[1]:
                stack += reversed(node.children(low))
                continue
            (cost, depth), (other_cost, other_depth) = (node._lines[key] for key in keys)
            return low if depth == other_depth else (other_cost - cost) / (depth - other_depth)
        return None


def _key(split: Split | None) -> tuple[int, float] | None:
    return None if split is None else (split.feature, split.threshold)


class CachedInducedCost(InducedCost):
    """:class:`InducedCost` for trees at many penalties.

    Set `depth_penalty` and grow a tree. A node that earlier trees contain too is searched only at
    penalties that its `cache` does not cover. No rows are kept from one tree to the next.
    """

    def __init__(self, problem: Problem, depth_penalty: float = 0.0) -> None:
        super().__init__(problem, depth_penalty)
        self.cache = CutCache()

    def start_state(self, cluster: int | None = None) -> CutCache:
        return self.cache

    def child_states(
        self, node: Node[CutCache], left: NodeRows, right: NodeRows
    ) -> tuple[CutCache, CutCache]:
        return node.state.children(self.depth_penalty)

    def best_split(self, node: Node[CutCache]) -> Split | None:
        """Best split over all columns, from the cache or by a search."""
        if len(node.rows.centers) < 2:
            return None
        cache = node.state
        if not cache.covers(self.depth_penalty):
            split, depth = super().best_split(node), 0.0
            if split is not None:
                # Equivalent thresholds are stored as one split, with the lowest of them.
                low, _, left, _ = self.split_rows(node.rows.active, split.feature, split.threshold)
                low = max(low, self.center_interval(node.rows.centers, split)[0])
                split = split._replace(threshold=low)
                depth = self._expected_depth(node, split, left)
            cache.add(self.depth_penalty, split, depth)
        return cache.split(self.depth_penalty)

    def _expected_depth(self, node: Node[CutCache], split: Split, left: np.ndarray) -> float:
        """DExp of a split, from which the crossings of lines are computed.

        WAD(1) = 0 and WAD(K) = 1 + r_p WAD(K_L) + (1 - r_p) WAD(K - K_L), with r_p the share of
        rows on the left and K_L = ceil(K r_c) clamped to [1, K - 1]. Shares of rows on killer
        sides are subtracted.
        """
        weights, rows = self.problem.weights, node.rows
        total = float(weights.units_of(rows.active).sum())
        r_p = float(weights.units_of(left).sum()) / total if total > 0 else 0.0
        n_centers = len(rows.centers)
        coordinates = self.problem.centers[rows.centers, split.feature]
        n_left = int((coordinates <= split.threshold).sum())
        wad = [0.0, 0.0]
        for k in range(2, n_centers + 1):
            k_left = min(max(-(-k * n_left // n_centers), 1), k - 1)
            wad.append(1.0 + r_p * wad[k_left] + (1.0 - r_p) * wad[k - k_left])
        on_killer_left = r_p * (split.feature in rows.cut_left)
        return wad[n_centers] - on_killer_left - (1.0 - r_p) * (split.feature in rows.cut_right)


class PenaltyPath:
    """Trees of one problem at many penalties; nodes that they share are searched once.

    `max_fits` is the largest number of trees after `refine`, those grown before it included;
    `progress` has one step per tree. `fits` has the tree at each penalty tried so far, and
    `is_complete` says whether `refine` has found all trees between the lowest and the highest
    penalty.
    """

    def __init__(
        self, problem: Problem, threshold_style: ThresholdStyle, progress: Progress, max_fits: int
    ) -> None:
        self.problem, self.threshold_style = problem, threshold_style
        self.progress, self.max_fits = progress, max_fits
        self.criterion = CachedInducedCost(problem)
        self.fits: dict[float, TradeOffPoint] = {}
        self.is_complete = False
        self._measured: dict[ThresholdTree, dict[str, Any]] = {}
        self._shifted: set[float] = set()

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
                self._measured[tree] = self._measure(tree, growth)
            values = self._measured[tree]
            self.fits[penalty] = TradeOffPoint(penalty, (penalty, penalty), tree, **values)
            self.progress.step()
        return self.fits[penalty]

    @cached_property
    def _reference_cost(self) -> int:
        return self.problem.own_cost(self.problem.labels)

    def _measure(self, tree: ThresholdTree, growth: GrowthResult) -> dict[str, Any]:
        """Cost and size of a tree; trees are compared by them, so that the costs are integers."""
        problem, reference = self.problem, self._reference_cost
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

    def refine(
        self,
        priority: Callable[[TradeOffPoint, TradeOffPoint], object] = lambda low, high: (),
        stop: Callable[[TradeOffPoint], bool] = lambda point: False,
    ) -> None:
        """Try penalties between those whose trees differ until all trees are found.

        The pair of neighbouring trees with the greatest priority is searched next. Ties, and all
        pairs by default, go by the area between them in cost and explanation size. The
        search ends at the first tree for which `stop` is true.
        """
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


def _area(low: TradeOffPoint, high: TradeOffPoint) -> float:
    return abs((low.cost - high.cost) * (low.waes - high.waes))


def _width(low: TradeOffPoint, high: TradeOffPoint) -> float:
    return log(high.penalty) - log(low.penalty) if low.penalty > 0 else inf


def _roundest(low: float, high: float) -> float:
    return choose_threshold(low, high, "round") if low < high else low
