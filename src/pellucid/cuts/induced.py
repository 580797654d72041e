"""Induced cost, with a price on depth (ExGreedy, ExShallow)."""

from __future__ import annotations

import numpy as np

from pellucid.cuts.criterion import Cell, CenterCutCriterion
from pellucid.cuts.problem import Problem
from pellucid.cuts.search import Cut, open_bins, search_columns


class InducedCost(CenterCutCriterion):
    """Price + depth_penalty * DExp of the ExShallow paper.

    Price is what the rows pay after the cut, each to the nearest center on its side, over what
    they pay before it. DExp estimates the average depth that the cut leads to, less the share
    of rows for which it makes a condition above redundant.

    Parameters
    ----------
    problem : Problem
    depth_penalty : float
        What one more condition on average may cost, as a share of the cell's cost.
    """

    def __init__(self, problem: Problem, depth_penalty: float = 0.0) -> None:
        super().__init__(problem)
        self.depth_penalty = float(depth_penalty)

    def best_center_cut(self, cell: Cell, features: np.ndarray) -> Cut | None:
        """Cut of least objective that leaves each side as many rows as centers, if there is one."""
        from pellucid.kernels.gaps import Terms

        ranked, owned = self._rank(cell)
        terms = Terms(
            float(ranked.base),
            self.depth_penalty,
            float(owned.sums[:, 0].sum()),
            self.problem.weights.one,
        )
        killers = np.zeros((2, self.problem.n_features))
        killers[0, list(cell.cut_left)] = 1.0
        killers[1, list(cell.cut_right)] = 1.0
        best = self._search(features, ranked, owned, terms, killers)
        return best or self._search(features, ranked, owned, terms._replace(least=0.0), killers)

    def _search(self, features, ranked, owned, terms, killers) -> Cut | None:
        from pellucid.kernels.gaps import sweep_bins
        from pellucid.kernels.induced import induced_change, open_induced
        from pellucid.kernels.separated import scan_separated

        problem, rows = self.problem, ranked.rows
        no_counts = np.empty((0, 0, 0), dtype=np.int64)

        def scan(block: np.ndarray, found: np.ndarray) -> None:
            # A row cut off from its nearest center pays its margin or more: a bound, no cut yet.
            columns = problem.bins.columns
            scan_separated(block, columns, owned, no_counts, terms, killers, -np.inf, found)
            found[block, 2] = np.minimum(found[block, 0], found[block, 2])
            found[block, 0] = np.inf

        def refine(feature: int, limit: float) -> Cut:
            column = problem.bins.single(feature, problem.n_samples)
            killer = (killers[0, feature], killers[1, feature])
            n, gaps, best, edge, wanted = open_induced(column, ranked, terms, killer, limit)
            places, codes, values = open_bins(problem, feature, rows, wanted)
            change = np.empty(len(places), dtype=np.int64)
            induced_change(rows[places], places, codes, n, ranked, gaps, change)
            edges = column.edges[0]
            inside = sweep_bins(
                values, codes, change, ranked.weight[places], n, edges, gaps, terms, killer
            )
            return min(Cut(best, feature, edges[edge]), Cut(inside[0], feature, inside[1]))

        best = search_columns(problem, features, len(rows), scan, refine, np.inf)
        return best and best._replace(gain=-best.objective)

    def _rank(self, cell: Cell):
        """The cell's rows with their centers from near to far, and the same for the bound."""
        from pellucid.kernels.induced import Ranked, find_nearest
        from pellucid.kernels.separated import Owned

        problem, rows = self.problem, cell.active
        near, cost = problem.ranked
        place = np.full(problem.n_clusters, -1)
        place[cell.centers] = np.arange(len(cell.centers))
        own, other, home = np.empty((3, len(rows)), dtype=near.dtype)
        margin = np.empty(len(rows), dtype=np.int64)
        sums = np.zeros((len(cell.centers), 2), dtype=np.int64)
        weight = problem.weights.units_of(rows)
        base = find_nearest(rows, near, cost, weight, place, own, other, margin, home, sums)
        return (
            Ranked(rows, own, other, margin, near, cost, weight, base, cell.centers),
            Owned(rows, problem.slots(rows), home, weight, margin, False, sums, base, cell.centers),
        )
