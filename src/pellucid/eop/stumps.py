"""Decision stumps of all columns at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pellucid.cuts.thresholds import choose_threshold
from pellucid.eop.bases import Base, Fitted
from pellucid.eop.problem import project
from pellucid.routing import column_values

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


class StumpBase(Base):
    """The stump of least error. On several columns it is that of the best of them."""

    def errors(self, rows, subsets):
        """See `Base.errors`: a projection is as good as its best column."""
        used = np.unique(np.concatenate([s.ravel() for s in subsets]))
        wrong = np.zeros(self.problem.n_features, dtype=np.int64)
        wrong[used] = self._sweep(rows, used)[1]
        return [wrong[s].min(axis=1) for s in subsets]

    def fit(self, rows, features):
        """See `Base.fit`."""
        cuts, wrong, values = self._sweep(rows, np.array(features), keep_values=True)
        position = int(np.argmin(wrong))
        column = values[position]
        threshold = np.inf
        if cuts[position] >= 0:
            ordered = np.sort(column)
            low, high = ordered[cuts[position] : cuts[position] + 2]
            threshold = choose_threshold(float(low), float(high), "round")
        left = column <= threshold
        stump = Stump(position, threshold, self._largest(rows[left]), self._largest(rows[~left]))
        return Fitted(stump, stump.predict(project(self.problem.X, features, rows)))

    def _largest(self, rows: np.ndarray) -> int:
        return int(np.argmax(self.problem.class_units(rows)))

    def _sweep(self, rows: np.ndarray, features: np.ndarray, keep_values: bool = False):
        """Cut and error of each column, one pass over its sorted values each."""
        from pellucid.kernels.stumps import best_stumps

        problem = self.problem
        y, units = problem.y[rows], problem.units[rows]
        cuts = np.empty(len(features), dtype=np.int64)
        right = np.empty_like(cuts)
        kept = np.empty((len(features), len(rows))) if keep_values else None

        def work(start: int) -> None:
            part = slice(start, start + _BLOCK)
            columns = np.stack([column_values(problem.X, f, rows) for f in features[part]])
            orders = np.argsort(columns, axis=1)
            best_stumps(orders, columns, y, units, problem.n_classes, cuts[part], right[part])
            if kept is not None:
                kept[part] = columns

        problem.team.map(work, range(0, len(features), _BLOCK))
        return cuts, units.sum() - right, kept
