"""EOPClassifier: a decision list of regions in projections onto a few columns."""

from __future__ import annotations

from typing import Any

from pellucid.eop._base import BaseEOP
from pellucid.eop.learning import EOPLearner, Settings


class EOPClassifier(BaseEOP):
    """Explanation-oriented partitioning."""

    _parameter_constraints: dict = {**BaseEOP._parameter_constraints, "relax": ["boolean"]}

    _learner = EOPLearner

    def __init__(
        self,
        base: Any = "stump",
        *,
        regions: str = "box",
        max_error: float = 0.1,
        complexity_penalty: float = 0.01,
        max_dim: int = 2,
        projections: str | int = "all",
        choose: str = "coverage",
        n_candidates: int = 1,
        leftover: str = "majority",
        relax: bool = True,
        min_support: float = 0.03,
        max_levels: int | None = None,
        calibration: float = 0.3,
        n_bootstraps: int = 0,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.base = base
        self.regions = regions
        self.max_error = max_error
        self.complexity_penalty = complexity_penalty
        self.max_dim = max_dim
        self.projections = projections
        self.choose = choose
        self.n_candidates = n_candidates
        self.leftover = leftover
        self.relax = relax
        self.min_support = min_support
        self.max_levels = max_levels
        self.calibration = calibration
        self.n_bootstraps = n_bootstraps
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _settings(self) -> Settings:
        return Settings(
            max_error=self.max_error,
            complexity_penalty=self.complexity_penalty,
            n_candidates=self.n_candidates,
            min_support=self.min_support,
            max_levels=self.max_levels,
            relax=self.relax,
            choose=self.choose,
        )
