"""Base class of the EOP estimators: input validation, fitting, prediction, explanation."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from pellucid._core.data.arrays import Weights
from pellucid._utils.estimators import store_training_data
from pellucid._utils.numeric_domain import check_values
from pellucid._utils.progress import Progress
from pellucid._utils.sklearn_compat import HasMethods, Interval, StrOptions, validate_parameters
from pellucid._utils.threads import ThreadPool, count_threads
from pellucid._utils.typed_bases import BaseEstimator, ClassifierMixin
from pellucid.eop.base_classifiers import BASES, make_base
from pellucid.eop.explanations import (
    LevelRule,
    SeedStability,
    UncoveredRows,
    closest_level,
    explain_rows,
)
from pellucid.eop.finders import Calibration, Finder
from pellucid.eop.learning import Learner
from pellucid.eop.neighbor_finder import NeighborFinder
from pellucid.eop.problem import (
    RegionProblem,
    as_repetitions,
    hold_out,
    list_projections,
    read_classes,
    read_true_classes,
)
from pellucid.eop.shape_finders import BoxFinder, EllipseFinder, PolyhedronFinder
from pellucid.explanation.mixins import PlotRegionsMixin, RegionExportMixin, ReportMixin
from pellucid.explanation.rules import RuleList, default_names
from pellucid.metrics.rule_lists import LevelMeasures, level_measures
from pellucid.regions.answer_regions import answer_regions
from pellucid.regions.levels import (
    Level,
    LevelAnswers,
    complexity,
    find_answers,
    free_label,
    probabilities,
    project,
    shares_by_answer,
)
from pellucid.regions.words import column_texts, with_formats
from pellucid.tables.column_formats import ColumnFormat
from pellucid.tables.encoding import Indicator
from pellucid.tables.validation import read_sample_weight, read_X

SHAPES: dict[str, type[Finder]] = {
    "nonparametric": NeighborFinder,
    "box": BoxFinder,
    "polyhedron": PolyhedronFinder,
    "ellipse": EllipseFinder,
}


class BaseEOP(PlotRegionsMixin, RegionExportMixin, ReportMixin, ClassifierMixin, BaseEstimator):
    """Base of the classifiers by regions; a subclass defines `_learner` and its `_settings()`."""

    _parameter_constraints: dict[Any, Any] = {
        "base": [StrOptions(set(BASES)), HasMethods(["fit", "predict"])],
        "base_penalty": [Interval(Real, 0, None, closed="neither")],
        "regions": "no_validation",  # see `find_shape`
        "max_error": [Interval(Real, 0, 1, closed="left")],
        "min_support": [Interval(Real, 0, 1, closed="left")],
        "max_dim": [Interval(Integral, 1, None, closed="left")],
        "projections": [StrOptions({"all"}), Interval(Integral, 1, None, closed="left")],
        "n_candidates": [Interval(Integral, 1, None, closed="left"), None],
        "leftover": [StrOptions({"majority", "abstain"})],
        "max_levels": [Interval(Integral, 1, None, closed="left"), None],
        "calibration": [Interval(Real, 0, 1, closed="left")],
        "n_bootstraps": [Interval(Integral, 0, None, closed="left")],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    classes_: np.ndarray
    abstain_label_: Any
    n_levels_: int
    coverage_: float
    complexity_: float
    calibration_rows_: np.ndarray
    history_: list[Calibration]
    n_skipped_projections_: int
    leftover_share_: float
    leftover_shares_: np.ndarray
    uncovered_classes_: np.ndarray
    n_inequalities_: int
    columns_: list[str | Indicator] | None
    formats_: dict[str, ColumnFormat]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the levels.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Finite numeric data. Column names of pandas, polars and pyarrow tables are kept.
        y : array-like of shape (n_samples,)
            Class labels of any type.
        sample_weight : array-like of shape (n_samples,), optional
            Rows of weight 0 are ignored. If all weights are integers, a weight w counts as w
            copies of the row, except that the calibration split draws rows regardless of their
            weight. Other weights are scaled to a mean of 1.

        Returns
        -------
        self
            The fitted classifier.
        """
        validate_parameters(self)
        if self.leftover == "neighbours" and self.regions != "nonparametric":
            text = 'leftover="neighbours" requires regions="nonparametric"; got regions='
            raise ValueError(f"{text}{self.regions!r}")
        numbers = read_X(self, X, reset=True)
        check_values(numbers, getattr(self, "feature_names_in_", None))
        self.columns_, self.formats_ = None, {}  # `explain_clusters` knows them.
        y = read_classes(self, y, numbers)
        # Weights that are too small to count are 0.
        counted = Weights.of(read_sample_weight(sample_weight, numbers.shape[0])).values
        weight, self._weight_unit = as_repetitions(counted)
        weighted = np.flatnonzero(weight > 0)
        numbers = numbers if len(weighted) == len(weight) else numbers[weighted]
        self.classes_, codes = np.unique(y[weighted], return_inverse=True)
        random = check_random_state(self.random_state)
        with ThreadPool(count_threads(self.n_jobs)) as pool:
            weights = Weights.of(weight[weighted])
            problem = RegionProblem(numbers, codes.ravel(), len(self.classes_), weights, pool)
            fitted, held = hold_out(problem.y, problem.n_classes, self._calibration, random)
            self._warn_small_classes(problem.y, held)
            features = problem.useful_features
            subsets = list_projections(features, self.max_dim, self.projections, random)
            base = make_base(self.base, problem, self.base_penalty)
            make_learner = partial(self._make_learner, problem=problem, base=base, subsets=subsets)
            self._choose(problem, make_learner, random)
            learner = make_learner(fitted, held, random)
            learner.learn()
            self._store(problem, learner, weighted, held)
        store_training_data(self, X=X)
        self._warn_if_incomplete(learner, base.failure if base else "")
        self._warn_uncovered_classes()
        return self

    @property
    def _calibration(self) -> float:
        """Fraction of the rows to hold out."""
        return self.calibration

    def _choose(self, problem: RegionProblem, make_learner: Any, random: Any) -> None:
        """Choose parameters that are not given by the user; none by default."""

    def _make_learner(
        self, fitted: np.ndarray, held: np.ndarray, random: Any, **data: Any
    ) -> Learner:
        """The level search on some rows; `data` are `problem`, `base` and `subsets`."""
        progress, settings = Progress(type(self).__name__, 1, self.verbose), self._settings()
        # On a column of zeros and ones only an interval can be described. Rows that are classified
        # by their neighbors require nonparametric regions at all levels.
        shape = find_shape(self.regions)
        shapes = shape, shape if self.leftover == "neighbours" else BoxFinder
        finders = tuple(each(self.n_bootstraps, settings.max_error) for each in shapes)
        rows = {"rows": fitted, "held": held, "random": random}
        return self._learner(finders=finders, settings=settings, progress=progress, **rows, **data)

    def _store(
        self, problem: RegionProblem, learner: Learner, rows: np.ndarray, held: np.ndarray
    ) -> None:
        """Set the fitted attributes; `rows` are the rows of `X` of positive weight."""
        self.levels_: list[Level] = [
            replace(level, reached=rows[level.reached], covered=rows[level.covered])
            for level in learner.levels
        ]
        weight = problem.weights.values
        self.n_levels_ = len(self.levels_)
        self.coverage_ = float(sum(level.coverage for level in self.levels_))
        self.complexity_ = complexity(self.levels_, learner.level, learner.region, weight)
        self.calibration_rows_ = rows[held]
        self.history_ = learner.history
        self.n_skipped_projections_ = learner.n_skipped
        uncovered = np.flatnonzero(learner.level < 0)
        units = problem.class_units(uncovered if len(uncovered) else np.arange(len(problem.y)))
        self.leftover_share_ = problem.total(uncovered) / int(problem.units.sum())
        self.leftover_shares_ = units / units.sum()
        self._leftover_answer = int(np.argmax(units))
        answered = uncovered[learner.uncovered_answer[uncovered] >= 0]
        self._leftover_counts = np.zeros((problem.n_classes, problem.n_classes))
        pairs = learner.uncovered_answer[answered], problem.y[answered]
        np.add.at(self._leftover_counts, pairs, problem.weight(answered))
        self._total = float(weight.sum())
        self._class_weight = np.bincount(problem.y, weight, problem.n_classes)
        self.abstain_label_ = free_label(self.classes_, "unknown")
        predicted = {self._leftover_answer} if self.leftover == "majority" else set()
        for level in self.levels_:
            predicted.update(np.flatnonzero(level.counts.sum(axis=(0, 2))).tolist())
        self.uncovered_classes_ = np.delete(self.classes_, sorted(predicted))
        pieces = [piece for rule in self.explain()[:-1] for piece in rule.pieces]
        self.n_inequalities_ = sum(piece.n_inequalities for piece in pieces)

    def _warn_small_classes(self, y: np.ndarray, held: np.ndarray) -> None:
        """Warn if classes have no rows in the calibration split."""
        missing = np.delete(self.classes_, np.unique(y[held])).tolist()
        if len(held) and missing:
            have, their = ("has", "its") if len(missing) == 1 else ("have", "their")
            text = f"{_describe_classes(missing)} {have} too few rows for a calibration split; "
            warnings.warn(f"{text}{their} regions are not validated", stacklevel=3)

    def _warn_uncovered_classes(self) -> None:
        names = self.uncovered_classes_.tolist()
        is_cut = self.max_levels is not None and self.n_levels_ >= self.max_levels
        if names and self.levels_ and self.leftover != "abstain" and not is_cut:
            text = (
                f"no region predicts {_describe_classes(names)} ({len(names)} of "
                f"{len(self.classes_)} classes), so {'its' if len(names) == 1 else 'their'} rows "
                "are never answered correctly; decrease min_support or complexity_penalty, or "
                "increase max_error"
            )
            warnings.warn(text, stacklevel=3)

    def _warn_if_incomplete(self, learner: Learner, failure: str) -> None:
        """Warn if the search stopped early, and state what was covered."""
        covered = f"{self.n_levels_} levels cover {100 * self.coverage_:.1f}% of the training rows"
        fallback = "get no answer" if self.leftover == "abstain" else "get the most frequent class"
        if self._uses_neighbors:
            fallback = "get the class of the closest level's neighbors"
        if learner.is_interrupted:
            text = f"search interrupted: {covered}; uncovered rows {fallback}"
        elif not self.levels_:
            reason = self._limits() if learner.n_tried else "all columns are constant"
            if learner.n_tried and learner.n_skipped == learner.n_tried:
                reason = f"base={self.base!r} could not be fitted on any projection: {failure}"
            text = f"no region was found ({reason}); all rows {fallback}"
        elif not learner.is_exhausted and not getattr(self, "relax", True):
            text = (
                f"no further region was found with max_error={self.max_error}: {covered}; "
                f"uncovered rows {fallback}. Increase max_error or set relax=True."
            )
        else:
            return
        warnings.warn(text, ConvergenceWarning, stacklevel=3)

    def _limits(self) -> str:
        """Text that names the parameters that are too strict."""
        return f"max_error={self.max_error} and min_support={self.min_support} are too strict"

    @property
    def _uses_neighbors(self) -> bool:
        """Whether rows in no region are classified by the closest level."""
        return self.leftover == "neighbours" and bool(self.levels_)

    @property
    def _labels(self) -> np.ndarray:
        """What is predicted, by class index; -1 is no answer."""
        if self.leftover != "abstain":
            return self.classes_
        return np.append(self.classes_, self.abstain_label_)

    def _find_answers(self, X: Any) -> tuple[Any, LevelAnswers]:
        """The rows as numbers, and the answers of the levels for them."""
        check_is_fitted(self)
        numbers = read_X(self, X, reset=False)
        return numbers, find_answers(self.levels_, numbers)

    def _answers(self, X: Any) -> tuple[LevelAnswers, np.ndarray]:
        """Answers of the levels, and answers in which rows in no region are filled in."""
        numbers, found = self._find_answers(X)
        answer = found.answer.copy()
        if self.leftover != "abstain":
            uncovered = np.flatnonzero(found.level < 0)
            answer[uncovered] = self._leftover_answer
            if self._uses_neighbors:
                answer[uncovered] = closest_level(self.levels_, numbers, uncovered)[1]
        return found, answer

    def predict(self, X: Any) -> np.ndarray:
        """Predict the class of each row by the first level with a region that contains it.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
            With ``leftover="abstain"``, `abstain_label_` for rows in no region.
        """
        answer = self._answers(X)[1]
        return self._labels[answer]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class frequencies among the training rows with the same prediction in the same region.

        One correctly classified row is added to the counts as smoothing. Rows in no region get
        the class frequencies of the uncovered training rows; with ``leftover="neighbours"``, of
        those with the same prediction.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Columns in the order of `classes_`.
        """
        found, answer = self._answers(X)
        shares = probabilities(self.levels_, found, self.leftover_shares_)
        if self._uses_neighbors:
            uncovered = found.level < 0
            shares[uncovered] = shares_by_answer(self._leftover_counts[None])[0, answer[uncovered]]
        return shares

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Predictions of the first 1, 2, ... levels.

        Rows that these levels do not cover get the most frequent class of the training rows that
        they do not cover, `abstain_label_`, or the class of the closest of these levels, as
        `leftover` says.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows to classify.

        Yields
        ------
        ndarray of shape (n_samples,)
            Predicted class of each row.
        """
        numbers, found = self._find_answers(X)
        remaining = self._class_weight.copy()
        for number, level in enumerate(self.levels_, start=1):
            remaining = remaining - level.counts.sum(axis=(0, 1))
            uncovered = np.flatnonzero((found.level < 0) | (found.level >= number))
            answer = found.answer.copy()
            if self.leftover == "abstain":
                answer[uncovered] = -1
            elif self._uses_neighbors:
                answer[uncovered] = closest_level(self.levels_[:number], numbers, uncovered)[1]
            else:
                # Weights are summed in another order here, so that 0 may be a tiny number.
                has_rows = remaining.max() > 1e-9 * self._total
                answer[uncovered] = np.argmax(remaining if has_rows else self._class_weight)
            yield self._labels[answer]

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Accuracy of the first 1, 2, ... levels.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows to classify.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.

        Yields
        ------
        float
            Accuracy on the given rows.
        """
        y = read_true_classes(y, X)
        weight = read_sample_weight(sample_weight, len(y))
        for answer in self.staged_predict(X):
            yield float(np.average(answer == y, weights=weight))

    def abstained(self, X: Any) -> np.ndarray:
        """Whether each row is in no region.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        ndarray of shape (n_samples,), bool
            True for rows in no region.
        """
        return self._find_answers(X)[1].level < 0

    def apply(self, X: Any) -> np.ndarray:
        """Indices of the level and the region that contain each row; -1 for rows in no region.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows with the columns of `fit`.

        Returns
        -------
        ndarray of shape (n_samples, 2), int
            The level and the region of each row.
        """
        found = self._find_answers(X)[1]
        return np.column_stack([found.level, found.region])

    def level_measures(self, X: Any, y: Any, sample_weight: Any = None) -> LevelMeasures:
        """Support, Bayes factor, lift, J-score and NMI of each level on the given rows.

        See :func:`pellucid.metrics.level_measures`; ``combined()`` of the result gives the
        measures of the whole list.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows to classify.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        LevelMeasures
            One number per level for each measure.
        """
        numbers, found = self._find_answers(X)
        y = read_true_classes(y, numbers)
        correct = np.empty((len(y), len(self.levels_)), dtype=bool)
        for number, level in enumerate(self.levels_):
            answer = level.classifier.predict(project(numbers, level.features))
            correct[:, number] = self.classes_[answer] == y
        return level_measures(found.level, correct, sample_weight=sample_weight)

    def stability(
        self, X: Any, y: Any, *, n_seeds: int = 5, sample_weight: Any = None
    ) -> SeedStability:
        """Refit with the random states 0 to `n_seeds` - 1 and compare the models.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Rows to fit and to compare on.
        y : array-like of shape (n_samples,)
            Their classes.
        n_seeds : int, default=5
            Number of fits.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows.

        Returns
        -------
        SeedStability
            First projections, numbers of levels, accuracies on `X` and the agreement of the
            predictions. Prints as text.
        """
        seeded = (clone(self).set_params(random_state=seed) for seed in range(n_seeds))
        models = [model.fit(X, y, sample_weight=sample_weight) for model in seeded]
        y = read_true_classes(y, X)
        weight = read_sample_weight(sample_weight, len(y))
        given = [model.predict(X) for model in models]
        pairs = [np.mean(a == b) for a, b in combinations(given, 2)]
        first = [tuple(model.explain()[0].names) if model.levels_ else () for model in models]
        n_levels = [model.n_levels_ for model in models]
        accuracy = [float(np.average(answer == y, weights=weight)) for answer in given]
        return SeedStability(first, n_levels, accuracy, float(np.mean(pairs)) if pairs else 1.0)

    def explain(self, X: Any = None) -> RuleList[Any]:
        """Describe the levels, or explain the prediction for each row of `X`.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features), optional
            Rows to explain. Default: the levels are described.

        Returns
        -------
        RuleList
            Without `X`: one :class:`~pellucid.eop.explanations.LevelRule` per level, followed by
            an :class:`~pellucid.eop.explanations.UncoveredRows`. With `X`: one
            :class:`~pellucid.eop.explanations.EOPExplanation` per row. Prints as text.
        """
        check_is_fitted(self)
        rules: list[LevelRule] = []
        levels, names = self.levels_, self._column_names
        described = answer_regions(levels, names, self.classes_, self._total, self._weight_unit)
        for level, pieces in zip(levels, described):
            columns = tuple(column_texts(names[f] for f in level.features))
            figures = level.coverage, level.error, level.held_out_error
            rules.append(LevelRule(len(rules), columns, tuple(pieces), *figures))
        leftover = self._describe_uncovered()
        if X is None:
            return RuleList([*rules, leftover])
        rows = self._find_answers(X)
        return RuleList(explain_rows(self.levels_, rules, leftover, *rows, self.classes_))

    @property
    def _column_names(self) -> Sequence[str | Indicator]:
        """Descriptions of the columns: names with formats, or indicators of categories."""
        names = getattr(self, "feature_names_in_", default_names(self.n_features_in_))
        return with_formats(self.columns_ or names, self.formats_)

    def _describe_uncovered(self) -> UncoveredRows:
        missing = tuple(self.uncovered_classes_.tolist()) if self.levels_ else ()
        if self._uses_neighbors:
            counts = self._leftover_counts
            accuracy = float(np.trace(counts) / counts.sum()) if counts.any() else float("nan")
            return UncoveredRows(None, self.leftover_share_, accuracy, missing, by_neighbours=True)
        answer = None if self.leftover == "abstain" else self.classes_[self._leftover_answer]
        purity = float(self.leftover_shares_[self._leftover_answer])
        return UncoveredRows(answer, self.leftover_share_, purity, missing)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def find_shape(regions: Any) -> type[Finder]:
    """The search for regions of a shape, given by its name or as a class."""
    if isinstance(regions, type) and issubclass(regions, Finder):
        return regions
    if isinstance(regions, Finder):
        name = type(regions).__name__
        raise TypeError(f"regions is an instance of {name}; pass the class: regions={name}")
    names, is_name = ", ".join(map(repr, SHAPES)), isinstance(regions, str)
    if is_name and regions in SHAPES:
        return SHAPES[regions]
    text = f"regions={regions!r}{' is unknown' if is_name else ''}; use {names}, or a subclass of "
    raise (ValueError if is_name else TypeError)(f"{text}pellucid.eop.ShapeFinder")


def _describe_classes(names: list[Any]) -> str:
    """Names of classes as text, at most three of them."""
    text = ", ".join(map(repr, names[:3])) + (" and others" if len(names) > 3 else "")
    return f"class {text}" if len(names) == 1 else f"classes {text}"


# The parts of the docstrings that the classes share, for `fill_docstring`.
DOCUMENTED = {
    "first": """base : {"constant", "stump", "linear_svm", "logistic", "knn"} or classifier
        Classifier that is fitted on each projection. "constant" (default of EOPClassifier) always
        predicts one class: each level is then one region with mostly rows of this class, and all
        projections and classes compete for it. "stump" (default of ATEOPClassifier) is the single
        threshold with the smallest error. "linear_svm" (squared hinge loss) and "logistic" are
        one-vs-rest linear models on standardized columns. "knn" uses 5 neighbors on standardized
        columns and leave-one-out predictions for the training rows. Any other classifier is cloned
        and fitted on the unscaled columns; its training predictions come from 3-fold
        cross-validation. Projections on which it cannot be fitted are skipped and counted.
    base_penalty : float, default=1.0
        Regularization of "linear_svm" and "logistic" (λ): the weight of the l2 penalty relative
        to the losses, 1 / C in scikit-learn. Other classifiers have their own parameters.
    regions : {"box", "nonparametric", "polyhedron", "ellipse"} or class, default="box"
        Shape of the regions. "box": one interval per column, with rounded ends. "polyhedron":
        convex hulls. "nonparametric": points whose score is at least a threshold t. The score of
        a point p is Σ w_i·[n_i is correctly classified] / Σ w_i over its m nearest training rows
        n_i, with w_i = 1 / d(p, n_i). The threshold starts at t = 1 - ε, and m = ⌈1 / ε⌉ for
        the initial ε; m stays the same (at most 50) when ε is relaxed. Own shapes: a subclass of
        :class:`~pellucid.eop.ShapeFinder` or :class:`~pellucid.eop.Finder`.""",
    "common": """max_dim : int, default=2
        Maximum number of columns in a projection.
    projections : "all" or int, default="all"
        Number of column subsets to try. An integer draws that many at random, which is suited to
        data with thousands of columns. Constant and duplicate columns are ignored.""",
    "last": """n_bootstraps : int, default=0
        Number of bootstrap samples used to make the region boundaries more robust. The median
        over the samples is used for the ends of boxes, the size of polyhedra and ellipses, and
        the threshold of nonparametric regions.
    n_jobs : int, default=None
        Number of threads. None and -1 use all processors. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Controls the calibration split, the sampled projections, the seeds of regions and the
        bootstrap samples.
    verbose : int, default=0
        If not 0, print each level to standard error. Ctrl-C stops the search and keeps the levels
        found so far.""",
    "attributes": """levels_ : list of Level
        The decision list. A :class:`~pellucid.regions.levels.Level` has `features` (column
        indices), `classifier`, `regions` (with `contains`, `which` and `describe`), `error`,
        `held_out_error`, `coverage`, and the training rows that reach it and that it covers.
    n_levels_ : int
        Number of levels.
    coverage_ : float
        Fraction of the training weight that lies in regions. For nonparametric regions, a
        training row is not counted among its own neighbors.
    complexity_ : float
        Expected number of regions that a row is tested against, each multiplied by its number of
        columns. For nonparametric regions: expected number of neighbors times columns, plus 1.
    n_inequalities_ : int
        Number of inequalities that ``explain()`` prints.
    uncovered_classes_ : ndarray
        Classes that are never predicted, because no region with enough support and purity was
        found. A warning names them.
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    calibration_rows_ : ndarray of int
        Indices of the held-out rows.
    history_ : list of Calibration
        Regions before and after calibration, for each level and for each rejected attempt: see
        :class:`~pellucid.eop.finders.Calibration`.
    leftover_shares_ : ndarray of shape (n_classes,)
        Class frequencies among the training rows in no region (among all rows, if there are
        none).
    leftover_share_ : float
        Fraction of the training weight that is in no region.
    abstain_label_ : object
        Prediction for a row without an answer: -1 for numeric classes, "unknown" for strings (or
        another unused label, if that is a class).
    n_skipped_projections_ : int
        Number of projections, over all levels, on which the base classifier could not be fitted.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Column names, if `X` has string column names.""",
}
