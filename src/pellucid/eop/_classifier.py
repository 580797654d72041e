"""EOPClassifier: a decision list of regions in projections onto a few columns."""

from __future__ import annotations

from numbers import Real
from typing import Any, Literal

from pellucid._utils.options import RegionShape
from pellucid._utils.sklearn_compat import Interval, StrOptions
from pellucid.eop._base import BaseEOP
from pellucid.eop._docs import common_parameters
from pellucid.eop.eop_learner import EOPLearner
from pellucid.eop.learning import Settings


@common_parameters
class EOPClassifier(BaseEOP):
    """A decision list of regions in projections onto one or two columns.

    Each level consists of a few columns (a projection), a simple classifier on these columns, and
    the regions in which this classifier is accurate. The first level with a region that contains
    a row classifies it, and this region is the explanation. With one or two columns, every level
    can be shown as a scatter plot. Rows in no region are reported as such.

    Each level is learned from the rows that earlier levels do not cover. The base classifier is
    fitted on every projection, and one projection is selected. Regions are searched in which at
    most a fraction `max_error` of the rows is misclassified. Held-out rows recalibrate or delete
    these regions. The covered rows are then removed.

    Parameters
    ----------
    {first}
    max_error : float, default=0.1
        Maximum error rate inside a region (ε).
    complexity_penalty : float, default=0.01
        Penalty per column of a projection (η): the score of a projection is
        error + η · (number of columns).
    {common}
    choose : {"both", "error", "coverage"}, default="both"
        How projections are ranked. "error": by the error of their classifier, as in the paper.
        "coverage": by the fraction of rows in those cells of a coarse grid in which errors are
        rare, an estimate of how much regions can cover. "both": alternate between the two
        rankings. Each column adds the penalty η.
    n_candidates : int or None, default=8
        Number of top-ranked projections in which regions are searched (None: all). The projection
        whose regions cover the most held-out rows, minus the penalty for its columns, is
        selected. The paper uses 1.
    leftover : {"majority", "neighbours", "abstain"}, default="majority"
        Prediction for rows in no region. "majority": the most frequent class of such rows.
        "neighbours" (only with nonparametric regions): the prediction of the level at which the
        row has the highest score, although it is below the threshold. "abstain": no prediction.
        In all three cases, `apply` and `abstained` report that the row is in no region.
    relax : bool or float, default=True
        Whether to multiply ε by 1.5 until a region is found. If False, the search stops when no
        region is found. The search also stops when predicting the most frequent class of the
        remaining rows has an error of at most ε. A float is the largest ε that is allowed.
    strict : bool, default=False
        Whether all regions must satisfy `max_error` on the training rows, per predicted class.
        Regions that do not, because ε was relaxed or because regions overlap, are dropped.
    min_support : float, default=0.03
        Minimum fraction of the training rows (α) that each level must cover. Each box, polyhedron
        or ellipse must cover this fraction too.
    max_levels : int, default=None
        Maximum number of levels.
    calibration : float, default=0.3
        Fraction of each class that is held out for calibration. Regions without held-out rows, or
        with a held-out error above ε, are deleted. The others are shrunk or grown to fit all
        rows. 0 disables calibration.
    {last}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    The paper grows boxes around random rows. This implementation searches all boxes on a grid of
    64 quantiles per column for the largest surplus ε · C - (1 - ε) · W, where C and W are the
    weights of the correctly and of the wrongly classified rows inside. The ends of the best box
    are then optimized over all values, one column at a time. Finally, they are rounded to the
    fewest digits that keep the same training rows inside.

    References
    ----------
    Fiterau (2012). Trade-offs in explanatory model learning. Carnegie Mellon University. It
    introduces Explanation-Oriented Partitioning (EOP).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pellucid import EOPClassifier
    >>> iris = load_iris(as_frame=True)
    >>> X, y = iris.data, iris.target_names[iris.target]
    >>> model = EOPClassifier(random_state=0).fit(X, y)
    >>> print(model.explain())
    level 1, petal length (cm): 63.3 % of the rows, 0.0 % wrong (held-out rows: 3.4 %)
        petal length (cm) ≤ 2: setosa (50 rows, 100.0 % of them setosa)
        2 < petal length (cm) ≤ 4.75: versicolor (45 rows, 97.8 % of them versicolor)
    level 2, petal width (cm): 30.7 % of the rows, 3.0 % wrong (held-out rows: 0.0 %)
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
        "strict": ["boolean"],
    }

    _learner = EOPLearner

    def __init__(
        self,
        base: Any = "stump",
        *,
        regions: RegionShape = "box",
        max_error: float = 0.1,
        complexity_penalty: float = 0.01,
        max_dim: int = 2,
        projections: int | Literal["all"] = "all",
        choose: Literal["both", "error", "coverage"] = "both",
        n_candidates: int | None = 8,
        leftover: Literal["majority", "neighbours", "abstain"] = "majority",
        relax: bool | float = True,
        strict: bool = False,
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
        self.strict = strict
        self.min_support = min_support
        self.max_levels = max_levels
        self.calibration = calibration
        self.n_bootstraps = n_bootstraps
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _uncovered_hint(self) -> str:
        return "" if self.relax else "Increase max_error or set relax=True."

    def _settings(self) -> Settings:
        return Settings(
            max_error=self.max_error,
            complexity_penalty=self.complexity_penalty,
            n_candidates=self.n_candidates,
            min_support=self.min_support,
            max_levels=self.max_levels,
            relax=float(self.relax),
            choose=self.choose,
            is_strict=self.strict,
        )
