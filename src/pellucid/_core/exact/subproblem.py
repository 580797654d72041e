"""Subproblems of the exact search, what is known about each, and how lower bounds rise.

A subproblem (C, R) is a set C of reference centers and a set R of rows. Its solution is the tree of
least cost with one leaf per center of C, in which every cut separates centers:

    cost = sum over rows i in R of cost[i, c(i)],    c(i) = center of the leaf of row i.

The first cut of the tree divides (C, R) into two subproblems:

    optimum(C, R) = min over cuts of optimum(left side) + optimum(right side) + fixed cost.

The fixed cost is that of the rows that cost the same at every center of their side. These rows are
not part of the side, so that more nodes of the search lead to the same subproblem.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from pellucid._core.criteria.problem import Problem
from pellucid._core.kernels import INFINITE_COST
from pellucid._core.kernels.subproblem import (
    CutTable,
    RankedData,
    assign_rows,
    divide_subproblem,
    list_cuts,
    raise_gap,
    separation_costs,
    transferred_excess,
)
from pellucid._utils.threads import SERIAL, ThreadPool
from pellucid.tree.predictor import column_values

_SUBPROBLEM_BYTES = 1500  # memory of a subproblem without its rows and cuts, roughly


class SearchSettings(NamedTuple):
    """Memory and effort of the exact search (conventions). They change its speed only."""

    max_bytes: int = 2**30  # memory at which the search stops
    n_listed: int = 128  # cuts of a subproblem that are listed at first
    n_solved_centers: int = 4  # trial trees solve subproblems with at most this many centers


DEFAULT_SETTINGS = SearchSettings()


class Branch(NamedTuple):
    """The two sides of a cut, the cost of the rows that are on neither, and bounds of all."""

    left: Subproblem
    right: Subproblem
    fixed_cost: int

    @property
    def lower(self) -> int:
        return self.left.lower + self.right.lower + self.fixed_cost

    @property
    def upper(self) -> int:
        return min(INFINITE_COST, self.left.upper + self.right.upper + self.fixed_cost)


class ListedCuts(NamedTuple):
    """The most promising cuts of a subproblem, and a lower bound for all other cuts."""

    cuts: CutTable
    rest_lower: int


@dataclass(eq=False, slots=True)
class Subproblem:
    """Centers and rows, and what is known about the best tree for them.

    It is solved when the bounds `lower` and `upper` of the cost of the best tree are equal.
    """

    centers: np.ndarray
    row_bits: np.ndarray  # uint64, one bit per row of the data
    base: int  # sum over rows of the least cost at any of the centers
    lower: int
    upper: int
    is_leaf: bool  # whether no cut can separate the centers
    pairs: np.ndarray | None = None  # (n_pairs, 3): two centers, cost to separate them; descending
    listed: ListedCuts | None = None
    branches: dict[tuple[int, int], Branch] = field(default_factory=dict)  # by cut (gap, rank)
    best: tuple[int, int] | None = None  # the cut that reaches `upper`
    peer_number: int | None = None  # in `PeerBounds`, once recorded there

    @property
    def is_solved(self) -> bool:
        """Whether the cost of the best tree is known."""
        return self.lower >= self.upper

    @property
    def excess(self) -> int:
        """Lower bound of what the best tree costs more than `base`."""
        return self.lower - self.base

    @property
    def cuts(self) -> CutTable:
        assert self.listed is not None
        return self.listed.cuts

    def listed_cut(self, k: int) -> tuple[int, int]:
        """The k-th of the listed cuts as (gap, rank)."""
        return int(self.cuts.gap[k]), int(self.cuts.rank[k])


class PeerBounds:
    """Lower bounds from subproblems with the same centers.

    The spread of a row is its greatest minus its least cost at these centers. For two subproblems
    with the same centers and rows R and R',

        excess(R) >= excess(R') - sum of spread over the rows of R' that are not in R.

    `costs` are those of every row of the data at each of the centers, and `n_words` is the length
    of `Subproblem.row_bits`.
    """

    def __init__(self, costs: np.ndarray, n_words: int) -> None:
        self._spread = costs.max(axis=1) - costs.min(axis=1)
        self._row_bits = np.empty((8, n_words), dtype=np.uint64)
        self._excess = np.empty(8, dtype=np.int64)
        self._n = 0

    def record(self, subproblem: Subproblem) -> None:
        if subproblem.peer_number is None:
            if self._n == len(self._row_bits):
                self._row_bits = np.concatenate([self._row_bits, np.empty_like(self._row_bits)])
                self._excess = np.concatenate([self._excess, np.empty_like(self._excess)])
            self._row_bits[self._n] = subproblem.row_bits
            subproblem.peer_number = self._n
            self._n += 1
        self._excess[subproblem.peer_number] = subproblem.excess

    def lower_bound(self, subproblem: Subproblem) -> int:
        known = self._n, self._row_bits, self._excess, self._spread
        return subproblem.base + int(transferred_excess(subproblem.row_bits, *known))


class SubproblemTable:
    """Creates each subproblem once, and raises lower bounds in several ways, the cheapest first.

    `costs` of shape (n_samples, n_clusters) has the cost of each row at each center, whose sum over
    all rows is minimised. `n_listings` counts how often cuts have been listed, a measure of time
    that is the same on every machine; `n_bytes` is the memory, roughly.
    """

    def __init__(
        self, problem: Problem, costs: np.ndarray, settings: SearchSettings = DEFAULT_SETTINGS
    ) -> None:
        self.problem, self.settings = problem, settings
        self._features, rank, order = rank_columns(problem.X, problem.centers, problem.pool)
        n_items = problem.n_samples + problem.n_clusters
        of_items = np.full(n_items, -1, dtype=np.int32), np.zeros(n_items, dtype=np.int64)
        self.data = RankedData(rank, order, np.ascontiguousarray(costs), *of_items)
        self._subproblems: dict[tuple[bytes, bytes], Subproblem] = {}
        self._peers: dict[bytes, PeerBounds] = {}
        self.n_listings = self.n_bytes = 0

    def root(self) -> tuple[Subproblem, int]:
        """The whole problem, and the cost of the rows that cost the same at every center."""
        centers = np.arange(self.problem.n_clusters)
        rows = np.arange(self.problem.n_samples, dtype=np.int32)
        ranks = np.zeros(len(rows), dtype=np.int32)
        rows, _, fixed_cost = divide_subproblem(rows, ranks, 0, centers, centers, self.data.costs)
        return self._subproblem(centers, rows), int(fixed_cost)

    def threshold(self, cut: tuple[int, int]) -> tuple[int, float]:
        """Feature of a cut (gap, rank), and the largest value that goes left."""
        feature = int(self._features[cut[0] // self.problem.n_clusters])
        values = _item_values(self.problem.X, self.problem.centers, feature)
        return feature, float(np.unique(values)[cut[1]])

    def branch(self, subproblem: Subproblem, cut: tuple[int, int]) -> Branch:
        found = subproblem.branches.get(cut)
        if found is None:
            (gap, rank), centers = cut, subproblem.centers
            rows = unpack_rows(subproblem.row_bits)
            ranks = self.data.rank[gap // self.problem.n_clusters]
            goes_left = ranks[self.problem.n_samples + centers] <= rank
            sides = centers[goes_left], centers[~goes_left]
            *parts, fixed = divide_subproblem(rows, ranks, rank, *sides, self.data.costs)
            left, right = map(self._subproblem, sides, parts)
            found = subproblem.branches[cut] = Branch(left, right, int(fixed))
        return found

    def bound_by_peers(self, subproblem: Subproblem) -> None:
        """Raise the lower bound by what is known about subproblems with the same centers."""
        peers = self._peers.get(subproblem.centers.tobytes())
        if peers is not None and not subproblem.is_solved:
            subproblem.lower = max(subproblem.lower, peers.lower_bound(subproblem))

    def bound_by_pairs(self, subproblem: Subproblem) -> None:
        """Raise the lower bound by the costs of separating pairs of centers.

        The costs of pairs that have no center in common can be added. If each center is in two
        pairs, half of their sum can be:

            lower = base + 1/2 max over permutations s of sum over centers a of pair[a, s(a)].
        """
        if subproblem.is_leaf or subproblem.pairs is not None:
            return
        rows, centers = unpack_rows(subproblem.row_bits), subproblem.centers
        n = len(centers)
        pair = np.empty((n, n), dtype=np.int64)
        assign_rows(rows, centers, self.data)
        separation_costs(rows, centers, self.data, pair)
        first, second = linear_sum_assignment(pair, maximize=True)
        lower = subproblem.base - int(-pair[first, second].sum() // 2)
        a, b = _all_pairs(n)
        pairs = np.stack([a, b, pair[a, b]], axis=1)
        pairs = pairs[np.argsort(-pairs[:, 2], kind="stable")]
        subproblem.pairs = pairs[pairs[:, 2] > 0]
        subproblem.lower = max(subproblem.lower, lower)
        if n == 2:
            subproblem.upper = lower
            self.record(subproblem)

    def list_cuts(self, subproblem: Subproblem) -> ListedCuts:
        """List the cuts of least lower bound: few at first, more each time."""
        self.bound_by_pairs(subproblem)
        listed, rest_lower = subproblem.listed, INFINITE_COST
        n_listed = self.settings.n_listed if listed is None else 4 * len(listed.cuts.lower)
        found = self._all_cuts(subproblem)
        lower = CutTable(*found).lower
        if len(lower) > n_listed:
            is_listed = lower <= np.partition(lower, n_listed)[n_listed]
            rest_lower = int(lower[~is_listed].min(initial=INFINITE_COST))
            found = found.compress(is_listed, axis=1)
        cuts = CutTable(*found)
        for (gap, rank), branch in subproblem.branches.items():
            for k in np.flatnonzero((cuts.gap == gap) & (cuts.rank == rank)).tolist():
                _raise_cut(cuts, k, branch)
        self.n_bytes += _n_bytes(cuts) - (0 if listed is None else _n_bytes(listed.cuts))
        self.n_listings += 1
        subproblem.listed = new = ListedCuts(cuts, rest_lower)
        return new

    def update_cut(self, subproblem: Subproblem, k: int) -> None:
        """Update the bounds of the k-th listed cut, and the upper bound, from the cut's sides."""
        cut = subproblem.listed_cut(k)
        branch = subproblem.branches[cut]
        _raise_cut(subproblem.cuts, k, branch)
        if branch.upper < subproblem.upper:
            subproblem.best = cut
            subproblem.upper = branch.upper

    def record(self, subproblem: Subproblem) -> None:
        """Make the lower bound available to subproblems with the same centers."""
        key = subproblem.centers.tobytes()
        if key not in self._peers:
            costs = self.data.costs[:, subproblem.centers]
            self._peers[key] = PeerBounds(costs, len(subproblem.row_bits))
            self.n_bytes += costs.nbytes
        self._peers[key].record(subproblem)

    def release(self, subproblem: Subproblem) -> None:
        """Drop what a solved subproblem no longer needs."""
        if subproblem.listed is not None:
            self.n_bytes -= _n_bytes(subproblem.listed.cuts)
            subproblem.listed = None
        if subproblem.best is not None:
            subproblem.branches = {subproblem.best: subproblem.branches[subproblem.best]}

    def _subproblem(self, centers: np.ndarray, rows: np.ndarray) -> Subproblem:
        """The subproblem of these centers and rows, created unless it exists."""
        row_bits = pack_rows(rows, self.problem.n_samples)
        key = centers.tobytes(), row_bits.tobytes()
        if key not in self._subproblems:
            base, upper = int(assign_rows(rows, centers, self.data)), INFINITE_COST
            lower, coordinates = base, self.problem.centers[centers]
            if is_leaf := bool((coordinates == coordinates[0]).all()):
                lower = upper = int(self.data.costs[np.ix_(rows, centers)].sum(axis=0).min())
            new = Subproblem(centers, row_bits, base, lower, upper, is_leaf)
            self._subproblems[key] = new
            self.n_bytes += _SUBPROBLEM_BYTES + 3 * row_bits.nbytes
        return self._subproblems[key]

    def _all_cuts(self, subproblem: Subproblem) -> np.ndarray:
        """All cuts that are not dominated, one row per field of `CutTable`."""
        data, centers, rows = self.data, subproblem.centers, unpack_rows(subproblem.row_bits)
        assign_rows(rows, centers, data)
        center_rank = data.rank[:, self.problem.n_samples + centers]
        by_rank = centers[np.argsort(center_rank, axis=1, kind="stable")]
        max_cuts = len(data.rank) * (len(rows) + len(centers))
        buffer = np.empty((len(CutTable._fields), max_cuts), dtype=np.int64)
        n_cuts = list_cuts(rows, by_rank, data, subproblem.pairs, CutTable(*buffer))
        return buffer[:, :n_cuts].copy()


def rank_columns(
    X: Any, centers: np.ndarray, pool: ThreadPool = SERIAL
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rank rows and centers in the columns in which centers differ.

    Returns the columns, the rank of each item (rows first, then centers), which is the number of
    different smaller values in the column, and the items by rank.
    """
    features = np.flatnonzero(centers.max(axis=0) > centers.min(axis=0))
    rank = np.empty((len(features), X.shape[0] + len(centers)), dtype=np.int32)
    order = np.empty_like(rank)

    def rank_column(j: int) -> None:
        values = _item_values(X, centers, features[j])
        rank[j] = np.unique(values, return_inverse=True)[1].reshape(-1)
        order[j] = np.argsort(rank[j], kind="stable")

    pool.map(rank_column, range(len(features)))
    return features, rank, order


def _item_values(X: Any, centers: np.ndarray, feature: int) -> np.ndarray:
    values = column_values(X, feature, np.arange(X.shape[0]))
    return np.concatenate([values, centers[:, feature]])


def _raise_cut(cuts: CutTable, k: int, branch: Branch) -> None:
    raise_gap(k, branch.left.excess, branch.right.excess, cuts)
    cuts.lower[k] = max(cuts.lower[k], branch.lower)


def _n_bytes(cuts: CutTable) -> int:
    return sum(column.nbytes for column in cuts)


_all_pairs = cache(partial(np.triu_indices, k=1))


def pack_rows(rows: np.ndarray, n_samples: int) -> np.ndarray:
    """A set of rows as bits: bit i % 64 of word i // 64 stands for row i."""
    is_member = np.zeros(64 * -(-n_samples // 64), dtype=bool)
    is_member[rows] = True
    return np.packbits(is_member, bitorder="little").view("<u8").astype(np.uint64, copy=False)


def unpack_rows(row_bits: np.ndarray) -> np.ndarray:
    """The rows of a set, ascending."""
    octets = row_bits.astype("<u8", copy=False).view(np.uint8)
    return np.flatnonzero(np.unpackbits(octets, bitorder="little")).astype(np.int32)
