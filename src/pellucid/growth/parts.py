"""The parts of a problem that an exact search works on, each remembered once, with its bounds.

A part is a set of centers and the rows that share them: the tree that is sought for it has a leaf
for each center, and every row pays the cost of the center in whose leaf it ends. The rows are
those that reach a node; rows that pay the same at every one of its centers are left out, so that
nodes which differ only in what does not matter are one part.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from pellucid.cuts.problem import Problem
from pellucid.kernels.center_cuts import list_cuts
from pellucid.kernels.parts import (
    NEVER,
    Cuts,
    Tables,
    compare_rows,
    disown_rows,
    own_rows,
    pack_rows,
    price_pairs,
    raise_gap,
    share_rows,
)
from pellucid.numeric.ranks import make_ranks

_FEW_CUTS = 128
"""Cuts of a part that are kept at first; the others are listed again if their turn comes."""

_ROOM = 2**16
"""Cuts that are listed at a time."""

_PART_BYTES = 600
"""About what a part takes besides its rows and cuts."""


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
    rows : bytes
        One bit a row of the problem.
    base : int
        What the rows pay at the least, each at its cheapest center.
    lower, upper : int
        Bounds of what they pay in the best tree; when they meet, the part is solved.
    pairs : ndarray of shape (n_pairs, 3)
        What it takes to separate two centers, dearest first.
    listed : Listed or None
        Cuts, once they are needed.
    branches : dict
        Sides of the cuts that have been looked into, by (gap, at).
    best : tuple of int or None
        The cut (gap, at) that has `upper`.
    """

    centers: np.ndarray
    rows: bytes
    base: int
    lower: int
    upper: int
    leaf: bool = False
    pairs: np.ndarray | None = None
    listed: Listed | None = None
    branches: dict[tuple[int, int], Branch] = field(default_factory=dict)
    best: tuple[int, int] | None = None
    place: int | None = None

    @property
    def is_solved(self) -> bool:
        """Whether the best tree is known."""
        return self.lower >= self.upper

    @property
    def is_leaf(self) -> bool:
        """Whether there is nothing to separate."""
        return self.leaf

    def listed_cut(self, k: int) -> tuple[int, int]:
        """The k-th of the listed cuts, as (gap, at)."""
        cuts = self.listed.cuts
        return int(cuts.gap[k]), int(cuts.at[k])


class Peers:
    def __init__(self, spread, n_words):
        self.spread = spread
        self.n = 0
        self.words = np.empty((16, n_words), np.uint64)
        self.beyond = np.empty(16, np.int64)

    def add(self, part):
        if part.place is None:
            if self.n == len(self.words):
                self.words = np.concatenate([self.words, np.empty_like(self.words)])
                self.beyond = np.concatenate([self.beyond, np.empty_like(self.beyond)])
            part.place = self.n
            self.words[self.n] = np.frombuffer(part.rows, np.uint64)
            self.n += 1
        self.beyond[part.place] = part.lower - part.base

    def bound(self, words):
        return int(compare_rows(words, self.n, self.words, self.beyond, self.spread))


