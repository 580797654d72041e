"""Scans for the rows that thresholds separate from their own centers, from counts by bin."""

from __future__ import annotations

import numpy as np

from pellucid._core.data.binning import Bins


class CountedScan:
    """Columns, judged by the weight of the rows that thresholds separate.

    Parameters
    ----------
    bins : Bins
    counts : ndarray of shape (n_features, n_centers, width), int64
        Weight by column, center and bin.
    members : ndarray of int
        The centers of the cell.
    center_code : ndarray of shape (n_features, n_centers)
        Codes of the centers.
    position : ndarray of shape (n_features, n_gaps + 1)
        Codes between which the best thresholds are sought, from the least of members to the most.
    """

    def __init__(self, bins: Bins, counts, members, center_code, position) -> None:
        self._about = (counts, counts[0].sum(axis=1), center_code, position, bins.inside)
        self._members, self.position = members, position
        self._amount, self._least = np.zeros((2, *bins.edges.shape), dtype=np.int64)
        self._found = np.empty(0)

    def __call__(self, block: np.ndarray, found: np.ndarray) -> None:
        """Fill found[j, g] as `judge_counts` does."""
        from pellucid._core.kernels.partition import judge_counts

        judge_counts(block, self._members, *self._about, self._amount, self._least, found)
        self._found = found

    def look(self, feature: int, limit: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """found[feature]; amounts at its edges; bins that could reach a limit."""
        first, last = self.position.item(feature, 0), self.position.item(feature, -1)
        wanted = self._least[feature] <= limit
        wanted[: first + 1] = wanted[last + 1 :] = False
        return self._found[feature], self._amount[feature], wanted
