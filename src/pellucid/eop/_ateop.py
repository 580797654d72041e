"""ATEOPClassifier: predict only where the required accuracy is reached."""

from __future__ import annotations

from numbers import Real
from typing import Any, Literal

import numpy as np

from pellucid._utils.estimators import RegionShape
from pellucid._utils.sklearn_compat import Interval
from pellucid.eop._base import BaseEOP
from pellucid.eop._docs import common_parameters
from pellucid.eop.ateop_learner import ATEOPLearner
from pellucid.eop.finders import Finder
from pellucid.eop.learning import Settings


@common_parameters
class ATEOPClassifier(BaseEOP):
    """A decision list of regions that abstains where it cannot reach the required accuracy.

    At each level the regions of many projections compete. The regions with the largest support
    win among those whose error on held-out rows is at most `max_error`. If there are none, the
    error allowed in training is tightened, which gives purer regions. If there are still none,
    the search stops, and the remaining rows are not classified. See :class:`EOPClassifier` for a
    description of levels and regions.

    Parameters
    ----------
    {first}
    max_error : float, default=0.1
        Maximum error rate inside the regions of a level (ε).
    min_support : float, default=0.03
        Minimum fraction of the held-out rows that a level must cover (α).
    confidence : float, default=0.9
        Confidence level of the one-sided Clopper-Pearson bound on each level's error. 0 uses the
        raw hold-out error, which is optimistic because the best of many regions is chosen. The
        bound does not correct for this selection. It requires enough rows: with
        ``confidence=0.9`` and ``max_error=0.05``, a level without errors needs 45 held-out rows.
    {common}
    n_candidates : int or None, default=20
        Number of projections in which regions are searched (None: all). They are taken in turn
        from two rankings: by the error of their classifier, and by the fraction of rows in those
        cells of a coarse grid in which errors are rare.
    leftover : {"abstain", "majority"}, default="abstain"
        Prediction for rows in no region: none, or the most frequent class of such rows.
    max_levels : int, default=None
        Maximum number of levels.
    calibration : float, default=0.5
        Fraction of each class that is held out to validate regions. 0 uses the training error.
    {last}

    Attributes
    ----------
    {attributes}

    References
    ----------
    Fiterau (2012). Trade-offs in explanatory model learning. Carnegie Mellon University. Section
    3.3.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from pellucid import ATEOPClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, X_test, y, y_test = train_test_split(X, y, random_state=0)
    >>> model = ATEOPClassifier(max_error=0.05, random_state=0).fit(X, y)
    >>> answered = ~model.abstained(X_test)
    >>> print(f"coverage: {answered.mean():.2f}")
    coverage: 0.78
    >>> print(f"accuracy: {model.score(X_test[answered], y_test[answered]):.3f}")
    accuracy: 0.982
    """

    _parameter_constraints: dict[Any, Any] = {
        **BaseEOP._parameter_constraints,
        "confidence": [Interval(Real, 0, 1, closed="left")],
    }

    _learner = ATEOPLearner

    def __init__(
        self,
        base: Any = "stump",
        *,
        base_penalty: float = 1.0,
        regions: RegionShape | type[Finder] = "box",
        max_error: float = 0.1,
        min_support: float = 0.03,
        confidence: float = 0.9,
        max_dim: int = 2,
        projections: int | Literal["all"] = "all",
        n_candidates: int | None = 20,
        leftover: Literal["majority", "abstain"] = "abstain",
        max_levels: int | None = None,
        calibration: float = 0.5,
        n_bootstraps: int = 0,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.base = base
        self.base_penalty = base_penalty
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
        """See `BaseEOP._limits`; also states when there are too few held-out rows."""
        text = (
            f"max_error={self.max_error}, min_support={self.min_support} and "
            f"confidence={self.confidence} are too strict"
        )
        if not self.calibration or not self.confidence:
            return text
        if not self.max_error:
            return f"{text}; no number of rows can confirm an error of 0: set confidence=0"
        needed = int(np.ceil(np.log(1 - self.confidence) / np.log1p(-self.max_error)))
        n_held = len(self.calibration_rows_)
        if needed <= n_held:
            return text
        return f"{text}; they require {needed} held-out rows in a level, but there are {n_held}"

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
