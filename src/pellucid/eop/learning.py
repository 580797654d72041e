"""Learn the levels in turn: select a projection, find regions, remove the covered rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from pellucid._utils.progress import Interrupt, Progress
from pellucid.eop import tuning
from pellucid.eop.base_classifiers import BaseClassifier, FittedClassifier
from pellucid.eop.box_lists import relaxed_errors
from pellucid.eop.box_search import ClassBoxSearch, ProjectionRanks, class_stakes
from pellucid.eop.finders import Calibration, Finder, RegionSearchResult
from pellucid.eop.problem import ProjectionView, RegionProblem, Settings, is_error_allowed
from pellucid.eop.projections import Scan, scan_projections
from pellucid.regions.levels import Level, project


@dataclass
class LearningResult:
    """Levels and the assignment of training rows to them."""

    level: np.ndarray
    region: np.ndarray
    """Level and region that contain each row; -1 for uncovered rows."""
    uncovered_answer: np.ndarray
    """Predicted class of the level with the highest leave-one-out score of the row; -1 without
    nonparametric regions."""
    uncovered: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """Indices of the rows in no region."""
    levels: list[Level] = field(default_factory=list)
    history: list[Calibration] = field(default_factory=list)
    n_tried: int = 0
    n_skipped: int = 0
    """Projections, over all levels, on which the base classifier could not be fitted."""
    is_interrupted: bool = False
    is_exhausted: bool = False
    """Whether all training rows were covered or `max_levels` was reached."""


class ProjectionCandidate(NamedTuple):
    """A projection with its classifier, and its predictions for training and held-out rows."""

    features: tuple[int, ...]
    classifier: Any
    answers: np.ndarray
    view: ProjectionView


@dataclass
class Learner:
    """Base class of the level search, on training rows (`rows`) and held-out rows (`held`).

    `finders` search for regions in general, and in projections with a column of zeros and ones.
    `subsets` are the projections, one array per size.
    """

    problem: RegionProblem
    base: BaseClassifier
    finders: tuple[Finder, Finder]
    subsets: list[np.ndarray]
    rows: np.ndarray
    held: np.ndarray
    settings: Settings
    progress: Progress
    random: np.random.RandomState

    def __post_init__(self) -> None:
        self._all_rows, self._all_held = self.rows, self.held
        n = len(self.problem.y)
        none = np.full(n, -1)
        self.learned: LearningResult = LearningResult(none, none.copy(), none.copy())
        self.interrupt: Interrupt = Interrupt()
        self._search: ClassBoxSearch | None = None
        self._best_score = np.full(len(self.problem.y), -1.0)

    def learn(self) -> LearningResult:
        """Find all levels. Ctrl-C stops the search and keeps the levels found so far."""
        with Interrupt() as self.interrupt:
            while not self._is_finished():
                found = self._next_level()
                if found is None:
                    break
                self._add(*found)
        return self._finish()

    def _finish(self) -> LearningResult:
        learned = self.learned
        learned.is_interrupted |= self.interrupt.requested
        learned.is_exhausted = not len(self.rows) or self._has_max_levels()
        learned.uncovered = np.sort(self._remaining)
        return learned

    def _has_max_levels(self) -> bool:
        limit = self.settings.max_levels
        return limit is not None and len(self.learned.levels) >= limit

    def _is_finished(self) -> bool:
        has_no_input = not len(self.rows) or not any(map(len, self.subsets))
        return has_no_input or self._has_max_levels() or self._should_stop()

    def _should_stop(self) -> bool:
        return self.interrupt.requested

    @property
    def _remaining(self) -> np.ndarray:
        """Training rows, then held-out rows, that no level covers."""
        return np.concatenate([self.rows, self.held])

    @property
    def all_rows(self) -> np.ndarray:
        """Training and held-out rows, those that levels cover too."""
        return np.sort(np.concatenate([self._all_rows, self._all_held]))

    def _next_level(self) -> tuple[ProjectionCandidate, RegionSearchResult, float] | None:
        """Candidate, regions and ε of the next level, or None if none is found."""
        seed = int(self.random.randint(2**31 - 1))
        for max_error, candidates in self._attempts():
            if self._should_stop():
                return None
            found = self._best(candidates, max_error, seed) if candidates else None
            if found is not None:
                return *found, max_error
        return None

    def _attempts(self) -> Iterator[tuple[float, list[ProjectionCandidate]]]:
        """Values of ε to try in turn, and the projections in which regions are searched."""
        raise NotImplementedError

    def _best(
        self, candidates: list[ProjectionCandidate], max_error: float, seed: int
    ) -> tuple[ProjectionCandidate, RegionSearchResult] | None:
        """The candidate with the largest `_value`, with its regions; None if all are -inf."""
        results = self.problem.pool.map(
            lambda candidate: self._regions(candidate, max_error, seed), candidates
        )
        values = [self._value(c, f, max_error) for c, f in zip(candidates, results)]
        best = int(np.argmax(values))
        if values[best] > -np.inf:
            return candidates[best], results[best]
        self._record(candidates[0], results[0], max_error, is_used=False)
        return None

    def _value(
        self, candidate: ProjectionCandidate, found: RegionSearchResult, max_error: float
    ) -> float:
        """How good the regions of a candidate are; -inf if they may not become a level."""
        raise NotImplementedError

    def _view(self, features: tuple[int, ...], fitted: FittedClassifier) -> ProjectionCandidate:
        """Project the remaining rows, with the predictions of a classifier."""
        problem, rows, held = self.problem, self.rows, self.held
        held_P = project(problem.X, features, held)
        held_answers = fitted.classifier.predict(held_P) if len(held) else np.empty(0, np.int64)
        view = ProjectionView(
            P=project(problem.X, features, rows),
            correct=fitted.answers == problem.y[rows],
            units=problem.units[rows],
            held_P=held_P,
            held_correct=held_answers == problem.y[held],
            held_units=problem.units[held],
            scale=problem.scales[1][list(features)],
            units_per_weight=problem.weights.units_per_weight,
            **self._limits(fitted.answers),
        )
        answers = np.concatenate([fitted.answers, held_answers])
        return ProjectionCandidate(features, fitted.classifier, answers, view)

    def _limits(self, answers: np.ndarray) -> dict[str, Any]:
        """Limits of the regions: α of the rows of the rarest predicted class, and others.

        From 1 on, α is a number of rows.
        """
        weights = self.problem.class_units(self.rows)[np.unique(answers)]
        most = self.problem.total(self._all_rows)
        rarest = float(weights[weights > 0].min(initial=most))
        per_weight, support = self.problem.weights.units_per_weight, self.settings.min_support
        return {
            "min_units": support * (rarest if support < 1 else per_weight),
            "max_required_rows": max(rarest / per_weight / 3, tuning.MIN_ROWS),
        }

    def _scan(self, max_errors: list[float]) -> Scan | None:
        """Scan all projections of the remaining rows and count failed fits; None if stopped."""
        scan = scan_projections(self.base, self.rows, self.subsets, max_errors, self._should_stop)
        if scan is not None:
            self.learned.n_tried += sum(map(len, self.subsets))
            self.learned.n_skipped += scan.n_failed
        return scan

    def _best_candidates(
        self, scan: Scan | None, max_error_index: int = 0
    ) -> list[ProjectionCandidate]:
        """The `n_candidates` top-ranked projections with fitted classifiers."""
        settings = self.settings
        if scan is None:
            return []
        ranked = scan.ranked(settings.complexity_penalty, settings.choose, max_error_index)
        return self._candidates(islice(ranked, settings.n_candidates))

    def _class_candidates(self, max_error: float) -> list[ProjectionCandidate]:
        """The `n_candidates` projections and classes with the best boxes, for constant classes."""
        if self._search is None:
            ranks = ProjectionRanks(self.problem, self._all_rows, self.subsets)
            self._search = ClassBoxSearch(ranks)
        data, penalty = self._search.data, self.settings.complexity_penalty
        left = np.searchsorted(self._all_rows, self.rows)
        stakes = class_stakes(data, left, max_error, penalty * data.total)
        everything = [np.arange(len(subset)) for subset in self.subsets]
        n_tried = sum(map(len, everything))
        n_wanted = self.settings.n_candidates or n_tried * data.n_classes
        found, _ = self._search.best(stakes, n_wanted, everything)
        self.learned.n_tried += n_tried
        return self._candidates((data.columns_of(box), box.answer) for box in found)

    def _candidates(self, choices: Any) -> list[ProjectionCandidate]:
        """Fit the base classifier on projections, and leave out those where this fails."""

        def fit(choice: tuple[Any, ...]) -> ProjectionCandidate | None:
            fitted = self.base.fit(self.rows, *choice)
            return None if fitted is None else self._view(choice[0], fitted)

        candidates = self.problem.pool.map(fit, list(choices))
        return [candidate for candidate in candidates if candidate is not None]

    def _regions(
        self, candidate: ProjectionCandidate, max_error: float, seed: int
    ) -> RegionSearchResult:
        """Regions of one candidate."""
        return self._finder(candidate).find(candidate.view, max_error, max_error, seed)

    def _finder(self, candidate: ProjectionCandidate) -> Finder:
        has_binary = bool(self.problem.binary_features.intersection(candidate.features))
        return self.finders[has_binary]

    def _record(
        self,
        candidate: ProjectionCandidate,
        found: RegionSearchResult,
        max_error: float,
        is_used: bool,
    ) -> None:
        calibrated = found.before, found.after, found.deleted
        held_out = found.held_out_rows, found.held_out_error
        level = len(self.learned.levels)
        self.learned.history.append(
            Calibration(candidate.features, level, max_error, *calibrated, *held_out, is_used)
        )

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

    def _add(
        self, candidate: ProjectionCandidate, found: RegionSearchResult, max_error: float
    ) -> None:
        """Append a level and remove the rows that it covers."""
        self._record(candidate, found, max_error, is_used=True)
        problem, view, learned = self.problem, candidate.view, self.learned
        inside, held_inside = found.which >= 0, found.held_which >= 0
        reached, which = self._remaining, found.all_which
        covered = reached[which >= 0]
        counts = self._counts(candidate, len(found.after), which)
        learned.level[covered] = len(learned.levels)
        learned.region[covered] = which[which >= 0]
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
        learned.levels.append(level)
        self.rows, self.held = self.rows[~inside], self.held[~held_inside]
        self.progress.report(
            f"level {len(learned.levels)}: columns {', '.join(map(str, level.features))}; "
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
        levels = self.learned.levels
        max_error = max(self.settings.max_error, levels[-1].max_error if levels else 0.0)
        largest = self.problem.class_units(self.rows).max()
        majority_error = 1 - largest / self.problem.total(self.rows)
        return list(relaxed_errors(max_error, majority_error, self.settings.relax))

    def _regions(
        self, candidate: ProjectionCandidate, max_error: float, seed: int
    ) -> RegionSearchResult:
        """Regions without those in which a class has an error above the limit of `purity_limit`.

        All training rows count, also those that are held out. A region may get rows of a dropped
        one, so this is repeated.
        """
        found = super()._regions(candidate, max_error, seed)
        kept, regions, which = np.arange(len(found.after)), found.after, found.all_which
        while len(kept):
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

    def _add(
        self, candidate: ProjectionCandidate, found: RegionSearchResult, max_error: float
    ) -> None:
        scores, reached = found.after.scores, self._remaining
        if scores is not None:
            # Rows in no region get the prediction of the level with their highest score.
            better = scores > self._best_score[reached]
            self._best_score[reached[better]] = scores[better]
            self.learned.uncovered_answer[reached[better]] = candidate.answers[better]
        super()._add(candidate, found, max_error)

    def _value(
        self, candidate: ProjectionCandidate, found: RegionSearchResult, max_error: float
    ) -> float:
        """The coverage, minus η for each column; -inf if the support is below α."""
        view, penalty = candidate.view, self.settings.complexity_penalty
        covered = view.units[found.which >= 0].sum()
        coverage = covered / self.problem.total(self._all_rows)
        if view.has_held_out:
            held = view.held_units[found.held_which >= 0].sum()
            coverage = held / self.problem.total(self.held)
        is_supported = covered >= max(view.min_units, 1) and coverage > 0
        return coverage - penalty * len(candidate.features) if is_supported else -np.inf


def _fraction(units: np.ndarray, chosen: np.ndarray) -> float:
    """Weight fraction of the chosen rows; NaN without rows."""
    total = units.sum()
    return float(units[chosen].sum() / total) if total else float("nan")
