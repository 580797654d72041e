"""Projections, which are subsets of the columns: list them, and rank them on coarse grids."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from math import comb

import numpy as np

from pellucid.eop.base_classifiers import BaseClassifier
from pellucid.eop.problem import RegionProblem
from pellucid.tree.predictor import column_values

MAX_SUBSETS = 2_000_000
"""Largest number of subsets that ``projections="all"`` enumerates."""

_BLOCK = 32
"""Projections per task."""

_STEPS = 2**10
"""ε is rounded down to a multiple of 1 / _STEPS, so that integers can be summed."""

_ROWS_PER_CELL = 30
_MAX_BINS = 32
"""Bins per column on which classifiers are scored, at the most."""


def list_projections(
    features: np.ndarray,
    max_dim: int,
    projections: str | int,
    random: np.random.RandomState,
) -> list[np.ndarray]:
    """Subsets of at most `max_dim` columns: one array per size, in lexicographic order.

    `projections` is "all", or the number of subsets to draw at random. The number is divided
    evenly among the sizes, as far as there are enough subsets of each size.
    """
    sizes = range(1, min(max_dim, len(features)) + 1)
    counts = [comb(len(features), size) for size in sizes]
    if projections == "all":
        if sum(counts) > MAX_SUBSETS:
            raise ValueError(
                f"there are {sum(counts):,} subsets of up to {max_dim} of the {len(features):,} "
                "columns; set projections to a number, for example projections=5000, to draw "
                "that many at random"
            )
        return [
            np.array(list(combinations(features.tolist(), size)), dtype=np.int64) for size in sizes
        ]
    quotas = _split_evenly(int(projections), counts)
    return [
        features[_draw(len(features), size, quota, count, random)]
        for size, quota, count in zip(sizes, quotas, counts)
    ]


def _split_evenly(total: int, counts: list[int]) -> list[int]:
    """Divide `total` into equal parts of at most `counts`; the rest goes to larger counts."""
    quotas = [0] * len(counts)
    ascending = sorted(range(len(counts)), key=lambda i: counts[i])
    for done, size in enumerate(ascending):
        quotas[size] = min(counts[size], (total - sum(quotas)) // (len(counts) - done))
    return quotas


def _draw(n: int, size: int, quota: int, count: int, random: np.random.RandomState) -> np.ndarray:
    """Draw distinct subsets of 0 .. n - 1, in lexicographic order."""
    if quota * 2 >= count:
        subsets = np.array(list(combinations(range(n), size)), dtype=np.int64)
        chosen = np.sort(random.choice(count, quota, replace=False))
        return subsets[chosen].reshape(quota, size)
    drawn: set[tuple[int, ...]] = set()
    while len(drawn) < quota:
        drawn.add(tuple(sorted(random.choice(n, size, replace=False).tolist())))
    return np.array(sorted(drawn), dtype=np.int64).reshape(quota, size)


@dataclass(frozen=True)
class Scan:
    """Scores of all projections, one array per size."""

    subsets: list[np.ndarray]
    error: list[np.ndarray]
    """Error rate of the classifier; infinite where it could not be fitted."""
    potential: list[np.ndarray]
    """Estimated coverage of regions for each ε (rows of the arrays): the sum over the cells of a
    coarse grid of max(0, C - (1 - ε) / ε · W) as a fraction of the total weight, where C and W are
    the weights of the correctly and of the wrongly classified rows in a cell."""

    @property
    def n_failed(self) -> int:
        """Number of projections on which the classifier could not be fitted."""
        return int(sum(np.isinf(error).sum() for error in self.error))

    def ranked(
        self, penalty: float, choose: str, max_error_index: int = 0
    ) -> Iterator[tuple[tuple[int, ...]]]:
        """Projections, best first. Ties go to fewer columns, then to earlier columns.

        Each column adds the penalty η. `choose` is "error" (by error, then potential), "coverage"
        (by potential, then error) or "both" (alternate between both rankings).
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
        projections = [tuple(each) for subset in self.subsets for each in subset.tolist()]
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
    """Fit the base classifier on every projection and score it; None if it was stopped."""
    from pellucid.eop.kernels import score_projections

    problem = base.problem
    base.prepare(rows, _columns_of(subsets))
    y, units, total = problem.y[rows], problem.units[rows], problem.total(rows)
    gains = np.array([min(max(int(e * _STEPS), 1), _STEPS - 1) for e in max_errors])
    wrong = [np.empty(len(s), dtype=np.int64) for s in subsets]
    potential = [np.empty((len(gains), len(s)), dtype=np.int64) for s in subsets]
    # A cell has about `_ROWS_PER_CELL` rows.
    per_column = total / problem.weights.units_per_weight / _ROWS_PER_CELL
    n_bins = [int(np.clip(per_column ** (1 / s.shape[1]), 2, _MAX_BINS)) for s in subsets]

    features = _columns_of(subsets)
    position = np.zeros(problem.n_features, dtype=np.int64)
    position[features] = np.arange(len(features))
    codes = {n: bin_codes(problem, rows, features, n) for n in set(n_bins)}

    def score(task: tuple[int, int]) -> None:
        if should_stop():
            return
        i, start = task
        block = slice(start, start + _BLOCK)
        score_projections(
            answers=base.answers(rows, subsets[i][block]),
            y=y,
            units=units,
            codes=codes[n_bins[i]],
            subsets=position[subsets[i][block]],
            n_bins=n_bins[i],
            gains=gains,
            losses=_STEPS - gains,
            wrong=wrong[i][block],
            potential=potential[i][:, block],
        )

    tasks = [(i, start) for i, s in enumerate(subsets) for start in range(0, len(s), _BLOCK)]
    problem.pool.map(score, tasks)
    if should_stop():
        return None
    return Scan(
        subsets,
        [np.where(w < 0, np.inf, w / total) for w in wrong],
        [w / (gains[:, None] * total) for w in potential],
    )


def _columns_of(subsets: list[np.ndarray]) -> np.ndarray:
    return np.unique(np.concatenate([subset.ravel() for subset in subsets]))


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
