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

    @property
    def cuts(self) -> CutTable:
        """The listed cuts, once listed."""
        assert self.listed is not None
        return self.listed.cuts

    def listed_cut(self, k: int) -> tuple[int, int]:
        """The k-th of the listed cuts as (gap, rank)."""
        cuts = self.cuts
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


def pack_rows(rows: np.ndarray, n_samples: int) -> np.ndarray:
    """A set of rows as bits: bit i % 64 of word i // 64 stands for row i."""
    is_member = np.zeros(64 * -(-n_samples // 64), dtype=bool)
    is_member[rows] = True
    return np.packbits(is_member, bitorder="little").view("<u8").astype(np.uint64, copy=False)


def unpack_rows(row_bits: np.ndarray) -> np.ndarray:
    """The rows of a set, ascending."""
    octets = row_bits.astype("<u8", copy=False).view(np.uint8)
    return np.flatnonzero(np.unpackbits(octets, bitorder="little")).astype(np.int32)
