"""Which centers can matter to the cuts of a cell, and how much any of its cuts can gain.

Each side of a cut goes to the center that is cheapest for it. Let *star* be the center that is
cheapest for the whole cell (the lowest of equals), and D[c] how much better off a row is at c than
at star. A cut that sends one side to c and leaves the other at star gains the sum of D[c] over that
side, so that it gains at most

    alone[c] = sum over all rows of max(0, D[c]).

A cut that sends its sides to c and c', neither of which is star, leaves no row at star, close to it
or not. Whatever the number v of each row,

    max(D[c], D[c']) <= v + max(0, D[c] - v) + max(0, D[c'] - v),

so that with paired[c] = sum of max(0, D[c] - v) such a cut gains at most

    sum of v + paired[c] + paired[c'],

and at most the sum of the largest D of each row. Below zero, halfway between the mean of a row's D
and the largest of them, v makes it plain that hardly any pair does without star. A center that no
row prefers to star is of no use to any cut.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from pellucid.numeric.fixed_point import Prices
from pellucid.numeric.team import Team

_LEAST_ROWS = 2**13
"""Fewest rows worth a task of their own."""

_ROWS_TOGETHER = 128

_PARTS = np.array([0, 1, 2, 4, 8])
"""Where parts of a cell's rows begin and end, in eighths: after the first, little may be left."""

_SAMPLE = 64
"""Rows that are asked for the center which is likely to be the cheapest for all."""


class Rivals(NamedTuple):
    """Centers that the sides of a cut may go to, and what rows pay there.

    Attributes
    ----------
    prices : Prices
    star : int
    rivals : ndarray of int
        The centers besides star, ascending.
    shift : int
        Binary digits of a line's last number that count rows; see `kernels.surrogate`.
    """

    prices: Prices
    star: int
    rivals: np.ndarray
    shift: int

    @property
    def n_sums(self) -> int:
        """Numbers in a line."""
        return len(self.rivals) + 1

    def lines_of(self, rows: np.ndarray) -> np.ndarray:
        """The lines of some rows."""
        from pellucid.kernels.surrogate import compare_prices

        lines = np.empty((len(rows), self.n_sums), dtype=np.int64)
        places, about = self.prices.lines(rows), (self.star, self.rivals, self.shift)
        compare_prices(places, self.prices.costs, *about, lines)
        return lines

    def include(self, star: int, rivals: np.ndarray) -> bool:
        """Whether these are rivals of the same star, and all of the others among them."""
        return self.star == star and set(self.rivals.tolist()).issuperset(rivals.tolist())


