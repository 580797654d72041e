"""Rank projections and classes by the best box of each class on a coarse grid."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from pellucid.eop.problem import RegionProblem
from pellucid.eop.scan import STEPS, bin_codes

_BLOCK = 32
"""Projections per task."""

_BINS = (64, 16)
"""Bins per column of projections onto one column and onto two."""

_MAX_CELLS = 4096
"""Cells of a projection onto more columns."""


@dataclass(frozen=True)
class ClassScan:
    """Surplus of the best box for each projection and class.

    Attributes
    ----------
    subsets : list of ndarray of shape (n_subsets, size)
        Projections, one array per size.
    surplus : list of ndarray of shape (n_subsets, n_classes)
        C - (1 - ε) / ε · W of the best box, as a fraction of the weight of all training rows,
        where C and W are the weights of the rows of the class and of other rows inside.
    """

    subsets: list[np.ndarray]
    surplus: list[np.ndarray]

    @property
    def n_failed(self) -> int:
        """Number of projections without a classifier: none, since no classifier is fitted."""
        return 0

    def best_projections(self, penalty: float, n: int) -> list[np.ndarray]:
        """Indices, by size, of the `n` projections with the largest values for any class."""
        sizes = [subset.shape[1] for subset in self.subsets]
        value = [s.max(axis=1) - penalty * size for s, size in zip(self.surplus, sizes)]
        best = np.sort(np.argsort(-np.concatenate(value), kind="stable")[:n])
        ends = np.cumsum([0, *map(len, value)])
        return [best[(best >= a) & (best < b)] - a for a, b in zip(ends, ends[1:])]

    def ranked(
        self, penalty: float, choose: str, max_error_index: int = 0
    ) -> Iterator[tuple[tuple[int, ...], int]]:
        """Projections and classes, largest surplus - η · (number of columns) first."""
        sizes = [subset.shape[1] for subset in self.subsets]
        value = np.concatenate([s - penalty * size for s, size in zip(self.surplus, sizes)])
        projections = [tuple(features) for subset in self.subsets for features in subset.tolist()]
        n_classes = value.shape[1]
        for position in np.argsort(-value, axis=None, kind="stable").tolist():
            subset, answer = divmod(position, n_classes)
            if value[subset, answer] <= 0:
                return
            yield projections[subset], answer


def scan_classes(
    problem: RegionProblem,
    rows: np.ndarray,
    subsets: list[np.ndarray],
    max_error: float,
    total: int,
    should_stop: Callable[[], bool],
) -> ClassScan | None:
    """Find the best box on a coarse grid for every projection and class.

    Parameters
    ----------
    problem : RegionProblem
    rows : ndarray of int
        Rows that no level covers yet.
    subsets : list of ndarray of shape (n_subsets, size)
    max_error : float
        ε.
    total : int
        Weight of all training rows, in units.
    should_stop : callable
        Called before each task; returns whether to stop.

    Returns
    -------
    ClassScan, or None if it was stopped
    """
    from pellucid.eop.kernels.class_boxes import best_class_boxes

    features = np.unique(np.concatenate([s.ravel() for s in subsets]))
    position = np.zeros(problem.n_features, dtype=np.int64)
    position[features] = np.arange(len(features))
    y, units = problem.y[rows], problem.units[rows]
    gain = min(max(int(max_error * STEPS), 1), STEPS - 1)
    n_bins = [_n_bins(subset.shape[1]) for subset in subsets]
    codes = {n: bin_codes(problem, rows, features, n) for n in set(n_bins)}
    best = [np.empty((len(s), problem.n_classes), dtype=np.int64) for s in subsets]

    def work(task: tuple[int, int]) -> None:
        if should_stop():
            return
        size, start = task
        block = slice(start, start + _BLOCK)
        best_class_boxes(
            codes=codes[n_bins[size]],
            y=y,
            units=units,
            subsets=position[subsets[size][block]],
            n_bins=n_bins[size],
            n_classes=problem.n_classes,
            gain=gain,
            loss=STEPS - gain,
            best=best[size][block],
        )

    tasks = [(i, start) for i, s in enumerate(subsets) for start in range(0, len(s), _BLOCK)]
    problem.pool.map(work, tasks)
    if should_stop():
        return None
    return ClassScan(subsets, [surplus / (gain * total) for surplus in best])


def _n_bins(dim: int) -> int:
    if dim <= len(_BINS):
        return _BINS[dim - 1]
    return max(int(_MAX_CELLS ** (1 / dim)), 2)
