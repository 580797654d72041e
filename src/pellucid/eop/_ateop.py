"""ATEOPClassifier: predict only where the required accuracy is reached."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from numbers import Real
from typing import Any, Literal

import numpy as np
from scipy.special import betainc

from pellucid._utils.estimators import RegionShape, fill_docstring, store_parameters
from pellucid._utils.sklearn_compat import Interval
from pellucid.eop._base import DOCUMENTED, BaseEOP
from pellucid.eop.finders import Finder, RegionSearchResult
from pellucid.eop.learning import Learner, LevelAttempt, ProjectionCandidate
from pellucid.eop.problem import ProjectionView, Settings, is_error_allowed

_TIGHTEN_BY = 0.6  # factor on the training ε after an attempt in which no region passes validation
_ATTEMPTS = 5  # number of values of the training ε that are tried per level


class ATEOPLearner(Learner):
    """Algorithm 2: regions compete; held-out rows only select, so that errors are not biased."""

    def _attempts(self) -> Iterator[tuple[float, list[ProjectionCandidate]]]:
        allowed = self.settings.max_error
        if self.base is None:
            candidates = self._class_candidates(allowed)
        else:
            candidates = self._best_candidates(self._scan([allowed]))
        for attempt in range(_ATTEMPTS):
            yield allowed * _TIGHTEN_BY**attempt, candidates

    def _regions(self, candidate: ProjectionCandidate, max_error: float) -> RegionSearchResult:
        """The longest prefix of a projection's regions whose union passes `_is_reliable`."""
        view = candidate.view
        P, correct, units = view.P[:0], view.correct[:0], view.units[:0]
        unseen = replace(view, held_P=P, held_correct=correct, held_units=units)
        found = super()._regions(candidate._replace(view=unseen), max_error)
        if not view.has_held_out:
            return found
        held_which, n = found.before.which(view.held_P), len(found.before)
        kept = n
        while kept and not self._is_reliable(view, (held_which >= 0) & (held_which < kept)):
            kept -= 1
        size = np.bincount(held_which[held_which >= 0], minlength=n)
        wrong = np.bincount(held_which[(held_which >= 0) & ~view.held_correct], minlength=n)
        return replace(
            found,
            after=found.before.first(kept),
            which=np.where(found.which < kept, found.which, -1),
            held_which=np.where(held_which < kept, held_which, -1),
            deleted=np.arange(kept, n),
            held_out_rows=size,
            held_out_error=np.where(size > 0, wrong / np.maximum(size, 1), np.nan),
        )

    def _value(self, attempt: LevelAttempt) -> float:
        """Weight of the held-out rows inside the regions, if it is at least α."""
        view, found = attempt.candidate.view, attempt.found
        rows, covered = self._all_held, found.held_which >= 0
        units = view.held_units
        if not view.has_held_out:
            units, rows, covered = view.units, self._all_rows, found.which >= 0
        support = float(units[covered].sum())
        least = max(self.settings.min_support * self.problem.total(rows), 1)
        return support if support >= least else -np.inf

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


class ATEOPClassifier(BaseEOP):
    r"""A decision list of regions that abstains where it cannot reach the required accuracy.

    At each level the regions of many projections compete. The regions with the largest support
    win among those whose error on held-out rows H is at most ε (`max_error`),

    .. math:: \sum_{x_i \in R \cap H} w_i [f(x_i) \neq y_i] \leq
        \varepsilon \sum_{x_i \in R \cap H} w_i.

    If there are none, the
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
    confidence : float, default=0.99
        Confidence level of the one-sided Clopper-Pearson bound on each level's error. 0 uses the
        raw hold-out error, which is optimistic because the best of many regions is chosen. The
        bound does not correct for this selection. It requires enough rows: with
        ``confidence=0.99`` and ``max_error=0.05``, a level without errors needs 90 held-out rows.
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

    See Also
    --------
    EOPClassifier : Answers for all rows.
    explain_clusters : Regions of the clusters of a clustering.

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
    coverage: 0.66
    >>> print(f"accuracy: {model.score(X_test[answered], y_test[answered]):.3f}")
    accuracy: 0.989
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
        confidence: float = 0.99,
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
        store_parameters(self, locals())

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


fill_docstring(ATEOPClassifier, DOCUMENTED)
