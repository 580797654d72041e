"""Linear support vector machines and logistic regressions on all projections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pellucid._utils.texts import say
from pellucid.eop.classifiers.base import BaseClassifier, FittedClassifier
from pellucid.eop.problem import RegionProblem, project


@dataclass(frozen=True)
class LinearClassifier:
    """Predicts the class with the largest ``coef @ x + intercept``.

    Attributes
    ----------
    coef : ndarray of shape (n_classes, dim)
    intercept : ndarray of shape (n_classes,)
        Minus infinity for classes without training rows.
    """

    coef: np.ndarray
    intercept: np.ndarray

    def decision_function(self, P: np.ndarray) -> np.ndarray:
        """Score of each class, ``P @ coef.T + intercept``."""
        return P @ self.coef.T + self.intercept

    def predict(self, P: np.ndarray) -> np.ndarray:
        """Class index of every row."""
        return self.decision_function(P).argmax(axis=1)

    def reason(self, answer: int, names: Sequence[str], classes: np.ndarray) -> str:
        """Condition under which a class is predicted, as text."""
        if len(self.coef) > 2 or not np.isfinite(self.intercept).all():
            return say("whereLinear", answer=str(classes[answer]))
        other = 1 - answer
        weights = self.coef[answer] - self.coef[other]
        size = np.abs(weights).max() or 1.0
        weights = weights / size
        bound = (self.intercept[other] - self.intercept[answer]) / size
        terms = [f"{'+' if w >= 0 else '-'} {_factor(w)}{n}" for w, n in zip(weights, names)]
        text = " ".join(terms).removeprefix("+ ")
        return say("where", condition=f"{text} {'≥' if answer == 0 else '>'} {bound:.3g}")


def _factor(weight: float) -> str:
    size = f"{abs(weight):.2g}"
    return "" if size == "1" else f"{size} "


class LinearBase(BaseClassifier):
    """One-vs-rest linear classifiers with squared hinge or logistic loss and an l2 penalty.

    Columns are standardized to mean 0 and standard deviation 1.

    Parameters
    ----------
    problem : RegionProblem
    loss : {"squared_hinge", "logistic"}
    C : float
        Weight of the losses relative to the penalty, as in scikit-learn.
    """

    loss: str

    def __init__(self, problem: RegionProblem, loss: str, C: float = 1.0) -> None:
        super().__init__(problem)
        self.loss, self.C = loss, C

    def answers(self, rows: np.ndarray, subsets: np.ndarray) -> np.ndarray:
        """See `BaseClassifier.answers`."""
        from pellucid.eop.kernels.linear import linear_answers

        columns, local, coef = self._solve(rows, subsets)
        answers = np.empty((len(subsets), len(rows)), dtype=np.int64)
        linear_answers(columns, local, coef, answers)
        return answers

    def fit(self, rows: np.ndarray, features: tuple[int, ...]) -> FittedClassifier:
        """See `BaseClassifier.fit`."""
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
        from pellucid.eop.kernels.linear import fit_linear

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
