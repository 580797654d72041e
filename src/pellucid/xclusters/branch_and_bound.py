"""Branch and bound over pairs (k, α); D and N are given by a function.

D decreases with k and increases with α; N increases with k and decreases with α.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import count
from typing import NamedTuple

import numpy as np

ALPHA_TOL = 0.01  # default width in α of the smallest blocks
Parts = Callable[[int, float], tuple[float, float]]  # (k, α) -> (D, N), both normalized
Rectangle = tuple[int, float, int, float]  # first position of k and α of a block, and the last ones


class BlockRecord(NamedTuple):
    """A processed block with its bounds."""

    k1: int
    alpha1: float
    k2: int
    alpha2: float
    lower: float
    upper: float  # infinite for a single k that is pruned before its corners are evaluated
    fate: str  # "split by k", "split by alpha", "reduced" (to fewer k), "finished" or "pruned"


class _Stopped(Exception):
    """`stop` returned True."""


class Block(NamedTuple):
    """A rectangle of pairs: the first and last position of k, and a range of α.

    Blocks are sorted by the penalty of (k1, α2), then by lower bound, then in order of insertion.
    """

    penalty: float
    lower: float
    order: int
    upper: float
    k1: int
    alpha1: float
    k2: int
    alpha2: float


@dataclass(eq=False)
class PairSearch:
    """Minimize D(k, α) + λ·N(k, α) for 0 ≤ α ≤ 1 up to a tolerance ε_b (algorithm 1 of the paper).

    If D and N are monotone, the lower bound of a block [k1, k2] × [α1, α2] is D(k2, α1) +
    λ·N(k1, α2), and its upper bound is the smaller objective of these two corners. The block with
    the smallest lower bound is split along its longer side, relative to the whole range; of equal
    sides, k is split, as in the paper. Blocks with lower + ε_b ≥ best objective are pruned.

    Before a split, the first and last values of k are removed as long as they are pruned by
    themselves. Their bound is D(k, α1) + λ·N(k, α2), with the values of the corners of the block
    where these are not evaluated. This reduction of branch-reduce-and-bound (Hellings et al. 2012)
    is not in algorithm 1. It evaluates nothing itself and usually saves evaluations.

    Blocks of a single k are not split further if α2 - α1 is at most `alpha_tol`, or `coarse_tol`
    while all evaluated pairs have a `penalty`, a number that is added to the objective. Blocks with
    a penalty at (k1, α2) are pruned if a pair has none; until then, the smallest comes first.
    `stop` is called before each evaluation, `report` with the best objective and the lower bound.
    """

    parts: Parts
    ks: Sequence[int]
    _: KW_ONLY
    alpha_tol: float = ALPHA_TOL
    coarse_tol: float = 0.0
    trade_off: float = 1.0
    tolerance: float = 0.05
    reduce: bool = True
    penalty: Callable[[int, float], float] = lambda k, alpha: 0.0
    stop: Callable[[], bool] = lambda: False
    report: Callable[[float, float], None] = lambda best, lower: None

    def __post_init__(self) -> None:
        self.coarse_tol = max(self.coarse_tol, self.alpha_tol)
        self.best: tuple[float, int, float] = (np.inf, 0, 0.0)
        self.is_complete: bool = True
        self.blocks: list[BlockRecord] = []
        self._evaluated: dict[tuple[int, float], tuple[float, float, float]] = {}
        self._has_feasible = False
        """Whether a pair without penalty was evaluated."""
        self._queue: list[Block] = []
        self._unsplit: list[Block] = []
        """Blocks that may contain pairs that were not evaluated, without those in the queue."""
        self._insertion_order = count()

    def run(self) -> PairSearch:
        try:
            # The first two pairs are always evaluated, so that there is a result.
            self._push(0, 0.0, len(self.ks) - 1, 1.0, may_stop=False)
            while self._queue:
                self.report(self.best[0], self.lower)
                self._process(heapq.heappop(self._queue))
        except _Stopped:
            self.is_complete = False
        return self

    @property
    def lower(self) -> float:
        """Lower bound over all pairs; over all pairs without penalty, if there is one."""
        blocks = self._queue + self._unsplit
        valid = [block for block in blocks if not (block.penalty and self._has_feasible)]
        return min([self.best[0], *(block.lower for block in valid)])

    def _process(self, block: Block) -> None:
        parts: list[Rectangle] = []
        if block.k1 == block.k2 and block.alpha2 - block.alpha1 <= self._alpha_tol:
            fate = "finished"
        elif (self._has_feasible and block.penalty > 0) or self._is_pruned(block.lower):
            fate = "pruned"
        else:
            fate, parts = "reduced", self._reduced(block)
            if not parts:
                fate, parts = self._split(block)
        self._close(block, fate)
        for part in parts:
            self._push(*part)
        if parts:
            self._unsplit.remove(block)

    def _is_pruned(self, lower: float) -> bool:
        return lower + self.tolerance >= self.best[0]

    def _close(self, block: Block, fate: str) -> None:
        """Record a block that has left the queue."""
        where = self.ks[block.k1], block.alpha1, self.ks[block.k2], block.alpha2
        self.blocks.append(BlockRecord(*where, block.lower, block.upper, fate))
        self._unsplit.append(block)

    def _reduced(self, block: Block) -> list[Rectangle]:
        """The block without values of k that are pruned; nothing if all remain."""
        first, last = block.k1, block.k2
        while self.reduce and first < last and self._remove(block, first):
            first += 1
        while self.reduce and first < last and self._remove(block, last):
            last -= 1
        is_same = (first, last) == (block.k1, block.k2)
        return [] if is_same else [(first, block.alpha1, last, block.alpha2)]

    def _remove(self, block: Block, k: int) -> bool:
        """Prune one k of a block if its bound allows it; returns whether it did."""
        low, high = (k, block.alpha1), (k, block.alpha2)
        d = self._evaluated.get(low, self._evaluated[block.k2, block.alpha1])[0]
        n = self._evaluated.get(high, self._evaluated[block.k1, block.alpha2])[1]
        lower = d + self.trade_off * n
        if not self._is_pruned(lower):
            return False
        corners = filter(None, map(self._evaluated.get, (low, high)))
        upper = min((d + self.trade_off * n for d, n, _ in corners), default=np.inf)
        self._close(block._replace(lower=lower, upper=upper, k1=k, k2=k), "pruned")
        return True

    def _push(
        self, k1: int, alpha1: float, k2: int, alpha2: float, *, may_stop: bool = True
    ) -> None:
        """Evaluate the two corners of a block and add it to the queue."""
        d, n_at_min_d, _ = self._evaluate(k2, alpha1, may_stop)
        d_at_min_n, n, penalty = self._evaluate(k1, alpha2, may_stop)
        lower = d + self.trade_off * n
        upper = min(d + self.trade_off * n_at_min_d, d_at_min_n + self.trade_off * n)
        order = next(self._insertion_order)
        heapq.heappush(self._queue, Block(penalty, lower, order, upper, k1, alpha1, k2, alpha2))

    def _evaluate(self, k: int, alpha: float, may_stop: bool) -> tuple[float, float, float]:
        """D, N and the penalty of a pair."""
        if (k, alpha) not in self._evaluated:
            if may_stop and self.stop():
                raise _Stopped
            d, n = self.parts(self.ks[k], alpha)
            penalty = self.penalty(self.ks[k], alpha)
            self._evaluated[k, alpha] = d, n, penalty
            self.best = min(self.best, (d + self.trade_off * n + penalty, self.ks[k], alpha))
            self._has_feasible |= penalty == 0
        return self._evaluated[k, alpha]

    @property
    def _alpha_tol(self) -> float:
        return self.alpha_tol if self._has_feasible else self.coarse_tol

    def _split(self, block: Block) -> tuple[str, list[Rectangle]]:
        """Both parts of a block; they share the middle value unless there is none."""
        k1, alpha1, k2, alpha2 = block[-4:]
        alpha_length = alpha2 - alpha1
        k_length = (self.ks[k2] - self.ks[k1]) / max(self.ks[-1] - self.ks[0], 1)
        if k1 == k2 or (alpha_length > self._alpha_tol and k_length < alpha_length):
            middle = (alpha1 + alpha2) / 2
            return "split by alpha", [(k1, alpha1, k2, middle), (k1, middle, k2, alpha2)]
        # The paper's ⌊n/2⌋-th of n values; of three values it is the first, which splits nothing
        # off. Two values have no middle.
        middle_k = max(k1 + (k2 - k1 + 1) // 2 - 1, k1 + 1)
        last = k1 if k2 - k1 == 1 else middle_k
        return "split by k", [(k1, alpha1, last, alpha2), (middle_k, alpha1, k2, alpha2)]
