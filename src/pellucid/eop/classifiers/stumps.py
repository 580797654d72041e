"""Decision stumps of all columns at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.eop.classifiers.base import BaseClassifier, FittedClassifier
from pellucid.eop.problem import project
from pellucid.explanation.conditions import format_number
from pellucid.tree.predictor import column_values
from pellucid.tree.rounding import choose_threshold

_BLOCK = 32
"""Columns that are read and swept together."""


@dataclass(frozen=True)
class Stump:
    """One threshold on one column.

    Attributes
    ----------
    position : int
        Which of the columns of its projection.
    threshold : float
    at_most, above : int
        Class of the rows with values up to the threshold, and beyond.
    """

    position: int
    threshold: float
    at_most: int
    above: int

    def predict(self, P: np.ndarray) -> np.ndarray:
        """Position of the class, for every row."""
        return np.where(P[:, self.position] <= self.threshold, self.at_most, self.above)

    def reason(self, answer: int, names: Sequence[str], classes: np.ndarray) -> str:
        """When it gives an answer, in words."""
        sign = "≤" if answer == self.at_most else ">"
        return f"where {names[self.position]} {sign} {format_number(self.threshold)}"


class StumpBase(BaseClassifier):
    """The stump of least error. On several columns it is that of the best of them."""

    def prepare(self, rows, features):
        """Sweep every column once."""
        n = self.problem.n_features
        self._ends, self._classes = np.empty((n, 2)), np.empty((n, 2), dtype=np.int64)
        self._wrong = np.full(n, np.iinfo(np.int64).max)

        def work(start: int) -> None:
            part = features[start : start + _BLOCK]
            found = self._sweep(rows, part)
            self._ends[part], self._classes[part], self._wrong[part] = found

        self.problem.pool.map(work, range(0, len(features), _BLOCK))

    def answers(self, rows, subsets):
        """See `BaseClassifier.answers`: a projection is as good as its best column."""
        best = np.take_along_axis(subsets, self._wrong[subsets].argmin(axis=1)[:, None], 1)[:, 0]
        found = np.empty((len(subsets), len(rows)), dtype=np.int64)
        for position, feature in enumerate(best.tolist()):
            left = column_values(self.problem.X, feature, rows) <= self._ends[feature, 0]
            found[position] = np.where(left, *self._classes[feature])
        return found

    def fit(self, rows, features):
        """See `BaseClassifier.fit`."""
        ends, classes, wrong = self._sweep(rows, np.array(features))
        best = int(np.argmin(wrong))
        low, high = map(float, ends[best])
        threshold = low if low == high else choose_threshold(low, high, "round")
        stump = Stump(best, threshold, *map(int, classes[best]))
        return FittedClassifier(stump, stump.predict(project(self.problem.X, features, rows)))

    def _sweep(self, rows: np.ndarray, features: np.ndarray):
        """Ends, classes and errors of the best stumps, one pass over sorted values each."""
        from pellucid.eop.kernels.stumps import best_stumps

        problem = self.problem
        columns = np.stack([column_values(problem.X, f, rows) for f in features])
        orders = np.argsort(columns, axis=1)
        ends, classes = np.empty((len(features), 2)), np.empty((len(features), 2), dtype=np.int64)
        wrong = np.empty(len(features), dtype=np.int64)
        y, units = problem.y[rows], problem.units[rows]
        best_stumps(orders, columns, y, units, problem.n_classes, ends, classes, wrong)
        return ends, classes, wrong
