"""Induced cost at one depth penalty after another, without searching twice for the same cut."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field

import numpy as np

from pellucid._core.criteria.base import Node, SplitNode
from pellucid._core.criteria.column_search import Split
from pellucid._core.criteria.induced_cost import InducedCost
from pellucid._core.criteria.problem import Problem


@dataclass
class Memory:
    """What is known of one cell: its best cut at some penalties, and the cells below each cut.

    The objective of a cut is a straight line in the penalty, Price + penalty * DExp, and the best
    cut is the lowest of these lines. A line that is lowest at two penalties is lowest at all
    between them, so that nothing has to be searched there.

    Attributes
    ----------
    penalties : list of float
        Penalties at which the cell was searched, ascending.
    cuts : list of Split or None
        The best cut at each, whose threshold is the lowest threshold that makes it.
    """

    penalties: list[float] = field(default_factory=list)
    cuts: list[Split | None] = field(default_factory=list)
    _lines: dict[tuple, tuple[float, float]] = field(default_factory=dict)
    _below: dict[tuple, tuple[Memory, Memory]] = field(default_factory=dict)

    @property
    def n_searches(self) -> int:
        """How many times this cell and those below it were searched."""
        below = (half for halves in self._below.values() for half in halves)
        return len(self.penalties) + sum(half.n_searches for half in below)

    def knows(self, penalty: float) -> bool:
        """Whether the best cut is known at a penalty."""
        i = bisect_left(self.penalties, penalty)
        if i == len(self.penalties):
            return False
        if self.penalties[i] == penalty:
            return True
        return i > 0 and _key(self.cuts[i - 1]) == _key(self.cuts[i])

    def cut(self, penalty: float) -> Split | None:
        """The best cut at a penalty at which it is known."""
        return self.cuts[bisect_left(self.penalties, penalty)]

    def learn(self, penalty: float, cut: Split | None, depth: float) -> None:
        """Keep the best cut at a penalty, and its DExp."""
        i = bisect_left(self.penalties, penalty)
        self.penalties.insert(i, penalty)
        self.cuts.insert(i, cut)
        if cut is not None:
            self._lines.setdefault(_key(cut), (cut.objective - penalty * depth, depth))

    def below(self, penalty: float) -> tuple[Memory, Memory]:
        """Of the two cells below the best cut at a penalty."""
        return self._below.setdefault(_key(self.cut(penalty)), (Memory(), Memory()))

    def crossing(self, low: float, high: float) -> float | None:
        """A penalty at which the tree of `low` and that of `high` may part ways.

        Where the lines of their cuts cross, at the first node at which the cuts differ; None if
        the trees are the same.
        """
        waiting = [self]
        while waiting:
            memory = waiting.pop()
            if not memory.penalties:  # one center: nothing to cut
                continue
            first, second = (_key(memory.cut(penalty)) for penalty in (low, high))
            if first is None or second is None:
                continue
            if first == second:
                waiting += reversed(memory.below(low))
                continue
            (price, depth), (other_price, other_depth) = (
                memory._lines[cut] for cut in (first, second)
            )
            if depth == other_depth:
                return low
            return (other_price - price) / (depth - other_depth)
        return None


def _key(cut: Split | None) -> tuple[int, float] | None:
    return None if cut is None else (cut.feature, cut.threshold)


@dataclass(slots=True)
class PathState:
    """What is known of a node: its cache, and the children of the split that was found last."""

    memory: Memory
    divided: SplitNode | None = None


class RememberedInducedCost(InducedCost):
    """The criterion of :class:`InducedCost`, to grow trees at many penalties.

    Set `depth_penalty` and grow; cells that earlier trees had in common with this one are searched
    only where what was found there does not decide. No rows are kept from one tree to the next.

    Attributes
    ----------
    memory : Memory
        Of the root.
    """

    def __init__(self, problem: Problem, depth_penalty: float = 0.0) -> None:
        super().__init__(problem, depth_penalty)
        self.memory = Memory()

    @property
    def n_searches(self) -> int:
        """How many times a cell was searched."""
        return self.memory.n_searches

    def start_state(self, cluster: int | None = None) -> PathState:
        """State of the root."""
        return PathState(self.memory)

    def best_split(self, node: Node[PathState]) -> Split | None:
        """Best valid split over all columns, searched for unless it is known."""
        if len(node.rows.centers) < 2:
            return None
        memory = node.state.memory
        if not memory.knows(self.depth_penalty):
            split, depth = super().best_split(node), 0.0
            if split is not None:
                divided = super().divide(node, split)
                # One threshold per split, whichever of its thresholds the search came upon.
                split = split._replace(threshold=divided.low)
                node.state.divided = divided._replace(split=split)
                depth = self._expected_depth(node, split, divided.left.rows.active)
            memory.learn(self.depth_penalty, split, depth)
        return memory.cut(self.depth_penalty)

    def divide(self, node: Node[PathState], split: Split) -> SplitNode:
        """The children of the best split, each with what is known of it."""
        divided, node.state.divided = node.state.divided, None
        if divided is None or divided.split != split:
            divided = super().divide(node, split)
        left, right = node.state.memory.below(self.depth_penalty)
        return divided._replace(
            left=Node(divided.left.rows, PathState(left)),
            right=Node(divided.right.rows, PathState(right)),
        )

    def _expected_depth(self, node: Node[PathState], cut: Split, left: np.ndarray) -> float:
        """DExp of a cut; only to tell where two cuts change places."""
        weights, cell = self.problem.weights, node.rows
        whole = float(weights.units_of(cell.active).sum())
        share = float(weights.units_of(left).sum()) / whole if whole > 0 else 0.0
        n_centers = len(cell.centers)
        n_left = int((self.problem.centers[cell.centers, cut.feature] <= cut.threshold).sum())
        depths = [0.0, 0.0]
        for m in range(2, n_centers + 1):
            part = min(max(-(-m * n_left // n_centers), 1), m - 1)
            depths.append(1.0 + share * depths[part] + (1.0 - share) * depths[m - part])
        spared = share * (cut.feature in cell.cut_left)
        return depths[n_centers] - spared - (1.0 - share) * (cut.feature in cell.cut_right)
