"""The parts of a problem that an exact search works on, and what is known of each.

A part is a set of centers and the rows that share them: the tree that is sought for it has a leaf
for each center, and every row pays the cost of the center in whose leaf it ends. The rows are
those that reach a node; rows that pay the same at every one of its centers are left out, so that
nodes which differ only in what does not matter are one part.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from pellucid._core.kernels.subproblem import NEVER, Cuts, compare_rows


class Branch(NamedTuple):
    """The two sides of a cut, and what the rows pay that neither side needs to look at."""

    left: Part
    right: Part
    paid: int

    @property
    def lower(self) -> int:
        """Lower bound of the whole."""
        return self.left.lower + self.right.lower + self.paid

    @property
    def upper(self) -> int:
        """Upper bound of the whole."""
        return min(NEVER, self.left.upper + self.right.upper + self.paid)

    @property
    def beyond(self) -> tuple[int, int]:
        """What each side is known to pay beyond the least of each row."""
        return self.left.lower - self.left.base, self.right.lower - self.right.base


class Listed(NamedTuple):
    """Cuts of a part that are worth keeping, and a lower bound for all others."""

    cuts: Cuts
    others: int


@dataclass(eq=False, slots=True)
class Part:
    """Centers and rows, and what is known of the best tree for them.

    Attributes
    ----------
    centers : ndarray of int
    words : ndarray of uint64
        The rows, one bit for each row of the problem.
    base : int
        What the rows pay at the least, each at its cheapest center.
    lower, upper : int
        Bounds of what they pay in the best tree; when they meet, the part is solved.
    is_leaf : bool
        Whether there is nothing to separate.
    pairs : ndarray of shape (n_pairs, 3) or None
        Two centers and what it takes to separate them, dearest first, once it is known.
    listed : Listed or None
        Cuts, once they are needed.
    branches : dict
        Sides of the cuts that have been looked into, by (gap, at).
    best : tuple of int or None
        The cut (gap, at) that has `upper`.
    place : int or None
        Number among its peers, once it has been worked on.
    """

    centers: np.ndarray
    words: np.ndarray
    base: int
    lower: int
    upper: int
    is_leaf: bool
    pairs: np.ndarray | None = None
    listed: Listed | None = None
    branches: dict[tuple[int, int], Branch] = field(default_factory=dict)
    best: tuple[int, int] | None = None
    place: int | None = None

    @property
    def is_solved(self) -> bool:
        """Whether the best tree is known."""
        return self.lower >= self.upper

    def listed_cut(self, k: int) -> tuple[int, int]:
        """The k-th of the listed cuts, as (gap, at)."""
        cuts = self.listed.cuts
        return int(cuts.gap[k]), int(cuts.at[k])


class Peers:
    """Parts with the same centers that have been worked on.

    What one of them is known to pay beyond the least of each row is a bound for every part with
    these centers: rows that the other has not are worth at most their spread, the difference
    between their greatest and their least cost, and rows that it has on top cost nothing less
    than their least.

    Parameters
    ----------
    costs : ndarray of shape (n_samples, n_centers)
        What each row of the problem pays at each of the centers.
    n_words : int
        Length of `Part.words`.
    """

    def __init__(self, costs: np.ndarray, n_words: int) -> None:
        self._spread = costs.max(axis=1) - costs.min(axis=1)
        self._words = np.empty((8, n_words), dtype=np.uint64)
        self._beyond = np.empty(8, dtype=np.int64)
        self._n = 0

    @property
    def n_bytes(self) -> int:
        """Memory."""
        return self._spread.nbytes + self._words.nbytes

    def record(self, part: Part) -> None:
        """Remember what is known of a part."""
        if part.place is None:
            if self._n == len(self._words):
                self._words = np.concatenate([self._words, np.empty_like(self._words)])
                self._beyond = np.concatenate([self._beyond, np.empty_like(self._beyond)])
            self._words[self._n] = part.words
            part.place = self._n
            self._n += 1
        self._beyond[part.place] = part.lower - part.base

    def bound(self, part: Part) -> int:
        """What the rows of a part pay at least."""
        beyond = compare_rows(part.words, self._n, self._words, self._beyond, self._spread)
        return part.base + int(beyond)
