"""Cuts that are likely to be asked for, found before they are."""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable
from itertools import count
from threading import Lock

from pellucid._core.criteria.base import Cell, Criterion
from pellucid._core.criteria.column_search import Cut
from pellucid._core.growers.growing_tree import Divided
from pellucid._core.growers.scheduling import is_worth_sharing


class LookAhead:
    """The best cuts of cells, and the sides of these cuts.

    When one is asked for that is not known yet, all threads look for it and for others that are
    likely to come next, each for one after the other. A cut is likely if fewer cuts gain more than
    are going to be made; before it is made, those that are not known yet count as well. What is
    found does not depend on who looked for it, and when.

    Parameters
    ----------
    criterion : Criterion
    divide : callable
        Makes a cut: ``divide(cell, cut)``.
    n_cuts : int
        How many cuts are going to be made.
    """

    def __init__(
        self, criterion: Criterion, divide: Callable[[Cell, Cut], Divided], n_cuts: int
    ) -> None:
        self._criterion, self._make, self._n_cuts = criterion, divide, n_cuts
        self._pool, self._lock, self._numbers = criterion.problem.pool, Lock(), count()
        self._is_alone = self._pool.n_threads == 1 or not criterion.in_any_order
        # Bounds and cells that have not been looked at, the largest first; gains of cuts that are
        # found but not made, ascending; by the ids of their cells, which are kept so that no other
        # cell gets the same one, cuts that are found and sides of those that are made.
        self._waiting: list[tuple] = []
        self._gains: list = []
        self._cuts: dict[int, tuple[Cell, Cut | None]] = {}
        self._sides: dict[int, Divided] = {}

    def expect(self, cell: Cell) -> None:
        """Say that the cut of a cell may be asked for."""
        bound = self._criterion.most_gain(cell)
        if bound is not None and not self._is_alone:
            with self._lock:
                heapq.heappush(self._waiting, (-bound, next(self._numbers), cell))

    def best_cut(self, cell: Cell) -> Cut | None:
        """The best cut of a cell."""
        if id(cell) not in self._cuts and self._is_worth_sharing():
            self._pool.map(self._work, range(self._pool.n_threads))
        return self._cuts[id(cell)][1] if id(cell) in self._cuts else self._find(cell)

    def make(self, cell: Cell, cut: Cut) -> Divided:
        """Make the best cut of a cell."""
        if id(cell) not in self._sides:
            self._divide(cell, cut)
        del self._gains[bisect_left(self._gains, cut.gain)]
        self._n_cuts -= 1
        return self._sides.pop(id(cell))

    def _is_worth_sharing(self) -> bool:
        if self._is_alone:
            return False
        first = heapq.nsmallest(2 * self._pool.n_threads, self._waiting)
        sizes = [len(cell.active) for bound, _, cell in first if self._is_likely(-bound)]
        return is_worth_sharing(self._criterion, sizes)

    def _is_likely(self, gain: float, n_others: int = 0) -> bool:
        return n_others + len(self._gains) - bisect_right(self._gains, gain) < self._n_cuts

    def _n_waiting_for(self, gain: float) -> int:
        """Cells that may have cuts which gain more."""
        with self._lock:
            return sum(-bound > gain for bound, *_ in self._waiting)

    def _work(self, _: int) -> None:
        while (cell := self._next()) is not None:
            cut = self._find(cell)
            if cut is not None and self._is_likely(cut.gain, self._n_waiting_for(cut.gain)):
                self._divide(cell, cut)

    def _next(self) -> Cell | None:
        """The cell to look at next, if it is likely to matter."""
        with self._lock:
            while self._waiting and self._is_likely(-self._waiting[0][0]):
                cell = heapq.heappop(self._waiting)[-1]
                if id(cell) not in self._cuts:
                    return cell
        return None

    def _find(self, cell: Cell) -> Cut | None:
        cut = self._criterion.best_cut(cell)
        with self._lock:
            self._cuts[id(cell)] = cell, cut
            if cut is not None:
                insort(self._gains, cut.gain)
        return cut

    def _divide(self, cell: Cell, cut: Cut) -> None:
        sides = self._make(cell, cut)
        if self._n_cuts > 1:
            self.expect(sides.left)
            self.expect(sides.right)
        self._sides[id(cell)] = sides
