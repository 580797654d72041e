"""Surrogate cost: each side of a cut goes whole to the one center that is cheapest for it."""

from __future__ import annotations

import numpy as np

from pellucid.cuts.criterion import Cell, Criterion, Cut, best_of


class SurrogateCost(Criterion):
    """Least surrogate cost (ExKMC). Any cut between two values will do, centers or not.

    A cell is finished when all its rows are cheapest at one and the same center: no cut can
    gain anything there.
    """

    def best_cut(self, cell: Cell) -> Cut | None:
        """Cut of least surrogate cost; its gain is the decrease, in units of cost."""
        from pellucid.numeric import kernels

        problem = self.problem
        costs = problem.costs[cell.active]
        before = self.cost(cell)
        if len(cell.active) == 0 or before == costs.min(axis=1).sum():
            return None

        def sweep(feature: int) -> Cut | None:
            values = problem.values(feature, cell.active)
            order = np.argsort(values, kind="stable")
            after, low, high = kernels.sweep_surrogate(values[order], costs[order])
            if after < 0:
                return None
            return Cut(feature, float(low), float(high), int(after), before - int(after))

        features = list(range(problem.n_features))
        return best_of(problem.for_each_feature(sweep, features, len(cell.active)))

    def cluster(self, cell: Cell) -> int:
        """The center that is cheapest for the rows of the cell, the lowest of equals."""
        return int(np.argmin(self.problem.costs[cell.rows].sum(axis=0)))

    def cost(self, cell: Cell) -> int:
        """What the rows of the cell pay at that center."""
        return int(self.problem.costs[cell.rows].sum(axis=0).min())
