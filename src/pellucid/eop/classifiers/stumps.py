"""Decision stumps on all columns."""

from __future__ import annotations

import numpy as np

from pellucid.eop.classifiers.base import BaseClassifier, FittedClassifier
from pellucid.regions.classifiers import Stump
from pellucid.regions.levels import project
from pellucid.tree.predictor import column_values
from pellucid.tree.rounding import choose_threshold

_BLOCK = 32
"""Columns per task."""


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
        """See `BaseClassifier.fit`."""
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
        from pellucid.eop.kernels.stumps import best_stumps

        problem = self.problem
        columns = np.stack([column_values(problem.X, f, rows) for f in features])
        orders = np.argsort(columns, axis=1)
        ends, classes = np.empty((len(features), 2)), np.empty((len(features), 2), dtype=np.int64)
        wrong = np.empty(len(features), dtype=np.int64)
        y, units = problem.y[rows], problem.units[rows]
        best_stumps(orders, columns, y, units, problem.n_classes, ends, classes, wrong)
        return ends, classes, wrong
