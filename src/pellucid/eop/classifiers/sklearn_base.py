"""Any scikit-learn classifier as base classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from pellucid.eop.classifiers.base import FAILED, BaseClassifier, FittedClassifier
from pellucid.eop.problem import RegionProblem
from pellucid.regions.levels import project

_N_FOLDS = 3
"""Folds of the cross-validation that predicts the training rows."""


class SklearnBase(BaseClassifier):
    """A scikit-learn classifier given by the user.

    Training rows are predicted by cross-validation, because the training error of a flexible
    classifier is too optimistic. Projections on which the classifier cannot be fitted (for
    example because only one class remains) are skipped.

    Parameters
    ----------
    problem : RegionProblem
    estimator : estimator with ``fit`` and ``predict``
    """

    failure: str

    def __init__(self, problem: RegionProblem, estimator: Any) -> None:
        super().__init__(problem)
        self.estimator = estimator
        if not problem.weights.are_ones and not has_fit_parameter(estimator, "sample_weight"):
            raise ValueError(
                f"base={estimator!r} does not support sample_weight; omit the weights, or use a "
                "classifier that supports them, such as base='stump', 'linear_svm', 'logistic' "
                "or 'knn'"
            )

    def answers(self, rows: np.ndarray, subsets: np.ndarray) -> np.ndarray:
        """See `BaseClassifier.answers`."""
        answers = np.empty((len(subsets), len(rows)), dtype=np.int64)
        for position, features in enumerate(subsets.tolist()):
            predicted = self._cross_validate(project(self.problem.X, features, rows), rows)
            answers[position] = FAILED if predicted is None else predicted
        return answers

    def fit(self, rows: np.ndarray, features: tuple[int, ...]) -> FittedClassifier | None:
        """See `BaseClassifier.fit`."""
        P = project(self.problem.X, features, rows)
        answers, classifier = self._cross_validate(P, rows), self._fit(P, rows)
        if answers is None or classifier is None:
            return None
        return FittedClassifier(classifier, answers)

    def _cross_validate(self, P: np.ndarray, rows: np.ndarray) -> np.ndarray | None:
        """Predict each fold, stratified by class, by a classifier fitted on the other folds."""
        order = np.argsort(self.problem.y[rows], kind="stable")
        fold_of_row = np.empty(len(rows), dtype=np.int64)
        fold_of_row[order] = np.arange(len(rows)) % _N_FOLDS
        answers = np.empty(len(rows), dtype=np.int64)
        for fold in range(_N_FOLDS):
            is_test = fold_of_row == fold
            if not is_test.any():
                continue
            classifier = self._fit(P[~is_test], rows[~is_test])
            if classifier is None:
                return None
            answers[is_test] = classifier.predict(P[is_test])
        return answers

    def _fit(self, P: np.ndarray, rows: np.ndarray) -> Any:
        """Fit a clone; None, with the reason in `failure`, if this raises an error."""
        is_unweighted = self.problem.weights.are_ones
        weights = {} if is_unweighted else {"sample_weight": self.problem.weight(rows)}
        try:
            return clone(self.estimator).fit(P, self.problem.y[rows], **weights)
        except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
            self.failure = f"{type(error).__name__}: {error}"
            return None
