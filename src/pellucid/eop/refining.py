"""Simplify a decision list of regions: remove regions, and optimize boxes together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pellucid.eop.box_finder import BoxFinder
from pellucid.eop.finders import Rows
from pellucid.eop.problem import RegionProblem, is_error_allowed
from pellucid.regions.levels import Level, project
from pellucid.regions.shapes import Regions

_TIE = 8
"""Weight of a row whose correctness depends on a box, relative to that of other rows."""

_MAX_SWEEPS = 2


@dataclass(frozen=True)
class FlatList:
    """All regions of a decision list, in order, on some rows.

    `answer` is the class that each region predicts. Rows in no region get their most frequent class
    if there is a default; otherwise they count as wrong.
    """

    inside: np.ndarray
    """Whether each region contains each row, whatever earlier regions contain."""
    answer: np.ndarray
    n_facets: np.ndarray
    y: np.ndarray
    units: np.ndarray
    n_classes: int
    has_default: bool = True

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
        """Class of the regions at some positions in `kept`; the default at len(kept)."""
        return np.append(self.answer[kept], default)[at]


@dataclass(frozen=True)
class ListBox:
    """A box, or another region, of a decision list and the class that it predicts."""

    features: tuple[int, ...]
    answer: int
    box: Regions
    inside: np.ndarray
    """Which rows it contains, whatever earlier boxes contain."""
    source: int
    """Index of the level that it comes from."""
    n_facets: int
    region: int = 0
    """Index within the level."""


class ListOptimizer:
    """Remove regions that are not worth their size from a decision list; optimize its boxes.

    The objective is the weight of the rows that are classified correctly, minus a weight per
    inequality. A box decides about the rows that no earlier box contains. If all other boxes
    are fixed, each of these rows gains its weight inside the box if the box corrects it, and loses
    its weight if it was classified correctly without the box. So the best box of the projection is
    found by the same search as before, with these gains. Rows that gain nothing count an eighth,
    positive if they are of the class of the box, so that its ends lie where its class ends.

    A box needs the fraction (or number) `min_support` of the rows of its class that no earlier box
    contains. Its error is at most `purity_limit`. Without a finder, regions are only removed.
    """

    problem: RegionProblem
    rows: np.ndarray
    finder: BoxFinder | None
    y: np.ndarray
    units: np.ndarray
    total: int

    def __init__(
        self,
        problem: RegionProblem,
        rows: np.ndarray,
        finder: BoxFinder | None,
        min_support: float,
        purity_limit: float,
        has_default: bool = True,
    ) -> None:
        self.problem, self.rows, self.finder = problem, rows, finder
        self.y, self.units = problem.y[rows], problem.units[rows]
        self.total = int(self.units.sum())
        self._min_support, self._purity_limit = min_support, purity_limit
        self._has_default = has_default

    def start(self, levels: Sequence[Level]) -> list[ListBox]:
        """The regions of levels that predict one class each."""
        found = []
        for source, level in enumerate(levels):
            P = project(self.problem.X, level.features, self.rows)
            answer = int(level.classifier.predict(P[:1])[0])
            for region, n_facets in enumerate(level.regions.n_facets.tolist()):
                box = level.regions.take(np.array([region]))
                where = box, box.contains(P), source
                found.append(ListBox(level.features, answer, *where, n_facets, region))
        return found

    def path(
        self, boxes: list[ListBox], penalties: Sequence[float], should_stop: Callable[[], bool]
    ) -> list[list[ListBox]]:
        """The list after each η, in ascending order: prune it, then optimize each box."""
        found = []
        for penalty in penalties:
            if self.finder is None or not should_stop():
                facet_units = penalty * self.total
                kept = self._flat(boxes).pruned(facet_units)
                boxes = [boxes[i] for i in kept.tolist()]
                boxes = self._optimize(boxes, facet_units) if self.finder else boxes
            found.append(boxes)
        return found

    def predict(self, boxes: list[ListBox], rows: np.ndarray) -> np.ndarray:
        """Answers of the list for other rows of the problem."""
        X = self.problem.X
        inside = [box.box.contains(project(X, box.features, rows)) for box in boxes]
        return self._answers(boxes, inside, len(rows))[0]

    def _flat(self, boxes: list[ListBox]) -> FlatList:
        return FlatList(
            np.array([box.inside for box in boxes], dtype=bool).reshape(len(boxes), len(self.rows)),
            np.array([box.answer for box in boxes], dtype=np.int64),
            np.array([box.n_facets for box in boxes], dtype=np.int64),
            self.y,
            self.units,
            self.problem.n_classes,
            self._has_default,
        )

    def _answers(
        self, boxes: list[ListBox], inside: list[np.ndarray], n_rows: int
    ) -> list[np.ndarray]:
        """Answers of the whole list, of the list without its first box, and so on.

        `inside` says which rows each box contains. Rows in no box get the most frequent class of
        such training rows.
        """
        found = [np.full(n_rows, self._flat(boxes).default(np.arange(len(boxes))))]
        for box, contained in zip(reversed(boxes), reversed(inside)):
            found.append(np.where(contained, box.answer, found[-1]))
        return found[::-1]

    def _training_answers(self, boxes: list[ListBox]) -> list[np.ndarray]:
        return self._answers(boxes, [box.inside for box in boxes], len(self.y))

    def _objective(self, boxes: list[ListBox], facet_units: float) -> float:
        correct = self.units[self._training_answers(boxes)[0] == self.y].sum()
        return float(correct) - facet_units * sum(box.n_facets for box in boxes)

    def _optimize(self, boxes: list[ListBox], facet_units: float) -> list[ListBox]:
        """Sweep over all boxes while the objective increases."""
        value = self._objective(boxes, facet_units)
        for _ in range(_MAX_SWEEPS):
            swept = self._sweep(boxes, facet_units)
            new = self._objective(swept, facet_units)
            if new <= value:
                break
            boxes, value = swept, new
        return boxes

    def _sweep(self, boxes: list[ListBox], facet_units: float) -> list[ListBox]:
        """Optimize each box in turn, given the new earlier boxes and the old later ones."""
        later = self._training_answers(boxes)
        reached = np.ones(len(self.rows), dtype=bool)
        kept = []
        for box, rest in zip(boxes, later[1:]):
            best = self._best(box, np.flatnonzero(reached), rest, facet_units)
            if best is not None:
                kept.append(best)
                reached &= ~best.inside
        return kept

    def _best(
        self, old: ListBox, reached: np.ndarray, rest: np.ndarray, facet_units: float
    ) -> ListBox | None:
        """The box with the largest objective, or None if the list is better without it."""
        finder = self.finder
        if not len(reached) or finder is None:
            return None
        P = project(self.problem.X, old.features, self.rows)
        y, units = self.y[reached], self.units[reached]
        is_class = y == old.answer
        is_correct = rest[reached] == y
        gained = units * (is_class.astype(np.int64) - is_correct)
        scale = self.problem.scales[1][list(old.features)]
        rows = Rows(P[reached], is_class, units, 1, 1, scale)
        gains = _TIE * gained + np.where(is_class, units, -units)
        best, largest = None, 0.0
        candidates = [old.box]
        if gains.max() > 0:
            for found in (
                finder.fit(old.box, rows, gains),
                finder.grow(rows, gains, np.random.RandomState(0)),
            ):
                if found is None:
                    continue
                found = finder.drop_facets(found, rows, gains, _TIE * facet_units)
                if found.n_facets.any():
                    candidates.append(found)
        for box in candidates:
            inside = box.contains(rows.P)
            value = float(gained[inside].sum()) - facet_units * int(box.n_facets.sum())
            if value > largest and self._is_allowed(inside, is_class, units):
                best, largest = box, value
        if best is None or best is old.box:
            return None if best is None else old
        box = finder.finish(best, rows)
        return replace(old, box=box, inside=box.contains(P), n_facets=int(box.n_facets.sum()))

    def _is_allowed(self, inside: np.ndarray, is_class: np.ndarray, units: np.ndarray) -> bool:
        """Whether a box has enough rows of its class, and not too many others."""
        total, correct = int(units[inside].sum()), int(units[inside & is_class].sum())
        per_weight, support = self.problem.weights.units_per_weight, self._min_support
        least = support * (int(units[is_class].sum()) if support < 1 else per_weight)
        is_pure = is_error_allowed(total - correct, total, self._purity_limit)
        return correct > 0 and correct >= least and bool(is_pure)
