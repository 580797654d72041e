"""EOPClassifier: a decision list of regions in projections onto a few columns."""

from __future__ import annotations

from numbers import Real
from typing import Any

from pellucid._utils.sklearn_compat import Interval, StrOptions
from pellucid.eop._base import BaseEOP
from pellucid.eop._docs import common_parameters
from pellucid.eop.eop_learner import EOPLearner
from pellucid.eop.learning import Settings


@common_parameters
class EOPClassifier(BaseEOP):
    """A decision list of regions in projections onto one or two columns.

    People read scatter plots. Each level is one: a few columns, a simple classifier on them, and
    the regions in which it is right. A row is answered by the first level that holds it, and the
    region is the explanation: look, here it lies amid others of its class. What no region holds
    cannot be told apart well, and is said so.

    At each level the base classifier is fitted on every projection of the rows that are left;
    one projection is chosen; regions are found where at most `max_error` of the rows are
    wrongly classified; rows that were held out delete or mend them; the rows inside are dropped.

    Parameters
    ----------
    {first}
    max_error : float, default=0.1
        Share of errors allowed inside a region (ε).
    complexity_penalty : float, default=0.01
        What each column of a projection costs (η), in share of rows.
    {common}
    choose : {"both", "error", "coverage"}, default="both"
        Which projections are best: those whose classifiers have fewest errors overall, as in the
        paper; those with most rows in cells of a coarse grid in which errors are few, as regions
        can only be there; or some of both. Each column adds the penalty.
    n_candidates : int or None, default=8
        Of so many of the best projections regions are found, and those that cover most held-out
        rows, less the penalty for their columns, are taken; None for all. The paper has one.
    leftover : {"majority", "neighbours", "abstain"}, default="majority"
        What rows in no region get: the most frequent class of such rows; with nonparametric
        regions, the answer of the level at which most of their neighbours, by closeness, are
        rightly classified, though they are too few for a region; or no answer. `apply` and
        `abstained` tell in all three cases that no region holds them.
    relax : bool or float, default=True
        Whether to allow half as many errors again, as often as it takes, when no region is found;
        otherwise the search ends there. It also ends when the most frequent class of what is
        left is as good, or, given a number, rather than to allow a larger share of errors than
        this.
    min_support : float, default=0.03
        Share of the training rows that a level, and each of its regions that has a shape, must
        cover to be worth its words.
    max_levels : int, default=None
        Levels at the most.
    calibration : float, default=0.3
        Share of each class that is held out. Regions without such rows, or with more errors on
        them than allowed, are deleted; others shrink or grow to fit. 0 does without.
    {last}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    The paper grows boxes around random rows. Here the best box is found instead: of all boxes on
    a grid of 64 quantiles a column, the one with the largest ε · right - (1 - ε) · wrong weight
    inside, whose ends then move to the best values there are. Ends are rounded to the fewest
    digits that leave the same training rows inside.

    References
    ----------
    Explanation-Oriented Partitioning.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pellucid import EOPClassifier
    >>> iris = load_iris(as_frame=True)
    >>> X, y = iris.data, iris.target_names[iris.target]
    >>> model = EOPClassifier(random_state=0).fit(X, y)
    >>> print(model.explain())
    level 1, petal length (cm): 63.3 % of the rows, 0.0 % wrong (of held-out rows 3.4 %)
        petal length (cm) ≤ 2: setosa (50 rows, 100.0 % of them setosa)
        2 < petal length (cm) ≤ 4.75: versicolor (45 rows, 97.8 % of them versicolor)
    level 2, petal width (cm): 30.7 % of the rows, 3.0 % wrong (of held-out rows 0.0 %)
        petal width (cm) > 1.75: virginica (46 rows, 97.8 % of them virginica)
    level 3, sepal length (cm) and petal length (cm): 4.7 % of the rows, 0.0 % wrong ...
        sepal length (cm) > 6 and petal length (cm) ≤ 5: versicolor (4 rows, ...
        sepal length (cm) > 6 and petal length (cm) > 5: virginica (3 rows, ...
    in no region: versicolor (1.3 % of the rows, 50.0 % of such rows are versicolor)
    >>> print(model.explain(X[60:61]))
    row 0: class versicolor because 2 < petal length (cm) ≤ 4.75 (45 rows, 97.8 % of them ...
    """

    _parameter_constraints: dict = {
        **BaseEOP._parameter_constraints,
        "choose": [StrOptions({"both", "error", "coverage"})],
        "leftover": [StrOptions({"majority", "neighbours", "abstain"})],
        "relax": ["boolean", Interval(Real, 0, 1, closed="both")],
    }

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
        choose: str = "both",
        n_candidates: int | None = 8,
        leftover: str = "majority",
        relax: bool | float = True,
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
            relax=float(self.relax),
            choose=self.choose,
        )
