"""Lists of regions of one class each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from pellucid._utils.progress import Interrupt
from pellucid.eop import tuning
from pellucid.eop.base_classifiers import constant
from pellucid.eop.box_lists import BoxList, FlatList
from pellucid.eop.box_search import ProjectionRanks, RankBox
from pellucid.eop.finders import Calibration, RegionSearchResult
from pellucid.eop.learning import EOPLearner, LearningResult, ProjectionCandidate
from pellucid.regions.levels import Level, project
from pellucid.regions.shapes import Regions


class ClassLearner(EOPLearner):
    """All projections and classes compete for the region with the largest net support.

    The net support of a region is C - (1 - ε) / ε · W minus η · (number of inequalities) times
    the weight of all rows, where C and W are the weights of its rows of the class and of its
    other rows. ε is relaxed when no net support is positive. At the end, regions whose removal
    costs less than η per inequality are removed.
    """

    rows: np.ndarray
    held: np.ndarray

    def grow(self) -> LearningResult:
        """Find all levels, of one region each, without pruning."""
        return super().learn()

    def learn(self) -> LearningResult:
        """Find all levels, then prune them."""
        learned = self.grow()
        levels = learned.levels
        if any(level.regions.scores is not None for level in levels):
            return learned  # nonparametric regions have no inequalities
        flat = self._flat_list()
        kept = flat.pruned(self.settings.complexity_penalty * flat.units.sum())
        if len(kept) < len(levels):
            self.rows, self.held = self._all_rows, self._all_held
            used = [step for step in learned.history if step.is_used]
            learned.history = [step for step in learned.history if not step.is_used]
            learned.levels = []
            learned.level[:] = learned.region[:] = -1
            pure = flat.take(kept).without_impure(self.settings.purity_limit)
            for i in kept[pure].tolist():
                answer = int(flat.answer[i])
                self._append(levels[i].features, levels[i].regions, answer, used[i])
        return self._finish()

    def _append(
        self,
        features: tuple[int, ...],
        regions: Regions,
        answer: int,
        step: Calibration | None,
        max_error: float = 0.0,
    ) -> None:
        """Append a level of one class, from an earlier step of the search if there is one."""
        candidate = self._view(features, constant(answer, len(self.rows)))
        which = regions.which(candidate.view.P), regions.which(candidate.view.held_P)
        found = RegionSearchResult(regions, regions, *which)
        if step is not None:
            figures = step.deleted, step.held_out_rows, step.held_out_error
            found = RegionSearchResult(step.before, regions, *which, *figures)
        self._add(candidate, found, max_error if step is None else step.max_error)

    def _flat_list(self) -> FlatList:
        """The regions of all levels."""
        levels, rows = self.learned.levels, self.all_rows
        answers = [level.classifier.at_most for level in levels]
        inside = [self._inside(level, rows) for level in levels]
        return FlatList(
            np.array(inside, dtype=bool).reshape(len(levels), len(rows)),
            np.array(answers, dtype=np.int64),
            np.array([level.regions.n_facets[0] for level in levels], dtype=np.int64),
            self.problem.y[rows],
            self.problem.units[rows],
            self.problem.n_classes,
            self.settings.has_default,
        )

    def _inside(self, level: Level, rows: np.ndarray) -> np.ndarray:
        """Which of some rows a region contains, whatever earlier regions contain."""
        return level.regions.contains(project(self.problem.X, level.features, rows))

    def answers_by_penalty(
        self, penalties: Sequence[float], rows: np.ndarray
    ) -> Iterator[tuple[np.ndarray, int]]:
        """Answers for other rows, and number of inequalities, with each η in ascending order."""
        flat, levels = self._flat_list(), self.learned.levels
        for penalty in penalties:
            kept = flat.pruned(penalty * flat.units.sum())
            answers = np.full(len(rows), flat.take(kept).default())
            for i in reversed(kept.tolist()):
                answers[self._inside(levels[i], rows)] = flat.answer[i]
            yield answers, int(flat.n_facets[kept].sum())

    def _attempts(self) -> Iterator[tuple[float, list[ProjectionCandidate]]]:
        for max_error in self._max_errors():
            yield max_error, self._class_candidates(max_error)

    def _limits(self, answers: np.ndarray) -> dict[str, Any]:
        facet_units = self.settings.complexity_penalty * self.problem.total(self.all_rows)
        limits = {"facet_units": facet_units, "max_regions": 1}
        return {**super()._limits(answers), **limits, "max_required_rows": tuning.MIN_ROWS}

    def _value(
        self, candidate: ProjectionCandidate, found: RegionSearchResult, max_error: float
    ) -> float:
        """The net support, if it is positive."""
        if super()._value(candidate, found, max_error) == -np.inf:
            return -np.inf
        view, inside = candidate.view, found.all_which >= 0
        right, wrong = (
            view.all_units[inside & part].sum() for part in (view.all_correct, ~view.all_correct)
        )
        odds = (1 - max_error) / max(max_error, 1e-3)
        net = float(right - odds * wrong - view.facet_units * found.after.n_facets.sum())
        return net if net > 0 else -np.inf


class BoxListLearner(ClassLearner):
    """The same for boxes without held-out rows: see `BoxList`.

    If ε is not given by the user, the boxes are optimized together after pruning.
    """

    interrupt: Interrupt

    _boxes: list[RankBox]

    def grow(self) -> LearningResult:
        """Find all boxes, without pruning."""
        self._boxes = []
        self.learned.n_tried = sum(map(len, self.subsets))
        with Interrupt() as self.interrupt:
            if self.learned.n_tried:
                data = ProjectionRanks(self.problem, self.rows, self.subsets)
                self._list = BoxList(data, self.settings, self._should_stop)
                self._boxes = self._list.grow()
        return self.learned

    def learn(self) -> LearningResult:
        """Find all boxes, then prune them, and optimize them together if asked for."""
        self.grow()
        self.learned.is_interrupted = self.interrupt.requested
        if self._boxes:
            penalties = self.settings.penalties or (self.settings.complexity_penalty,)
            with Interrupt() as self.interrupt:
                *_, boxes = self._list.path(self._boxes, penalties)
                boxes = self._list.finish(boxes, penalties[-1])
            for box in boxes:
                left = np.searchsorted(self._all_rows, self.rows)
                place = self._list.in_values(box, left)
                self._append(*place, box.answer, None, box.max_error)
        return self._finish()

    def answers_by_penalty(
        self, penalties: Sequence[float], rows: np.ndarray
    ) -> Iterator[tuple[np.ndarray, int]]:
        if not self._boxes:
            yield from super().answers_by_penalty(penalties, rows)
            return
        for boxes in self._list.path(self._boxes, penalties):
            yield self._list.predict(boxes, rows), sum(box.figures.n_ends for box in boxes)
