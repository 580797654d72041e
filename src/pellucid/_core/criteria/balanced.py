"""Mistakes a center: the more evenly a cut shares the centers out, the more it may cost (EMN)."""

from __future__ import annotations

import numpy as np

from pellucid._core.criteria.base import Cell
from pellucid._core.criteria.column_search import Cut, search_columns
from pellucid._core.criteria.mistakes import Mistakes


class BalancedMistakes(Mistakes):
    """Fewest mistakes over the number of centers on the side of the cut that has fewer.

    That number is the same in all of a gap between two centers, so there the best cut is the one
    with the fewest mistakes; only to compare gaps, mistakes are divided.
    """

    is_cut_in_place = False

    def best_center_cuts(self, cell: Cell, features: np.ndarray, n: int) -> list[Cut]:
        """Cuts with the least ratio."""
        mistakes, n_gaps = self._scan(cell), len(cell.centers) - 1
        one, in_all = (
            self.problem.weights.units_per_weight,
            np.empty((self.problem.n_features, n_gaps, 3)),
        )
        fewer = np.minimum(np.arange(1, n_gaps + 1), np.arange(n_gaps, 0, -1))

        def scan(block: np.ndarray, found: np.ndarray) -> None:
            mistakes(block, in_all)
            found[block] = in_all[block]
            found[block, :, ::2] /= fewer[:, None]

        def refine(feature: int, limit: float) -> np.ndarray:
            most = limit * fewer.max() * (1 + 1e-12)  # and a little more, for rounding
            cuts = self._look_into(cell, mistakes, feature, most)
            cuts[:, 0] /= fewer
            return cuts

        size = self._size(cell)
        cuts = search_columns(self.problem, features, size, scan, refine, np.inf, n_gaps, n)
        return [cut._replace(objective=cut.objective / one) for cut in cuts]
