"""Any scikit-learn classifier as a base."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from pellucid.eop.classifiers.base import FAILED, BaseClassifier, FittedClassifier
from pellucid.eop.problem import RegionProblem, project

_PARTS = 3
"""Parts that the rows are divided into, each answered by a classifier of the others."""


class SklearnBase(BaseClassifier):
    """A classifier of the user's.

    What it says of a training row comes from a copy that has not seen the row, so that
    classifiers that know their training rows by heart do not seem right everywhere. Where it
    cannot be fitted (too few classes left, say), the projection is passed over.

    Parameters
    ----------
    problem : RegionProblem
    estimator : estimator with ``fit`` and ``predict``
    """

    def __init__(self, problem: RegionProblem, estimator: Any) -> None:
        super().__init__(problem)
        self.estimator = estimator
        if not problem.weights.are_ones and not has_fit_parameter(estimator, "sample_weight"):
            raise ValueError(
                f"base={estimator!r} takes no sample_weight; leave the weights out, or use a "
                "classifier that takes them, such as base='stump', 'linear_svm', 'logistic' or "
                "'knn'"
            )

    def answers(self, rows, subsets):
        """See `BaseClassifier.answers`."""
        found = np.empty((len(subsets), len(rows)), dtype=np.int64)
        for position, features in enumerate(subsets.tolist()):
            answers = self._answers(project(self.problem.X, features, rows), rows)
            found[position] = FAILED if answers is None else answers
        return found

    def fit(self, rows, features):
        """See `BaseClassifier.fit`."""
        P = project(self.problem.X, features, rows)
        answers, classifier = self._answers(P, rows), self._fit(P, rows)
        return (
            None if answers is None or classifier is None else FittedClassifier(classifier, answers)
        )

    def _answers(self, P: np.ndarray, rows: np.ndarray) -> np.ndarray | None:
        order = np.argsort(self.problem.y[rows], kind="stable")
        part = np.empty(len(rows), dtype=np.int64)
        part[order] = np.arange(len(rows)) % _PARTS
        answers = np.empty(len(rows), dtype=np.int64)
        for number in range(_PARTS):
            is_in = part == number
            if not is_in.any():
                continue
            classifier = self._fit(P[~is_in], rows[~is_in])
            if classifier is None:
                return None
            answers[is_in] = classifier.predict(P[is_in])
        return answers

    def _fit(self, P: np.ndarray, rows: np.ndarray) -> Any:
        ones = self.problem.weights.are_ones
        weights = {} if ones else {"sample_weight": self.problem.weight(rows)}
        try:
            return clone(self.estimator).fit(P, self.problem.y[rows], **weights)
        except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
            self.failure = f"{type(error).__name__}: {error}"
            return None
