"""EOP: select a projection by its score, find its regions, relax ε if there are none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pellucid.eop.finders import RegionSearchResult
from pellucid.eop.learning import Learner, ProjectionCandidate
from pellucid.eop.problem import is_error_allowed

RELAX_BY = 1.5
"""Factor on ε when no region is found."""


MAX_RELAXED = 0.5
"""Largest ε to which it is relaxed: at least half of the rows of a region are of its class."""


class EOPLearner(Learner):
    """Algorithm 1: select a projection by its score, find its regions, relax ε if necessary."""

    _best_score: np.ndarray | None = None

    def _next_level(self) -> tuple[ProjectionCandidate, RegionSearchResult, float] | None:
        seed = int(self.random.randint(2**31 - 1))
        max_errors = self._max_errors()
        scan = self._scan(max_errors)
        for index, max_error in enumerate(max_errors):
            if scan is None or self.interrupt.requested:
                return None
            candidates = self._best_candidates(scan, index)
            if not candidates:
                return None
            found = self._best(candidates, max_error, seed)
            if found is not None:
                return *found, max_error
        return None

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
        view, y = candidate.view, self.problem.y
        answers = np.concatenate([candidate.fitted.answers, candidate.held_answers])
        units = np.concatenate([view.units, view.held_units])
        is_wrong = answers != np.concatenate([y[self.rows], y[self.held]])
        kept, regions = np.arange(len(found.after)), found.after
        which = np.concatenate([found.which, found.held_which])
        while len(kept):
            group = which * self.problem.n_classes + answers
            n_groups = len(kept) * self.problem.n_classes
            inside = which >= 0
            total = np.bincount(group[inside], units[inside], n_groups)
            wrong = np.bincount(group[inside], (units * is_wrong)[inside], n_groups)
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
        if found.after.scores is not None:
            self._update_uncovered_answers(candidate, found.after.scores)
        super()._add(candidate, found, max_error)

    def _update_uncovered_answers(self, candidate: ProjectionCandidate, scores: np.ndarray) -> None:
        """Store the candidate's prediction for rows whose score is higher than at any level."""
        rows = np.concatenate([self.rows, self.held])
        if self._best_score is None:
            self._best_score = np.full(len(self.problem.y), -1.0)
        better = scores > self._best_score[rows]
        answers = np.concatenate([candidate.fitted.answers, candidate.held_answers])
        self._best_score[rows[better]] = scores[better]
        self.learned.uncovered_answer[rows[better]] = answers[better]

    def _best(
        self, candidates: list[ProjectionCandidate], max_error: float, seed: int
    ) -> tuple[ProjectionCandidate, RegionSearchResult] | None:
        """The candidate with the largest coverage - η · (number of columns), or None."""
        results = self._find(candidates, max_error, seed)
        coverage = np.array([self._coverage(c, f) for c, f in zip(candidates, results)])
        sizes = np.array([len(c.features) for c in candidates])
        penalty = self.settings.complexity_penalty * sizes
        best = int(np.argmax(np.where(coverage < 0, -np.inf, coverage - penalty)))
        if coverage[best] < 0:
            self._record(candidates[0], results[0], max_error, is_used=False)
            return None
        return candidates[best], results[best]
