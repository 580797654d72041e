"""Induced cost at many depth penalties λ; best splits are cached per node."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from pellucid._core.criteria.base import Node, NodeRows
from pellucid._core.criteria.column_search import Split
from pellucid._core.criteria.induced_cost import InducedCost
from pellucid._core.criteria.problem import Problem


class _Line(NamedTuple):
    """Objective of a split as a function of λ: cost + λ depth."""

    cost: float
    depth: float


@dataclass
class CutCache:
    """Best splits of a node at the penalties searched so far, and the caches of its children.

    The objective of a split is a straight line in the penalty, Price + λ DExp, and the best split
    is the lowest line. A line that is lowest at two penalties is lowest at all penalties between
    them, so no search is needed there. `penalties` are ascending; `splits` have the lowest of their
    thresholds.
    """

    penalties: list[float] = field(default_factory=list)
    splits: list[Split | None] = field(default_factory=list)
    _lines: dict[tuple[Any, ...] | None, _Line] = field(default_factory=dict)
    _children: dict[tuple[Any, ...] | None, tuple[CutCache, CutCache]] = field(default_factory=dict)

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
            self._lines.setdefault(_key(split), _Line(split.objective - penalty * depth, depth))

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
            first, second = (node._lines[key] for key in keys)
            if first.depth == second.depth:
                return low
            return (second.cost - first.cost) / (first.depth - second.depth)
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
