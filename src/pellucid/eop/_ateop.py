"""ATEOPClassifier: answers only where they are as accurate as was asked for."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from pellucid._utils.sklearn_compat import Interval
from pellucid.eop._base import BaseEOP
from pellucid.eop._docs import common_parameters
from pellucid.eop.ateop_learner import ATEOPLearner
from pellucid.eop.learning import Settings


@common_parameters
class ATEOPClassifier(BaseEOP):
    """A decision list of regions that answers only where it is as accurate as was asked for.

    At each level the regions of many projections compete: the largest wins whose error on
    held-out rows is at most `max_error`. When there is none, fewer errors are allowed in
    training, to find regions that are purer; when there still is none, the search ends, and what
    is left gets no answer. See :class:`EOPClassifier` for what levels and regions are.

    Parameters
    ----------
    {first}
    max_error : float, default=0.1
        Share of errors allowed inside the regions (ε).
    min_support : float, default=0.03
        Share of the held-out rows that a level must cover (α).
    confidence : float, default=0.9
        How sure the held-out rows must make us that the error of a level is no larger than
        allowed: so sure is the exact (Clopper-Pearson) bound of a binomial share. It takes rows:
        at 0.9, with ``max_error=0.05``, a region without a single error needs 45 of them. At 0
        it is enough that they have no more errors themselves, but as the largest of many regions
        is taken, those are often too lucky. The bound is that of one region, and takes no
        account of this choice.
    {common}
    n_candidates : int or None, default=20
        Projections that compete: those whose classifiers have fewest errors, and those that have
        most rows in cells of a coarse grid in which errors are few. None for all.
    leftover : {"abstain", "majority"}, default="abstain"
        What rows in no region get: no answer, or the most frequent class of such rows.
    max_levels : int, default=None
        Levels at the most.
    calibration : float, default=0.5
        Share of each class that is held out to judge regions. 0 believes what training says.
    {last}

    Attributes
    ----------
    {attributes}

    References
    ----------
    Explanation-Oriented Partitioning, section 3.3.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from pellucid import ATEOPClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, X_test, y, y_test = train_test_split(X, y, random_state=0)
    >>> model = ATEOPClassifier(max_error=0.05, random_state=0).fit(X, y)
    >>> answered = ~model.abstained(X_test)
    >>> print(f"{answered.mean():.2f} of the rows are answered")
    0.78 of the rows are answered
    >>> print(f"{model.score(X_test[answered], y_test[answered]):.3f} of those rightly")
    0.982 of those rightly
    """

    _parameter_constraints: dict = {
        **BaseEOP._parameter_constraints,
        "confidence": [Interval(Real, 0, 1, closed="left")],
    }

    _learner = ATEOPLearner

    def __init__(
        self,
        base: Any = "stump",
        *,
        regions: str = "box",
        max_error: float = 0.1,
        min_support: float = 0.03,
        confidence: float = 0.9,
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

    def _limits(self) -> str:
        """See `BaseEOP._limits`; says when there are too few rows to be sure of anything."""
        text = (
            f"max_error={self.max_error}, min_support={self.min_support} and "
            f"confidence={self.confidence} allow none"
        )
        if not self.calibration or not self.confidence:
            return text
        if not self.max_error:
            return f"{text}; no number of rows proves that there are no errors: set confidence=0"
        needed = int(np.ceil(np.log(1 - self.confidence) / np.log1p(-self.max_error)))
        n_held = len(self.calibration_rows_)
        if needed <= n_held:
            return text
        return f"{text}; they ask for {needed} held-out rows in a region, and there are {n_held}"

    def _settings(self) -> Settings:
        return Settings(
            max_error=self.max_error,
            complexity_penalty=0.0,
            n_candidates=self.n_candidates,
            min_support=self.min_support,
            max_levels=self.max_levels,
            relax=0.0,
            choose="both",
            confidence=self.confidence,
        )
