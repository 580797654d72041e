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

from typing import NamedTuple

import numpy as np

from pellucid._utils.threads import ThreadPool

_LEAST_ROWS = 2**13
"""Fewest rows worth a task of their own."""

_ROWS_TOGETHER = 128

_PARTS = np.array([0, 1, 2, 4, 8])
"""Where parts of many rows begin and end, in eighths: after the first, little may be left."""

_SAMPLE = 64
"""Rows that are asked for the center which is likely to be the cheapest for all."""


class Rivals(NamedTuple):
    """Centers that the sides of a cut may go to, and what rows pay there.

    Attributes
    ----------
    costs : ndarray of shape (n_samples, n_clusters), int64
        Cost of each row at each center.
    star : int
    rivals : ndarray of int
        The centers besides star, ascending.
    shift : int
        Binary digits of a line's last number that count rows; see `kernels.surrogate`.
    """

    costs: np.ndarray
    star: int
    rivals: np.ndarray
    shift: int

    @property
    def n_sums(self) -> int:
        """Numbers in a line."""
        return len(self.rivals) + 1

    def lines_of(self, rows: np.ndarray) -> np.ndarray:
        """The lines of some rows."""
        from pellucid._core.kernels.surrogate_cost import compare_prices

        lines = np.empty((len(rows), self.n_sums), dtype=np.int64)
        compare_prices(rows, self.costs, self.star, self.rivals, self.shift, lines)
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
    table : ndarray of shape (n_parts, 3, n_clusters + 1), int64
        Sums over parts of the rows, as `weigh_centers` finds them.
    ends : ndarray of int, optional
        Where the parts of the rows begin and end; without it, all rows are one part.

    Attributes
    ----------
    totals : ndarray of shape (n_clusters,)
        What the rows pay at each center.
    cheapest : int
        The center that is cheapest for all rows; all else holds if it is star.
    alone, paired : ndarray of shape (n_clusters,)
    base, reach : int
        Sums of v and of the largest D of each row.
    """

    def __init__(self, star: int, table: np.ndarray, ends: np.ndarray | None = None) -> None:
        self.star, self.table, self.ends = star, table, ends
        self._whole = table[0] if len(table) == 1 else table.sum(axis=0)
        dearer, self.alone, self.paired = self._whole[:, :-1]
        paid, self.reach, self.base = self._whole[:, -1].tolist()
        self.totals = dearer + paid
        self.cheapest = int(self.totals.argmin())
        self._most: np.ndarray | None = None

    @classmethod
    def of(cls, rows: np.ndarray, costs: np.ndarray, pool: ThreadPool, star=None) -> Standing:
        """How centers stand among some rows, compared with the one that is likely the cheapest."""
        from pellucid._core.kernels.surrogate_cost import weigh_centers

        n, k = len(rows), costs.shape[1]
        if star is None:
            some = rows[:: -(-n // _SAMPLE) or 1]
            star = int(np.argmin(costs[some].mean(axis=0))) if n else 0
        ends = n * _PARTS // _PARTS[-1] if n >= _LEAST_ROWS else np.array([0, n])
        table, shift = np.zeros((len(ends) - 1, 3, k + 1), dtype=np.int64), (k - 1).bit_length()
        how = (costs, star, shift, 2**shift / max(k - 1, 1))

        def work(part: slice) -> None:
            near = np.empty((_ROWS_TOGETHER, k), dtype=np.int64)
            weigh_centers(rows, ends[part.start : part.stop + 1], *how, near, table[part])

        is_shared = len(table) > 1 and pool.is_parallel
        steps = range(len(table)) if is_shared else (0,)
        pool.map(work, [slice(p, p + 1 if is_shared else len(table)) for p in steps])
        return cls(star, table, ends)

    def without(self, other: Standing) -> Standing:
        """The same without some of the rows, which have been compared with the same center."""
        return Standing(self.star, (self._whole - other._whole)[None])

    @property
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

    @property
    def _most_gains(self) -> np.ndarray:
        """For each center, a bound for the gain of all cuts that send a side there."""
        if self._most is None:
            # Where the largest D are below 0, no pair of centers gains anything without star.
            self._most = self._with_pairs() if self.reach > 0 else self.alone
        return self._most

    def _with_pairs(self) -> np.ndarray:
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

    def pairs(self, gain: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The first and the second centers of these pairs, and what they gain at most."""
        centers = self.rivals(gain)
        first, second = np.triu_indices(len(centers), 1)
        paired = self.paired[centers]
        bounds = np.minimum(self.base + paired[first] + paired[second], self.reach)
        likely = bounds >= gain
        return centers[first[likely]], centers[second[likely]], bounds[likely]

    def pairs_by_row(
        self, gain: int, rows: np.ndarray, costs: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The same, but only those whose rows' larger D, the new bounds, add up to the gain.

        `rows` are those that the parts were made of. The parts are gone through one by one, and
        pairs given up as soon as what is left cannot make up for it.
        """
        from pellucid._core.kernels.surrogate_cost import pair_centers

        centers, base = self.rivals(gain), self.base
        paired = self.paired[centers]
        first, second = np.triu_indices(len(centers), 1)
        likely = base + paired[first] + paired[second] >= gain
        first, second = first[likely], second[likely]
        near = np.empty((len(centers), _ROWS_TOGETHER + 8), dtype=np.int64)
        sums = np.zeros(len(first), dtype=np.int64)
        ends = np.array([0, len(rows)]) if self.ends is None else self.ends
        for part, (begin, end) in enumerate(zip(ends[:-1], ends[1:])):
            if not len(sums):
                break
            some = rows[begin:end]
            pair_centers(some, costs, self.star, centers, first, second, near, sums)
            base = base - self.table[part, 2, -1]
            paired = paired - self.table[part, 2, centers]
            left = sums + base + paired[first] + paired[second] >= gain
            first, second, sums = first[left], second[left], sums[left]
        return centers[first], centers[second], sums

    def fewest_rivals(self, gain: int, rows: np.ndarray, costs: np.ndarray) -> np.ndarray:
        """All centers besides star that are in such a pair, or gain as much with star."""
        is_wanted = self.alone >= gain
        first, second, _ = self.pairs_by_row(gain, rows, costs)
        is_wanted[first] = is_wanted[second] = True
        return np.flatnonzero(is_wanted)
