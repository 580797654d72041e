"""Mistakes a center: the more evenly a cut shares the centers out, the more it may cost (EMN)."""

from __future__ import annotations

import numpy as np

from pellucid.cuts.criterion import Cell
from pellucid.cuts.mistakes import Mistakes
from pellucid.cuts.search import Cut, edge_cuts, open_bins, search_columns


class BalancedMistakes(Mistakes):
    """Fewest mistakes over the number of centers on the side of the cut that has fewer.

    That number is the same in all of a gap between two centers, so there the best cut is the one
    with the fewest mistakes; only to compare gaps, mistakes are divided.
    """

    def best_center_cuts(self, cell: Cell, features: np.ndarray, n: int) -> list[Cut]:
        """Cuts with the least ratio."""
        from pellucid.kernels.gaps import sweep_bins

        problem, active, bins = self.problem, cell.active, self.problem.bins
        counts = self._counts(cell)
        sums, tally, position = self._tally(cell, counts)
        terms, n_gaps = self._terms(sums), len(cell.centers) - 1
        fewer = np.minimum(np.arange(1, n_gaps + 1), np.arange(n_gaps, 0, -1))

        def scan(block: np.ndarray, found: np.ndarray) -> None:
            tally(block, found)
            found[block, :, 0] /= fewer
            found[block, :, 2] /= fewer

        def refine(feature: int, limit: float) -> np.ndarray:
            found = np.empty((problem.n_features, n_gaps, 3))
            most = limit * fewer.max() * (1 + 1e-12)  # and a little more, for rounding
            amount, _, below, wanted = tally(np.array([feature]), found, most)
            cuts = edge_cuts(found[feature], bins.edges[feature])
            places, codes, values = open_bins(problem, feature, active, wanted)
            inside = active[places]
            weight = problem.weights.units_of(inside)
            loses = codes > bins.center_code[feature][problem.labels[inside]]
            sweep_bins(
                values, codes, np.where(loses, -weight, weight), weight, position[feature],
                bins.edges[feature], amount, below, terms, (0.0, 0.0), None, cuts,
            )  # fmt: skip
            cuts[:, 0] /= fewer
            return cuts

        size = bins.edges.shape[1] * len(cell.centers) if len(counts) else len(active)
        return search_columns(problem, features, size, scan, refine, np.inf, n_gaps, n)
