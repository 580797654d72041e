"""The best cut of a cell, pair of centers by pair (see `pellucid.kernels.pairs`).

In a cell whose rows mostly belong to one center, all but a few pairs of centers can be ruled out
before a column is looked at.
"""

from __future__ import annotations

import numpy as np

from pellucid.cuts.problem import Problem
from pellucid.cuts.rival_centers import Standing
from pellucid.cuts.search import Cut

_MOST_PAIRS = 12
"""Pairs that take less time than all centers together."""


def best_paired_cut(problem: Problem, rows: np.ndarray, standing: Standing) -> Cut | None:
    """The cut of some rows of dense data that gains most.

    None if there is no cut that gains anything, or if too many pairs of centers would have to be
    looked at.
    """
    star, alone, likely = standing.star, standing.alone, (standing.most_gain + 1) // 2
    if np.count_nonzero(alone >= likely) + standing.n_pairs(likely) > _MOST_PAIRS:
        return None
    cell, rivals = _Cell(problem, rows, standing), (-alone).argsort(kind="stable")
    rivals = rivals[: np.count_nonzero(alone)]
    best = cell.best_between(rivals, np.full_like(rivals, star), alone[rivals], _NOTHING)
    if standing.reach >= best[0]:
        if standing.n_pairs(best[0]) > _MOST_PAIRS:
            return None
        best = cell.best_between(*standing.pairs(best[0]), best)
    if best == _NOTHING:
        return None
    gain, feature, at = best
    return Cut(int(standing.totals[star]) - gain, feature, at, gain)


_NOTHING = (1, 2**40, np.inf)
"""Gain, column and threshold: any cut that gains something is better."""


class _Cell:
    """Rows of a cell, and what is known of them."""

    def __init__(self, problem: Problem, rows: np.ndarray, standing: Standing) -> None:
        bins, prices = problem.bins, problem.prices
        self._problem, self._n_rows = problem, len(rows)
        gains, lines = standing.totals[standing.star] - standing.totals, prices.lines(rows)
        self._rows = (gains, rows.view(np.uint32), lines.view(np.uint32), prices.costs)
        self._columns = (bins.codes, *problem.flat_values, bins.inside, bins.edges)

    def best_between(self, first: np.ndarray, second: np.ndarray, bounds: np.ndarray, best: tuple):
        """The best cut between any of some pairs of centers, if it is better than another one.

        Of equals, the lowest column and threshold are the best.
        """
        from pellucid.kernels.pairs import cut_between

        problem, n, pairs = self._problem, self._n_rows, np.array([first, second]).T.copy()
        n_features, width = problem.bins.edges.shape
        sums = np.empty((n_features, 2, width), np.int64)
        states = np.empty((2, n_features), np.int64)

        def work(block: np.ndarray) -> tuple[int, int, float]:
            order, apart = np.empty(n, np.uint32), np.empty(n, np.int64)
            opened, near = np.empty(n + 1, np.uint32), np.empty(n + 1)
            about = (block, pairs, bounds, *self._rows, *self._columns)
            return cut_between(*about, *best, order, apart, opened, near, sums, states)

        blocks = problem.feature_blocks(np.arange(n_features), n)
        return min(problem.team.map(work, blocks), key=lambda cut: (-cut[0], *cut[1:]))
