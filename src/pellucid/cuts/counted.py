"""Scans for the rows that thresholds separate from their own centers, from counts by bin."""

from __future__ import annotations

import numpy as np

from pellucid.numeric.bins import Bins


class CountedScan:
    """Columns, judged by the weight of the rows that thresholds separate.

    Parameters
    ----------
    bins : Bins
    counts : ndarray of shape (n_features, n_centers, width), int64
        Weight by column, center and bin.
    places : pair of ndarray
        Codes of the centers by feature, as they come and ascending.
    """

    def __init__(self, bins: Bins, counts: np.ndarray, places) -> None:
        self._inside, self._counts, (self._center_code, self.position) = bins.inside, counts, places
        self._amount, self._least = np.empty((2, len(counts), counts.shape[2]), dtype=np.int64)
        self._found = np.empty(0)

    def __call__(self, block: np.ndarray, found: np.ndarray) -> None:
        """Fill found[j, g] as `judge_counts` does."""
        from pellucid.kernels.owned import judge_counts

        members = np.arange(self._counts.shape[1])
        about = (self._counts, self._center_code, self.position, self._inside)
        judge_counts(block, members, *about, self._amount, self._least, found)
        self._found = found

    def look(self, feature: int, limit: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """found[feature]; amounts at its edges; bins that could reach a limit."""
        return self._found[feature], self._amount[feature], self._least[feature] <= limit
