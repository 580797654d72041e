"""Nearest neighbors: nonparametric regions, in which they are classified correctly, and k-NN."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from pellucid._utils.texts import say
from pellucid.eop.finders import Finder, RegionSearchResult
from pellucid.eop.problem import ProjectionView, is_error_allowed
from pellucid.regions.shapes import Regions
from pellucid.regions.words import describe_extents

TINY = 1e-6  # added to distances, in standard deviations, because distances may be 0
_MAX_INITIAL_NEIGHBORS = 50  # upper bound of the number that follows from the initial ε


class Neighbors(NamedTuple):
    """The nearest distinct points of some rows, one line per row."""

    distance: np.ndarray
    point: np.ndarray
    # Weight used of each point; they sum to k, or to the total weight if that is smaller.
    used: np.ndarray
    total: np.ndarray
    by_class: np.ndarray  # weight of the rows at each point, and the same by class


class DistinctRows:
    """A k-d tree of the distinct rows; `is_class` has one column of booleans per class.

    A row of weight w counts as w neighbors. If only part of a point's weight is needed, all its
    rows contribute proportionally, so that nothing depends on the order of identical rows.
    """

    def __init__(self, Z: np.ndarray, weight: np.ndarray, is_class: np.ndarray) -> None:
        from sklearn.neighbors import KDTree

        order = np.lexsort(Z.T[::-1])  # several times faster than np.unique by rows
        is_new = np.append(True, (Z[order[1:]] != Z[order[:-1]]).any(axis=1))
        self.points: np.ndarray = Z[order[is_new]]
        self._of_row = np.empty(len(Z), dtype=np.int64)
        self._of_row[order] = np.cumsum(is_new) - 1
        self._weight, self._is_class = weight, is_class
        self._total = np.bincount(self._of_row, weights=weight)
        self._by_class = np.column_stack(
            [np.bincount(self._of_row, weights=weight * column) for column in is_class.T]
        )
        self._tree = KDTree(self.points)

    def query(self, Z: np.ndarray, k: int) -> Neighbors:
        distance, index = self._tree.query(Z, k=min(k, len(self.points)))
        total = self._total[index]
        return Neighbors(distance, index, _used(total, k), total, self._by_class[index])

    def query_leave_one_out(self, k: int) -> Neighbors:
        """`query` for each training row without itself (without weight 1 of a heavier row)."""
        distance, index = self._tree.query(self.points, k=min(k + 1, len(self.points)))
        distance, index = distance[self._of_row], index[self._of_row]
        total, by_class = self._total[index], self._by_class[index]
        own = np.minimum(self._weight, 1)
        total[:, 0] -= own
        by_class[:, 0] -= own[:, None] * self._is_class
        return Neighbors(distance, index, _used(total, k), total, by_class)


def _used(total: np.ndarray, k: int) -> np.ndarray:
    """Weight used of each neighbor, nearest first, until `k` is reached."""
    return np.clip(k - (np.cumsum(total, axis=1) - total), 0.0, total)


def safe_divide(part: np.ndarray, total: np.ndarray) -> np.ndarray:
    """``part / total``, and 0 where the total is 0."""
    return np.divide(part, total, out=np.zeros(np.shape(part)), where=total > 0)


class KNNClassifier:
    """Predicts the class with the largest weight among the nearest rows; ties go to the lowest."""

    def __init__(
        self,
        P: np.ndarray,
        y: np.ndarray,
        weight: np.ndarray,
        n_classes: int,
        scale: np.ndarray,
        n_neighbors: int,
    ) -> None:
        self.scale: np.ndarray = scale
        self.n_neighbors: int = n_neighbors
        self._rows = DistinctRows(P / scale, weight, y[:, None] == np.arange(n_classes))

    def predict(self, P: np.ndarray) -> np.ndarray:
        if not len(P):
            return np.empty(0, dtype=np.int64)
        return _heaviest(self._rows.query(P / self.scale, self.n_neighbors))

    def leave_one_out(self) -> np.ndarray:
        """Leave-one-out predictions for the training rows."""
        return _heaviest(self._rows.query_leave_one_out(self.n_neighbors))

    def reason(self, answer: int, names: Sequence[str], classes: np.ndarray) -> str:
        """Condition under which a class is predicted, as text."""
        return say("whereNeighbors", n=self.n_neighbors, answer=str(classes[answer]))


def _heaviest(found: Neighbors) -> np.ndarray:
    fraction = safe_divide(found.used, found.total)
    return (fraction[:, :, None] * found.by_class).sum(axis=1).argmax(axis=1)


@dataclass(eq=False, repr=False)
class NeighborRegion(Regions):
    """The set of points with a score, see `EOPClassifier`, of at least a threshold."""

    kind = "nonparametric"
    classifier_cost = 1
    points: np.ndarray  # training rows in the columns of the projection
    correct: np.ndarray
    weight: np.ndarray
    scale: np.ndarray  # columns are divided by these values before distances are computed
    n_neighbors: int
    threshold: float

    def __post_init__(self) -> None:
        self.dim: int = self.points.shape[1]
        self._rows = DistinctRows(self.points / self.scale, self.weight, self.correct[:, None])
        self.scores: np.ndarray = _score(self._rows.query_leave_one_out(self.n_neighbors))

    def __len__(self) -> int:
        return int(self.threshold <= 1)

    def score(self, P: np.ndarray) -> np.ndarray:
        """Score of each row of `P`: distance-weighted fraction of correct neighbors."""
        return _score(self._rows.query(P / self.scale, self.n_neighbors))

    def which(self, P: np.ndarray) -> np.ndarray:
        if not len(P):
            return np.empty(0, dtype=np.int64)
        return np.where(self.score(P) >= self.threshold, 0, -1)

    def take(self, kept: np.ndarray) -> NeighborRegion:
        return self if len(kept) else self.with_threshold(np.inf)

    def with_threshold(self, threshold: float) -> NeighborRegion:
        other = copy(self)
        other.threshold = threshold
        return other

    def describe(self, names: Sequence[str]) -> list[str]:
        if not len(self):
            return []
        columns = names[0] if len(names) == 1 else f"({', '.join(names)})"
        values = {"percent": 100 * self.threshold, "n": self.n_neighbors}
        return [say("neighbors", columns=columns, **values)]

    def explain_points(
        self, P: np.ndarray, names: Sequence[str]
    ) -> list[tuple[dict[str, tuple[float, float]], str]]:
        """See `Regions.explain_points`: bounding box and score of the neighbors of each row."""
        found, reasons = self._rows.query(P / self.scale, self.n_neighbors), []
        neighbors = self._rows.points[found.point] * self.scale
        neighbors = np.where(found.used[:, :, None] > 0, neighbors, neighbors[:, :1])
        ends = neighbors.min(axis=1), neighbors.max(axis=1)
        for lower, upper, score in zip(*ends, _score(found)):
            bounds = dict(zip(names, zip(lower.tolist(), upper.tolist())))
            box = describe_extents((name, *ends) for name, ends in bounds.items())
            text = (
                f"{100 * score:.1f}% of its {self.n_neighbors} nearest training rows, weighted "
                f"by 1/distance, are correctly classified; they lie in {box}"
            )
            reasons.append((bounds, text))
        return reasons

    @property
    def costs(self) -> np.ndarray:
        """Number of neighbors times number of columns."""
        return np.full(len(self), float(self.n_neighbors * self.dim))


def _score(found: Neighbors) -> np.ndarray:
    """Weighted mean of the correct share with weights used / (distance + tiny), per row."""
    correct = safe_divide(found.by_class[:, :, 0], found.total)
    weight = found.used / (found.distance + TINY)
    total, correct_weight = weight.sum(axis=1), (weight * correct).sum(axis=1)
    # If all neighbors are correct, the score is exactly 1 despite rounding errors.
    all_correct = ((correct == 1) | (found.used == 0)).all(axis=1)
    return safe_divide(np.where(all_correct, total, correct_weight), total)


class NeighborFinder(Finder):
    """Find the region with m = ⌈1 / ε⌉ neighbors and the lowest threshold t ≥ 1 - ε.

    The threshold is raised until the error inside is at most ε, on held-out and training rows
    together: held-out rows alone are too few at late levels. This is sound because scores are
    leave-one-out, and base classifiers predict out of sample or have too few parameters to overfit.
    """

    def find(
        self, view: ProjectionView, max_error: float, held_max_error: float, seed: int
    ) -> RegionSearchResult:
        n, min_score = len(view.P), 1 - max_error
        current, initial = (ceil(1 / max(e, 1e-3) - 1e-9) for e in (max_error, self.max_error))
        # With few neighbors regions arise by chance.
        m = max(current, min(initial, _MAX_INITIAL_NEIGHBORS))
        correct, units = view.all_correct, view.all_units
        weight = units / view.units_per_weight
        before = NeighborRegion(view.P, view.correct, weight[:n], view.scale, m, min_score)
        if not view.has_held_out:
            which = np.where(before.scores >= min_score, 0, -1)
            return RegionSearchResult(before, before, which, which[:0])
        after = NeighborRegion(view.all_P, correct, weight, view.scale, m, min_score)
        scores = after.scores
        threshold = self._threshold(scores, correct, units, seed, min_score, held_max_error)
        if not (scores[n:] >= threshold).any():
            threshold = np.inf
        after = after.with_threshold(threshold)
        which = np.where(scores >= threshold, 0, -1)
        held = before.contains(view.held_P)
        total, wrong = view.held_units[held].sum(), view.held_units[held & ~view.held_correct].sum()
        figures = np.array([np.count_nonzero(held)]), np.array([wrong / total if total else np.nan])
        deleted = np.arange(1 - len(after))
        return RegionSearchResult(before, after, which[:n], which[n:], deleted, *figures)

    def _threshold(self, scores: Any, correct: Any, units: Any, seed: int, *limits: float) -> float:
        """`lowest_threshold` of the rows, or its median over the bootstrap samples."""
        random = np.random.RandomState(seed)
        samples = (random.poisson(1.0, len(units)) for _ in range(self.n_bootstraps))
        multiples = [units * sample for sample in samples] or [units]
        thresholds = sorted(lowest_threshold(scores, correct, each, *limits) for each in multiples)
        return thresholds[len(thresholds) // 2]


def lowest_threshold(
    scores: np.ndarray, correct: np.ndarray, units: np.ndarray, min_score: float, max_error: float
) -> float:
    """The lowest t ≥ `min_score` such that rows with score ≥ t have error ≤ ε; infinite if none."""
    order = np.argsort(-scores, kind="stable")
    order = order[(scores[order] >= min_score) & (units[order] > 0)]
    values = scores[order]
    total = np.cumsum(units[order])
    wrong = np.cumsum(units[order] * ~correct[order])
    is_last_of_value = np.diff(values, append=-np.inf) < 0
    allowed = np.flatnonzero(is_last_of_value & is_error_allowed(wrong, total, max_error))
    if not len(allowed):
        return np.inf
    return min_score if allowed[-1] == len(order) - 1 else float(values[allowed[-1]])
