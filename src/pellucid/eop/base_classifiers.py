"""Base classifiers, which are fitted on many projections."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from pellucid.eop.neighbor_finder import KNNClassifier
from pellucid.eop.problem import N_FOLDS, RegionProblem, stratified_folds
from pellucid.regions.classifiers import LinearClassifier, Stump
from pellucid.regions.levels import project
from pellucid.tree.predictor import column_values
from pellucid.tree.rounding import choose_threshold

_BLOCK = 32
"""Columns per task of the search for stumps."""

_N_NEIGHBORS = 5
"""Neighbors of the built-in k-NN classifier, as in scikit-learn."""

FAILED = -1
"""Predicted class index of a classifier that could not be fitted."""


class FittedClassifier(NamedTuple):
    """A classifier fitted on one projection."""

    classifier: Any
    """Object with ``predict(P)``, which returns class indices."""
    answers: np.ndarray
    """Predictions for the rows it was fitted on; leave-one-out or cross-validated if needed."""


def constant(answer: int, n_rows: int) -> FittedClassifier:
    """The classifier of one class: a stump with the same class on both sides."""
    return FittedClassifier(Stump(0, np.inf, answer, answer), np.full(n_rows, answer))


class BaseClassifier(ABC):
    """A classifier that can be fitted on many projections."""

    failure: str = ""
    """Error message of the last projection on which the classifier could not be fitted."""

    def __init__(self, problem: RegionProblem) -> None:
        self.problem = problem

    def prepare(self, rows: np.ndarray, features: np.ndarray) -> None:  # noqa: B027
        """Precompute what all projections of these columns share; nothing by default."""

    @abstractmethod
    def answers(self, rows: np.ndarray, subsets: np.ndarray) -> np.ndarray:
        """Fit a classifier on each projection and predict the rows that it is fitted on.

        The class indices of a projection are all `FAILED` where it could not be fitted.
        """

    @abstractmethod
    def fit(self, rows: np.ndarray, features: tuple[int, ...]) -> FittedClassifier | None:
        """Fit the classifier on one projection; None where it cannot be fitted."""


class ConstantBase(BaseClassifier):
    """One classifier per class, which always predicts it.

    The regions of a projection are then the areas with mostly rows of one class. Projections and
    classes are ranked by :func:`~pellucid.eop.projections.scan_classes`.
    """

    def answers(self, rows: np.ndarray, subsets: np.ndarray) -> np.ndarray:
        """The most frequent class, for each subset."""
        heaviest = int(np.argmax(self.problem.class_units(rows)))
        return np.full((len(subsets), len(rows)), heaviest, dtype=np.int64)

    def fit(self, rows: np.ndarray, features: tuple[int, ...], answer: int = 0) -> FittedClassifier:
        return constant(answer, len(rows))


class StumpBase(BaseClassifier):
    """The stump with the smallest error over the columns of the projection."""

    def prepare(self, rows: np.ndarray, features: np.ndarray) -> None:
        """Find the best stump of every column."""
        n = self.problem.n_features
        self._ends, self._classes = np.empty((n, 2)), np.empty((n, 2), dtype=np.int64)
        self._wrong = np.full(n, np.iinfo(np.int64).max)

        def work(start: int) -> None:
            block = features[start : start + _BLOCK]
            ends, classes, wrong = self._best_stumps(rows, block)
            self._ends[block], self._classes[block], self._wrong[block] = ends, classes, wrong

        self.problem.pool.map(work, range(0, len(features), _BLOCK))

    def answers(self, rows: np.ndarray, subsets: np.ndarray) -> np.ndarray:
        """See `BaseClassifier.answers`; uses the stumps of `prepare`."""
        best = np.take_along_axis(subsets, self._wrong[subsets].argmin(axis=1)[:, None], 1)[:, 0]
        answers = np.empty((len(subsets), len(rows)), dtype=np.int64)
        for position, feature in enumerate(best.tolist()):
            goes_left = column_values(self.problem.X, feature, rows) <= self._ends[feature, 0]
            answers[position] = np.where(goes_left, *self._classes[feature])
        return answers

    def fit(self, rows: np.ndarray, features: tuple[int, ...]) -> FittedClassifier:
        ends, classes, wrong = self._best_stumps(rows, np.array(features))
        best = int(np.argmin(wrong))
        low, high = map(float, ends[best])
        threshold = low if low == high else choose_threshold(low, high, "round")
        stump = Stump(best, threshold, *map(int, classes[best]))
        return FittedClassifier(stump, stump.predict(project(self.problem.X, features, rows)))

    def _best_stumps(
        self, rows: np.ndarray, features: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Threshold intervals, classes and errors of the best stump of each column."""
        from pellucid.eop.kernels import best_stumps

        problem = self.problem
        columns = np.stack([column_values(problem.X, f, rows) for f in features])
        orders = np.argsort(columns, axis=1)
        ends, classes = np.empty((len(features), 2)), np.empty((len(features), 2), dtype=np.int64)
        wrong = np.empty(len(features), dtype=np.int64)
        y, units = problem.y[rows], problem.units[rows]
        best_stumps(orders, columns, y, units, problem.n_classes, ends, classes, wrong)
        return ends, classes, wrong


