"""ATEOP: the largest regions, over all projections, with a validated error of at most ε."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import betainc

from pellucid.eop.finders import RegionSearchResult
from pellucid.eop.learning import Learner, ProjectionCandidate
from pellucid.eop.problem import ProjectionView, is_error_allowed

_TIGHTEN_BY = 0.6
"""Factor on the training ε after an attempt in which no region passes validation."""

_ATTEMPTS = 5
"""Number of values of the training ε that are tried per level."""


class ATEOPLearner(Learner):
    """Algorithm 2: regions of all projections compete; rows in no reliable region are left out.

    Held-out rows only select regions and never change their boundaries, so the held-out error of
    a region is not biased by fitting.
    """

    def _next_level(self) -> tuple[ProjectionCandidate, RegionSearchResult, float] | None:
        seed = int(self.random.randint(2**31 - 1))
        allowed = self.settings.max_error
        max_errors = [allowed * _TIGHTEN_BY**attempt for attempt in range(_ATTEMPTS)]
        scan = self._scan(max_errors[:1])
        candidates = [] if scan is None else self._best_candidates(scan, 0)
        for max_error in max_errors if candidates else ():
            if self.interrupt.requested:
                return None
            results = self._find(candidates, max_error, seed)
            support = [self._support(c, f) for c, f in zip(candidates, results)]
            best = int(np.argmax(support))
            if support[best] > 0:
                return candidates[best], results[best], max_error
            self._record(candidates[0], results[0], max_error, is_used=False)
        return None

    def _regions(
        self, candidate: ProjectionCandidate, max_error: float, seed: int
    ) -> RegionSearchResult:
        """The longest prefix of a projection's regions whose union passes `_is_reliable`."""
        view = candidate.view
        found = self._finder(candidate).find(view.without_held_out(), max_error, max_error, seed)
        if not view.has_held_out:
            return found
        held_which = found.before.which(view.held_P)
        n = len(found.before)
        kept = n
        while kept and not self._is_reliable(view, (held_which >= 0) & (held_which < kept)):
            kept -= 1
        size = np.array([np.count_nonzero(held_which == i) for i in range(n)], dtype=np.int64)
        wrong = np.array(
            [np.count_nonzero((held_which == i) & ~view.held_correct) for i in range(n)]
        )
        return replace(
            found,
            after=found.before.first(kept),
            which=np.where(found.which < kept, found.which, -1),
            held_which=np.where(held_which < kept, held_which, -1),
            deleted=np.arange(kept, n),
            held_out_rows=size,
            held_out_error=np.where(size > 0, wrong / np.maximum(size, 1), np.nan),
        )

    def _support(self, candidate: ProjectionCandidate, found: RegionSearchResult) -> float:
        """Weight of the held-out rows inside the regions; 0 if it is below α."""
        view, min_support = candidate.view, self.settings.min_support
        if view.has_held_out:
            total = view.held_units[found.held_which >= 0].sum()
            return float(total) if total >= max(min_support * self.held_total, 1) else 0.0
        total = view.units[found.which >= 0].sum()
        return float(total) if total >= max(min_support * self.fitted_total, 1) else 0.0

    def _is_reliable(self, view: ProjectionView, inside: np.ndarray) -> bool:
        """Whether the upper Clopper-Pearson bound of the error inside is at most ε.

        With k errors in n held-out rows, this holds if k / n ≤ ε and
        P(Binomial(n, ε) ≤ k) ≤ 1 - confidence.
        """
        allowed = self.settings.max_error
        total = view.held_units[inside].sum() / view.units_per_weight
        wrong = view.held_units[inside & ~view.held_correct].sum() / view.units_per_weight
        if not total or not is_error_allowed(wrong, total, allowed):
            return False
        chance = betainc(total - wrong, wrong + 1, 1 - allowed) if total > wrong else 1.0
        return bool(chance <= 1 - self.settings.confidence)
