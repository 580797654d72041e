"""Remove regions of a decision list that correct too few rows for their inequalities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.eop.problem import RegionProblem
from pellucid.regions.levels import Level, project


@dataclass(frozen=True)
class FlatList:
    """All regions of a decision list, in order, on some rows.

    Attributes
    ----------
    position : ndarray of shape (n_regions, 2), int
        Level and region within the level.
    inside : ndarray of shape (n_regions, n), bool
        Whether each region contains each row, whatever earlier regions contain.
    answer : ndarray of shape (n_regions, n), int
        Class that the classifier of the level predicts.
    n_facets : ndarray of shape (n_regions,), int
        Number of inequalities of each region.
    y, units : ndarray of shape (n,), int
        Classes and weights of the rows.
    n_classes : int
    has_default : bool
        Whether rows in no region get their most frequent class; otherwise they count as wrong.
    """

    position: np.ndarray
    inside: np.ndarray
    answer: np.ndarray
    n_facets: np.ndarray
    y: np.ndarray
    units: np.ndarray
    n_classes: int
    has_default: bool = True

    @classmethod
    def of(
        cls,
        levels: Sequence[Level],
        problem: RegionProblem,
        rows: np.ndarray,
        has_default: bool = True,
    ) -> FlatList:
        """Evaluate all regions on the given rows."""
        position, inside, answer, n_facets = [], [], [], []
        for index, level in enumerate(levels):
            P = project(problem.X, level.features, rows)
            given = level.classifier.predict(P)
            for region in range(len(level.regions)):
                position.append((index, region))
                inside.append(level.regions.take(np.array([region])).contains(P))
                answer.append(given)
            n_facets += level.regions.n_facets.tolist()
        shape = (len(position), len(rows))
        return cls(
            np.array(position, dtype=np.int64).reshape(-1, 2),
            np.array(inside, dtype=bool).reshape(shape),
            np.array(answer, dtype=np.int64).reshape(shape),
            np.array(n_facets, dtype=np.int64),
            problem.y[rows],
            problem.units[rows],
            problem.n_classes,
            has_default,
        )

    def pruned(self, facet_units: float, kept: np.ndarray | None = None) -> np.ndarray:
        """Indices of the regions that remain after pruning.

        The region whose removal saves the most is removed, until no removal saves anything. A
        removal saves `facet_units` per inequality, and costs the weight of the rows that are then
        classified wrongly instead of correctly.

        Parameters
        ----------
        facet_units : float
            Weight per inequality, in units.
        kept : ndarray of int, optional
            Regions to start from. Default: all.
        """
        kept = np.arange(len(self.position)) if kept is None else kept
        while len(kept):
            saved = facet_units * self.n_facets[kept] - self._lost(kept)
            worst = int(np.argmax(saved))
            if saved[worst] < 0:
                break
            kept = np.delete(kept, worst)
        return kept

    def _lost(self, kept: np.ndarray) -> np.ndarray:
        """Weight that is classified correctly only with each region, in units."""
        n = len(kept)
        first, second = self._first_two(kept)
        # Rows in no region, and, per region, the rows that are in no other: weight by class.
        rest = np.zeros((n + 1, self.n_classes))
        only = second == n
        np.add.at(rest, (first[only], self.y[only]), self.units[only])
        uncovered = np.zeros(self.n_classes)
        is_uncovered = first == n
        np.add.at(uncovered, self.y[is_uncovered], self.units[is_uncovered])
        by_default = (rest[:n] + uncovered).max(axis=1) - uncovered.max()
        by_default = by_default if self.has_default else np.zeros(n)
        now = self._answer(kept, first, -1) == self.y
        then = self._answer(kept, second, -1) == self.y
        kept_by_regions = np.bincount(first, self.units * (now.astype(float) - then), n + 1)[:n]
        return kept_by_regions - by_default

    def predict(self, kept: np.ndarray, default: int) -> np.ndarray:
        """Predicted class of each row by the given regions."""
        first, _ = self._first_two(kept)
        return self._answer(kept, first, default)

    def default(self, kept: np.ndarray) -> int:
        """The most frequent class of the rows in no region; of all rows, if there are none."""
        if not self.has_default:
            return -1
        first, _ = self._first_two(kept)
        rest = first == len(kept)
        rest = rest if rest.any() else np.ones(len(rest), dtype=bool)
        return int(np.bincount(self.y[rest], self.units[rest], self.n_classes).argmax())

    def _first_two(self, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Positions in `kept` of the first two regions of each row; len(kept) if there are none."""
        n = self.inside.shape[1]
        inside = np.concatenate([self.inside[kept], np.ones((1, n), dtype=bool)])
        first = inside.argmax(axis=0)
        inside[first[first < len(kept)], np.flatnonzero(first < len(kept))] = False
        return first, inside.argmax(axis=0)

    def _answer(self, kept: np.ndarray, at: np.ndarray, default: int) -> np.ndarray:
        answer = np.full(len(at), default, dtype=np.int64)
        covered = np.flatnonzero(at < len(kept))
        answer[covered] = self.answer[kept[at[covered]], covered]
        return answer
