"""Subproblems of the exact search, and what is known about each.

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
from typing import NamedTuple

import numpy as np

from pellucid._core.kernels import INFINITE_COST
from pellucid._core.kernels.subproblem import CutTable, transferred_excess
from pellucid._utils.threads import SERIAL, ThreadPool
from pellucid.tree.predictor import column_values


class Branch(NamedTuple):
    """The two sides of a cut, and the cost of the rows that are on neither."""

    left: Subproblem
    right: Subproblem
    fixed_cost: int

    @property
    def lower(self) -> int:
        """Lower bound of the cost of both sides."""
        return self.left.lower + self.right.lower + self.fixed_cost

    @property
    def upper(self) -> int:
        """Upper bound of the cost of both sides."""
        return min(INFINITE_COST, self.left.upper + self.right.upper + self.fixed_cost)


class ListedCuts(NamedTuple):
    """The most promising cuts of a subproblem, and a lower bound for all other cuts."""

    cuts: CutTable
    rest_lower: int


@dataclass(eq=False, slots=True)
class Subproblem:
    """Centers and rows, and what is known about the best tree for them.

    Attributes
    ----------
    centers : ndarray of int
    row_bits : ndarray of uint64
        The rows, one bit per row of the data.
    base : int
        Sum over rows of the least cost at any of the centers.
    lower, upper : int
        Bounds of the cost of the best tree. The subproblem is solved when they are equal.
    is_leaf : bool
        Whether no cut can separate the centers.
    pairs : ndarray of shape (n_pairs, 3) or None
        Two centers and what it costs to separate them, costliest first, once computed.
    listed : ListedCuts or None
        Cuts, once listed.
    branches : dict
        Sides of the cuts that have been explored, by (gap, rank).
    best : tuple of int or None
        The cut (gap, rank) that reaches `upper`.
    peer_number : int or None
        Number in `PeerBounds`, once recorded there.
    """

    centers: np.ndarray
    row_bits: np.ndarray
    base: int
    lower: int
    upper: int
    is_leaf: bool
    pairs: np.ndarray | None = None
    listed: ListedCuts | None = None
    branches: dict[tuple[int, int], Branch] = field(default_factory=dict)
    best: tuple[int, int] | None = None
    peer_number: int | None = None

    @property
    def is_solved(self) -> bool:
        """Whether the cost of the best tree is known."""
        return self.lower >= self.upper

    @property
    def excess(self) -> int:
        """Lower bound of what the best tree costs more than `base`."""
        return self.lower - self.base

    def listed_cut(self, k: int) -> tuple[int, int]:
        """The k-th of the listed cuts as (gap, rank)."""
        cuts = self.listed.cuts
        return int(cuts.gap[k]), int(cuts.rank[k])


class PeerBounds:
    """Lower bounds from subproblems with the same centers.

    The spread of a row is its greatest minus its least cost at these centers. For two subproblems
    with the same centers and rows R and R',

        excess(R) >= excess(R') - sum of spread over the rows of R' that are not in R.

    Parameters
    ----------
    costs : ndarray of shape (n_samples, n_centers)
        Cost of every row of the data at each of the centers.
    n_words : int
        Length of `Subproblem.row_bits`.
    """

    def __init__(self, costs: np.ndarray, n_words: int) -> None:
        self._spread = costs.max(axis=1) - costs.min(axis=1)
        self._row_bits = np.empty((8, n_words), dtype=np.uint64)
        self._excess = np.empty(8, dtype=np.int64)
        self._n = 0

    @property
    def n_bytes(self) -> int:
        """Memory."""
        return self._spread.nbytes + self._row_bits.nbytes

    def record(self, subproblem: Subproblem) -> None:
        """Store the excess of a subproblem."""
        if subproblem.peer_number is None:
            if self._n == len(self._row_bits):
                self._row_bits = np.concatenate([self._row_bits, np.empty_like(self._row_bits)])
                self._excess = np.concatenate([self._excess, np.empty_like(self._excess)])
            self._row_bits[self._n] = subproblem.row_bits
            subproblem.peer_number = self._n
            self._n += 1
        self._excess[subproblem.peer_number] = subproblem.excess

    def lower_bound(self, subproblem: Subproblem) -> int:
        """Lower bound of the cost of a subproblem."""
        excess = transferred_excess(
            subproblem.row_bits, self._n, self._row_bits, self._excess, self._spread
        )
        return subproblem.base + int(excess)


@dataclass(frozen=True)
class Ranks:
    """Exact ranks of the columns in which centers differ; an item is a row or a center.

    Attributes
    ----------
    X : ndarray or CSC matrix of shape (n_samples, n_features)
    centers : ndarray of shape (n_clusters, n_features)
    features : ndarray of shape (n_columns,)
        The columns.
    rank : ndarray of shape (n_columns, n_samples + n_clusters), int32
        Number of different smaller values in the column; rows first, then centers.
    order : ndarray of shape (n_columns, n_samples + n_clusters), int32
        Items by rank.
    """

    X: object
    centers: np.ndarray
    features: np.ndarray
    rank: np.ndarray
    order: np.ndarray

    @classmethod
    def of(cls, X, centers: np.ndarray, pool: ThreadPool = SERIAL) -> Ranks:
        """Rank the columns of a dense or CSC matrix."""
        features = np.flatnonzero(centers.max(axis=0) > centers.min(axis=0))
        rank = np.empty((len(features), X.shape[0] + len(centers)), dtype=np.int32)
        order = np.empty_like(rank)
        ranks = cls(X, centers, features, rank, order)

        def rank_column(j: int) -> None:
            rank[j] = np.unique(ranks._values(j), return_inverse=True)[1].reshape(-1)
            order[j] = np.argsort(rank[j], kind="stable")

        pool.map(rank_column, range(len(features)))
        return ranks

    def value(self, column: int, rank: int) -> float:
        """The value of a rank."""
        return float(np.unique(self._values(column))[rank])

    def _values(self, column: int) -> np.ndarray:
        """Values of all items in a column."""
        feature, rows = self.features[column], np.arange(self.X.shape[0])
        return np.concatenate([column_values(self.X, feature, rows), self.centers[:, feature]])
