"""Branch and bound over the plane of (k, α), for D that falls with k and rises with α, and N
that does the opposite.

Nothing here knows of clusterings: D and N come from a function.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Literal, NamedTuple

import numpy as np

Parts = Callable[[int, float], tuple[float, float]]
"""(k, α) -> (D, N), both normalised."""


class Block(NamedTuple):
    """All pairs of some of the ks and some of the αs, by their first and last positions."""

    k1: int
    alpha1: int
    k2: int
    alpha2: int

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left inside it that its two corners are not."""
        return (self.k2 - self.k1) + (self.alpha2 - self.alpha1) <= 1


class Record(NamedTuple):
    """One block as it was taken up."""

    k1: int
    alpha1: float
    k2: int
    alpha2: float
    lower: float
    upper: float
    fate: str
    """"split by k", "split by alpha", "finished" (nothing left inside) or "pruned"."""


@dataclass
class Search:
    """What a search has found, and how."""

    k: int
    alpha: float
    objective: float
    lower: float
    """No pair of the plane is below this, as far as D and N are monotone."""
    is_complete: bool
    """False if the search was told to stop."""
    blocks: list[Record] = field(default_factory=list)


def branch_and_bound(
    parts: Parts,
    ks: Sequence[int],
    alphas: Sequence[float],
    *,
    trade_off: float = 1.0,
    tolerance: float = 0.05,
    ties: Literal["alpha", "k"] = "alpha",
    stop: Callable[[], bool] = lambda: False,
    report: Callable[[float, float], None] = lambda best, lower: None,
) -> Search:
    """The pair that minimises ``D(k, α) + trade_off · N(k, α)``, or one that is nearly as good.

    In a block [k1, k2] × [α1, α2], D is least at (k2, α1) and N at (k1, α2) if both are
    monotone, so ``D(k2, α1) + trade_off · N(k1, α2)`` bounds every pair in it from below, and the
    objective at those two corners bounds the best of it from above. The block with the lowest
    lower bound is halved along its longer side, relative to the whole plane; blocks that cannot
    be better than the best pair by more than `tolerance` are dropped. The two halves share the
    ks (or αs) in the middle, so that corners are shared too, and each pair is asked for once.

    Where D and N are monotone, the result is at most `tolerance` above the best pair.

    Parameters
    ----------
    parts : callable
        Gives (D, N) for a pair (k, α).
    ks, alphas : sequence
        What to choose from, in ascending order.
    trade_off : float, default=1.0
        λ, the price of N.
    tolerance : float, default=0.05
        ε_b, how much better a block must promise to be.
    ties : {"alpha", "k"}, default="alpha"
        Which side to halve where both are equally long. The paper's algorithm takes α, its
        running example k.
    stop : callable, optional
        Asked before each further pair; the search ends when it says true.
    report : callable, optional
        Told the best objective and the lowest bound after each step.

    Returns
    -------
    Search

    Examples
    --------
    >>> from pellucid.xclusters.branch_and_bound import branch_and_bound
    >>> found = branch_and_bound(
    ...     lambda k, alpha: (alpha / k, k * (1.5 - alpha) / 30),
    ...     range(1, 11), [0.0, 0.25, 0.5, 0.75, 1.0], tolerance=0.01)
    >>> found.k, found.alpha
    (1, 0.0)
    """
    return _Searcher(parts, ks, alphas, trade_off, tolerance, ties, stop, report).run()


class _Stopped(Exception):
    """The search was told to stop."""


class _Searcher:
    def __init__(self, parts, ks, alphas, trade_off, tolerance, ties, stop, report) -> None:
        self.parts, self.ks, self.alphas = parts, list(ks), list(alphas)
        self.trade_off, self.tolerance, self.ties = trade_off, tolerance, ties
        self.stop, self.report = stop, report
        self.known: dict[tuple[int, int], tuple[float, float]] = {}
        self.best: tuple[float, int, int] = (np.inf, 0, 0)
        self.queue: list[tuple[float, int, float, Block]] = []
        self.ticket = count()
        self.blocks: list[Record] = []

    def run(self) -> Search:
        is_complete, lower = True, -np.inf
        try:
            # Something is known even if there is to be a stop at once.
            self._push(Block(0, 0, len(self.ks) - 1, len(self.alphas) - 1), may_stop=False)
            while self.queue:
                lower, _, upper, block = heapq.heappop(self.queue)
                self.report(self.best[0], min(lower, self.best[0]))
                self._take_up(block, lower, upper)
        except _Stopped:
            is_complete = False
        objective, k, alpha = self.best
        left = [record.lower for record in self.blocks if record.fate == "pruned"]
        # The block that was last taken up had the lowest bound of all that were left.
        left += [] if is_complete else [lower]
        lower = min(objective, *left) if left else objective
        return Search(self.ks[k], self.alphas[alpha], objective, lower, is_complete, self.blocks)

    def _take_up(self, block: Block, lower: float, upper: float) -> None:
        if block.is_whole:
            self._record(block, lower, upper, "finished")
        elif lower + self.tolerance >= self.best[0]:
            self._record(block, lower, upper, "pruned")
        else:
            by_k = self._is_longer_in_k(block)
            self._record(block, lower, upper, "split by k" if by_k else "split by alpha")
            for half in _halves(block, by_k):
                self._push(half)

    def _push(self, block: Block, may_stop: bool = True) -> None:
        low_d = self._ask(block.k2, block.alpha1, may_stop)
        low_n = self._ask(block.k1, block.alpha2, may_stop)
        lower = low_d[0] + self.trade_off * low_n[1]
        upper = min(self._objective(low_d), self._objective(low_n))
        heapq.heappush(self.queue, (lower, next(self.ticket), upper, block))

    def _ask(self, k: int, alpha: int, may_stop: bool) -> tuple[float, float]:
        if (k, alpha) not in self.known:
            if may_stop and self.stop():
                raise _Stopped
            found = self.parts(self.ks[k], self.alphas[alpha])
            self.known[k, alpha] = found
            self.best = min(self.best, (self._objective(found), k, alpha))
        return self.known[k, alpha]

    def _objective(self, parts: tuple[float, float]) -> float:
        return parts[0] + self.trade_off * parts[1]

    def _is_longer_in_k(self, block: Block) -> bool:
        in_k = _share(self.ks, block.k1, block.k2)
        in_alpha = _share(self.alphas, block.alpha1, block.alpha2)
        return in_k > in_alpha or (in_k == in_alpha and self.ties == "k")

    def _record(self, block: Block, lower: float, upper: float, fate: str) -> None:
        self.blocks.append(
            Record(
                self.ks[block.k1],
                self.alphas[block.alpha1],
                self.ks[block.k2],
                self.alphas[block.alpha2],
                lower,
                upper,
                fate,
            )
        )


def _share(values: list, first: int, last: int) -> float:
    """How much of the range of all values lies between two of them."""
    return (values[last] - values[first]) / (values[-1] - values[0]) if last > first else 0.0


def _halves(block: Block, by_k: bool) -> tuple[Block, Block]:
    """Both halves of a block; they share the middle unless there is nothing between the ends."""
    k1, alpha1, k2, alpha2 = block
    if by_k:
        middle = (k1 + k2) // 2
        after = middle if middle > k1 else k2
        return Block(k1, alpha1, middle, alpha2), Block(after, alpha1, k2, alpha2)
    middle = (alpha1 + alpha2) // 2
    after = middle if middle > alpha1 else alpha2
    return Block(k1, alpha1, k2, middle), Block(k1, after, k2, alpha2)
