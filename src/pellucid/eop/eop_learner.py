"""EOP: levels of one projection with its regions, or of one box of one class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pellucid.eop.base_classifiers import FittedClassifier
from pellucid.eop.box_finder import BoxFinder
from pellucid.eop.finders import Calibration, RegionSearchResult
from pellucid.eop.learning import MIN_ROWS, Learner, LearningResult, ProjectionCandidate
from pellucid.eop.problem import is_error_allowed
from pellucid.eop.projections import ClassScan, scan_classes
from pellucid.eop.refining import ListOptimizer
from pellucid.regions.levels import Level, project
from pellucid.regions.shapes import Regions

RELAX_BY = 1.5
"""Factor on ε when no region is found."""

MAX_RELAXED = 0.5
"""Largest ε to which it is relaxed: at least half of the rows of a region are of its class."""

_RESCAN_AT = 0.9
"""All projections are scanned again when less than this share of the rows is left."""

_N_RESCANNED = 64
"""Projections that are scanned for each level."""


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
        settings, levels = self.settings, self.learned.levels
        max_error = max(settings.max_error, levels[-1].max_error if levels else 0.0)
        largest = self.problem.class_units(self.rows).max()
        majority_error = 1 - largest / self.problem.total(self.rows)
        max_errors = [max_error]
        while max_errors[-1] < min(majority_error, MAX_RELAXED):
            relaxed = max_errors[-1] * RELAX_BY if max_errors[-1] > 0 else 0.01
            relaxed = min(relaxed, MAX_RELAXED)
            if relaxed > settings.relax:
                break
            max_errors.append(relaxed)
        return max_errors

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
    costs less than η per inequality are removed. If ε is not given by the user, boxes are then
    optimized together; see `ListOptimizer`.
    """

    _last_scan: tuple[float, int, ClassScan] | None = None

    def grow(self) -> LearningResult:
        """Find all levels, without pruning."""
        return super().learn()

    def learn(self) -> LearningResult:
        """Find all levels, then prune them, and optimize their boxes together if asked for."""
        learned = self.grow()
        penalties = self.settings.penalties or (self.settings.complexity_penalty,)
        if any(level.regions.scores is not None for level in learned.levels):
            return learned
        optimizer = self._optimizer()
        boxes = optimizer.start(learned.levels)
        if optimizer.finder is not None:
            found = optimizer.path(boxes, penalties, self._should_stop)[-1]
            self._replace_levels([(box.source, box.box) for box in found], are_new=True)
            return learned
        found = optimizer.path(boxes, penalties[-1:], self._should_stop)[-1]
        if len(found) < len(boxes):
            kept: list[list[int]] = [[] for _ in learned.levels]
            for box in found:
                kept[box.source].append(box.region)
            indices = (np.array(regions, dtype=np.int64) for regions in kept)
            taken = [level.regions.take(i) for level, i in zip(learned.levels, indices)]
            self._replace_levels(list(enumerate(taken)))
        return learned

    def _replace_levels(self, regions: list[tuple[int, Regions]], are_new: bool = False) -> None:
        """Replace the levels, and assign the rows to the new ones.

        `regions` have the index of the level that each comes from. Regions with less than the
        required purity among the rows that they then get are removed.
        """
        learned = self.learned
        used = [step for step in learned.history if step.is_used]
        others = [step for step in learned.history if not step.is_used]
        if are_new:
            used = [replace(used[source], before=found) for source, found in regions]
        else:
            used = [used[source] for source, _ in regions]
        levels = [replace(learned.levels[source], regions=found) for source, found in regions]
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
        optimizer = self._optimizer()
        boxes = optimizer.start(self.learned.levels)
        for found in optimizer.path(boxes, penalties, self._should_stop):
            yield optimizer.predict(found, rows), sum(box.n_facets for box in found)

    def _optimizer(self) -> ListOptimizer:
        """The search for better boxes, or only for regions that are not worth their size."""
        settings, finder = self.settings, self.finders[0]
        is_only_pruned = not settings.optimizes or len(self._all_held)
        return ListOptimizer(
            self.problem,
            self.all_rows,
            None if is_only_pruned or not isinstance(finder, BoxFinder) else finder,
            settings.min_support,
            settings.purity_limit,
            settings.has_default,
        )

    def _scan(self, max_errors: list[float]) -> Any:
        """Scan all projections, or, if few rows were covered since then, only the best ones.

        The surplus of a projection changes little when few rows are removed, so that projections
        that were far behind need not be scanned again.
        """
        max_error, n_rows = max_errors[0], len(self.rows)
        last = self._last_scan
        if last is None or last[0] != max_error or n_rows < _RESCAN_AT * last[1]:
            scan = super()._scan(max_errors)
            self._last_scan = None if scan is None else (max_error, n_rows, scan)
            return scan
        scan = last[2]
        best = scan.best_projections(self.settings.complexity_penalty, _N_RESCANNED)
        total = self.problem.total(self.all_rows)
        subsets = [s[b] for s, b in zip(scan.subsets, best)]
        again = scan_classes(self.problem, self.rows, subsets, max_error, total, self._should_stop)
        if again is None:
            return None
        for surplus, rows, new in zip(scan.surplus, best, again.surplus):
            surplus[rows] = new
        return scan

    def _attempts(self) -> Iterator[tuple[float, list[ProjectionCandidate]]]:
        for max_error in self._max_errors():
            yield max_error, self._best_candidates(self._scan([max_error]))

    def _limits(self, answers: np.ndarray) -> dict[str, Any]:
        facet_units = self.settings.complexity_penalty * self.problem.total(self.all_rows)
        return {
            **super()._limits(answers),
            "facet_units": facet_units,
            "max_regions": 1,
            "max_required_rows": MIN_ROWS,
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
