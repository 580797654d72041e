"""Base classifiers, which are fitted on many projections and rank them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
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

_BLOCK = 32  # columns per task of the search for stumps, and projections per task of a scan
_STEPS = 2**10  # ε is rounded down to a multiple of 1 / _STEPS, so that integers can be summed
_ROWS_PER_CELL = 30
_MAX_BINS = 32  # bins per column on which classifiers are scored, at the most
_N_NEIGHBORS = 5  # neighbors of the built-in k-NN classifier, as in scikit-learn
FAILED = -1  # predicted class index of a classifier that could not be fitted


class FittedClassifier(NamedTuple):
    """A classifier fitted on one projection."""

    classifier: Any  # object with ``predict(P)``, which returns class indices
    # Predictions for the rows it was fitted on; leave-one-out or cross-validated if needed.
    answers: np.ndarray


def constant(answer: int, n_rows: int) -> FittedClassifier:
    """The classifier of one class: a stump with the same class on both sides."""
    return FittedClassifier(Stump(0, np.inf, answer, answer), np.full(n_rows, answer))


class BaseClassifier(ABC):
    """A classifier that can be fitted on many projections."""

    # Error message of the last projection on which the classifier could not be fitted.
    failure: str = ""

    def __init__(self, problem: RegionProblem) -> None:
        self.problem = problem

    def prepare(self, rows: np.ndarray, features: np.ndarray) -> None:  # noqa: B027
        """Precompute what all projections of these columns share; nothing by default."""

    @abstractmethod
    def answers(self, rows: np.ndarray, subsets: np.ndarray) -> np.ndarray:
        """Predictions of a classifier per projection for the rows of its fit, or all `FAILED`."""

    @abstractmethod
    def fit(self, rows: np.ndarray, features: tuple[int, ...]) -> FittedClassifier | None:
        """Fit the classifier on one projection; None where it cannot be fitted."""


class StumpBase(BaseClassifier):
    """The stump with the smallest error over the columns of the projection."""

    def prepare(self, rows: np.ndarray, features: np.ndarray) -> None:
        n = self.problem.n_features
        self._ends, self._classes = np.empty((n, 2)), np.empty((n, 2), dtype=np.int64)
        self._wrong = np.empty(n, dtype=np.int64)

        def work(start: int) -> None:
            block = features[start : start + _BLOCK]
            stumps = self._best_stumps(rows, block)
            self._ends[block], self._classes[block], self._wrong[block] = stumps

        self.problem.pool.map(work, range(0, len(features), _BLOCK))

    def answers(self, rows: np.ndarray, subsets: np.ndarray) -> np.ndarray:
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
    """One-vs-rest linear classifiers on standardized columns; C is that of scikit-learn."""

    def __init__(self, problem: RegionProblem, loss: str, C: float = 1.0) -> None:
        super().__init__(problem)
        self.loss: str = loss
        self.C: float = C

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
        P = project(self.problem.X, features, rows)
        return FittedClassifier(classifier, classifier.predict(P))

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
        y, weight, n_classes = problem.y[rows], problem.weight(rows), problem.n_classes
        present, is_logistic = problem.class_units(rows) > 0, self.loss == "logistic"
        fit_linear(columns, local, y, weight, n_classes, present, self.C, is_logistic, coef)
        return columns, local, coef


class KNNBase(BaseClassifier):
    """k-nearest neighbors; predictions for training rows are leave-one-out."""

    def answers(self, rows: np.ndarray, subsets: np.ndarray) -> np.ndarray:
        return np.stack([self.fit(rows, tuple(s)).answers for s in subsets.tolist()])

    def fit(self, rows: np.ndarray, features: tuple[int, ...]) -> FittedClassifier:
        problem = self.problem
        P, scale = project(problem.X, features, rows), problem.scales[1][list(features)]
        y, weight = problem.y[rows], problem.weight(rows)
        classifier = KNNClassifier(P, y, weight, problem.n_classes, scale, _N_NEIGHBORS)
        return FittedClassifier(classifier, classifier.leave_one_out())


class SklearnBase(BaseClassifier):
    """A classifier given by the user; cross-validated, as training errors are too optimistic."""

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


BASES = ("constant", "stump", "linear_svm", "logistic", "knn")


def make_base(base: Any, problem: RegionProblem, penalty: float) -> BaseClassifier | None:
    """The base classifier for a name or an estimator; None for constants. `penalty` is λ."""
    if not isinstance(base, str):
        return SklearnBase(problem, base)
    if base == "constant":
        return None
    if base in ("stump", "knn"):
        return StumpBase(problem) if base == "stump" else KNNBase(problem)
    return LinearBase(problem, "logistic" if base == "logistic" else "squared_hinge", 1 / penalty)


@dataclass(frozen=True)
class Scan:
    """Scores of all projections, one array per size."""

    subsets: list[np.ndarray]
    error: list[np.ndarray]  # error rate of the classifier; infinite where it could not be fitted
    # Estimated coverage of regions for each ε (rows of the arrays): the sum over the cells of a
    # coarse grid of max(0, C - (1 - ε) / ε · W) as a fraction of the total weight, where C and W
    # are the weights of the correctly and of the wrongly classified rows in a cell.
    potential: list[np.ndarray]

    def ranked(
        self, penalty: float, choose: str, max_error_index: int = 0
    ) -> Iterator[tuple[int, ...]]:
        """Projections, best first: by error, by potential ("coverage"), or alternately by both."""
        if choose == "both":
            rankings = [
                self.ranked(penalty, name, max_error_index) for name in ("coverage", "error")
            ]
            yield from dict.fromkeys(chain.from_iterable(zip(*rankings)))
            return
        penalties = np.concatenate([np.full(len(s), penalty * s.shape[1]) for s in self.subsets])
        error = np.concatenate(self.error)
        potential = np.concatenate(self.potential, axis=1)[max_error_index]
        projections = [tuple(each) for subset in self.subsets for each in subset.tolist()]
        keys = (-potential, error) if choose == "error" else (error, -potential)
        order = np.lexsort((keys[0] + penalties, keys[1] + penalties))
        for position in order.tolist():
            if error[position] < np.inf:
                yield projections[position]


def scan_projections(
    base: BaseClassifier,
    rows: np.ndarray,
    subsets: list[np.ndarray],
    max_errors: Sequence[float],
    should_stop: Callable[[], bool],
) -> Scan | None:
    """Fit the base classifier on every projection and score it; None if it was stopped."""
    from pellucid.eop.kernels import score_projections

    problem, features = base.problem, np.unique(np.concatenate([s.ravel() for s in subsets]))
    base.prepare(rows, features)
    y, units, total = problem.y[rows], problem.units[rows], problem.total(rows)
    gains = np.array([min(max(int(e * _STEPS), 1), _STEPS - 1) for e in max_errors])
    wrong = [np.empty(len(s), dtype=np.int64) for s in subsets]
    potential = [np.empty((len(gains), len(s)), dtype=np.int64) for s in subsets]
    # A cell has about `_ROWS_PER_CELL` rows.
    per_column = total / problem.weights.units_per_weight / _ROWS_PER_CELL
    n_bins = [int(np.clip(per_column ** (1 / s.shape[1]), 2, _MAX_BINS)) for s in subsets]
    codes = {n: bin_codes(problem, rows, features, n) for n in set(n_bins)}

    def score(task: tuple[int, int]) -> None:
        if should_stop():
            return
        i, start = task
        block = slice(start, start + _BLOCK)
        some, n = subsets[i][block], n_bins[i]
        rated = base.answers(rows, some), y, units, codes[n], np.searchsorted(features, some), n
        scores = wrong[i][block], potential[i][:, block]
        score_projections(*rated, gains, _STEPS - gains, *scores)

    tasks = [(i, start) for i, s in enumerate(subsets) for start in range(0, len(s), _BLOCK)]
    problem.pool.map(score, tasks)
    if should_stop():
        return None
    errors = [np.where(w < 0, np.inf, w / total) for w in wrong]
    return Scan(subsets, errors, [w / (gains[:, None] * total) for w in potential])


def bin_codes(
    problem: RegionProblem, rows: np.ndarray, features: np.ndarray, n_bins: int
) -> np.ndarray:
    """Bin of every row in every column; all bins have about the same weight."""
    codes = np.empty((len(features), len(rows)), dtype=np.uint8)
    units = problem.units[rows]
    ranks = (np.arange(1, n_bins) * int(units.sum())) // n_bins

    def work(j: int) -> None:
        values = column_values(problem.X, features[j], rows)
        order = np.argsort(values)
        edges = np.searchsorted(np.cumsum(units[order]), ranks, side="right")
        codes[j] = np.searchsorted(values[order[edges]], values, side="right")

    problem.pool.map(work, range(len(features)))
    return codes
