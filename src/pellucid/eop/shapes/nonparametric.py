"""Nonparametric regions: amid neighbours that are classified rightly."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import numpy as np

from pellucid.eop.classifiers.neighbors import DistinctRows, shares
from pellucid.eop.problem import ProjectionView, is_error_allowed
from pellucid.eop.shapes.regions import Finder, Regions, RegionSearchResult

TINY = 1e-6
"""Added to distances, in standard deviations, so that a row may coincide with its neighbour."""

_MOST_KEPT = 50
"""Neighbours at the most that are kept where more errors are allowed than at first."""


class NeighborRegion(Regions):
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
        self.points, self.right, self.scale = points, right, scale
        self.n_neighbors, self.threshold = n_neighbors, threshold
        self.dim = points.shape[1]
        self._places = DistinctRows(points / scale, weight)
        self._right = self._places.gather(right[:, None])[:, 0]
        self.scores = self._score_own()

    def __len__(self) -> int:
        return int(self.threshold <= 1)

    def score(self, P: np.ndarray) -> np.ndarray:
        """Share of the neighbours that are classified rightly, near ones counting for more."""
        distance, index, taken = self._places.near(P / self.scale, self.n_neighbors)
        return _score(distance, taken, shares(self._right[index], self._places.total[index]))

    def which(self, P: np.ndarray) -> np.ndarray:
        """0 inside, -1 outside."""
        if not len(P):
            return np.empty(0, dtype=np.int64)
        return np.where(self.score(P) >= self.threshold, 0, -1)

    def first(self, k: int) -> NeighborRegion:
        """See `Regions.first`."""
        return self if k else self.with_threshold(np.inf)

    def with_threshold(self, threshold: float) -> NeighborRegion:
        """The same with another threshold."""
        other = object.__new__(NeighborRegion)
        other.__dict__.update(self.__dict__)
        other.threshold = threshold
        return other

    def neighbours(self, P: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper ends of the box around the neighbours of each row."""
        _, index, taken = self._places.near(P / self.scale, self.n_neighbors)
        found = self._places.places[index] * self.scale
        ends = np.where(taken[:, :, None] > 0, found, found[:, :1])
        return ends.min(axis=1), ends.max(axis=1)

    def describe(self, names: Sequence[str]) -> list[str]:
        """See `Regions.describe`."""
        if not len(self):
            return []
        where = names[0] if len(names) == 1 else f"({', '.join(names)})"
        return [
            f"amid {self.n_neighbors} neighbours in {where} of whom, by closeness, at least "
            f"{100 * self.threshold:.4g} % are rightly classified"
        ]

    @property
    def costs(self) -> np.ndarray:
        """Neighbours, weighted by the number of columns."""
        return np.full(len(self), float(self.n_neighbors * self.dim))

    def _score_own(self) -> np.ndarray:
        distance, index, taken, own = self._places.nearest_to_training_rows(self.n_neighbors)
        right, total = self._right[index], self._places.total[index]
        right[:, 0] -= own * self.right
        total[:, 0] -= own
        return _score(distance, taken, shares(right, total))


def _score(distance: np.ndarray, taken: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Share of what is right, by closeness."""
    closeness = taken / (distance + TINY)
    whole, found = closeness.sum(axis=1), (closeness * right).sum(axis=1)
    # A share of what is all right may come out a little less than the whole.
    found = np.where(((right == 1) | (taken == 0)).all(axis=1), whole, found)
    return shares(found, whole)


class NeighborFinder(Finder):
    """m = ⌈1 / ε⌉ neighbours, a threshold of 1 - ε, raised until held-out rows agree.

    Held-out rows join the neighbours then. As they are few, above all at late levels, the other
    rows are judged with them, each without itself; base classifiers answer for the rows that they
    are fitted on as if they had not seen them, or have too few numbers to know them by heart.

    Where more errors are allowed than at first, m stays as it was: few neighbours would take
    luck for a region.
    """

    def find(
        self, view: ProjectionView, max_error: float, held_error: float, seed: int
    ) -> RegionSearchResult:
        """See `Finder.find`."""
        m = self._n_neighbors(max_error)
        weight, least = view.units / view.one, 1 - max_error
        before = NeighborRegion(view.P, view.right, weight, view.scale, m, least)
        if not view.has_held_out:
            which = np.where(before.scores >= least, 0, -1)
            return RegionSearchResult(before, before, which, np.empty(0, dtype=np.int64))
        right = np.concatenate([view.right, view.held_right])
        units = np.concatenate([view.units, view.held_units])
        after = NeighborRegion(
            np.concatenate([view.P, view.held_P]), right, units / view.one, view.scale, m, least
        )
        n = len(view.P)
        threshold = self._threshold(after.scores, right, units, seed, least, held_error)
        if not (after.scores[n:] >= threshold).any():
            threshold = np.inf
        after = after.with_threshold(threshold)
        which = np.where(after.scores >= after.threshold, 0, -1)
        held = before.contains(view.held_P)
        total, wrong = view.held_units[held].sum(), view.held_units[held & ~view.held_right].sum()
        return RegionSearchResult(
            before,
            after,
            which[:n],
            which[n:],
            np.arange(1 - len(after)),
            np.array([np.count_nonzero(held)]),
            np.array([wrong / total if total else np.nan]),
        )

    def _n_neighbors(self, max_error: float) -> int:
        """Of the error allowed now or at first, whichever asks for more, within reason."""
        now, first = (ceil(1 / max(e, 1e-3) - 1e-9) for e in (max_error, self.max_error))
        return max(now, min(first, _MOST_KEPT))

    def _threshold(self, scores, right, units, seed: int, *limits: float) -> float:
        """The lowest that the rows allow, in the middle of what draws of them ask for."""
        random = np.random.RandomState(seed)
        draws = [random.poisson(1.0, len(scores)) for _ in range(self.n_bootstraps)] or [1]
        found = [lowest_threshold(scores, right, units * times, *limits) for times in draws]
        return sorted(found)[len(found) // 2]


def lowest_threshold(
    scores: np.ndarray, right: np.ndarray, units: np.ndarray, least: float, max_error: float
) -> float:
    """The lowest threshold, from `least` up, above which the error is at most `max_error`.

    Returns infinity when there is none, or no row is left.
    """
    order = np.argsort(-scores, kind="stable")
    order = order[(scores[order] >= least) & (units[order] > 0)]
    if not len(order):
        return np.inf
    values = scores[order]
    total = np.cumsum(units[order])
    wrong = np.cumsum(units[order] * ~right[order])
    is_last = np.append(values[1:] < values[:-1], True)
    good = np.flatnonzero(is_last & is_error_allowed(wrong, total, max_error))
    if not len(good):
        return np.inf
    if good[-1] == len(order) - 1:
        return least
    return float(values[good[-1]])
