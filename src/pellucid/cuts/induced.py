"""Induced cost, with a price on depth (ExGreedy, ExShallow)."""

from __future__ import annotations

import numpy as np

from pellucid.cuts.criterion import Cell, CenterCutCriterion
from pellucid.cuts.problem import Problem
from pellucid.cuts.search import Cut, edge_cuts, open_bins, search_columns
from pellucid.cuts.separated import Owned, scan_separated


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

    def best_center_cuts(self, cell: Cell, features: np.ndarray, n: int) -> list[Cut]:
        """Cuts of least objective that leave each side as many rows as centers, if possible."""
        ranked, owned = self._rank(cell)
        weight = float(owned.sums[:, 0].sum())
        terms = (float(owned.base), self.depth_penalty, weight, self.problem.weights.one)
        killers = np.zeros((2, self.problem.n_features))
        killers[0, list(cell.cut_left)] = 1.0
        killers[1, list(cell.cut_right)] = 1.0
        search = (n, cell, features, ranked, owned, killers)
        return self._search(*search, terms) or self._search(*search, (*terms[:3], 0.0))

    def loss(self, cell: Cell, cut: Cut) -> float:
        """How much more the rows pay, as a share of what all rows paid at first, plus the price of
        the conditions that the cut adds to their explanations.
        """
        from pellucid.kernels.induced import pay

        problem, active = self.problem, cell.active
        near, cost = problem.ranked
        in_cell = np.zeros(problem.n_clusters, dtype=bool)
        in_cell[cell.centers] = True
        center_left = problem.centers[:, cut.feature] <= cut.at
        left = self._columns(cell, cut.feature)[0].at_most(cut.at)
        before, after = pay(active, left, near, cost, center_left, in_cell)
        spared = (cut.feature in cell.cut_left, cut.feature in cell.cut_right)
        sides = problem.weights.total_of(active[left]), problem.weights.total_of(active[~left])
        longer = sum(weight for weight, spare in zip(sides, spared) if not spare)
        total = float(cost[:, 0].sum())
        more = (after - before) / total if total > 0 else float(after > before)
        return more + self.depth_penalty * longer / float(problem.weights.values.sum())

    def _search(self, n, cell, features, ranked, owned, killers, terms) -> list[Cut]:
        from pellucid.kernels.gaps import judge, sweep_bins
        from pellucid.kernels.induced import induced_change, tally_induced

        problem, bins, rows = self.problem, self.problem.bins, owned.rows
        near, cost = problem.ranked
        places, n_gaps = self._places(cell), len(cell.centers) - 1
        depths = np.zeros(len(cell.centers) + 1) if self.depth_penalty else None
        separated = scan_separated(problem, owned, places, terms, killers, depths)

        def scan(block: np.ndarray, found: np.ndarray) -> None:
            # A row cut off from its nearest center pays its margin or more: a bound, no cut yet.
            separated(block, found)
            found[block, :, 2] = np.minimum(found[block, :, 0], found[block, :, 2])
            found[block, :, 0] = np.inf

        def refine(feature: int, limit: float) -> np.ndarray:
            position, edges = places[1][feature], bins.edges[feature]
            rank = np.full(problem.n_clusters, -1)
            rank[cell.centers[np.argsort(places[0][feature])]] = np.arange(len(cell.centers))
            first_left = np.searchsorted(position, np.arange(len(edges)))
            amount, fall, below, wanted = bins.room()
            tally_induced(
                bins.dense_column(feature, problem.n_samples), rows, *ranked, near, cost,
                owned.weight, rank, position, first_left, owned.base, amount, fall, below,
            )  # fmt: skip
            killer = (killers[0, feature], killers[1, feature])
            scratch = None if depths is None else depths.copy()
            about = (terms, killer, scratch)
            levels = (position, amount, fall, below, bins.inside[feature], *about)
            found = np.empty((n_gaps, 3))
            judge(*levels, limit, found, wanted)
            if n == 1 and (best := found[:, 0].min()) < limit:
                judge(*levels, best, found, wanted)
            cuts = edge_cuts(found, edges)
            at, codes, values = open_bins(problem, feature, rows, wanted)
            change = np.empty(len(at), dtype=np.int64)
            own = ranked[0][at]
            induced_change(rows[at], own, codes, near, cost, rank, n_gaps, first_left, change)
            weight = owned.weight[at]
            sweep_bins(values, codes, change, weight, position, edges, amount, below, *about, cuts)
            return cuts

        return search_columns(problem, features, len(rows), scan, refine, np.inf, n_gaps, n)

    def _rank(self, cell: Cell) -> tuple[tuple[np.ndarray, np.ndarray, np.ndarray], Owned]:
        """Nearest and second nearest center of each row, their margin, and the rows for a bound."""
        from pellucid.kernels.induced import find_nearest

        problem, rows = self.problem, cell.active
        near, cost = problem.ranked
        place = np.full(problem.n_clusters, -1)
        place[cell.centers] = np.arange(len(cell.centers))
        own, other, home = np.empty((3, len(rows)), dtype=near.dtype)
        margin = np.empty(len(rows), dtype=np.int64)
        sums = np.zeros((len(cell.centers), 2), dtype=np.int64)
        weight = problem.weights.units_of(rows)
        base = find_nearest(rows, near, cost, weight, place, own, other, margin, home, sums)
        return (own, other, margin), Owned(rows, home, weight, margin, sums, base)