class Parts:
    """All parts of a problem that have been looked at.

    Parameters
    ----------
    problem : Problem
    costs : ndarray of shape (n_samples, n_clusters), int64
        What each row pays at each center; the sum over all rows is to be least.
    """

    def __init__(self, problem: Problem, costs: np.ndarray) -> None:
        self.problem = problem
        self.ranks = make_ranks(problem.X, problem.centers, problem.team)
        n_items = problem.n_samples + problem.n_clusters
        owner = np.full(n_items, -1, dtype=np.int32)
        margin = np.zeros(n_items, dtype=np.int64)
        costs = np.ascontiguousarray(costs)
        self.tables = Tables(self.ranks.rank, self.ranks.order, costs, owner, margin)
        self._found = np.empty((max(_ROOM, n_items), len(Cuts._fields) - 1), dtype=np.int64)
        self._known: dict[tuple[bytes, bytes], Part] = {}
        self.n_bytes = 0
        self._peers = {}
        self.n_listed = 0

    def whole(self) -> Branch:
        """The whole problem, as the left side of a cut that has nothing on its right."""
        everybody = np.arange(self.problem.n_clusters)
        rows = np.arange(self.problem.n_samples, dtype=np.int32)
        same = np.zeros(len(rows), dtype=np.int32)
        rows, _, paid = share_rows(rows, same, 0, everybody, everybody, self.tables.costs)
        nothing = Part(everybody[:0], b"", 0, 0, 0, True)
        return Branch(self._part(everybody, rows), nothing, int(paid))

    def threshold(self, cut: tuple[int, int]) -> tuple[int, float]:
        """Feature and largest value that goes left of a cut (gap, at)."""
        column = cut[0] // self.problem.n_clusters
        return int(self.ranks.features[column]), self.ranks.value(column, cut[1])

    def branch(self, part: Part, cut: tuple[int, int]) -> Branch:
        """The two sides of a cut (gap, at)."""
        found = part.branches.get(cut)
        if found is None:
            (gap, at), tables = cut, self.tables
            ranks = tables.rank[gap // self.problem.n_clusters]
            left = ranks[self.problem.n_samples + part.centers] <= at
            near, far = part.centers[left], part.centers[~left]
            rows = share_rows(self._rows(part), ranks, at, near, far, tables.costs)
            found = Branch(self._part(near, rows[0]), self._part(far, rows[1]), int(rows[2]))
            part.branches[cut] = found
        return found

    def list_cuts(self, part: Part) -> None:
        """List the most promising cuts of a part: few at first, then more."""
        self.price(part)
        many = _FEW_CUTS if part.listed is None else 4 * len(part.listed.cuts.total)
        found = self._find_cuts(part)
        total, others = found[:, 6], NEVER
        if len(total) > many:
            horizon = np.partition(total, many)[many]
            # Equals stay together, so that the choice between them does not depend on their number.
            kept = total <= horizon
            others = int(total[~kept].min(initial=NEVER))
            found = found[kept]
        cuts = Cuts(*np.zeros((len(Cuts._fields), len(found)), dtype=np.int64))
        cuts.gap[:] = found[:, 0] * self.problem.n_clusters + found[:, 1]
        cuts.at[:], cuts.amount[:], cuts.gained[:], cuts.shed[:] = found[:, 2:6].T
        cuts.total[:] = found[:, 6]
        for (gap, at), branch in part.branches.items():
            for k in np.flatnonzero((cuts.gap == gap) & (cuts.at == at)):
                raise_gap(k, *_beyond(branch), cuts)
                cuts.total[k] = max(cuts.total[k], branch.lower)
        self.n_bytes += _size(cuts) - (0 if part.listed is None else _size(part.listed.cuts))
        self.n_listed += 1
        part.listed = Listed(cuts, others)

    def learn(self, part: Part, k: int) -> None:
        """Take over what is known of the sides of the k-th cut."""
        cuts, cut = part.listed.cuts, part.listed_cut(k)
        branch = part.branches[cut]
        raise_gap(k, *_beyond(branch), cuts)
        cuts.total[k] = max(cuts.total[k], branch.lower)
        if branch.upper < part.upper:
            part.best = cut
            part.upper = branch.upper

    def settle(self, part: Part) -> None:
        """Let go of what a solved part no longer needs."""
        if part.listed is not None:
            self.n_bytes -= _size(part.listed.cuts)
            part.listed = None
        if part.best is not None:
            part.branches = {part.best: part.branches[part.best]}

    def compare(self, part: Part) -> None:
        """Raise the lower bound of a part by what is known of others with the same centers."""
        peers = self._peers.get(part.centers.tobytes())
        if peers is not None and not part.is_solved:
            words = np.frombuffer(part.rows, np.uint64)
            part.lower = max(part.lower, part.base + peers.bound(words))

    def record(self, part: Part) -> None:
        key = part.centers.tobytes()
        peers = self._peers.get(key)
        if peers is None:
            costs = self.tables.costs[:, part.centers]
            peers = self._peers[key] = Peers(
                costs.max(axis=1) - costs.min(axis=1), len(part.rows) // 8
            )
        peers.add(part)

    def _rows(self, part: Part) -> np.ndarray:
        bits = np.unpackbits(
            np.frombuffer(part.rows, np.uint8), count=self.problem.n_samples, bitorder="little"
        )
        return np.flatnonzero(bits).astype(np.int32)

    def _part(self, centers: np.ndarray, rows: np.ndarray) -> Part:
        held = np.zeros((self.problem.n_samples + 63) // 64, dtype=np.uint64)
        pack_rows(rows, held)
        key = centers.tobytes(), held.tobytes()
        part = self._known.get(key)
        if part is None:
            part = self._known[key] = self._new_part(centers, rows, key[1])
            self.n_bytes += _PART_BYTES + len(key[1]) + 4 * len(centers) ** 2
        return part

    def _new_part(self, centers: np.ndarray, rows: np.ndarray, bits: bytes) -> Part:
        """A part with its first bounds."""
        places = self.problem.centers[centers]
        if (places == places[0]).all():
            costs = self.tables.costs[np.ix_(rows, centers)]
            least = int(costs.sum(axis=0).min())
            return Part(centers, bits, int(costs.min(axis=1).sum()), least, least, True)
        base = int(own_rows(rows, centers, self.tables))
        disown_rows(rows, centers, self.tables)
        return Part(centers, bits, base, base, NEVER)

    def price(self, part: Part) -> None:
        """Raise the lower bound by what it takes to separate pairs of centers."""
        if part.is_leaf or part.pairs is not None:
            return
        rows, centers, n = self._rows(part), part.centers, len(part.centers)
        pair = np.empty((n, n), dtype=np.int64)
        own_rows(rows, centers, self.tables)
        price_pairs(rows, centers, self.tables, pair)
        disown_rows(rows, centers, self.tables)
        # Rows of different centers are different rows: the prices of pairs that share no center
        # add up; with each center in two of them, half their sum does.
        first, second = linear_sum_assignment(pair, maximize=True)
        lower = part.base - int(-pair[first, second].sum() // 2)
        a, b = _all_pairs(n)
        pairs = np.stack([a, b, pair[a, b]], axis=1)
        pairs = pairs[np.argsort(-pairs[:, 2], kind="stable")]
        part.pairs = pairs[pairs[:, 2] > 0]
        part.lower = max(part.lower, lower)
        if n == 2:
            part.upper = lower
            self.record(part)

    def _find_cuts(self, part: Part) -> np.ndarray:
        tables, rows, centers = self.tables, self._rows(part), part.centers
        own_rows(rows, centers, tables)
        found, j = [], 0
        while j < len(tables.rank):
            j, n = list_cuts(j, rows, centers, tables, part.pairs, self._found)
            found.append(self._found[:n].copy())
        disown_rows(rows, centers, tables)
        return np.concatenate(found)


@cache
def _all_pairs(n: int) -> tuple[np.ndarray, np.ndarray]:
    return np.triu_indices(n, 1)


def _beyond(branch: Branch) -> tuple[int, int]:
    """What the sides of a cut are known to pay beyond the least of each row."""
    return branch.left.lower - branch.left.base, branch.right.lower - branch.right.base


def _size(cuts: Cuts) -> int:
    return sum(column.nbytes for column in cuts)
