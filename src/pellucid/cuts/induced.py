"""Induced cost, with a price on depth (ExGreedy, ExShallow)."""

from __future__ import annotations

import numpy as np

from pellucid.cuts.criterion import Cell, CenterCutCriterion, Cut, best_of
from pellucid.cuts.problem import Problem


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

    def best_center_cut(self, cell: Cell, features: list[int]) -> Cut | None:
        """Cut of least objective that leaves each side as many rows as centers, if there is one."""
        from pellucid.numeric import kernels

        problem = self.problem
        weight = problem.weights.units[cell.active]
        costs = problem.costs[np.ix_(cell.active, cell.centers)]
        total = int(weight.sum())
        current = int(costs.min(axis=1).sum())

        def sweep(feature: int) -> tuple[Cut | None, Cut | None]:
            coordinates = problem.centers[cell.centers, feature]
            positions, counts = np.unique(coordinates, return_counts=True)
            n_at_or_below = np.cumsum(counts)
            values = problem.values(feature, cell.active)
            base, left, change, moving = kernels.cost_gaps(
                values, costs, np.argsort(coordinates), n_at_or_below, weight, positions
            )
            rows = np.flatnonzero(moving)
            rows = rows[np.argsort(values[rows], kind="stable")]
            found = kernels.sweep_gaps(
                values[rows],
                change[rows],
                weight[rows],
                positions,
                base,
                left,
                n_at_or_below,
                np.full(len(base), float(current)),
                total,
                self.depth_penalty,
                (float(feature in cell.cut_left), float(feature in cell.cut_right)),
                problem.weights.one,
            )
            return tuple(_as_cut(feature, *one) for one in found)

        found = problem.for_each_feature(sweep, features, len(cell.active))
        return best_of(best for best, _ in found) or best_of(spare for _, spare in found)


def _as_cut(feature: int, objective: float, low: float, high: float) -> Cut | None:
    if np.isinf(objective):
        return None
    return Cut(feature, float(low), float(high), float(objective), -float(objective))
