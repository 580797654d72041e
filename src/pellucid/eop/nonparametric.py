"""Nonparametric regions: amid neighbours that are classified rightly."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import numpy as np

from pellucid.eop.problem import View, is_within
from pellucid.eop.regions import Finder, Found, Regions

TINY = 1e-6
"""Added to distances, in standard deviations, so that a row may coincide with its neighbour."""


class NeighbourRegion(Regions):
    """Where the neighbours of a place speak for the classifier.

    The score of a place is the share of its m nearest training rows that are classified rightly,
    each counted by 1 / (distance + tiny); the region is where the score is at least `threshold`.
    A row of weight w counts as w neighbours. Rows in one place are taken together, so that no
    score depends on which of them come first.

    Attributes
    ----------
    points : ndarray of shape (n, dim)
        Training rows, in the columns of the projection.
    right : ndarray of shape (n,), bool
        Whether the classifier is right on them.
    scores : ndarray of shape (n,)
        Their scores, each worked out without the row itself.
    threshold : float
        Least score inside.
    n_neighbors : int
        Neighbours that are consulted (m).
    scale : ndarray of shape (dim,)
        Distances are taken after division by these.
    """

    kind = "nonparametric"

    def __init__(
        self,
        points: np.ndarray,
        right: np.ndarray,
        weight: np.ndarray,
        scale: np.ndarray,
        n_neighbors: int,
        threshold: float,
    ) -> None:
        from sklearn.neighbors import KDTree

        self.points, self.right, self.scale = points, right, scale
        self.n_neighbors, self.threshold = n_neighbors, threshold
        self.dim = points.shape[1]
        places, self._place = _places(points / scale)
        self._total = np.bincount(self._place, weights=weight)
        self._right = np.bincount(self._place, weights=weight * right)
        self._tree = KDTree(places)
        self._places = places
        self.scores = self._score_own(weight)

    def __len__(self) -> int:
        return int(self.threshold <= 1)

    def score(self, P: np.ndarray) -> np.ndarray:
        """Share of the neighbours that are classified rightly, near ones counting for more."""
        distance, index = self._query(P / self.scale, self.n_neighbors)
        return self._combine(distance, self._total[index], self._right[index])

    def which(self, P: np.ndarray) -> np.ndarray:
        """0 inside, -1 outside."""
        if not len(P):
            return np.empty(0, dtype=np.int64)
        return np.where(self.score(P) >= self.threshold, 0, -1)

    def with_threshold(self, threshold: float) -> NeighbourRegion:
        """The same with another threshold."""
        other = object.__new__(NeighbourRegion)
        other.__dict__.update(self.__dict__)
        other.threshold = threshold
        return other

    def neighbours(self, P: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper ends of the box around the neighbours of each row."""
        _, index = self._query(P / self.scale, self.n_neighbors)
        found = self._places[index] * self.scale
        return found.min(axis=1), found.max(axis=1)

    def describe(self, names: Sequence[str]) -> list[str]:
        """See `Regions.describe`."""
        if not len(self):
            return []
        where = names[0] if len(names) == 1 else f"({', '.join(names)})"
        return [
            f"in {where}, where at least {100 * self.threshold:.4g} % of the "
            f"{self.n_neighbors} nearest neighbours, by closeness, are classified rightly"
        ]

    @property
    def costs(self) -> np.ndarray:
        """Neighbours, weighted by the number of columns."""
        return np.full(len(self), float(self.n_neighbors * self.dim))

    def _query(self, Z: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        return self._tree.query(Z, k=min(k, len(self._places)))

    def _score_own(self, weight: np.ndarray) -> np.ndarray:
        """Scores of the training rows, each without itself (of a heavier row, without one)."""
        distance, index = self._query(self._places, self.n_neighbors + 1)
        total, right = self._total[index][self._place], self._right[index][self._place]
        own = np.minimum(weight, 1.0)
        total[:, 0] -= own
        right[:, 0] -= own * self.right
        return self._combine(distance[self._place], total, right)

    def _combine(self, distance, total, right) -> np.ndarray:
        """Scores from neighbours in order of distance, as many as add up to m."""
        before = np.cumsum(total, axis=1) - total
        taken = np.clip(self.n_neighbors - before, 0.0, total)
        closeness = taken / (distance + TINY)
        share = np.divide(right, total, out=np.zeros_like(right), where=total > 0)
        whole = closeness.sum(axis=1)
        found = (closeness * share).sum(axis=1)
        # A share of what is all alike may come out a little less than the whole.
        found = np.where((share == 1).all(axis=1, where=taken > 0), whole, found)
        return np.divide(found, whole, out=np.zeros_like(found), where=whole > 0)


class NeighbourFinder(Finder):
    """m = ⌈1 / ε⌉ neighbours, a threshold of 1 - ε, raised until held-out rows agree."""

    def find(self, view: View, max_error: float, held_error: float, seed: int) -> Found:
        """See `Finder.find`."""
        m = ceil(1 / max(max_error, 1e-3) - 1e-9)
        weight = view.units / view.one
        before = NeighbourRegion(view.P, view.right, weight, view.scale, m, 1 - max_error)
        inside = before.scores >= before.threshold
        if not view.has_held_out:
            none = np.empty(0, dtype=np.int64)
            return Found(before, before, np.where(inside, 0, -1), none)
        scores = before.score(view.held_P)
        threshold = lowest_threshold(
            scores, view.held_right, view.held_units, before.threshold, held_error
        )
        after = before.with_threshold(threshold)
        held = scores >= before.threshold
        n_held = int(view.held_units[held].sum())
        wrong = int(view.held_units[held & ~view.held_right].sum())
        return Found(
            before,
            after,
            np.where(before.scores >= threshold, 0, -1),
            np.where(scores >= threshold, 0, -1),
            np.arange(1 - len(after)),
            np.array([np.count_nonzero(held)]),
            np.array([wrong / n_held if n_held else np.nan]),
        )


def lowest_threshold(
    scores: np.ndarray, right: np.ndarray, units: np.ndarray, least: float, max_error: float
) -> float:
    """The lowest threshold, from `least` up, above which the error is at most `max_error`.

    Returns infinity when there is none, or no row is left.
    """
    order = np.argsort(-scores, kind="stable")
    order = order[scores[order] >= least]
    if not len(order):
        return np.inf
    values = scores[order]
    total = np.cumsum(units[order])
    wrong = np.cumsum(units[order] * ~right[order])
    is_last = np.append(values[1:] < values[:-1], True)
    good = np.flatnonzero(is_last & is_within(wrong, total, max_error))
    if not len(good):
        return np.inf
    if good[-1] == len(order) - 1:
        return least
    return float(values[good[-1]])


def _places(Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Different rows in lexical order, and the place of each row among them."""
    order = np.lexsort(Z.T[::-1])
    ordered = Z[order]
    is_new = np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1))
    place = np.empty(len(Z), dtype=np.int64)
    place[order] = np.cumsum(is_new) - 1
    return ordered[is_new], place
