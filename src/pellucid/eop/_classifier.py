"""EOPClassifier: a decision list of regions in projections onto a few columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from threading import Lock
from typing import Any, Literal, NamedTuple

import numpy as np

from pellucid._utils.estimators import RegionShape, fill_docstring, store_parameters
from pellucid._utils.sklearn_compat import Interval, StrOptions
from pellucid.eop import tuning
from pellucid.eop._base import DOCUMENTED, BaseEOP, find_shape
from pellucid.eop.finders import Finder
from pellucid.eop.learning import BoxListLearner, ClassLearner, EOPLearner
from pellucid.eop.problem import N_FOLDS, RegionProblem, Settings, hold_out, stratified_folds
from pellucid.eop.shape_finders import BoxFinder

CALIBRATION = 0.3  # fraction of each class that is held out, unless parameters are cross-validated
MIN_ROWS = 30  # with fewer rows there is no cross-validation
MAX_ERROR = 0.1  # ε, unless it is given or boxes are optimized together
MAX_PENALTY = 0.02  # largest η that is tried; see `penalties_of`


class PenaltyChoice(NamedTuple):
    """A value of η with its result."""

    complexity_penalty: float
    accuracy: float  # cross-validated accuracy
    n_inequalities: float  # mean over the folds
    chance: float = 0.0  # accuracy on rows in random order, plus three standard errors
    recall: float = 0.0  # mean over the classes of the share of rows with correct answers


class EOPClassifier(BaseEOP):
    r"""A classifier that explains each answer by a region in one or two columns.

    Its decision list has levels. Each level consists of a few columns (a projection), a simple
    classifier on these columns, and the regions in which this classifier is accurate. The first
    level with a region that contains a row classifies it, and this region is the explanation.
    With one or two columns, every level can be shown as a scatter plot. Rows in no region are
    reported as such. In a region R, the classifier f misclassifies at most a fraction ε
    (`max_error`) of the training rows,

    .. math:: \sum_{x_i \in R} w_i [f(x_i) \neq y_i] \leq \varepsilon \sum_{x_i \in R} w_i.

    Parameters
    ----------
    {first}
    max_error : float or "auto", default="auto"
        Maximum error rate inside a region (ε). "auto": 0.2 for the boxes from which the
        optimization starts. It is then not a limit of the final regions, of which at least half of
        the rows are of their class, except where this is the only region of a class. With another
        base than "constant", or fewer than 30 rows: 0.1, without optimization.
    complexity_penalty : float or "auto", default="auto"
        Penalty for complexity (η). With ``base="constant"``: fraction of the rows that each
        inequality of a region must gain. With others: penalty per column, so that the score of a
        projection is error + η · (number of columns). "auto": by 3-fold cross-validation, the
        simplest list whose accuracy and mean recall of the classes are within one standard error
        of the highest (with another base, or fewer than 30 rows: 0.01).
    {common}
    choose : {"both", "error", "coverage"}, default="both"
        How projections are ranked. "error": by the error of their classifier, as in the paper.
        "coverage": by the fraction of rows in those cells of a coarse grid in which errors are
        rare, an estimate of how much regions can cover. "both": alternate between the two
        rankings. Each column adds the penalty η. Not used with ``base="constant"``, which ranks
        projections and classes by the best box on a coarse grid.
    n_candidates : int or None, default=8
        Number of top-ranked projections in which regions are searched (None: all). The projection
        whose regions cover the most held-out rows, minus the penalty for its columns, is
        selected (with ``base="constant"``: the region with the largest net support, minus the
        penalty for its inequalities). The paper uses 1.
    leftover : {"majority", "neighbours", "abstain"}, default="majority"
        Prediction for rows in no region. "majority": the most frequent class of such rows.
        "neighbours" (only with nonparametric regions): the prediction of the level at which the
        row has the highest score, although it is below the threshold. "abstain": no prediction.
        In all three cases, `apply` and `abstained` report that the row is in no region.
    relax : bool or float, default=True
        Whether to multiply ε by 1.5, up to 0.5, until a region is found. If False, the search
        stops when no region is found. The search also stops when predicting the most frequent
        class of the remaining rows has an error of at most ε. A float is the largest ε that is
        allowed.
    strict : bool, default=False
        Whether all regions must satisfy `max_error` on the training rows, per predicted class.
        Regions that do not, because ε was relaxed or because regions overlap, are dropped. If
        False, regions in which a predicted class has less than half of the rows are dropped.
    min_support : float or int, default=0.1
        Minimum support of a region (α). A float below 1 is a fraction of the rows of its class
        that earlier levels do not cover; of the rarest class, if a region predicts several. An
        int of at least 1 is a number of rows, the same at all levels; held-out rows do not count.
    max_levels : int, default=None
        Maximum number of levels.
    calibration : float or "auto", default="auto"
        Fraction of each class that is held out for calibration. Regions without held-out rows, or
        with a held-out error above ε, are deleted. The others are shrunk or grown to fit all
        rows. 0 disables calibration. "auto": 0 if there is cross-validation, else 0.3.
    {last}

    Attributes
    ----------
    {attributes}
    max_error_, complexity_penalty_ : float
        ε and η, as given or chosen.
    cv_results_ : list of PenaltyChoice
        Cross-validated accuracy and number of inequalities for each η that was tried, the chosen
        one first.

    See Also
    --------
    ATEOPClassifier : Answers only where the error is small.
    explain_clusters : Regions of the clusters of a clustering.
    plotting.plot_level : A level as a scatter plot.

    Notes
    -----
    Each level is learned from the rows that earlier levels do not cover. The base classifier is
    fitted on every projection, and one projection is selected. Held-out rows recalibrate or delete
    its regions. The covered rows are then removed. With ``base="constant"``, regions that gain
    less than `complexity_penalty` per inequality are removed at the end. If `max_error` is not
    given either, boxes are then optimized together: each is replaced by the box with which the
    whole list is correct on most rows, minus the penalty. Each class with at least 2 % of the rows
    then has a region or is the answer of rows in no region, unless no list is better than chance
    in cross-validation.

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
    level 1: petal length (cm) ≤ 2: setosa (33.3% of the rows; 50 rows, 100.0% of them setosa)
    level 2: petal length (cm) ≤ 4.95 and petal width (cm) ≤ 1.65: versicolor (31.3% of the ...
    in no region: virginica (35.3% of the rows, 94.3% of such rows are virginica)
    >>> print(model.explain(X[60:61]))
    row 0: class versicolor because it is in no earlier region, and petal length (cm) ≤ 4.95 and ...
    """

    _parameter_constraints: dict[Any, Any] = {
        **BaseEOP._parameter_constraints,
        "choose": [StrOptions({"both", "error", "coverage"})],
        "leftover": [StrOptions({"majority", "neighbours", "abstain"})],
        "max_error": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="left")],
        "calibration": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="left")],
        "complexity_penalty": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "min_support": [
            Interval(Real, 0, 1, closed="left"),
            Interval(Integral, 1, None, closed="left"),
        ],
        "relax": ["boolean", Interval(Real, 0, 1, closed="both")],
        "strict": ["boolean"],
    }
    max_error_: float
    complexity_penalty_: float
    cv_results_: list[PenaltyChoice]

    @property
    def _learner(self) -> type[EOPLearner]:
        """The level search."""
        if self.base != "constant":
            return EOPLearner
        is_list = find_shape(self.regions) is BoxFinder and not self._calibration
        return BoxListLearner if is_list else ClassLearner

    def __init__(
        self,
        base: Any = "constant",
        *,
        base_penalty: float = 1.0,
        regions: RegionShape | type[Finder] = "box",
        max_error: float | Literal["auto"] = "auto",
        complexity_penalty: float | Literal["auto"] = "auto",
        max_dim: int = 2,
        projections: int | Literal["all"] = "all",
        choose: Literal["both", "error", "coverage"] = "both",
        n_candidates: int | None = 8,
        leftover: Literal["majority", "neighbours", "abstain"] = "majority",
        relax: bool | float = True,
        strict: bool = False,
        min_support: float | int = 0.1,
        max_levels: int | None = None,
        calibration: float | Literal["auto"] = "auto",
        n_bootstraps: int = 0,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        store_parameters(self, locals())

    @property
    def _is_cross_validated(self) -> bool:
        """Whether lists are cross-validated: ε or η is not given."""
        is_class_list = self.base == "constant" and self.regions != "nonparametric"
        return is_class_list and "auto" in (self.max_error, self.complexity_penalty)

    @property
    def _calibration(self) -> float:
        if self.calibration != "auto":
            return self.calibration
        return 0.0 if self._is_cross_validated else CALIBRATION

    def _choose(self, problem: RegionProblem, make_learner: Any, random: Any) -> None:
        """Set `max_error_`, and `complexity_penalty_`, by cross-validation if it is "auto"."""
        penalty = self.complexity_penalty
        is_tried = self._is_cross_validated and len(problem.y) >= MIN_ROWS
        self._penalties: tuple[float, ...] = ()
        self.cv_results_, self._max_levels = [], self.max_levels
        default = tuning.START_ERROR if is_tried else MAX_ERROR
        self.max_error_ = default if self.max_error == "auto" else float(self.max_error)
        if not is_tried:
            self.complexity_penalty_ = 0.01 if penalty == "auto" else penalty
            return

        def make(rows, penalty, random):
            parts = hold_out(problem.y[rows], problem.n_classes, self._calibration, random)
            self.complexity_penalty_ = penalty
            return make_learner(*(rows[part] for part in parts), random)

        n_rows = problem.weights.values.sum()
        penalties = penalties_of(n_rows) if penalty == "auto" else [penalty]
        seed = int(random.randint(2**31 - 1))
        self.cv_results_ = choose_penalty(make, problem, penalties, seed)
        self.complexity_penalty_ = self.cv_results_[0].complexity_penalty
        self._penalties = tuple(p for p in penalties if p <= self.complexity_penalty_)
        # Without a list that is better than chance, there is nothing to explain.
        if all(choice.accuracy <= choice.chance for choice in self.cv_results_):
            self._max_levels = 0

    def _limits(self) -> str:
        if self.cv_results_:
            return "in cross-validation, regions are not more accurate than chance"
        return super()._limits()

    @property
    def _optimizes(self) -> bool:
        """Whether boxes are optimized together, which may exceed ε: only if it is not given."""
        has_limit = self.strict or self.leftover == "abstain"
        return self.max_error == "auto" and self._is_cross_validated and not has_limit

    def _settings(self) -> Settings:
        is_path = self._optimizes and self._penalties
        return Settings(
            max_error=self.max_error_,
            complexity_penalty=self._penalties[0] if is_path else self.complexity_penalty_,
            n_candidates=self.n_candidates,
            min_support=self.min_support,
            max_levels=self._max_levels,
            relax=float(self.relax),
            choose=self.choose,
            is_strict=self.strict,
            has_default=not self.strict and self.leftover != "abstain",
            optimizes=self._optimizes,
            penalties=self._penalties,
        )


fill_docstring(EOPClassifier, DOCUMENTED)


def penalties_of(n_rows: float) -> list[float]:
    """Values of η for a number of rows: two rows per inequality, four rows, eight rows, ..."""
    smallest = min(2 / max(n_rows, 1.0), MAX_PENALTY)
    n = int(np.floor(np.log2(MAX_PENALTY / smallest))) + 1
    return [smallest * 2**i for i in range(n)]


def choose_penalty(
    make_learner: Callable[[np.ndarray, float, np.random.RandomState], ClassLearner],
    problem: RegionProblem,
    penalties: Sequence[float],
    seed: int,
) -> list[PenaltyChoice]:
    """Cross-validate values of η; the first result is the best.

    For each fold one list is grown, with the smallest η, and simplified with each η in ascending
    order. Of the values with an accuracy within one standard error of the highest, those remain
    with a mean recall of the classes within one standard error of the highest of them. The best is
    the one with the fewest inequalities. Values without any region in a fold are left out if others
    are more accurate than the most frequent class.
    """
    rows, n_classes = np.arange(len(problem.y)), problem.n_classes
    weight, units = problem.weight(rows), problem.class_units(rows)
    # By η: inequalities, mean and variance by chance, and weight of right answers by class.
    sums, is_empty = np.zeros((3 + n_classes, len(penalties))), np.zeros(len(penalties), dtype=bool)
    # The last entry is the share of no answer, -1.
    share = np.append(units / units.sum(), 0.0)
    fold_of_row = stratified_folds(problem.y, np.random.RandomState(seed).permutation(len(weight)))
    lock = Lock()

    def try_list(fold: int) -> np.ndarray | None:
        """The sums of one fold; None if interrupted."""
        train, test = np.flatnonzero(fold_of_row != fold), np.flatnonzero(fold_of_row == fold)
        found = np.zeros_like(sums)
        with lock:  # the settings of a learner are those of the estimator
            learner = make_learner(train, penalties[0], np.random.RandomState(seed))
        learner.grow()
        if learner.interrupt.requested:
            return None
        for j, (answer, n_facets) in enumerate(learner.answers_by_penalty(penalties, test)):
            given, w = share[answer], weight[test]
            right = np.bincount(problem.y[test], w * (answer == problem.y[test]), n_classes)
            found[:, j] = n_facets, w @ given, w @ (given * (1 - given)), *right
        return found

    for found in problem.pool.map(try_list, range(N_FOLDS)):
        if found is None:
            return [PenaltyChoice(penalties[0], np.nan, np.nan)]
        sums += found
        is_empty |= found[0] == 0
    n_facets, chance, variance = sums[:3]
    by_chance = (chance + 3 * np.sqrt(variance)) / weight.sum()
    accuracy = sums[3:].sum(axis=0) / weight.sum()
    of_class = np.bincount(problem.y, weight, n_classes)[:, None]
    recalls = sums[3:] / of_class
    recall = recalls.mean(axis=0)
    recall_error = np.sqrt((recalls * (1 - recalls) / of_class).sum(axis=0)) / n_classes

    tried = np.arange(len(penalties))
    if accuracy[~is_empty].max(initial=0.0) > share.max():
        tried = tried[~is_empty]
    best = accuracy[tried].max()
    is_accurate = accuracy >= best - np.sqrt(best * (1 - best) / weight.sum())
    top = max(tried[is_accurate[tried]], key=lambda j: recall[j])
    has_recall = recall >= recall[top] - recall_error[top]
    size = n_facets / N_FOLDS
    order = sorted(tried, key=lambda j: (~is_accurate[j], ~has_recall[j], size[j], -accuracy[j]))
    measures = accuracy, size, by_chance, recall
    return [
        PenaltyChoice(penalties[j], *(float(each[j]) for each in measures)) for j in map(int, order)
    ]
