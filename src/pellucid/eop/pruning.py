"""Remove regions of a decision list that are not worth their size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class FlatList:
    """All regions of a decision list, in order, on some rows.

    Rows in no region get their most frequent class if there is a default; otherwise they count as
    wrong.
    """

    inside: np.ndarray
    """Whether each region contains each row, whatever earlier regions contain."""
    answer: np.ndarray
    """Class that each region predicts."""
    n_facets: np.ndarray
    y: np.ndarray
    units: np.ndarray
    n_classes: int
    has_default: bool = True
    needed: Sequence[int] = ()
    """Classes that keep a region unless they are the default."""

    def pruned(self, facet_units: float) -> np.ndarray:
        """Indices of the regions that remain after pruning.

        The region whose removal saves the most is removed, until no removal saves anything. A
        removal saves `facet_units` per inequality, and costs the weight of the rows that are then
        classified wrongly instead of correctly.
        """
        kept = np.arange(len(self.answer))
        while len(kept):
            saved = facet_units * self.n_facets[kept] - self._lost(kept)
            worst = int(np.argmax(saved))
            if saved[worst] < 0:
                break
            kept = np.delete(kept, worst)
        return kept

    def _lost(self, kept: np.ndarray) -> np.ndarray:
        """Weight that is classified correctly only with each region; infinite if it is needed."""
        n = len(kept)
        first, second = self._first_two(kept)
        # Rows in no region, and, per region, the rows that are in no other: weight by class.
        left = np.zeros((n + 1, self.n_classes))
        only = second == n
        np.add.at(left, (first[only], self.y[only]), self.units[only])
        uncovered = np.zeros(self.n_classes)
        is_uncovered = first == n
        np.add.at(uncovered, self.y[is_uncovered], self.units[is_uncovered])
        left = left[:n] + uncovered
        by_default = left.max(axis=1) - uncovered.max() if self.has_default else np.zeros(n)
        answer = np.append(self.answer[kept], -1)
        now, then = (answer[at] == self.y for at in (first, second))
        lost = np.bincount(first, self.units * (now.astype(float) - then), n + 1)[:n] - by_default
        n_regions = np.bincount(answer[:n], minlength=self.n_classes)
        is_last = np.isin(answer[:n], self.needed) & (n_regions[answer[:n]] == 1)
        lost[is_last & (left.argmax(axis=1) != answer[:n])] = np.inf
        return lost

    def _first_two(self, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Positions in `kept` of the first two regions of each row; len(kept) if there are none."""
        n = self.inside.shape[1]
        inside = np.concatenate([self.inside[kept], np.ones((1, n), dtype=bool)])
        first = inside.argmax(axis=0)
        inside[first[first < len(kept)], np.flatnonzero(first < len(kept))] = False
        return first, inside.argmax(axis=0)
