"""ATEOP: of all projections, the largest region that keeps the promised accuracy."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from pellucid.eop.learning import Candidate, Learner
from pellucid.eop.problem import View
from pellucid.eop.regions import Found

_TIGHTEN_BY = 0.6
"""Factor by which the error allowed in training falls when held-out rows refuse all regions."""

_ATTEMPTS = 5


class ATEOPLearner(Learner):
    """Algorithm 2: regions of all projections compete, and what is unreliable is left out."""

    def _next_level(self):
        seed = int(self.random.randint(2**31 - 1))
        allowed = self.settings.max_error
        max_errors = [allowed * _TIGHTEN_BY**attempt for attempt in range(_ATTEMPTS)]
        scan = self._scan(max_errors[:1])
        shortlist = [] if scan is None else self._shortlist(scan, 0)
        for max_error in max_errors if shortlist else ():
            if self.interrupt.requested:
                return None
            results = self._find(shortlist, max_error, seed)
            support = [self._support(c, f) for c, f in zip(shortlist, results)]
            best = int(np.argmax(support))
            if support[best] > 0:
                return shortlist[best], results[best], max_error
            self._remember(shortlist[0], results[0], max_error, is_used=False)
        return None

    def _support(self, candidate: Candidate, found: Found) -> float:
        """Weight of the held-out rows inside, if they are enough and rightly classified."""
        view = candidate.view
        least = self.settings.min_support
        if not view.has_held_out:
            covered = view.units[found.which >= 0].sum()
            return float(covered) if covered >= max(least * self.fitted_total, 1) else 0.0
        inside = found.held_which >= 0
        total = view.held_units[inside].sum()
        if total < max(least * self.held_total, 1) or not self._is_reliable(view, inside):
            return 0.0
        return float(total)

    def _is_reliable(self, view: View, inside: np.ndarray) -> bool:
        """Whether so few errors would be a surprise if the true share were as allowed.

        By the normal approximation: errors + z · √(n ε (1 - ε)) ≤ n ε.
        """
        allowed = self.settings.max_error
        total = view.held_units[inside].sum() / view.one
        wrong = view.held_units[inside & ~view.held_right].sum() / view.one
        doubt = ndtri(self.settings.confidence) * np.sqrt(total * allowed * (1 - allowed))
        return bool(wrong + doubt <= allowed * total * (1 + 1e-12))
