"""All parts of a problem that an exact search has come across, each made and bounded once."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.optimize import linear_sum_assignment

from pellucid._core.criteria.problem import Problem
from pellucid._core.exact.ranks import make_ranks
from pellucid._core.exact.subproblem import Branch, Listed, Part, Peers
from pellucid._core.kernels.subproblem import (
    NEVER,
    Cuts,
    Tables,
    disown_rows,
    own_rows,
    pack_rows,
    price_pairs,
    raise_gap,
    share_rows,
    unpack_rows,
)
from pellucid._core.kernels.subproblem_table import list_cuts

_FEW_CUTS = 128
"""Cuts of a part that are kept at first; the others are listed again if their turn comes."""

_ROOM = 2**16
"""Cuts that are listed at a time."""

_PART_BYTES = 1500
"""About what a part takes besides its rows and cuts."""


class PartTable:
    """Makes parts, and raises their bounds in ways that cost more the more they tell.

    Parameters
    ----------
    problem : Problem
    costs : ndarray of shape (n_samples, n_clusters), int64
        What each row pays at each center; the sum over all rows is to be least.

    Attributes
    ----------
    n_listed : int
        How often cuts have been listed: a measure of time that is the same on every machine.
    n_bytes : int
        Memory, roughly.
    """

    def __init__(self, problem: Problem, costs: np.ndarray) -> None:
        self.problem = problem
        self.ranks = make_ranks(problem.X, problem.centers, problem.pool)
        n_items = problem.n_samples + problem.n_clusters
        owner = np.full(n_items, -1, dtype=np.int32)
        margin = np.zeros(n_items, dtype=np.int64)
        costs = np.ascontiguousarray(costs)
        self.tables = Tables(self.ranks.rank, self.ranks.order, costs, owner, margin)
        self._found = np.empty((max(_ROOM, n_items), len(Cuts._fields) - 1), dtype=np.int64)
        self._known: dict[tuple[bytes, bytes], Part] = {}
        self._peers: dict[bytes, Peers] = {}
        self.n_listed = self.n_bytes = 0

    def whole(self) -> tuple[Part, int]:
        """The whole problem, and what the rows pay that need not be looked at."""
        everybody = np.arange(self.problem.n_clusters)
        rows = np.arange(self.problem.n_samples, dtype=np.int32)
        same = np.zeros(len(rows), dtype=np.int32)
        rows, _, paid = share_rows(rows, same, 0, everybody, everybody, self.tables.costs)
        return self._part(everybody, rows), int(paid)

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
            rows = share_rows(unpack_rows(part.words), ranks, at, near, far, tables.costs)
            found = Branch(self._part(near, rows[0]), self._part(far, rows[1]), int(rows[2]))
            part.branches[cut] = found
        return found

    def compare(self, part: Part) -> None:
        """Raise the lower bound by what is known of parts with the same centers."""
        peers = self._peers.get(part.centers.tobytes())
        if peers is not None and not part.is_solved:
            part.lower = max(part.lower, peers.bound(part))

    def price(self, part: Part) -> None:
        """Raise the lower bound by what it takes to separate pairs of centers."""
        if part.is_leaf or part.pairs is not None:
            return
        rows, centers, n = unpack_rows(part.words), part.centers, len(part.centers)
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

    def list_cuts(self, part: Part) -> None:
        """List the most promising cuts of a part: few at first, then more."""
        self.price(part)
        many = _FEW_CUTS if part.listed is None else 4 * len(part.listed.cuts.total)
        found = self._find_cuts(part)
        total, others = found[:, 6], NEVER
        if len(total) > many:
            kept = total <= np.partition(total, many)[many]
            others = int(total[~kept].min(initial=NEVER))
            found = found[kept]
        cuts = Cuts(*np.zeros((len(Cuts._fields), len(found)), dtype=np.int64))
        cuts.gap[:] = found[:, 0] * self.problem.n_clusters + found[:, 1]
        cuts.at[:], cuts.amount[:], cuts.gained[:], cuts.shed[:] = found[:, 2:6].T
        cuts.total[:] = found[:, 6]
        for (gap, at), branch in part.branches.items():
            for k in np.flatnonzero((cuts.gap == gap) & (cuts.at == at)):
                _raise(cuts, k, branch)
        self.n_bytes += _size(cuts) - (0 if part.listed is None else _size(part.listed.cuts))
        self.n_listed += 1
        part.listed = Listed(cuts, others)

    def learn(self, part: Part, k: int) -> None:
        """Take over what is known of the sides of the k-th cut."""
        cut = part.listed_cut(k)
        branch = part.branches[cut]
        _raise(part.listed.cuts, k, branch)
        if branch.upper < part.upper:
            part.best = cut
            part.upper = branch.upper

    def record(self, part: Part) -> None:
        """Let other parts know what is known of this one."""
        key = part.centers.tobytes()
        if key not in self._peers:
            self._peers[key] = Peers(self.tables.costs[:, part.centers], len(part.words))
            self.n_bytes += self._peers[key].n_bytes
        before = self._peers[key].n_bytes
        self._peers[key].record(part)
        self.n_bytes += self._peers[key].n_bytes - before

    def settle(self, part: Part) -> None:
        """Let go of what a solved part no longer needs."""
        if part.listed is not None:
            self.n_bytes -= _size(part.listed.cuts)
            part.listed = None
        if part.best is not None:
            part.branches = {part.best: part.branches[part.best]}

    def _part(self, centers: np.ndarray, rows: np.ndarray) -> Part:
        words = np.zeros(-(-self.problem.n_samples // 64), dtype=np.uint64)
        pack_rows(rows, words)
        key = centers.tobytes(), words.tobytes()
        part = self._known.get(key)
        if part is None:
            part = self._known[key] = self._new_part(centers, rows, words)
            self.n_bytes += _PART_BYTES + 2 * words.nbytes
        return part

    def _new_part(self, centers: np.ndarray, rows: np.ndarray, words: np.ndarray) -> Part:
        places = self.problem.centers[centers]
        if (places == places[0]).all():
            costs = self.tables.costs[np.ix_(rows, centers)]
            least = int(costs.sum(axis=0).min())
            return Part(centers, words, int(costs.min(axis=1).sum()), least, least, is_leaf=True)
        base = int(own_rows(rows, centers, self.tables))
        disown_rows(rows, centers, self.tables)
        return Part(centers, words, base, base, NEVER, is_leaf=False)

    def _find_cuts(self, part: Part) -> np.ndarray:
        tables, rows, centers = self.tables, unpack_rows(part.words), part.centers
        own_rows(rows, centers, tables)
        found, j = [], 0
        while j < len(tables.rank):
            j, n = list_cuts(j, rows, centers, tables, part.pairs, self._found)
            found.append(self._found[:n].copy())
        disown_rows(rows, centers, tables)
        return np.concatenate(found)


def _raise(cuts: Cuts, k: int, branch: Branch) -> None:
    raise_gap(k, *branch.beyond, cuts)
    cuts.total[k] = max(cuts.total[k], branch.lower)


def _size(cuts: Cuts) -> int:
    return sum(column.nbytes for column in cuts)


@cache
def _all_pairs(n: int) -> tuple[np.ndarray, np.ndarray]:
    return np.triu_indices(n, 1)
