"""What the EOP estimators share: reading input, answering, explaining."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import assert_all_finite, check_random_state, column_or_1d
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from pellucid._input import read_sample_weight, read_X
from pellucid._progress import Progress
from pellucid.eop.bases import Base
from pellucid.eop.boxes import BoxFinder
from pellucid.eop.calibration import hold_out
from pellucid.eop.decision_list import Answers, complexity, consult
from pellucid.eop.learning import Learned, Learner, Settings
from pellucid.eop.linear import LinearBase
from pellucid.eop.nonparametric import NeighbourFinder
from pellucid.eop.problem import Problem
from pellucid.eop.projections import list_projections
from pellucid.eop.regions import Finder
from pellucid.eop.stumps import StumpBase
from pellucid.numeric.fixed_point import Weights
from pellucid.numeric.team import Team, count_threads

BASES = {"stump", "linear_svm", "logistic", "knn"}
SHAPES = {"nonparametric": NeighbourFinder, "box": BoxFinder}


class BaseEOP(ClassifierMixin, BaseEstimator):
    """Base of the classifiers that answer by regions in projections."""

    _parameter_constraints: dict = {
        "base": [StrOptions(BASES), HasMethods(["fit", "predict"])],
        "regions": [StrOptions(set(SHAPES))],
        "max_error": [Interval(Real, 0, 1, closed="left")],
        "min_support": [Interval(Real, 0, 1, closed="left")],
        "complexity_penalty": [Interval(Real, 0, None, closed="left")],
        "max_dim": [Interval(Integral, 1, None, closed="left")],
        "projections": [StrOptions({"all"}), Interval(Integral, 1, None, closed="left")],
        "choose": [StrOptions({"error", "coverage"})],
        "n_candidates": [Interval(Integral, 1, None, closed="left")],
        "leftover": [StrOptions({"majority", "abstain"})],
        "calibration": [Interval(Real, 0, 1, closed="left")],
        "n_bootstraps": [Interval(Integral, 0, None, closed="left")],
        "max_levels": [Interval(Integral, 1, None, closed="left"), None],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    _learner: type[Learner]

    def _settings(self) -> Settings:
        """How levels are chosen."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any, sample_weight: Any = None):
        """Find the levels.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            Numbers without NaN or infinities; pandas, polars and pyarrow tables keep their
            column names.
        y : array-like of shape (n_samples,)
            Classes, of any type.
        sample_weight : array-like of shape (n_samples,), optional
            A whole weight counts as that many copies of the row; rows of weight 0 are absent.

        Returns
        -------
        self
        """
        self._validate_params()
        numbers = read_X(self, X, reset=True)
        y = self._read_y(y, numbers)
        weight = read_sample_weight(sample_weight, numbers.shape[0])
        counted = np.flatnonzero(weight > 0)
        if len(counted) < len(weight):
            numbers = numbers.tocsr() if sparse.issparse(numbers) else numbers
            numbers = numbers[counted]
            numbers = numbers.tocsc() if sparse.issparse(numbers) else numbers
        self.classes_, codes = np.unique(y[counted], return_inverse=True)
        random = check_random_state(self.random_state)
        with Team(count_threads(self.n_jobs)) as team:
            problem = Problem(
                numbers,
                codes.reshape(-1).astype(np.int64),
                len(self.classes_),
                Weights.of(weight[counted]),
                team,
            )
            fitted, held = hold_out(problem.y, problem.n_classes, self.calibration, random)
            features = problem.useful_features
            subsets = list_projections(features, self.max_dim, self.projections, random)
            learner = self._learner(
                problem,
                self._base(problem),
                self._finder(),
                subsets,
                fitted,
                held,
                self._settings(),
                Progress(type(self).__name__, 1, self.verbose),
                random,
            )
            learned = learner.learn()
            self._store(problem, learned, counted, held)
        self._complain(learned)
        return self

    def _read_y(self, y: Any, numbers) -> np.ndarray:
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y "
                "is None."
            )
        y = column_or_1d(y, warn=True)
        check_consistent_length(numbers, y)
        if y.dtype.kind == "f":
            assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        return y

    def _base(self, problem: Problem) -> Base:
        if self.base == "stump":
            return StumpBase(problem)
        if self.base == "linear_svm":
            return LinearBase(problem, "squared_hinge")
        if self.base == "logistic":
            return LinearBase(problem, "logistic")
        raise NotImplementedError

    def _finder(self) -> Finder:
        return SHAPES[self.regions](self.n_bootstraps)

    def _store(self, problem: Problem, learned: Learned, counted, held: np.ndarray) -> None:
        """Everything that a fitted estimator shows."""
        self.levels_ = [_renumber(one, counted) for one in learned.levels]
        self.n_levels_ = len(self.levels_)
        self.coverage_ = float(sum(one.coverage for one in self.levels_))
        self.calibration_rows_ = counted[held]
        self.history_ = learned.history
        self.n_skipped_projections_ = learned.n_skipped
        self.interrupted_ = learned.is_interrupted
        left = learned.left if len(learned.left) else np.arange(len(problem.y))
        units = problem.class_units(left)
        self.leftover_shares_ = units / units.sum()
        self._leftover_answer = int(np.argmax(units))
        found = consult(self.levels_, problem.X)
        self.complexity_ = complexity(
            self.levels_, found.level, found.region, problem.weights.values
        )

    def _complain(self, learned: Learned) -> None:
        if learned.is_interrupted:
            warnings.warn(
                f"the search was interrupted: {self.n_levels_} levels cover "
                f"{100 * self.coverage_:.1f} % of the training rows",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _consult(self, X: Any) -> Answers:
        check_is_fitted(self)
        return consult(self.levels_, read_X(self, X, reset=False))

    def predict(self, X: Any) -> np.ndarray:
        """Class of each row: that of the first level whose regions hold it.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        answer = self._consult(X).answer
        if self.leftover == "majority":
            return self.classes_[np.where(answer >= 0, answer, self._leftover_answer)]
        return np.append(self.classes_, self._abstain_label())[answer]

    def _abstain_label(self) -> Any:
        return -1 if self.classes_.dtype.kind in "iufb" else "unknown"

    def abstained(self, X: Any) -> np.ndarray:
        """Whether no region holds each row."""
        return self._consult(X).level < 0

    def apply(self, X: Any) -> np.ndarray:
        """Level and region that answer each row, counted from 0; -1 where none does.

        Returns
        -------
        ndarray of shape (n_samples, 2), int
        """
        found = self._consult(X)
        return np.column_stack([found.level, found.region])


def _renumber(level, counted):
    from dataclasses import replace

    return replace(level, reached=counted[level.reached], covered=counted[level.covered])
