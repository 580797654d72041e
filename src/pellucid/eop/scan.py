"""Score all projections: error of the classifier, and an estimate of what regions can cover."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from pellucid.eop.classifiers.base import BaseClassifier
from pellucid.eop.problem import RegionProblem
from pellucid.tree.predictor import column_values

_BLOCK = 32
"""Projections per task."""

_ROWS_PER_CELL = 30
_MAX_BINS = 32
STEPS = 2**10
"""ε is rounded down to a multiple of 1 / STEPS, so that integers can be summed."""


@dataclass(frozen=True)
class Scan:
    """Scores of all projections.

    Attributes
    ----------
    subsets : list of ndarray of shape (n_subsets, size)
        Projections, one array per size.
    error : list of ndarray
        Error rate of the classifier; infinite where it could not be fitted.
    potential : list of ndarray of shape (n_max_errors, n_subsets)
        Estimated coverage of regions for each ε: the sum over the cells of a coarse grid of
        max(0, C - (1 - ε) / ε · W) as a fraction of the total weight, where C and W are the
        weights of the correctly and of the wrongly classified rows in a cell.
    """

    subsets: list[np.ndarray]
    error: list[np.ndarray]
    potential: list[np.ndarray]

    @property
    def n_failed(self) -> int:
        """Number of projections on which the classifier could not be fitted."""
        return int(sum(np.isinf(error).sum() for error in self.error))

    def ranked(
        self, penalty: float, choose: str, max_error_index: int = 0
    ) -> Iterator[tuple[tuple[int, ...]]]:
        """Projections, best first. Ties go to fewer columns, then to earlier columns.

        Parameters
        ----------
        penalty : float
            Penalty per column (η).
        choose : {"error", "coverage", "both"}
            Rank by error, then potential; by potential, then error; or alternate between both
            rankings.
        max_error_index : int
            Index of the value of ε whose potential is used.
        """
        if choose == "both":
            rankings = [
                self.ranked(penalty, name, max_error_index) for name in ("coverage", "error")
            ]
            yield from dict.fromkeys(chain.from_iterable(zip(*rankings)))
            return
        penalties = np.concatenate([np.full(len(s), penalty * s.shape[1]) for s in self.subsets])
        error = np.concatenate(self.error)
        potential = np.concatenate(self.potential, axis=1)[max_error_index]
        projections = [tuple(features) for subset in self.subsets for features in subset.tolist()]
        keys = (-potential, error) if choose == "error" else (error, -potential)
        order = np.lexsort((keys[0] + penalties, keys[1] + penalties))
        for position in order.tolist():
            if error[position] < np.inf:
                yield (projections[position],)


def scan_projections(
    base: BaseClassifier,
    rows: np.ndarray,
    subsets: list[np.ndarray],
    max_errors: Sequence[float],
    should_stop: Callable[[], bool],
) -> Scan | None:
    """Fit the base classifier on every projection and score it.

    Parameters
    ----------
    base : BaseClassifier
    rows : ndarray of int
        Rows to fit on.
    subsets : list of ndarray of shape (n_subsets, size)
    max_errors : sequence of float
        Values of ε for which the potential is computed.
    should_stop : callable
        Called before each task; returns whether to stop.

    Returns
    -------
    Scan, or None if it was stopped
    """
    from pellucid.eop.kernels.coverage import score_projections

    problem = base.problem
    features = np.unique(np.concatenate([s.ravel() for s in subsets]))
    base.prepare(rows, features)
    position = np.zeros(problem.n_features, dtype=np.int64)
    position[features] = np.arange(len(features))
    y, units, total = problem.y[rows], problem.units[rows], problem.total(rows)
    gains = np.array([min(max(int(e * STEPS), 1), STEPS - 1) for e in max_errors])
    wrong = [np.empty(len(s), dtype=np.int64) for s in subsets]
    potential = [np.empty((len(gains), len(s)), dtype=np.int64) for s in subsets]
    n_bins = [_n_bins(total / problem.weights.units_per_weight, s.shape[1]) for s in subsets]
    codes = {n: bin_codes(problem, rows, features, n) for n in set(n_bins)}

    def work(task: tuple[int, int]) -> None:
        if should_stop():
            return
        size, start = task
        block = slice(start, start + _BLOCK)
        score_projections(
            answers=base.answers(rows, subsets[size][block]),
            y=y,
            units=units,
            codes=codes[n_bins[size]],
            subsets=position[subsets[size][block]],
            n_bins=n_bins[size],
            gains=gains,
            losses=STEPS - gains,
            wrong=wrong[size][block],
            potential=potential[size][:, block],
        )

    tasks = [(i, start) for i, s in enumerate(subsets) for start in range(0, len(s), _BLOCK)]
    problem.pool.map(work, tasks)
    if should_stop():
        return None
    return Scan(
        subsets,
        [np.where(w < 0, np.inf, w / total) for w in wrong],
        [w / (gains[:, None] * total) for w in potential],
    )


def _n_bins(weight: float, dim: int) -> int:
    """Bins per column, so that a cell has about `_ROWS_PER_CELL` rows."""
    return int(np.clip((weight / _ROWS_PER_CELL) ** (1 / dim), 2, _MAX_BINS))


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
