"""Learn the levels in turn: select a projection, find regions, remove the covered rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from pellucid._utils.progress import Interrupt, Progress
from pellucid.eop import tuning
from pellucid.eop.base_classifiers import BaseClassifier, FittedClassifier
from pellucid.eop.box_lists import ClassBoxSearch, ProjectionRanks, class_stakes
from pellucid.eop.finders import Calibration, Finder, RegionSearchResult
from pellucid.eop.problem import ProjectionView, RegionProblem
from pellucid.eop.projections import scan_projections
from pellucid.regions.levels import Level, project


@dataclass(frozen=True)
class Settings:
    """Parameters of the level search; see `EOPClassifier` and `ATEOPClassifier`.

    If `optimizes`, boxes are optimized together at the end, with each η of `penalties` in turn.
    """

    max_error: float
    complexity_penalty: float
    n_candidates: int | None
    min_support: float
    max_levels: int | None
    relax: float
    choose: str
    confidence: float = 0.0
    is_strict: bool = False
    has_default: bool = True
    optimizes: bool = False
    penalties: tuple[float, ...] = ()

    @property
    def purity_limit(self) -> float:
        """Largest error of a class in a region: ε if strict, else one half."""
        return self.max_error if self.is_strict else max(self.max_error, 0.5)


def _no_rows() -> np.ndarray:
    return np.empty(0, dtype=np.int64)


@dataclass
class LearningResult:
    """Levels and the assignment of training rows to them."""

    levels: list[Level] = field(default_factory=list)
    history: list[Calibration] = field(default_factory=list)
    uncovered: np.ndarray = field(default_factory=_no_rows)
    """Indices of the rows in no region."""
    level: np.ndarray = field(default_factory=_no_rows)
    region: np.ndarray = field(default_factory=_no_rows)
    """Level and region that contain each row; -1 for uncovered rows."""
    uncovered_answer: np.ndarray = field(default_factory=_no_rows)
    """Predicted class of the level with the highest leave-one-out score of the row; -1 without
    nonparametric regions."""
    n_tried: int = 0
    n_skipped: int = 0
    """Projections, over all levels, on which the base classifier could not be fitted."""
    is_interrupted: bool = False
    is_exhausted: bool = False
    """Whether all training rows were covered or `max_levels` was reached."""


class ProjectionCandidate(NamedTuple):
    """A projection with its classifier and the predictions for the remaining rows."""

    features: tuple[int, ...]
    fitted: FittedClassifier
    held_answers: np.ndarray
    view: ProjectionView

    @property
    def answers(self) -> np.ndarray:
        """Predictions for the training rows, then for the held-out rows."""
        return np.concatenate([self.fitted.answers, self.held_answers])


class Learner:
    """Base class of the level search, on training rows (`fitted`) and held-out rows.

    `finders` search for regions in general, and in projections with a column of zeros and ones.
    `subsets` are the projections, one array per size.
    """

    problem: RegionProblem
    base: BaseClassifier
    finders: tuple[Finder, Finder]
    subsets: list[np.ndarray]
    settings: Settings
    progress: Progress
    random: np.random.RandomState
    total: int
    fitted_total: int
    held_total: int
    learned: LearningResult
    interrupt: Interrupt
    rows: np.ndarray
    held: np.ndarray
    _search: ClassBoxSearch | None = None

    def __init__(
        self,
        problem: RegionProblem,
        base: BaseClassifier,
        finders: tuple[Finder, Finder],
        subsets: list[np.ndarray],
        fitted: np.ndarray,
        held: np.ndarray,
        settings: Settings,
        progress: Progress,
        random: np.random.RandomState,
    ) -> None:
        self.problem, self.base, self.finders = problem, base, finders
        self.subsets, self.settings = subsets, settings
        self.rows, self.held = fitted, held
        self._all_rows, self._all_held = fitted, held
        self.progress, self.random = progress, random
        self.total, self.fitted_total = problem.units.sum(), problem.total(fitted)
        self.held_total = problem.total(held)
        unassigned = np.full(len(problem.y), -1, dtype=np.int64)
        self.learned = LearningResult(
            level=unassigned, region=unassigned.copy(), uncovered_answer=unassigned.copy()
        )

    def learn(self) -> LearningResult:
        """Find all levels. Ctrl-C stops the search and keeps the levels found so far."""
        learned = self.learned
        with Interrupt() as self.interrupt:
            while not self._is_finished():
                found = self._next_level()
                if found is None:
                    break
                self._add(*found)
        learned.is_interrupted = self.interrupt.requested
        learned.is_exhausted = not len(self.rows) or self._has_max_levels()
        learned.uncovered = np.sort(np.concatenate([self.rows, self.held]))
        return learned

    def _has_max_levels(self) -> bool:
        limit = self.settings.max_levels
        return limit is not None and len(self.learned.levels) >= limit

    def _is_finished(self) -> bool:
        has_no_input = not len(self.rows) or not any(map(len, self.subsets))
        return has_no_input or self._has_max_levels() or self.interrupt.requested

    @property
    def all_rows(self) -> np.ndarray:
        """Training and held-out rows, those that levels cover too."""
        return np.sort(np.concatenate([self._all_rows, self._all_held]))

    def _next_level(self) -> tuple[ProjectionCandidate, RegionSearchResult, float] | None:
        """Candidate, regions and ε of the next level, or None if none is found."""
        seed = int(self.random.randint(2**31 - 1))
        for max_error, candidates in self._attempts():
            if self.interrupt.requested:
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

    def _candidate(self, choice: tuple[Any, ...]) -> ProjectionCandidate | None:
        """Fit the base classifier on one projection; None if it cannot be fitted."""
        fitted = self.base.fit(self.rows, *choice)
        return None if fitted is None else self._view(choice[0], fitted)

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
        return ProjectionCandidate(features, fitted, held_answers, view)

    def _limits(self, answers: np.ndarray) -> dict[str, Any]:
        """Limits of the regions: α of the rows of the rarest predicted class, and others.

        From 1 on, α is a number of rows.
        """
        weights = self.problem.class_units(self.rows)[np.unique(answers)]
        rarest = float(weights[weights > 0].min(initial=int(self.fitted_total)))
        per_weight, support = self.problem.weights.units_per_weight, self.settings.min_support
        rows = rarest / per_weight
        return {
            "min_units": support * (rarest if support < 1 else per_weight),
            "max_required_rows": max(rows / 3, tuning.MIN_ROWS),
        }

    def _scan(self, max_errors: list[float]) -> Any:
        """Scan all projections of the remaining rows and count failed fits; None if stopped."""
        scan = scan_projections(self.base, self.rows, self.subsets, max_errors, self._should_stop)
        if scan is not None:
            self.learned.n_tried += sum(map(len, self.subsets))
            self.learned.n_skipped += scan.n_failed
        return scan

    def _should_stop(self) -> bool:
        return self.interrupt.requested

    def _best_candidates(self, scan: Any, max_error_index: int = 0) -> list[ProjectionCandidate]:
        """The `n_candidates` top-ranked projections with fitted classifiers."""
        if scan is None:
            return []
        settings = self.settings
        ranked = scan.ranked(settings.complexity_penalty, settings.choose, max_error_index)
        chosen = list(islice(ranked, settings.n_candidates))
        candidates = self.problem.pool.map(self._candidate, chosen)
        return [candidate for candidate in candidates if candidate is not None]

    def _class_candidates(self, max_error: float) -> list[ProjectionCandidate]:
        """The `n_candidates` projections and classes with the best boxes, for constant classes."""
        if self._search is None:
            self._search = ClassBoxSearch(
                ProjectionRanks(self.problem, self._all_rows, self.subsets)
            )
        data, penalty = self._search.data, self.settings.complexity_penalty
        stakes = class_stakes(
            data, np.searchsorted(self._all_rows, self.rows), max_error, penalty * data.total
        )
        everything = [np.arange(len(subset)) for subset in self.subsets]
        n_tried = sum(map(len, everything))
        n_wanted = self.settings.n_candidates or n_tried * data.n_classes
        found, _ = self._search.best(stakes, n_wanted, everything)
        self.learned.n_tried += n_tried
        choices = [(tuple(data.features[b.columns].tolist()), b.answer) for b in found]
        candidates = self.problem.pool.map(self._candidate, choices)
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
        calibrated = ("before", "after", "deleted", "held_out_rows", "held_out_error")
        self.learned.history.append(
            Calibration(
                features=candidate.features,
                level=len(self.learned.levels),
                max_error=max_error,
                is_used=is_used,
                **{name: getattr(found, name) for name in calibrated},
            )
        )

    def _add(
        self, candidate: ProjectionCandidate, found: RegionSearchResult, max_error: float
    ) -> None:
        """Append a level and remove the rows that it covers."""
        self._record(candidate, found, max_error, is_used=True)
        problem, view = self.problem, candidate.view
        inside, held_inside = found.which >= 0, found.held_which >= 0
        reached = np.concatenate([self.rows, self.held])
        is_covered = found.all_which >= 0
        covered, region = reached[is_covered], found.all_which[is_covered]
        counts = np.zeros((len(found.after), problem.n_classes, problem.n_classes))
        groups = region, candidate.answers[is_covered], problem.y[covered]
        np.add.at(counts, groups, problem.weight(covered))
        self.learned.level[covered] = len(self.learned.levels)
        self.learned.region[covered] = region
        self.learned.levels.append(
            Level(
                features=candidate.features,
                classifier=candidate.fitted.classifier,
                regions=found.after,
                max_error=max_error,
                error=_fraction(view.units[inside], ~view.correct[inside]),
                held_out_error=_fraction(
                    view.held_units[held_inside], ~view.held_correct[held_inside]
                ),
                coverage=problem.total(covered) / self.total,
                n_samples=len(covered),
                reached=np.sort(reached),
                covered=np.sort(covered),
                counts=counts,
            )
        )
        self.rows, self.held = self.rows[~inside], self.held[~held_inside]
        level = self.learned.levels[-1]
        self.progress.report(
            f"level {len(self.learned.levels)}: columns {', '.join(map(str, level.features))}; "
            f"{100 * level.coverage:.1f}% of the rows, "
            f"{len(self.rows) + len(self.held)} rows remaining"
        )


def _fraction(units: np.ndarray, chosen: np.ndarray) -> float:
    """Weight fraction of the chosen rows; NaN without rows."""
    total = units.sum()
    return float(units[chosen].sum() / total) if total else float("nan")
