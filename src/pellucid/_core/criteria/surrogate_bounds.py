"""Upper bounds for the gain of all splits of a node, by the centers of the two children.

Let *home* be the center with the least cost for the whole node (ties go to the lowest), and D[c] =
cost(home) - cost(c) for each row. A split whose children belong to home and c gains the sum of D[c]
over the rows of the second child, which is at most

    alone[c] = sum over all rows of max(0, D[c]).

A split whose children belong to c and c', neither of them home, gains the sum of D[c] or D[c'] over
the rows, which is at most the sum of max(D[c], D[c']). For any number v of each row,

    max(D[c], D[c']) <= v + max(0, D[c] - v) + max(0, D[c'] - v),

so with excess[c] = sum of max(0, D[c] - v) such a split gains at most

    sum of v + excess[c] + excess[c'],

and at most the sum of the largest D of each row. The choice v = min(0, (m + u) / 2), halfway
between the mean m and the maximum u of D of a row, makes this bound small in a node whose rows
mostly belong to home. No child of a split with a gain belongs to a center with alone[c] = 0.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from pellucid._utils.threads import ThreadPool

_MIN_TASK_ROWS = 2**13
"""Fewest rows per task."""

_BLOCK_ROWS = 128
"""Rows copied at once, so that they stay in the cache."""

_SAMPLE = 64
"""Rows of the sample that selects a first guess for home."""


class CenterBounds:
    """Sums over the rows of a node that bound the gains of its splits.

    `home` is the center that the others are compared with, and `table`, (3, n_clusters + 1), has
    the sums of `sum_center_gains`. `totals` are the costs of all rows at each center, and
    `cheapest` is the center of least cost: the bounds hold if it is `home`. `level` and `largest`
    are the sums of v and of the largest D of each row.
    """

    def __init__(self, home: int, table: np.ndarray) -> None:
        self.home, self._table = home, table
        extra_cost, self.alone, self.excess = table[:, :-1]
        home_cost, self.largest, self.level = table[:, -1].tolist()
        self.totals = extra_cost + home_cost
        self.cheapest = int(self.totals.argmin())

    @classmethod
    def of(
        cls, rows: np.ndarray, costs: np.ndarray, pool: ThreadPool, home: int | None = None
    ) -> CenterBounds:
        """Bounds of some rows, compared with `home` or with the cheapest center of a sample."""
        from pellucid._core.kernels.surrogate_cost import sum_center_gains

        n, k = len(rows), costs.shape[1]
        if home is None:
            home = int(costs[rows[:: -(-n // _SAMPLE) or 1]].mean(axis=0).argmin()) if n else 0
        shift = (k - 1).bit_length()

        def sum_block(block: tuple[int, int]) -> np.ndarray:
            table = np.zeros((3, k + 1), dtype=np.int64)
            sum_center_gains(
                rows=rows[slice(*block)],
                costs=costs,
                home=home,
                shift=shift,
                ratio=2**shift / max(k - 1, 1),
                block=np.empty((_BLOCK_ROWS, k), dtype=np.int64),
                table=table,
            )
            return table

        tables = pool.map(sum_block, pool.blocks(n, _MIN_TASK_ROWS))
        return cls(home, tables[0] if len(tables) == 1 else np.sum(tables, axis=0))

    def subtract(self, other: CenterBounds) -> CenterBounds:
        """Bounds without the rows of `other`, which have been compared with the same center."""
        return CenterBounds(self.home, self._table - other._table)

    @cached_property
    def max_gain(self) -> int:
        """No split gains more; 0 if home is the cheapest center of each row."""
        return int(self.max_gains.max())

    def centers(self, gain: float) -> np.ndarray:
        """Home and all centers to which a split of at least this gain (>= 1) may assign a child."""
        is_needed = self.max_gains >= gain
        is_needed[self.home] = True
        return is_needed.nonzero()[0]

    @cached_property
    def max_gains(self) -> np.ndarray:
        """For each center other than home, a bound for all splits with a child of that center."""
        useful = np.flatnonzero(self.alone)
        if self.largest <= 0 or len(useful) < 2:
            return self.alone
        excess = self.excess[useful]
        second, first = np.partition(excess, -2)[-2:]
        partner = np.where(np.arange(len(excess)) == excess.argmax(), second, first)
        without_home = np.minimum(self.level + excess + partner, self.largest)
        gains = self.alone.copy()
        gains[useful] = np.maximum(self.alone[useful], without_home)
        return gains