class Standing:
    """How the centers stand in a cell.

    Parameters
    ----------
    star : int
        Center that the others are compared with.
    sums : ndarray of shape (n_parts, 3, n_clusters), int64
        Less what the rows pay at star, what they pay at each center; then `alone` and `paired`.
    levels : ndarray of shape (n_parts, 3), int64
        Sums of v, of the largest D of each row, and of what it pays at star.
    ends : ndarray of int, optional
        Where the parts of the rows begin and end; without it, they are unknown.
    """

    def __init__(
        self, star: int, sums: np.ndarray, levels: np.ndarray, ends: np.ndarray | None = None
    ) -> None:
        self.star, self.sums, self.levels, self.ends = star, sums, levels, ends
        dearer, self.alone, self.paired = sums.sum(axis=0)
        self.base, self.reach, paid = levels.sum(axis=0)
        self.totals = dearer + paid

    @classmethod
    def of(cls, rows: np.ndarray, prices: Prices, team: Team, star=None) -> Standing:
        """How centers stand among some rows, compared with the one that is likely the cheapest."""
        from pellucid.kernels.surrogate import weigh_centers

        rows, costs = prices.lines(rows), prices.costs
        n = costs.shape[1]
        if star is None:
            some = rows[:: -(-len(rows) // _SAMPLE) or 1]
            star = int(np.argmin(costs[some].mean(axis=0))) if len(rows) else 0
        ends, n_parts = len(rows) * _PARTS // _PARTS[-1], len(_PARTS) - 1
        shift = (n - 1).bit_length()
        share = 2**shift / max(n - 1, 1)
        sums = np.zeros((n_parts, 3, n), dtype=np.int64)
        levels = np.zeros((n_parts, 3), dtype=np.int64)

        def work(block: tuple[int, int]) -> None:
            near = np.empty((_ROWS_TOGETHER, n), dtype=np.int64)
            some = slice(*block)
            parts = ends[block[0] : block[1] + 1]
            how = (costs, star, shift, share, near)
            weigh_centers(rows, parts, *how, sums[some], levels[some])

        if len(rows) < _LEAST_ROWS:
            work((0, n_parts))
        else:
            team.map(work, [(p, p + 1) for p in range(n_parts)])
        return cls(star, sums, levels, ends)

    def without(self, other: Standing) -> Standing:
        """The same without some of the rows, which have been compared with the same center."""
        sums = self.sums.sum(axis=0) - other.sums.sum(axis=0)
        levels = self.levels.sum(axis=0) - other.levels.sum(axis=0)
        return Standing(self.star, sums[None], levels[None])

    @cached_property
    def cheapest(self) -> int:
        """The center that is cheapest for all rows; what follows holds if it is star."""
        return int(np.argmin(self.totals))

    @cached_property
    def most_gain(self) -> int:
        """No cut gains more; 0 where each row is cheapest at star."""
        return int(self._most_gains.max())

    def rivals(self, gain: int) -> np.ndarray:
        """All centers to which cuts may send a side that gain this much (at least 1)."""
        return np.flatnonzero(self._most_gains >= gain)

    def with_next_best(self, rivals: np.ndarray, n: int) -> np.ndarray:
        """The rivals and the likeliest n of the others, if there are as many of any use."""
        if not n:
            return rivals
        others = self._most_gains.copy()
        others[rivals] = 0
        likeliest = np.argsort(-others, kind="stable")[:n]
        return np.sort(np.concatenate([rivals, likeliest[others[likeliest] > 0]]))

    @cached_property
    def _most_gains(self) -> np.ndarray:
        """For each center, a bound for the gain of all cuts that send a side there."""
        alone, paired = self.alone, self.paired
        most, useful = alone.copy(), np.flatnonzero(alone)
        if len(useful) > 1:
            mine = paired[useful]
            second, first = np.partition(mine, -2)[-2:]
            partner = np.where(np.arange(len(mine)) == np.argmax(mine), second, first)
            both = np.minimum(self.base + mine + partner, self.reach)
            most[useful] = np.maximum(alone[useful], both)
        return most

    def n_pairs(self, gain: int) -> int:
        """How many pairs of centers may do without star in cuts that gain as much."""
        if self.reach < gain:
            return 0
        mine = np.sort(self.paired[self.rivals(gain)])
        partners = len(mine) - np.searchsorted(mine, gain - self.base - mine)
        itself = self.base + 2 * mine >= gain
        return int(partners.sum() - itself.sum()) // 2

    def fewest_rivals(self, gain: int, rows: np.ndarray, prices: Prices) -> np.ndarray:
        """The same, but of pairs only those are left whose rows' larger D add up to the gain.

        `rows` are those that the parts were made of. The parts are gone through one by one, and
        pairs given up as soon as what is left cannot make up for it.
        """
        from pellucid.kernels.surrogate import pair_centers

        rows, costs = prices.lines(rows), prices.costs
        centers = self.rivals(gain)
        alone = self.alone[centers] >= gain
        first, second = np.triu_indices(len(centers), 1)
        paired, base = self.paired[centers], self.base
        likely = base + paired[first] + paired[second] >= gain
        first, second = first[likely], second[likely]
        near = np.empty((len(centers), _ROWS_TOGETHER + 8), dtype=np.int64)
        sums = np.zeros(len(first), dtype=np.int64)
        for part, (begin, end) in enumerate(zip(self.ends[:-1], self.ends[1:])):
            if not len(sums):
                break
            some = rows[begin:end]
            pair_centers(some, costs, self.star, centers, first, second, near, sums)
            base = base - self.levels[part, 0]
            paired = paired - self.sums[part, 2, centers]
            left = sums + base + paired[first] + paired[second] >= gain
            first, second, sums = first[left], second[left], sums[left]
        alone[first] = alone[second] = True
        return centers[alone]
