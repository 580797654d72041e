"""The best cut of a cell, pair of centers by pair (see `pellucid._core.kernels.surrogate_pairs`).

In a cell whose rows mostly belong to one center, all but a few pairs of centers can be ruled out
before a column is looked at.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pellucid._core.criteria.column_search import Split
from pellucid._core.criteria.problem import Problem
from pellucid._core.criteria.surrogate_bounds import Standing

_MOST_PAIRS = 12
"""Pairs that take less time than all centers together."""

_FEW_ROWS, _MORE_PAIRS = 4096, 48
"""Rows of which more pairs do: to look at all centers together takes more steps between loops."""


_NOTHING = (1, 2**40, np.inf)
"""Gain, column and threshold: any cut that gains something is better."""


class Paired(NamedTuple):
    """What looking at pairs has found.

    Attributes
    ----------
    cut : Split or None
        The best cut. None if no cut gains anything, or if too many pairs would have to be looked
        at to know.
    rivals : ndarray of int or None
        In that case, all centers besides star that the best cut may send a side to, if it is worth
        knowing.
    """

    cut: Split | None
    rivals: np.ndarray | None = None


def best_paired_cut(problem: Problem, rows: np.ndarray, standing: Standing) -> Paired:
    """The cut of some rows of dense data that gains most."""
    star, alone = standing.star, standing.alone
    most_pairs = _MORE_PAIRS if len(rows) < _FEW_ROWS else _MOST_PAIRS
    if np.count_nonzero(alone >= (standing.most_gain + 1) // 2) > most_pairs:
        return Paired(None)
    cell, rivals = _Cell(problem, rows, standing), np.flatnonzero(alone)
    best = cell.best_between(rivals, np.full_like(rivals, star), alone[rivals], _NOTHING)
    if standing.reach >= best[0]:
        pairs = standing.pairs(best[0])
        if len(pairs[0]) > most_pairs:
            pairs = standing.pairs_by_row(best[0], rows, problem.costs)
        if len(pairs[0]) > most_pairs:
            return Paired(None, np.union1d(np.flatnonzero(alone >= best[0]), pairs[:2]))
        best = cell.best_between(*pairs, best)
    if best == _NOTHING:
        return Paired(None)
    gain, feature, at = best
    return Paired(Split(int(standing.totals[star]) - gain, feature, at, gain))


class _Cell:
    """Rows of a cell, and what is known of them."""

    def __init__(self, problem: Problem, rows: np.ndarray, standing: Standing) -> None:
        bins = problem.bins
        self._problem, self._n_rows = problem, len(rows)
        gains, numbers = standing.totals[standing.star] - standing.totals, rows.view(np.uint32)
        self._rows = (gains, numbers, numbers, problem.costs)
        self._columns = (bins.codes, *problem.flat_values, bins.inside, bins.edges)

    def best_between(self, first: np.ndarray, second: np.ndarray, bounds: np.ndarray, best: tuple):
        """The best cut between any of some pairs of centers, if it is better than another one.

        Of equals, the lowest column and threshold are the best.
        """
        from pellucid._core.kernels.surrogate_pairs import cut_between

        problem, n, likeliest = self._problem, self._n_rows, (-bounds).argsort(kind="stable")
        pairs, bounds = np.array([first, second]).T[likeliest], bounds[likeliest]
        n_features, width = problem.bins.edges.shape
        sums = np.empty((n_features, 2, width), np.int64)
        states = np.empty((2, n_features), np.int64)

        def work(block: np.ndarray) -> tuple[int, int, float]:
            order, apart = np.empty(n, np.uint32), np.empty(n, np.int64)
            opened, near = np.empty(n + 1, np.uint32), np.empty(n + 1)
            about = (block, pairs, bounds, *self._rows, *self._columns)
            return cut_between(*about, *best, order, apart, opened, near, sums, states)

        blocks = problem.feature_blocks(np.arange(n_features), n)
        return min(problem.pool.map(work, blocks), key=lambda cut: (-cut[0], *cut[1:]))
