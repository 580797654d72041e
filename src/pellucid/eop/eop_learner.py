"""EOP: a projection by its score, the regions in it, and more errors if there are none."""

from __future__ import annotations

import numpy as np

from pellucid.eop.learning import Learner, ProjectionCandidate
from pellucid.eop.shapes.nonparametric import NeighborRegion
from pellucid.eop.shapes.regions import RegionSearchResult

RELAX_BY = 1.5
"""Factor by which the allowed error grows when nothing is found."""


class EOPLearner(Learner):
    """Algorithm 1: a projection by its score, then the regions in it; more errors if need be."""

    _best_score: np.ndarray | None = None

    def _next_level(self):
        seed = int(self.random.randint(2**31 - 1))
        max_errors = self._max_errors()
        scan = self._scan(max_errors)
        for which, max_error in enumerate(max_errors):
            if scan is None or self.interrupt.requested:
                return None
            candidates = self._best_candidates(scan, which)
            if not candidates:
                return None
            found = self._best(candidates, max_error, seed)
            if found is not None:
                return *found, max_error
        return None

    def _max_errors(self) -> list[float]:
        """Errors to allow, one after the other, up to those of the most frequent class."""
        settings, levels = self.settings, self.learned.levels
        max_error = max(settings.max_error, levels[-1].max_error if levels else 0.0)
        largest = self.problem.class_units(self.rows).max()
        give_up = 1 - largest / self.problem.total(self.rows)
        found = [max_error]
        while found[-1] < give_up:
            more = min(found[-1] * RELAX_BY, 1.0) if found[-1] > 0 else 0.01
            if more > settings.relax:
                break
            found.append(more)
        return found

    def _add(
        self, candidate: ProjectionCandidate, found: RegionSearchResult, max_error: float
    ) -> None:
        if isinstance(found.after, NeighborRegion):
            self._listen(candidate, found.after)
        super()._add(candidate, found, max_error)

    def _listen(self, candidate: ProjectionCandidate, region: NeighborRegion) -> None:
        """Remember what the neighbours of each row speak for, if more than those before."""
        rows = np.concatenate([self.rows, self.held])
        if self._best_score is None:
            self._best_score = np.full(len(self.problem.y), -1.0)
        better = region.scores > self._best_score[rows]
        answers = np.concatenate([candidate.fitted.answers, candidate.held_answers])
        self._best_score[rows[better]] = region.scores[better]
        self.learned.guess[rows[better]] = answers[better]

    def _best(self, candidates: list[ProjectionCandidate], max_error: float, seed: int):
        """The candidate whose regions cover most, columns charged; None if none has any."""
        results = self._find(candidates, max_error, seed)
        gains = np.array([self._gain(c, f) for c, f in zip(candidates, results)])
        sizes = np.array([len(c.features) for c in candidates])
        worth = np.where(gains < 0, -np.inf, gains - self.settings.complexity_penalty * sizes)
        best = int(np.argmax(worth))
        if gains[best] < 0:
            self._record(candidates[0], results[0], max_error, is_used=False)
            return None
        return candidates[best], results[best]
