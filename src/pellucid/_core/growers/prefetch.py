"""Cuts that are likely to be asked for, found before they are."""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right, insort
from itertools import count
from threading import Lock

from pellucid._core.criteria.base import Criterion, Node, NodeRows, SplitNode
from pellucid._core.criteria.column_search import Split
from pellucid._core.growers.growing_tree import are_worth_sharing


class LookAhead:
    """The best cuts of cells, and the sides of these cuts.

    When one is asked for that is not known yet, all threads look for it and for others that are
    likely to come next, each for one after the other. A cut is likely if fewer cuts gain more than
    are going to be made; before it is made, those that are not known yet count as well. What is
    found does not depend on who looked for it, and when.

    Parameters
    ----------
    criterion : Criterion
    n_cuts : int
        How many cuts are going to be made.
    """

    def __init__(self, criterion: Criterion, n_cuts: int) -> None:
        self._criterion, self._n_cuts = criterion, n_cuts
        self._pool, self._lock, self._numbers = criterion.problem.pool, Lock(), count()
        self._is_alone = self._pool.n_threads == 1 or not criterion.nodes_are_independent
        # Bounds and cells that have not been looked at, the largest first; gains of cuts that are
        # found but not made, ascending; by the rows of their nodes, cuts that are found and sides
        # of those that are made. Nodes themselves are not kept: their states may be large.
        self._waiting: list[tuple] = []
        self._gains: list = []
        self._cuts: dict[NodeRows, Split | None] = {}
        self._sides: dict[NodeRows, SplitNode] = {}

    def expect(self, node: Node) -> None:
        """Say that the cut of a node may be asked for."""
        bound = self._criterion.gain_bound(node)
        if bound is not None and not self._is_alone:
            with self._lock:
                heapq.heappush(self._waiting, (-bound, next(self._numbers), node))

    def best_split(self, node: Node) -> Split | None:
        """The best cut of a node."""
        if node.rows not in self._cuts and self._is_worth_sharing():
            self._pool.map(self._work, range(self._pool.n_threads))
        return self._cuts[node.rows] if node.rows in self._cuts else self._find(node)

    def divide(self, node: Node, split: Split) -> SplitNode:
        """Make the best cut of a node."""
        if node.rows not in self._sides:
            self._divide(node, split)
        del self._gains[bisect_left(self._gains, split.gain)]
        self._n_cuts -= 1
        return self._sides.pop(node.rows)

    def _is_worth_sharing(self) -> bool:
        if self._is_alone:
            return False
        first = heapq.nsmallest(2 * self._pool.n_threads, self._waiting)
        sizes = [len(node.rows.active) for bound, _, node in first if self._is_likely(-bound)]
        return are_worth_sharing(self._criterion, sizes)

    def _is_likely(self, gain: float, n_others: int = 0) -> bool:
        return n_others + len(self._gains) - bisect_right(self._gains, gain) < self._n_cuts

    def _n_waiting_for(self, gain: float) -> int:
        """Cells that may have cuts which gain more."""
        with self._lock:
            return sum(-bound > gain for bound, *_ in self._waiting)

    def _work(self, _: int) -> None:
        while (node := self._next()) is not None:
            split = self._find(node)
            if split is not None and self._is_likely(split.gain, self._n_waiting_for(split.gain)):
                self._divide(node, split)

    def _next(self) -> Node | None:
        """The node to look at next, if it is likely to matter."""
        with self._lock:
            while self._waiting and self._is_likely(-self._waiting[0][0]):
                node = heapq.heappop(self._waiting)[-1]
                if node.rows not in self._cuts:
                    return node
        return None

    def _find(self, node: Node) -> Split | None:
        split = self._criterion.best_split(node)
        with self._lock:
            self._cuts[node.rows] = split
            if split is not None:
                insort(self._gains, split.gain)
        return split

    def _divide(self, node: Node, split: Split) -> None:
        sides = self._criterion.divide(node, split)
        if self._n_cuts > 1:
            self.expect(sides.left)
            self.expect(sides.right)
        self._sides[node.rows] = sides
