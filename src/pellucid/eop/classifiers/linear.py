"""Linear support vector machines and logistic regressions of all projections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.eop.classifiers.base import BaseClassifier, FittedClassifier
from pellucid.eop.problem import project


@dataclass(frozen=True)
class LinearClassifier:
    """The class with the largest ``coef @ x + intercept``.

    Attributes
    ----------
    coef : ndarray of shape (n_classes, dim)
    intercept : ndarray of shape (n_classes,)
        Minus infinity for classes that had no rows.
    """

    coef: np.ndarray
    intercept: np.ndarray

    def decision_function(self, P: np.ndarray) -> np.ndarray:
        """What speaks for each class."""
        return P @ self.coef.T + self.intercept

    def predict(self, P: np.ndarray) -> np.ndarray:
        """Position of the class, for every row."""
        return self.decision_function(P).argmax(axis=1)

    def reason(self, answer: int, names: Sequence[str], classes: np.ndarray) -> str:
        """When it gives an answer, in words."""
        if len(self.coef) > 2 or not np.isfinite(self.intercept).all():
            return f"where the linear classifier says {classes[answer]}"
        other = 1 - answer
        weights = self.coef[answer] - self.coef[other]
        size = np.abs(weights).max() or 1.0
        weights = weights / size
        bound = (self.intercept[other] - self.intercept[answer]) / size
        terms = [f"{'+' if w >= 0 else '-'} {_factor(w)}{n}" for w, n in zip(weights, names)]
        text = " ".join(terms).removeprefix("+ ")
        return f"where {text} {'≥' if answer == 0 else '>'} {bound:.3g}"


def _factor(weight: float) -> str:
    size = f"{abs(weight):.2g}"
    return "" if size == "1" else f"{size} "


class LinearBase(BaseClassifier):
    """One class against the rest, with squared hinge or logistic loss and an l2 penalty.

    Columns are brought to a mean of 0 and a deviation of 1 first.

    Parameters
    ----------
    problem : RegionProblem
    loss : {"squared_hinge", "logistic"}
    C : float
        Weight of the losses against the penalty.
    """

    def __init__(self, problem, loss: str, C: float = 1.0) -> None:
        super().__init__(problem)
        self.loss, self.C = loss, C

    def answers(self, rows, subsets):
        """See `BaseClassifier.answers`."""
        from pellucid.eop.kernels.linear import linear_answers

        columns, local, coef = self._solve(rows, subsets)
        found = np.empty((len(subsets), len(rows)), dtype=np.int64)
        linear_answers(columns, local, coef, found)
        return found

    def fit(self, rows, features):
        """See `BaseClassifier.fit`."""
        mean, scale = (values[list(features)] for values in self.problem.scales)
        _, _, coef = self._solve(rows, np.array([features]))
        weights = coef[0, :, :-1] / scale
        classifier = LinearClassifier(weights, coef[0, :, -1] - weights @ mean)
        return FittedClassifier(
            classifier, classifier.predict(project(self.problem.X, features, rows))
        )

    def _solve(self, rows: np.ndarray, subsets: np.ndarray):
        """Scaled columns, the subsets as positions among them, and the coefficients."""
        from pellucid.eop.kernels.linear import fit_linear

        problem = self.problem
        used, local = np.unique(subsets, return_inverse=True)
        local = local.reshape(subsets.shape)
        mean, scale = (values[used] for values in problem.scales)
        columns = np.ascontiguousarray(((project(problem.X, used, rows) - mean) / scale).T)
        coef = np.empty((len(subsets), problem.n_classes, subsets.shape[1] + 1))
        fit_linear(
            columns,
            local,
            problem.y[rows],
            problem.weight(rows),
            problem.n_classes,
            problem.class_units(rows) > 0,
            self.C,
            self.loss == "logistic",
            coef,
        )
        return columns, local, coef
