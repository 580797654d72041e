"""All projections with their classifiers: errors, and how much regions could cover."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from pellucid.eop.classifiers.base import BaseClassifier
from pellucid.eop.problem import RegionProblem
from pellucid.tree.predictor import column_values

_BLOCK = 32
"""Projections that a thread takes at a time."""

_ROWS_A_CELL = 30
_MOST_BINS = 32
_STEPS = 2**10
"""Of how many steps of one the allowed error is a multiple, where whole numbers are needed."""


@dataclass(frozen=True)
class Scan:
    """Every projection.

    Attributes
    ----------
    subsets : list of ndarray of shape (n_subsets, size)
        Projections by size.
    error : list of ndarray
        Share of errors of the classifier; infinite where it could not be fitted.
    worth : list of ndarray of shape (n_max_errors, n_subsets)
        Share of the rows, about, that lie in cells of a coarse grid in which errors are rare,
        for each error that was to be allowed.
    """

    subsets: list[np.ndarray]
    error: list[np.ndarray]
    worth: list[np.ndarray]

    @property
    def n_failed(self) -> int:
        """Projections without a classifier."""
        return int(sum(np.isinf(error).sum() for error in self.error))

    def ranked(self, penalty: float, choose: str, which: int = 0) -> Iterator[tuple[int, ...]]:
        """Projections, best first, ties going to fewer columns and then to earlier ones.

        Parameters
        ----------
        penalty : float
            What each column costs.
        choose : {"error", "coverage", "both"}
            By least error, and of equal ones by most coverage; or by most coverage; or by turns
            from both lists.
        which : int
            For which of the errors that were to be allowed.
        """
        if choose == "both":
            lists = [self.ranked(penalty, one, which) for one in ("coverage", "error")]
            yield from dict.fromkeys(chain.from_iterable(zip(*lists)))
            return
        price = np.concatenate([np.full(len(s), penalty * s.shape[1]) for s in self.subsets])
        error, worth = np.concatenate(self.error), np.concatenate(self.worth, axis=1)[which]
        flat = [tuple(features) for subset in self.subsets for features in subset.tolist()]
        keys = (-worth, error) if choose == "error" else (error, -worth)
        order = np.lexsort((keys[0] + price, keys[1] + price))
        for position in order.tolist():
            if error[position] < np.inf:
                yield flat[position]


def scan_projections(
    base: BaseClassifier,
    rows: np.ndarray,
    subsets: list[np.ndarray],
    max_errors: Sequence[float],
    is_over: Callable[[], bool],
) -> Scan | None:
    """Fit the base classifier on every projection, and judge it.

    Parameters
    ----------
    base : BaseClassifier
    rows : ndarray of int
        Rows to fit on.
    subsets : list of ndarray of shape (n_subsets, size)
    max_errors : sequence of float
        Errors that are rare enough, one after the other.
    is_over : callable
        Asked now and then whether to stop.

    Returns
    -------
    Scan, or None when it was stopped
    """
    from pellucid.eop.kernels.coverage import judge_answers

    problem = base.problem
    features = np.unique(np.concatenate([s.ravel() for s in subsets]))
    base.prepare(rows, features)
    position = np.zeros(problem.n_features, dtype=np.int64)
    position[features] = np.arange(len(features))
    y, units, total = problem.y[rows], problem.units[rows], problem.total(rows)
    gains = np.array([min(max(int(e * _STEPS), 1), _STEPS - 1) for e in max_errors])
    wrong = [np.empty(len(s), dtype=np.int64) for s in subsets]
    worth = [np.empty((len(gains), len(s)), dtype=np.int64) for s in subsets]
    n_bins = [_n_bins(total / problem.weights.units_per_weight, s.shape[1]) for s in subsets]
    codes = {n: _codes(problem, rows, features, n) for n in set(n_bins)}

    def work(task: tuple[int, int]) -> None:
        if is_over():
            return
        size, start = task
        part = slice(start, start + _BLOCK)
        judge_answers(
            base.answers(rows, subsets[size][part]),
            y,
            units,
            codes[n_bins[size]],
            position[subsets[size][part]],
            n_bins[size],
            gains,
            _STEPS - gains,
            wrong[size][part],
            worth[size][:, part],
        )

    tasks = [(i, start) for i, s in enumerate(subsets) for start in range(0, len(s), _BLOCK)]
    problem.pool.map(work, tasks)
    if is_over():
        return None
    return Scan(
        subsets,
        [np.where(w < 0, np.inf, w / total) for w in wrong],
        [w / (gains[:, None] * total) for w in worth],
    )


def _n_bins(weight: float, dim: int) -> int:
    """Bins a column, so that a cell has rows enough to tell something."""
    return int(np.clip((weight / _ROWS_A_CELL) ** (1 / dim), 2, _MOST_BINS))


def _codes(
    problem: RegionProblem, rows: np.ndarray, features: np.ndarray, n_bins: int
) -> np.ndarray:
    """Bin of every row in every column; bins have about the same weight each."""
    codes = np.empty((len(features), len(rows)), dtype=np.uint8)
    units = problem.units[rows]
    ranks = (np.arange(1, n_bins) * int(units.sum())) // n_bins

    def work(j: int) -> None:
        values = column_values(problem.X, features[j], rows)
        order = np.argsort(values)
        at = np.searchsorted(np.cumsum(units[order]), ranks, side="right")
        codes[j] = np.searchsorted(values[order[at]], values, side="right")

    problem.pool.map(work, range(len(features)))
    return codes
