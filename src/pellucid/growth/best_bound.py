"""Search by best bound over the parts of a problem (see `pellucid.growth.parts`).

The lower bound of a part is the least, over its cuts, of what the two sides are known to pay at
least. The search goes down the cut that has it, into one of the two sides, and stays there until
another cut, of this part or of one further up, looks more promising. So the lower bound of the
whole rises as the search goes on, and is valid whenever it ends.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from pellucid.growth.parts import Part, Parts
from pellucid.kernels.parts import NEVER, two_least

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
    """Time or memory is used up."""


class BestBound:
    """The search over all parts.

    Parameters
    ----------
    parts : Parts
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

    def __init__(self, parts: Parts, value: int, end: float) -> None:
        self.parts, self.end = parts, end
        self.root, _, self.paid = parts.whole()
        parts.price(self.root)
        self.best: tuple[int, list | None] = (value, None)
        self._path: list[tuple[Part, int]] = []
        self._n_drafts = self._next_draft = 0

    @property
    def lower(self) -> int:
        """What the rows pay at least in any tree."""
        return min(self.best[0], self.root.lower + self.paid)

    def run(self, tell: Callable[[int, int], None]) -> None:
        """Search until the best tree is known to be the best, or the search is ended."""
        told = None
        try:
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
        except (Ended, KeyboardInterrupt):
            for part, _ in reversed([(self.root, 0), *self._path]):
                self._catch_up(part)

    def _check(self) -> None:
        if self.parts.n_bytes > _MOST_BYTES or monotonic() > self.end:
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
            if part.lower >= limit:
                break
            cuts = part.listed.cuts
            least = int(cuts.total[k])
            branch = self.parts.branch(part, part.listed_cut(k))
            self.parts.compare(branch.left)
            self.parts.compare(branch.right)
            self.parts.learn(part, k)
            if cuts.total[k] > least or part.is_solved:
                continue
            if branch.left.pairs is None or branch.right.pairs is None:
                self.parts.price(branch.left)
                self.parts.price(branch.right)
                self.parts.learn(part, k)
                if cuts.total[k] > least or part.is_solved:
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
            value += branch.paid
            waiting += [branch.right, branch.left]
        if value < self.best[0]:
            self.best = value, tree
        self._n_drafts += 1
        taken = max(self.parts.n_listed - before, 1)
        self._next_draft = self.parts.n_listed + _DRAFT_EVERY * taken
