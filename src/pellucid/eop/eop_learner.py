"""EOP: levels of one projection with its regions, or of one box of one class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pellucid._utils.progress import Interrupt
from pellucid.eop import tuning
from pellucid.eop.base_classifiers import FittedClassifier
from pellucid.eop.box_lists import BoxList, ProjectionRanks, RankBox, relaxed_errors
from pellucid.eop.finders import Calibration, RegionSearchResult
from pellucid.eop.learning import Learner, LearningResult, ProjectionCandidate
from pellucid.eop.problem import is_error_allowed
from pellucid.eop.pruning import FlatList
from pellucid.regions.classifiers import Stump
from pellucid.regions.levels import Level, project


class EOPLearner(Learner):
    """Algorithm 1: select a projection by its score, find its regions, relax ε if necessary."""

    _best_score: np.ndarray | None = None

    def _attempts(self) -> Iterator[tuple[float, list[ProjectionCandidate]]]:
        max_errors = self._max_errors()
        scan = self._scan(max_errors)
        for index, max_error in enumerate(max_errors if scan is not None else ()):
            yield max_error, self._best_candidates(scan, index)

    def _regions(
        self, candidate: ProjectionCandidate, max_error: float, seed: int
    ) -> RegionSearchResult:
        found = super()._regions(candidate, max_error, seed)
        return self._without_impure(candidate, found)

    def _without_impure(
        self, candidate: ProjectionCandidate, found: RegionSearchResult
    ) -> RegionSearchResult:
        """Drop regions in which a class has an error above the limit of `purity_limit`.

        All training rows count, also those that are held out. A region may get rows of a dropped
        one, so this is repeated.
        """
        view, answers = candidate.view, candidate.answers
        units, wrong_units = view.all_units, view.all_units * ~view.all_correct
        kept, regions, which = np.arange(len(found.after)), found.after, found.all_which
        while len(kept):
            group = which * self.problem.n_classes + answers
            n_groups = len(kept) * self.problem.n_classes
            inside = which >= 0
            total = np.bincount(group[inside], units[inside], n_groups)
            wrong = np.bincount(group[inside], wrong_units[inside], n_groups)
            is_pure = is_error_allowed(wrong, total, self.settings.purity_limit)
            is_pure = is_pure.reshape(len(kept), -1).all(axis=1)
            if is_pure.all():
                break
            kept, regions = kept[is_pure], regions.take(np.flatnonzero(is_pure))
            which = regions.which(np.concatenate([view.P, view.held_P]))
        if len(kept) == len(found.after):
            return found
        remaining = np.setdiff1d(np.arange(len(found.before)), found.deleted)
        deleted = np.union1d(found.deleted, np.delete(remaining, kept))
        n = len(view.P)
        return replace(found, after=regions, which=which[:n], held_which=which[n:], deleted=deleted)

    def _max_errors(self) -> list[float]:
        """Values of ε to try in turn, up to the error of the most frequent class."""
        levels = self.learned.levels
        max_error = max(self.settings.max_error, levels[-1].max_error if levels else 0.0)
        largest = self.problem.class_units(self.rows).max()
        majority_error = 1 - largest / self.problem.total(self.rows)
        return list(relaxed_errors(max_error, majority_error, self.settings.relax))

    def _add(
        self, candidate: ProjectionCandidate, found: RegionSearchResult, max_error: float
    ) -> None:
        scores = found.after.scores
        if scores is not None:
            # Rows in no region get the prediction of the level with their highest score.
            rows = np.concatenate([self.rows, self.held])
            if self._best_score is None:
                self._best_score = np.full(len(self.problem.y), -1.0)
            better = scores > self._best_score[rows]
            self._best_score[rows[better]] = scores[better]
            self.learned.uncovered_answer[rows[better]] = candidate.answers[better]
        super()._add(candidate, found, max_error)

    def _value(
        self, candidate: ProjectionCandidate, found: RegionSearchResult, max_error: float
    ) -> float:
        """The coverage, minus η for each column."""
        penalty = self.settings.complexity_penalty * len(candidate.features)
        coverage = self._coverage(candidate, found)
        return -np.inf if coverage < 0 else coverage - penalty

    def _coverage(self, candidate: ProjectionCandidate, found: RegionSearchResult) -> float:
        """Fraction of the held-out rows that the regions cover; -1 if support is below α.

        Without held-out rows, the fraction of the training rows.
        """
        view = candidate.view
        covered = view.units[found.which >= 0].sum()
        if covered < max(view.min_units, 1):
            return -1.0
        if not view.has_held_out:
            return covered / self.fitted_total
        held = view.held_units[found.held_which >= 0].sum()
        return held / self.problem.total(self.held) if held else -1.0


class ClassLearner(EOPLearner):
    """All projections and classes compete for the region with the largest net support.

    The net support of a region is C - (1 - ε) / ε · W minus η · (number of inequalities) times
    the weight of all rows, where C and W are the weights of its rows of the class and of its
    other rows. ε is relaxed when no net support is positive. At the end, regions whose removal
    costs less than η per inequality are removed.
    """

    def grow(self) -> LearningResult:
        """Find all levels, without pruning."""
        return super().learn()

    def learn(self) -> LearningResult:
        """Find all levels, then prune them."""
        learned = self.grow()
        kept = self._pruned(self.settings.complexity_penalty)
        if kept is not None and len(kept) < sum(len(level.regions) for level in learned.levels):
            self._keep_regions(kept)
        return learned

    def _pruned(self, penalty: float) -> list[tuple[int, int]] | None:
        """Level and region of the regions that remain; None for shapes without inequalities."""
        levels, rows = self.learned.levels, self.all_rows
        if any(level.regions.scores is not None for level in levels):
            return None
        pairs = [(i, j) for i, level in enumerate(levels) for j in range(len(level.regions))]
        flat = FlatList(
            np.array([self._inside(*pair, rows) for pair in pairs]).reshape(len(pairs), len(rows)),
            np.array([self._answer(levels[i]) for i, _ in pairs], dtype=np.int64),
            np.array([levels[i].regions.n_facets[j] for i, j in pairs], dtype=np.int64),
            self.problem.y[rows],
            self.problem.units[rows],
            self.problem.n_classes,
            self.settings.has_default,
        )
        return [pairs[i] for i in flat.pruned(penalty * self.problem.total(rows)).tolist()]

    def _inside(self, level: int, region: int, rows: np.ndarray) -> np.ndarray:
        """Which of some rows a region contains, whatever earlier regions contain."""
        found = self.learned.levels[level]
        return found.regions.take(np.array([region])).contains(
            project(self.problem.X, found.features, rows)
        )

    def _answer(self, level: Level) -> int:
        return int(level.classifier.predict(np.zeros((1, len(level.features))))[0])

    def _keep_regions(self, kept: list[tuple[int, int]]) -> None:
        """Keep some regions, without those that then have less than the required purity."""
        learned = self.learned
        used = [step for step in learned.history if step.is_used]
        others = [step for step in learned.history if not step.is_used]
        regions = [np.array([j for i, j in kept if i == n], dtype=int) for n in range(len(used))]
        levels = [
            replace(level, regions=level.regions.take(each))
            for level, each in zip(learned.levels, regions)
        ]
        while True:
            self.rows, self.held = self._all_rows, self._all_held
            learned.levels, learned.history = [], list(others)
            learned.level[:] = learned.region[:] = -1
            added = [i for i, step in enumerate(used) if self._add_again(levels[i], step)]
            impure = [self._is_impure(level.counts) for level in learned.levels]
            if not any(each.any() for each in impure):
                break
            for i, each in zip(added, impure):
                pure = levels[i].regions.take(np.flatnonzero(~each))
                levels[i] = replace(levels[i], regions=pure)
        learned.uncovered = np.sort(np.concatenate([self.rows, self.held]))

    def _add_again(self, level: Level, step: Calibration) -> bool:
        """Append a level of an earlier search, if it contains training rows."""
        if not len(level.regions) or not len(self.rows):
            return False
        P = project(self.problem.X, level.features, self.rows)
        fitted = FittedClassifier(level.classifier, level.classifier.predict(P))
        candidate = self._view(level.features, fitted)
        which = level.regions.which(candidate.view.P)
        if not (which >= 0).any():
            return False
        held_which = level.regions.which(candidate.view.held_P)
        calibrated = step.deleted, step.held_out_rows, step.held_out_error
        found = RegionSearchResult(step.before, level.regions, which, held_which, *calibrated)
        self._add(candidate, found, level.max_error)
        return True

    def _is_impure(self, counts: np.ndarray) -> np.ndarray:
        """Whether each region has a class with a lower purity than allowed."""
        total = counts.sum(axis=2)
        correct = np.diagonal(counts, axis1=1, axis2=2)
        allowed = is_error_allowed(total - correct, total, self.settings.purity_limit)
        return ~allowed.all(axis=1)

    def answers_by_penalty(
        self, penalties: Sequence[float], rows: np.ndarray
    ) -> Iterator[tuple[np.ndarray, int]]:
        """Answers for other rows, and number of inequalities, with each η in ascending order."""
        levels = self.learned.levels
        for penalty in penalties:
            kept = self._pruned(penalty) or []
            answers = np.full(
                len(rows), self._majority([self._inside(*p, self.all_rows) for p in kept])
            )
            for pair in reversed(kept):
                answers[self._inside(*pair, rows)] = self._answer(levels[pair[0]])
            yield answers, sum(int(levels[i].regions.n_facets[j]) for i, j in kept)

    def _majority(self, inside: list[np.ndarray]) -> int:
        """The most frequent class of the rows in no region; of all rows, if there are none."""
        rows = self.all_rows[~np.any(inside, axis=0)] if inside else self.all_rows
        return int(np.argmax(self.problem.class_units(rows if len(rows) else self.all_rows)))

    def _attempts(self) -> Iterator[tuple[float, list[ProjectionCandidate]]]:
        for max_error in self._max_errors():
            yield max_error, self._class_candidates(max_error)

    def _limits(self, answers: np.ndarray) -> dict[str, Any]:
        facet_units = self.settings.complexity_penalty * self.problem.total(self.all_rows)
        return {
            **super()._limits(answers),
            "facet_units": facet_units,
            "max_regions": 1,
            "max_required_rows": tuning.MIN_ROWS,
        }

    def _value(
        self, candidate: ProjectionCandidate, found: RegionSearchResult, max_error: float
    ) -> float:
        """The net support, if it is positive."""
        view = candidate.view
        if self._coverage(candidate, found) < 0:
            return -np.inf
        inside, correct = found.all_which >= 0, view.all_correct
        right, wrong = (view.all_units[inside & part].sum() for part in (correct, ~correct))
        odds = (1 - max_error) / max(max_error, 1e-3)
        net = float(right - odds * wrong - view.facet_units * found.after.n_facets.sum())
        return net if net > 0 else -np.inf


class BoxListLearner(ClassLearner):
    """The same for boxes without held-out rows: see `BoxList`.

    If ε is not given by the user, the boxes are optimized together after pruning.
    """

    _boxes: list[RankBox]

    def grow(self) -> LearningResult:
        """Find all boxes, without pruning."""
        settings, self._boxes = self.settings, []
        self.learned.n_tried = sum(map(len, self.subsets))
        with Interrupt() as self.interrupt:
            if self.learned.n_tried:
                self._list = BoxList(
                    ProjectionRanks(self.problem, self.rows, self.subsets),
                    n_candidates=settings.n_candidates,
                    min_support=settings.min_support,
                    purity_limit=settings.purity_limit,
                    has_default=settings.has_default,
                    is_optimized=settings.optimizes,
                    should_stop=self._should_stop,
                )
                self._boxes = self._list.grow(
                    settings.max_error,
                    settings.complexity_penalty,
                    settings.relax,
                    settings.max_levels,
                )
        return self.learned

    def learn(self) -> LearningResult:
        """Find all boxes, then prune them, and optimize them together if asked for."""
        learned, settings = self.grow(), self.settings
        penalties = settings.penalties or (settings.complexity_penalty,)
        with Interrupt() as self.interrupt:
            boxes = self._boxes and list(self._list.path(self._boxes, penalties))[-1]
        learned.is_interrupted |= self.interrupt.requested
        for box in self._list.without_impure(boxes) if boxes else ():
            self._add_box(box)
        learned.is_exhausted = not len(self.rows) or self._has_max_levels()
        learned.uncovered = np.sort(self.rows)
        return learned

    def _add_box(self, box: RankBox) -> None:
        features, shape = self._list.in_values(box, np.searchsorted(self._all_rows, self.rows))
        answers = np.full(len(self.rows), box.answer)
        constant = Stump(0, np.inf, box.answer, box.answer)
        candidate = self._view(features, FittedClassifier(constant, answers))
        which = shape.which(candidate.view.P)
        found = RegionSearchResult(shape, shape, which, np.empty(0, dtype=np.int64))
        self._add(candidate, found, box.max_error)

    def answers_by_penalty(
        self, penalties: Sequence[float], rows: np.ndarray
    ) -> Iterator[tuple[np.ndarray, int]]:
        if not self._boxes:
            majority = self._majority([])
            yield from ((np.full(len(rows), majority), 0) for _ in penalties)
            return
        for boxes in self._list.path(self._boxes, penalties):
            yield self._list.predict(boxes, rows), sum(box.figures.n_ends for box in boxes)
