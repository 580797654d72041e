"""Linear support vector machines and logistic regressions on all projections."""

from __future__ import annotations

import numpy as np

from pellucid.eop.classifiers.base import BaseClassifier, FittedClassifier
from pellucid.eop.problem import RegionProblem
from pellucid.regions.classifiers import LinearClassifier
from pellucid.regions.levels import project


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