class LinearBase(BaseClassifier):
    """One-vs-rest linear classifiers with squared hinge or logistic loss and an l2 penalty.

    Columns are standardized to mean 0 and standard deviation 1. C is the weight of the losses
    relative to the penalty, as in scikit-learn.
    """

    def __init__(self, problem: RegionProblem, loss: str, C: float = 1.0) -> None:
        super().__init__(problem)
        self.loss: str = loss
        self.C = C

    def answers(self, rows: np.ndarray, subsets: np.ndarray) -> np.ndarray:
        from pellucid.eop.kernels import linear_answers

        columns, local, coef = self._solve(rows, subsets)
        answers = np.empty((len(subsets), len(rows)), dtype=np.int64)
        linear_answers(columns, local, coef, answers)
        return answers

    def fit(self, rows: np.ndarray, features: tuple[int, ...]) -> FittedClassifier:
        mean, scale = (values[list(features)] for values in self.problem.scales)
        _, _, coef = self._solve(rows, np.array([features]))
        weights = coef[0, :, :-1] / scale
        classifier = LinearClassifier(weights, coef[0, :, -1] - weights @ mean)
        return FittedClassifier(
            classifier, classifier.predict(project(self.problem.X, features, rows))
        )

    def _solve(
        self, rows: np.ndarray, subsets: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Standardized columns, the subsets as indices into them, and the coefficients."""
        from pellucid.eop.kernels import fit_linear

        problem = self.problem
        used, local = np.unique(subsets, return_inverse=True)
        local = local.reshape(subsets.shape)
        mean, scale = (values[used] for values in problem.scales)
        columns = np.ascontiguousarray(((project(problem.X, used, rows) - mean) / scale).T)
        coef = np.empty((len(subsets), problem.n_classes, subsets.shape[1] + 1))
        fit_linear(
            columns=columns,
            subsets=local,
            y=problem.y[rows],
            weight=problem.weight(rows),
            n_classes=problem.n_classes,
            present=problem.class_units(rows) > 0,
            C=self.C,
            is_logistic=self.loss == "logistic",
            coef=coef,
        )
        return columns, local, coef


class KNNBase(BaseClassifier):
    """k-nearest neighbors; predictions for training rows are leave-one-out."""

    def answers(self, rows: np.ndarray, subsets: np.ndarray) -> np.ndarray:
        return np.stack([self._make(rows, tuple(s)).leave_one_out() for s in subsets.tolist()])

    def fit(self, rows: np.ndarray, features: tuple[int, ...]) -> FittedClassifier:
        classifier = self._make(rows, features)
        return FittedClassifier(classifier, classifier.leave_one_out())

    def _make(self, rows: np.ndarray, features: tuple[int, ...]) -> KNNClassifier:
        problem = self.problem
        return KNNClassifier(
            project(problem.X, features, rows),
            problem.y[rows],
            problem.weight(rows),
            problem.n_classes,
            problem.scales[1][list(features)],
            _N_NEIGHBORS,
        )


class SklearnBase(BaseClassifier):
    """A scikit-learn classifier given by the user.

    Training rows are predicted by cross-validation, because the training error of a flexible
    classifier is too optimistic. Projections on which the classifier cannot be fitted (for
    example because only one class remains) are skipped.
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
        answers = np.empty((len(subsets), len(rows)), dtype=np.int64)
        for position, features in enumerate(subsets.tolist()):
            predicted = self._cross_validate(project(self.problem.X, features, rows), rows)
            answers[position] = FAILED if predicted is None else predicted
        return answers

    def fit(self, rows: np.ndarray, features: tuple[int, ...]) -> FittedClassifier | None:
        P = project(self.problem.X, features, rows)
        answers, classifier = self._cross_validate(P, rows), self._fit(P, rows)
        if answers is None or classifier is None:
            return None
        return FittedClassifier(classifier, answers)

    def _cross_validate(self, P: np.ndarray, rows: np.ndarray) -> np.ndarray | None:
        """Predict each fold, stratified by class, by a classifier fitted on the other folds."""
        fold_of_row = stratified_folds(self.problem.y[rows], np.arange(len(rows)))
        answers = np.empty(len(rows), dtype=np.int64)
        for fold in range(N_FOLDS):
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


BASES: dict[str, Any] = {
    "constant": ConstantBase,
    "stump": StumpBase,
    "linear_svm": "squared_hinge",
    "logistic": "logistic",
    "knn": KNNBase,
}


def make_base(base: Any, problem: RegionProblem, penalty: float = 1.0) -> BaseClassifier:
    """Create the base classifier for a name or an estimator; `penalty` is λ of linear ones."""
    if not isinstance(base, str):
        return SklearnBase(problem, base)
    kind = BASES[base]
    return LinearBase(problem, kind, 1 / penalty) if isinstance(kind, str) else kind(problem)
