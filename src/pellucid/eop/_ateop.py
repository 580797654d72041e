"""ATEOPClassifier: answers only where they are as accurate as was asked for."""

from __future__ import annotations

from numbers import Real
from typing import Any

from sklearn.utils._param_validation import Interval

from pellucid.eop._base import BaseEOP
from pellucid.eop.learning import Settings
from pellucid.eop.targeting import ATEOPLearner


class ATEOPClassifier(BaseEOP):
    """Accuracy-targeting EOP."""

    _parameter_constraints: dict = {
        **BaseEOP._parameter_constraints,
        "confidence": [Interval(Real, 0.5, 1, closed="left")],
    }

    _learner = ATEOPLearner

    def __init__(
        self,
        base: Any = "stump",
        *,
        regions: str = "box",
        max_error: float = 0.1,
        min_support: float = 0.03,
        confidence: float = 0.8,
        max_dim: int = 2,
        projections: str | int = "all",
        n_candidates: int | None = 20,
        leftover: str = "abstain",
        max_levels: int | None = None,
        calibration: float = 0.5,
        n_bootstraps: int = 0,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.base = base
        self.regions = regions
        self.max_error = max_error
        self.min_support = min_support
        self.confidence = confidence
        self.max_dim = max_dim
        self.projections = projections
        self.n_candidates = n_candidates
        self.leftover = leftover
        self.max_levels = max_levels
        self.calibration = calibration
        self.n_bootstraps = n_bootstraps
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _settings(self) -> Settings:
        return Settings(
            max_error=self.max_error,
            complexity_penalty=0.0,
            n_candidates=self.n_candidates,
            min_support=self.min_support,
            max_levels=self.max_levels,
            relax=False,
            choose="coverage",
            confidence=self.confidence,
        )
