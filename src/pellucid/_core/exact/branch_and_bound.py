"""Search by best bound over the parts of a problem (see `pellucid._core.exact.subproblem`).

The lower bound of a part is the least, over its cuts, of what the two sides are known to pay at
least. The search goes down the cut that has it, into one of the two sides, and stays there until
another cut, of this part or of one further up, looks more promising. So the lower bound of the
whole rises as the search goes on, and is valid whenever it ends.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from pellucid._core.exact.subproblem import Branch, Part
from pellucid._core.exact.subproblem_table import PartTable
from pellucid._core.kernels.subproblem import NEVER, two_least
from pellucid._utils.interrupt import Interrupt

_MOST_BYTES = 2**30
"""Memory at which the search ends."""

_FEW_CENTERS = 4
"""Parts with no more centers are solved wherever a tree is drafted."""

_DRAFT_EVERY = 8
"""Parts looked into between two drafts of a tree, for each that the last draft took."""

_TRUST = ((0, 1), (1, 1), (-1, 2))
"""Weights of amount and lower bound, by which drafts choose their cuts in turn.

Bounds are tighter for some cuts than for others; no one rule makes the best trees.
"""


class Ended(Exception):
    """Time or memory is used up, or the user has had enough."""


class BestBound:
    """The search over all parts.

    Parameters
    ----------
    parts : PartTable
    value : int
        What the rows pay in a tree that is known.
    end : float
        Time at which to end.

    Attributes
    ----------
    best : tuple of int and list or None
        What the rows pay in the best tree so far, and its cuts in preorder; None stands for the
        tree that was known. Set in one go: the search may be interrupted anywhere.
    """

    def __init__(self, parts: PartTable, value: int, end: float) -> None:
        self.parts, self.end = parts, end
        self.root, self.paid = parts.whole()
        parts.price(self.root)
        self.best: tuple[int, list | None] = (value, None)
        self._path: list[tuple[Part, int]] = []
        self._interrupt = Interrupt()
        self._n_drafts = self._next_draft = 0

    @property
    def lower(self) -> int:
        """What the rows pay at least in any tree."""
        return min(self.best[0], self.root.lower + self.paid)

    def run(self, tell: Callable[[int, int], None]) -> None:
        """Search until the best tree is known to be the best, or the search is ended."""
        try:
            with self._interrupt:
                self._search(tell)
        except (Ended, KeyboardInterrupt) as reason:
            if self._interrupt.requested and isinstance(reason, KeyboardInterrupt):
                raise  # asked for twice
            for part, _ in reversed([(self.root, 0), *self._path]):
                self._catch_up(part)

    def _search(self, tell: Callable[[int, int], None]) -> None:
        told = None
        while self.lower < self.best[0]:
            self._check()
            if self.parts.n_listed >= self._next_draft:
                self._draft()
                if told != (told := (self.lower, self.best[0])):
                    tell(*told)
            step = self._step(self.root, self.best[0] - self.paid)
            if step is not None:
                self._solve(*step)
            elif self.root.is_solved:
                self._draft()
                break

    def _check(self) -> None:
        out_of_memory, out_of_time = self.parts.n_bytes > _MOST_BYTES, monotonic() > self.end
        if out_of_memory or out_of_time or self._interrupt.requested:
            raise Ended

    def _solve(self, part: Part, limit: int) -> None:
        """Raise the lower bound of a part to a limit, or find its best tree."""
        self._path = path = [(part, limit)]
        while path:
            self._check()
            step = self._step(*path[-1])
            if step is None:
                path.pop()
            else:
                path.append(step)

    def _step(self, part: Part, limit: int) -> tuple[Part, int] | None:
        """Which smaller part to look into, and up to which limit; None when nothing is left."""
        while part.lower < min(limit, part.upper):
            k, second = self._look_up(part)
            if part.lower >= min(limit, part.upper):
                break
            least = int(part.listed.cuts.total[k])
            branch = self.parts.branch(part, part.listed_cut(k))
            if self._raised(part, k, branch, self.parts.compare):
                continue
            if self._raised(part, k, branch, self.parts.price):
                continue
            side, other = branch.left, branch.right
            if side.is_solved or (len(side.centers) < len(other.centers) and not other.is_solved):
                side, other = other, side
            return side, min(limit, max(second, least + 1)) - branch.paid - other.lower
        if part.listed is not None:
            self.parts.record(part)
        if part.is_solved:
            self.parts.settle(part)
        return None

    def _raised(
        self, part: Part, k: int, branch: Branch, raise_bound: Callable[[Part], None]
    ) -> bool:
        """Whether more can be told of the k-th cut, or all of the part, once its sides are."""
        least = part.listed.cuts.total[k]
        raise_bound(branch.left)
        raise_bound(branch.right)
        self.parts.learn(part, k)
        return part.listed.cuts.total[k] > least or part.is_solved

    def _look_up(self, part: Part) -> tuple[int, int]:
        """The most promising cut of a part, and the lower bound of all others."""
        while True:
            if part.listed is None:
                self.parts.list_cuts(part)
            cuts, others = part.listed
            k, second = two_least(cuts.total)
            least = int(cuts.total[k])
            part.lower = max(part.lower, min(least, others))
            if least <= others:
                return int(k), min(int(second), others)
            self.parts.list_cuts(part)

    def _catch_up(self, part: Part) -> None:
        """Take over what the search below has learnt before it was ended."""
        if part.listed is not None:
            cuts, others = part.listed
            k, _ = two_least(cuts.total)
            if part.listed_cut(k) in part.branches:
                self.parts.learn(part, k)
            part.lower = max(part.lower, min(int(cuts.total.min()), others))

    def _draft(self) -> None:
        """Make a tree of the most promising cuts; once the whole is solved, that is the best."""
        before = self.parts.n_listed
        known = self.root.is_solved
        amount_weight, total_weight = _TRUST[self._n_drafts % len(_TRUST)]
        tree: list = []
        value, waiting = self.paid, [self.root]
        while waiting:
            part = waiting.pop()
            if part.is_leaf:
                tree.append(None)
                value += part.lower
                continue
            self.parts.price(part)
            if len(part.centers) <= _FEW_CENTERS:
                self._solve(part, NEVER)
            cut = part.best
            if cut is None or not (known or part.is_solved):
                self._look_up(part)
                cuts = part.listed.cuts
                promise = amount_weight * cuts.amount + total_weight * cuts.total
                cut = part.listed_cut(int(promise.argmin()))
            tree.append(cut)
            branch = self.parts.branch(part, cut)
            if part.is_solved:
                part.best = cut
                self.parts.settle(part)
            value += branch.paid
            waiting += [branch.right, branch.left]
        if value < self.best[0]:
            self.best = value, tree
        self._n_drafts += 1
        taken = max(self.parts.n_listed - before, 1)
        self._next_draft = self.parts.n_listed + _DRAFT_EVERY * taken
