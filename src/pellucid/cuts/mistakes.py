"""Mistakes: rows that a cut separates from their own center (IMM)."""

from __future__ import annotations

import numpy as np

from pellucid.cuts.criterion import Cell, CenterCutCriterion, Cut, best_of


class Mistakes(CenterCutCriterion):
    """Fewest rows separated from their own center; those that are count no longer below."""

    def best_center_cut(self, cell: Cell, features: list[int]) -> Cut | None:
        """Cut with the fewest mistakes."""
        from pellucid.numeric import kernels

        problem = self.problem
        weight = problem.weights.units[cell.active]
        labels = problem.labels[cell.active]

        def sweep(feature: int) -> Cut:
            coordinates = problem.centers[:, feature]
            positions, counts = np.unique(coordinates[cell.centers], return_counts=True)
            own = np.searchsorted(positions, coordinates)[labels]
            values = problem.values(feature, cell.active)
            base, left, change, moving = kernels.mistake_gaps(values, own, weight, positions)
            rows = np.flatnonzero(moving)
            rows = rows[np.argsort(values[rows], kind="stable")]
            _, (mistakes, low, high) = kernels.sweep_gaps(
                values[rows],
                change[rows],
                weight[rows],
                positions,
                base,
                left,
                np.cumsum(counts),
                np.full(len(base), problem.weights.one),
                0,
                0.0,
                (0.0, 0.0),
                0.0,
            )
            return Cut(feature, float(low), float(high), float(mistakes), -float(mistakes))

        return best_of(problem.for_each_feature(sweep, features, len(cell.active)))

    def active_rows(self, parent: Cell, rows: np.ndarray, centers: np.ndarray) -> np.ndarray:
        """Rows of this side that were active and whose own center is on this side too."""
        problem = self.problem
        here = np.zeros(problem.n_clusters, dtype=bool)
        here[centers] = True
        was_active = np.isin(rows, parent.active, assume_unique=True)
        return rows[was_active & here[problem.labels[rows]]]
