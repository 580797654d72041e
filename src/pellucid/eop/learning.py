"""Learn the levels in turn: select a projection, find regions, remove the covered rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from pellucid._utils.progress import Interrupt, Progress
from pellucid.eop import tuning
from pellucid.eop.base_classifiers import (
    BaseClassifier,
    FittedClassifier,
    Scan,
    constant,
    scan_projections,
)
from pellucid.eop.box_lists import BoxList, FlatList, relaxed_errors
from pellucid.eop.box_search import ClassBoxSearch, RankBox
from pellucid.eop.finders import Calibration, Finder, RegionSearchResult
from pellucid.eop.problem import ProjectionView, RegionProblem, Settings, is_error_allowed
from pellucid.regions.levels import Level, project


class ProjectionCandidate(NamedTuple):
    """A projection with its classifier, and its predictions for training and held-out rows."""

    features: tuple[int, ...]
    classifier: Any
    answers: np.ndarray
    view: ProjectionView


class LevelAttempt(NamedTuple):
    """The regions of a candidate that were found with some ε."""

    candidate: ProjectionCandidate
    found: RegionSearchResult
    max_error: float


@dataclass
class Learner:
    """Base class of the level search, on training rows and held-out rows."""

    problem: RegionProblem
    base: BaseClassifier | None  # None for constants: one classifier per class
    finders: tuple[Finder, Finder]  # in general, and for projections with zeros and ones
    subsets: list[np.ndarray]  # the projections, one array per size
    rows: np.ndarray
    held: np.ndarray
    settings: Settings
    progress: Progress
    random: np.random.RandomState

    def __post_init__(self) -> None:
        self._all_rows, self._all_held = self.rows, self.held
        # Level and region that contain each row; -1 for uncovered rows.
        self.level: np.ndarray = np.full(len(self.problem.y), -1)
        self.region: np.ndarray = self.level.copy()
        # Class by the level with the highest score of the row; -1 without nonparametric regions.
        self.uncovered_answer: np.ndarray = self.level.copy()
        self.levels: list[Level] = []
        self.history: list[Calibration] = []
        self.n_tried: int = 0
        self.n_skipped: int = 0  # projections, over all levels, without a base classifier
        self.interrupt: Interrupt = Interrupt()
        self.is_interrupted: bool = False
        self._search: ClassBoxSearch | None = None
        self._best_score = np.full(len(self.level), -1.0)

    def learn(self) -> None:
        """Find all levels. Ctrl-C stops the search and keeps the levels found so far."""
        with Interrupt() as self.interrupt:
            while any(map(len, self.subsets)) and not self.is_exhausted:
                found = None if self._should_stop() else self._next_level()
                if found is None:
                    break
                self._add(found)
        self.is_interrupted |= self.interrupt.requested

    @property
    def is_exhausted(self) -> bool:
        """Whether all training rows are covered or `max_levels` is reached."""
        limit = self.settings.max_levels
        return not len(self.rows) or (limit is not None and len(self.levels) >= limit)

    def _should_stop(self) -> bool:
        return self.interrupt.requested

    @property
    def _remaining(self) -> np.ndarray:
        """Training rows, then held-out rows, that no level covers."""
        return np.concatenate([self.rows, self.held])

    def _next_level(self) -> LevelAttempt | None:
        """The attempt with the largest `_value`, for the first ε with which one is above -inf."""
        self._seed = int(self.random.randint(2**31 - 1))
        for max_error, candidates in self._attempts():
            if self._should_stop():
                break
            search = partial(self._regions, max_error=max_error)
            found = zip(candidates, self.problem.pool.map(search, candidates))
            tried = [LevelAttempt(candidate, regions, max_error) for candidate, regions in found]
            values = [self._value(attempt) for attempt in tried]
            if max(values, default=-np.inf) > -np.inf:
                return tried[int(np.argmax(values))]
            if tried:
                self._record(tried[0], is_used=False)
        return None

    def _attempts(self) -> Iterator[tuple[float, list[ProjectionCandidate]]]:
        """Values of ε to try in turn, and the projections in which regions are searched."""
        raise NotImplementedError

    def _value(self, attempt: LevelAttempt) -> float:
        """How good the regions of a candidate are; -inf if they may not become a level."""
        raise NotImplementedError

    def _view(self, features: tuple[int, ...], fitted: FittedClassifier) -> ProjectionCandidate:
        """Project the remaining rows, with the predictions of a classifier."""
        problem, rows, held = self.problem, self.rows, self.held
        held_P = project(problem.X, features, held)
        held_answers = fitted.classifier.predict(held_P) if len(held) else np.empty(0, np.int64)
        P = project(problem.X, features, rows)
        training = P, fitted.answers == problem.y[rows], problem.units[rows]
        held_out = held_P, held_answers == problem.y[held], problem.units[held]
        scale, per_weight = problem.scales[1][list(features)], problem.weights.units_per_weight
        limits = self._limits(fitted.answers)
        view = ProjectionView(*training, *held_out, scale, per_weight, **limits)
        answers = np.concatenate([fitted.answers, held_answers])
        return ProjectionCandidate(features, fitted.classifier, answers, view)

    def _limits(self, answers: np.ndarray) -> dict[str, Any]:
        """α of the rows of the rarest predicted class (from 1 on, a number of rows), and others."""
        weights = self.problem.class_units(self.rows)[np.unique(answers)]
        most = self.problem.total(self._all_rows)
        rarest = float(weights[weights > 0].min(initial=most))
        per_weight, support = self.problem.weights.units_per_weight, self.settings.min_support
        least = support * (rarest if support < 1 else per_weight)
        n_required = max(rarest / per_weight / 3, tuning.MIN_ROWS)
        return {"min_units": least, "max_required_rows": n_required}

    def _scan(self, max_errors: list[float]) -> Scan | None:
        """Scan all projections of the remaining rows and count failed fits; None if stopped."""
        base: Any = self.base
        scan = scan_projections(base, self.rows, self.subsets, max_errors, self._should_stop)
        if scan is not None:
            self.n_tried += sum(map(len, self.subsets))
            self.n_skipped += int(sum(np.isinf(error).sum() for error in scan.error))
        return scan

    def _best_candidates(
        self, scan: Scan | None, max_error_index: int = 0
    ) -> list[ProjectionCandidate]:
        """The `n_candidates` top-ranked projections, without those on which no fit succeeds."""
        base, settings = self.base, self.settings
        if scan is None or base is None:
            return []

        def fit(features: tuple[int, ...]) -> ProjectionCandidate | None:
            fitted = base.fit(self.rows, features)
            return None if fitted is None else self._view(features, fitted)

        ranked = scan.ranked(settings.complexity_penalty, settings.choose, max_error_index)
        fitted = self.problem.pool.map(fit, list(islice(ranked, settings.n_candidates)))
        return [candidate for candidate in fitted if candidate is not None]

    def _class_candidates(self, max_error: float) -> list[ProjectionCandidate]:
        """The `n_candidates` projections and classes with the best boxes, for constant classes."""
        if self._search is None:
            self._search = ClassBoxSearch(self.problem, self._all_rows, self.subsets)
        search, n_tried = self._search, sum(map(len, self.subsets))
        left = np.searchsorted(self._all_rows, self.rows)
        facet_units = self.settings.complexity_penalty * search.total
        stakes = search.net_support(left, max_error, facet_units)
        n_wanted = self.settings.n_candidates or n_tried * self.problem.n_classes
        found, _ = search.best(stakes, n_wanted, search.everything)
        self.n_tried += n_tried

        def view(box: RankBox) -> ProjectionCandidate:
            features = tuple(search.features[box.columns].tolist())
            return self._view(features, constant(box.answer, len(self.rows)))

        return self.problem.pool.map(view, found)

    def _regions(self, candidate: ProjectionCandidate, max_error: float) -> RegionSearchResult:
        has_binary = bool(self.problem.binary_features.intersection(candidate.features))
        return self.finders[has_binary].find(candidate.view, max_error, max_error, self._seed)

    def _record(self, attempt: LevelAttempt, is_used: bool) -> None:
        (features, *_), found, max_error = attempt
        calibrated = found.before, found.after, found.deleted
        held_out = found.held_out_rows, found.held_out_error
        place = features, len(self.levels), max_error
        self.history.append(Calibration(*place, *calibrated, *held_out, is_used))

    def _counts(
        self, candidate: ProjectionCandidate, n_regions: int, which: np.ndarray
    ) -> np.ndarray:
        """Weight in units of the remaining rows by region, predicted class and true class."""
        problem, inside = self.problem, which >= 0
        rows = self._remaining[inside]
        counts = np.zeros((n_regions, problem.n_classes, problem.n_classes), dtype=np.int64)
        groups = which[inside], candidate.answers[inside], problem.y[rows]
        np.add.at(counts, groups, problem.units[rows])
        return counts

    def _add(self, attempt: LevelAttempt) -> None:
        """Append a level and remove the rows that it covers."""
        self._record(attempt, is_used=True)
        candidate, found, max_error = attempt
        problem, view = self.problem, candidate.view
        inside, held_inside = found.which >= 0, found.held_which >= 0
        reached, which = self._remaining, found.all_which
        covered = reached[which >= 0]
        counts = self._counts(candidate, len(found.after), which)
        self.level[covered] = len(self.levels)
        self.region[covered] = which[which >= 0]
        level = Level(
            features=candidate.features,
            classifier=candidate.classifier,
            regions=found.after,
            max_error=max_error,
            error=_fraction(view.units[inside], ~view.correct[inside]),
            held_out_error=_fraction(view.held_units[held_inside], ~view.held_correct[held_inside]),
            coverage=problem.total(covered) / problem.units.sum(),
            n_samples=len(covered),
            reached=np.sort(reached),
            covered=np.sort(covered),
            counts=counts / problem.weights.units_per_weight,
        )
        self.levels.append(level)
        self.rows, self.held = self.rows[~inside], self.held[~held_inside]
        self.progress.report(
            f"level {len(self.levels)}: columns {', '.join(map(str, level.features))}; "
            f"{100 * level.coverage:.1f}% of the rows, {len(self._remaining)} rows remaining"
        )


class EOPLearner(Learner):
    """Algorithm 1: select a projection by its score, find its regions, relax ε if necessary."""

    def _attempts(self) -> Iterator[tuple[float, list[ProjectionCandidate]]]:
        max_errors = self._max_errors()
        scan = self._scan(max_errors)
        for index, max_error in enumerate(max_errors):
            yield max_error, self._best_candidates(scan, index)

    def _max_errors(self) -> list[float]:
        """Values of ε to try in turn, up to the error of the most frequent class."""
        levels = self.levels
        max_error = max(self.settings.max_error, levels[-1].max_error if levels else 0.0)
        class_units = self.problem.class_units(self.rows)
        return list(relaxed_errors(max_error, class_units, self.settings.relax))

    def _regions(self, candidate: ProjectionCandidate, max_error: float) -> RegionSearchResult:
        """Regions without those in which a class has an error above `purity_limit` on all rows."""
        found = super()._regions(candidate, max_error)
        kept, regions, which = np.arange(len(found.after)), found.after, found.all_which
        while len(kept):  # a region may get rows of a dropped one
            counts = self._counts(candidate, len(kept), which)
            total = counts.sum(axis=2)
            wrong = total - np.diagonal(counts, axis1=1, axis2=2)
            is_pure = is_error_allowed(wrong, total, self.settings.purity_limit).all(axis=1)
            if is_pure.all():
                break
            kept, regions = kept[is_pure], regions.take(np.flatnonzero(is_pure))
            which = regions.which(candidate.view.all_P)
        if len(kept) == len(found.after):
            return found
        remaining = np.setdiff1d(np.arange(len(found.before)), found.deleted)
        deleted = np.union1d(found.deleted, np.delete(remaining, kept))
        n = len(candidate.view.P)
        return replace(found, after=regions, which=which[:n], held_which=which[n:], deleted=deleted)

    def _add(self, attempt: LevelAttempt) -> None:
        scores, reached = attempt.found.after.scores, self._remaining
        if scores is not None:
            # Rows in no region get the prediction of the level with their highest score.
            better = scores > self._best_score[reached]
            self._best_score[reached[better]] = scores[better]
            self.uncovered_answer[reached[better]] = attempt.candidate.answers[better]
        super()._add(attempt)

    def _value(self, attempt: LevelAttempt) -> float:
        """The coverage, minus η for each column; -inf if the support is below α."""
        candidate, found, _ = attempt
        view, penalty = candidate.view, self.settings.complexity_penalty
        covered = view.units[found.which >= 0].sum()
        coverage = covered / self.problem.total(self._all_rows)
        if view.has_held_out:
            held = view.held_units[found.held_which >= 0].sum()
            coverage = held / self.problem.total(self.held)
        is_supported = covered >= max(view.min_units, 1) and coverage > 0
        return coverage - penalty * len(candidate.features) if is_supported else -np.inf


class ClassLearner(EOPLearner):
    """All projections and classes compete for the region with the largest net support.

    It is C - (1 - ε) / ε · W minus η · (number of inequalities) times the weight of all rows, where
    C and W are the weights of its rows of the class and of its other rows.
    """

    rows: np.ndarray
    held: np.ndarray

    def grow(self) -> None:
        """Find all levels, of one region each, without pruning."""
        super().learn()

    def learn(self) -> None:
        """Find all levels, then prune them."""
        self.grow()
        if any(level.regions.scores is not None for level in self.levels):
            return  # nonparametric regions have no inequalities
        flat = self._flat_list()
        kept = flat.pruned(self.settings.complexity_penalty * flat.units.sum())
        if len(kept) < len(self.levels):
            self.rows, self.held = self._all_rows, self._all_held
            used = [step for step in self.history if step.is_used]
            self.history[:] = [step for step in self.history if not step.is_used]
            self.levels.clear()
            self.level[:] = self.region[:] = -1
            pure = flat.take(kept).without_impure(self.settings.purity_limit)
            for i in kept[pure].tolist():
                step, answer = used[i], int(flat.answer[i])
                figures = step.deleted, step.held_out_rows, step.held_out_error
                regions = step.before, step.after
                self._append(answer, step.features, step.max_error, regions, *figures)

    def _append(
        self, answer: int, features: Any, max_error: float, regions: Any, *figures: np.ndarray
    ) -> None:
        """Append a level of one class; the other arguments are those of a `Calibration`."""
        candidate = self._view(features, constant(answer, len(self.rows)))
        which = (regions[1].which(P) for P in (candidate.view.P, candidate.view.held_P))
        found = RegionSearchResult(*regions, *which, *figures)
        self._add(LevelAttempt(candidate, found, max_error))

    def _flat_list(self) -> FlatList:
        levels, rows = self.levels, np.concatenate([self._all_rows, self._all_held])
        inside = np.array([self._inside(level, rows) for level in levels], dtype=bool)
        inside = inside.reshape(len(levels), len(rows))
        answers = np.array([level.classifier.at_most for level in levels], dtype=np.int64)
        n_facets = np.array([level.regions.n_facets[0] for level in levels], dtype=np.int64)
        of_rows = self.problem.y[rows], self.problem.units[rows], self.problem.n_classes
        return FlatList(inside, answers, n_facets, *of_rows, self.settings.has_default)

    def _inside(self, level: Level, rows: np.ndarray) -> np.ndarray:
        """Which of some rows a region contains, whatever earlier regions contain."""
        return level.regions.contains(project(self.problem.X, level.features, rows))

    def answers_by_penalty(
        self, penalties: Sequence[float], rows: np.ndarray
    ) -> Iterator[tuple[np.ndarray, int]]:
        """Answers for other rows, and number of inequalities, with each η in ascending order."""
        flat, levels = self._flat_list(), self.levels
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
        total = self.problem.total(self._all_rows) + self.problem.total(self._all_held)
        facet_units = self.settings.complexity_penalty * total
        limits = {"facet_units": facet_units, "max_regions": 1}
        return {**super()._limits(answers), **limits, "max_required_rows": tuning.MIN_ROWS}

    def _value(self, attempt: LevelAttempt) -> float:
        """The net support, if it is positive."""
        if super()._value(attempt) == -np.inf:
            return -np.inf
        candidate, found, max_error = attempt
        view, inside = candidate.view, found.all_which >= 0
        right = view.all_units[inside & view.all_correct].sum()
        wrong = view.all_units[inside & ~view.all_correct].sum()
        odds = (1 - max_error) / max(max_error, 1e-3)
        net = float(right - odds * wrong - view.facet_units * found.after.n_facets.sum())
        return net if net > 0 else -np.inf


class BoxListLearner(ClassLearner):
    """The same for boxes without held-out rows: see `BoxList`."""

    interrupt: Interrupt
    is_interrupted: bool
    n_tried: int

    def grow(self) -> None:
        """Find all boxes, without pruning."""
        self._boxes: list[RankBox] = []
        self.n_tried = sum(map(len, self.subsets))
        with Interrupt() as self.interrupt:
            if self.n_tried:
                search = ClassBoxSearch(self.problem, self.rows, self.subsets)
                self._list = BoxList(search, self.settings, self._should_stop)
                self._boxes = self._list.grow()
        self.is_interrupted = self.interrupt.requested

    def learn(self) -> None:
        """Find all boxes, then prune them, and optimize them together if asked for."""
        self.grow()
        if self._boxes:
            penalties = self.settings.penalties or (self.settings.complexity_penalty,)
            with Interrupt() as self.interrupt:
                *_, boxes = self._list.path(self._boxes, penalties)
                boxes = self._list.finish(boxes, penalties[-1])
            self.is_interrupted |= self.interrupt.requested
            for box in boxes:
                left = np.searchsorted(self._all_rows, self.rows)
                features, found = self._list.in_values(box, left)
                self._append(box.answer, features, box.max_error, (found, found))

    def answers_by_penalty(
        self, penalties: Sequence[float], rows: np.ndarray
    ) -> Iterator[tuple[np.ndarray, int]]:
        if not self._boxes:
            yield from super().answers_by_penalty(penalties, rows)
            return
        for boxes in self._list.path(self._boxes, penalties):
            yield self._list.predict(boxes, rows), sum(box.figures.n_ends for box in boxes)


def _fraction(units: np.ndarray, chosen: np.ndarray) -> float:
    """Weight fraction of the chosen rows; NaN without rows."""
    total = units.sum()
    return float(units[chosen].sum() / total) if total else float("nan")
