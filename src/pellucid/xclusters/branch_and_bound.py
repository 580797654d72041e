"""Branch and bound over pairs (k, α); D and N are given by a function.

D decreases with k and increases with α; N increases with k and decreases with α.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Literal, NamedTuple

import numpy as np

Parts = Callable[[int, float], tuple[float, float]]
"""(k, α) -> (D, N), both normalized."""


class Block(NamedTuple):
    """A rectangle of pairs, as the first and last positions of k and of α."""

    k1: int
    alpha1: int
    k2: int
    alpha2: int

    @property
    def has_only_corners(self) -> bool:
        """Whether the block contains no pair except for its two evaluated corners."""
        return (self.k2 - self.k1) + (self.alpha2 - self.alpha1) <= 1


class BlockRecord(NamedTuple):
    """A processed block with its bounds."""

    k1: int
    alpha1: float
    k2: int
    alpha2: float
    lower: float
    upper: float
    fate: str
    """"split by k", "split by alpha", "finished" (all pairs evaluated) or "pruned"."""


@dataclass
class BranchAndBoundResult:
    """The best pair found, a lower bound of the objective, and the processed blocks."""

    k: int
    alpha: float
    objective: float
    lower: float
    """Lower bound of the objective over all pairs, if D and N are monotone."""
    is_complete: bool
    """False if `stop` ended the search."""
    blocks: list[BlockRecord] = field(default_factory=list)


def branch_and_bound(
    parts: Parts,
    ks: Sequence[int],
    alphas: Sequence[float],
    *,
    trade_off: float = 1.0,
    tolerance: float = 0.05,
    ties: Literal["alpha", "k"] = "alpha",
    penalty: Callable[[int, float], float] = lambda k, alpha: 0.0,
    stop: Callable[[], bool] = lambda: False,
    report: Callable[[float, float], None] = lambda best, lower: None,
) -> BranchAndBoundResult:
    """Minimize D(k, α) + λ·N(k, α) up to a tolerance ε_b (algorithm 1 of the paper).

    If D and N are monotone, then in a block [k1, k2] × [α1, α2], D is smallest at (k2, α1) and N
    is smallest at (k1, α2). The lower bound of the block is D(k2, α1) + λ·N(k1, α2), and its upper
    bound is the smaller objective of these two corners. The block with the smallest lower bound is
    halved along its longer side, relative to the whole range. Blocks with
    lower + ε_b ≥ best objective are pruned. The halves share their middle k (or α), so that they
    share corners. Each pair is evaluated once.

    If D and N are monotone, the result is at most ε_b above the optimum.

    Parameters
    ----------
    parts : callable
        Returns (D, N) of a pair (k, α).
    ks, alphas : sequence
        Candidate values, in ascending order.
    trade_off : float, default=1.0
        Weight λ of N.
    tolerance : float, default=0.05
        Pruning tolerance ε_b.
    ties : {"alpha", "k"}, default="alpha"
        Side to halve if both are equally long. The algorithm of the paper halves α, its running
        example k.
    penalty : callable, optional
        A number of at least 0 that is added to the objective of a pair (k, α). The lower bounds
        stay valid, because they do not contain it.
    stop : callable, optional
        Called before each evaluation; the search ends if it returns True.
    report : callable, optional
        Called with the best objective and the smallest lower bound after each step.

    Returns
    -------
    BranchAndBoundResult

    Examples
    --------
    >>> from pellucid.xclusters.branch_and_bound import branch_and_bound
    >>> result = branch_and_bound(
    ...     lambda k, alpha: (alpha / k, k * (1.5 - alpha) / 30),
    ...     range(1, 11), [0.0, 0.25, 0.5, 0.75, 1.0], tolerance=0.01)
    >>> result.k, result.alpha
    (1, 0.0)
    """
    return _Searcher(parts, ks, alphas, trade_off, tolerance, ties, penalty, stop, report).run()


class _Stopped(Exception):
    """`stop` returned True."""


class _Searcher:
    """State of the search: evaluated pairs, the queue of blocks, and the best pair."""

    def __init__(
        self, parts, ks, alphas, trade_off, tolerance, ties, penalty, stop, report
    ) -> None:
        self.parts, self.ks, self.alphas = parts, list(ks), list(alphas)
        self.trade_off, self.tolerance, self.ties = trade_off, tolerance, ties
        self.penalty, self.stop, self.report = penalty, stop, report
        self.evaluated: dict[tuple[int, int], tuple[float, float]] = {}
        self.best: tuple[float, int, int] = (np.inf, 0, 0)
        self.queue: list[tuple[float, int, float, Block]] = []
        self.insertion_order = count()
        self.blocks: list[BlockRecord] = []

    def run(self) -> BranchAndBoundResult:
        is_complete, lower = True, -np.inf
        try:
            # The first two pairs are always evaluated, so that there is a result.
            self._push(Block(0, 0, len(self.ks) - 1, len(self.alphas) - 1), may_stop=False)
            while self.queue:
                lower, _, upper, block = heapq.heappop(self.queue)
                self.report(self.best[0], min(lower, self.best[0]))
                self._process(block, lower, upper)
        except _Stopped:
            is_complete = False
        objective, k, alpha = self.best
        open_bounds = [record.lower for record in self.blocks if record.fate == "pruned"]
        # If stopped, the last processed block had the smallest bound in the queue.
        open_bounds += [] if is_complete else [lower]
        lower = min(objective, *open_bounds) if open_bounds else objective
        return BranchAndBoundResult(
            self.ks[k], self.alphas[alpha], objective, lower, is_complete, self.blocks
        )

    def _process(self, block: Block, lower: float, upper: float) -> None:
        """Prune a block or split it."""
        if block.has_only_corners:
            self._record(block, lower, upper, "finished")
        elif lower + self.tolerance >= self.best[0]:
            self._record(block, lower, upper, "pruned")
        else:
            by_k = self._is_longer_in_k(block)
            self._record(block, lower, upper, "split by k" if by_k else "split by alpha")
            for half in _halves(block, by_k):
                self._push(half)

    def _push(self, block: Block, may_stop: bool = True) -> None:
        """Evaluate the two corners of a block and add it to the queue."""
        at_min_d = self._evaluate(block.k2, block.alpha1, may_stop)
        at_min_n = self._evaluate(block.k1, block.alpha2, may_stop)
        lower = at_min_d[0] + self.trade_off * at_min_n[1]
        upper = min(self._objective(at_min_d), self._objective(at_min_n))
        heapq.heappush(self.queue, (lower, next(self.insertion_order), upper, block))

    def _evaluate(self, k: int, alpha: int, may_stop: bool) -> tuple[float, float]:
        if (k, alpha) not in self.evaluated:
            if may_stop and self.stop():
                raise _Stopped
            parts = self.parts(self.ks[k], self.alphas[alpha])
            self.evaluated[k, alpha] = parts
            penalty = self.penalty(self.ks[k], self.alphas[alpha])
            self.best = min(self.best, (self._objective(parts) + penalty, k, alpha))
        return self.evaluated[k, alpha]

    def _objective(self, parts: tuple[float, float]) -> float:
        return parts[0] + self.trade_off * parts[1]

    def _is_longer_in_k(self, block: Block) -> bool:
        k_length = _relative_length(self.ks, block.k1, block.k2)
        alpha_length = _relative_length(self.alphas, block.alpha1, block.alpha2)
        return k_length > alpha_length or (k_length == alpha_length and self.ties == "k")

    def _record(self, block: Block, lower: float, upper: float, fate: str) -> None:
        self.blocks.append(
            BlockRecord(
                self.ks[block.k1],
                self.alphas[block.alpha1],
                self.ks[block.k2],
                self.alphas[block.alpha2],
                lower,
                upper,
                fate,
            )
        )


def _relative_length(values: list, first: int, last: int) -> float:
    """Length of a side of a block relative to the range of all values."""
    return (values[last] - values[first]) / (values[-1] - values[0]) if last > first else 0.0


def _halves(block: Block, by_k: bool) -> tuple[Block, Block]:
    """Both halves of a block; they share the middle value unless there is none."""
    k1, alpha1, k2, alpha2 = block
    if by_k:
        middle = (k1 + k2) // 2
        after = middle if middle > k1 else k2
        return Block(k1, alpha1, middle, alpha2), Block(after, alpha1, k2, alpha2)
    middle = (alpha1 + alpha2) // 2
    after = middle if middle > alpha1 else alpha2
    return Block(k1, alpha1, k2, middle), Block(k1, after, k2, alpha2)
