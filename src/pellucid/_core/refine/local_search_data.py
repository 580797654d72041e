"""Rows of the local search: those of a problem, or of a sample that depends on the values alone.

In a sample, every row has a hash of its values and its label. The different rows of least hash are
chosen, each with the weight of all its copies. So the sample depends neither on the order of the
rows nor on their storage, and a row of integer weight w is the same as w rows.

The loops, and the statistics that they maintain, are in `pellucid._core.kernels.local_search`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from pellucid._core.criteria.problem import Problem
from pellucid._core.criteria.space_cost import SpaceStatistics, dense_rows
from pellucid._core.data.dataset import Dataset
from pellucid._core.refine import tuning
from pellucid._utils.arrays import mixed
from pellucid._utils.threads import ThreadPool
from pellucid.tree.rounding import choose_threshold


def searchable(problem: Problem) -> Problem | None:
    """The problem itself if it is small enough for a local search, or that of a sample.

    None if there is one cluster, or if the columns are so many that a sample would be too small.
    """
    if problem.n_clusters < 2:
        return None
    if is_small(problem):
        return problem
    is_enough = _max_rows(problem) >= tuning.MIN_ROWS_PER_CLUSTER * problem.n_clusters
    return sample_problem(problem, _max_rows(problem)) if is_enough else None


def is_small(problem: Problem) -> bool:
    """Whether a local search uses all rows."""
    return problem.n_clusters > 1 and count_rows(problem) <= _max_rows(problem)


def _max_rows(problem: Problem) -> int:
    return min(tuning.MAX_ROWS, tuning.MAX_VALUES // problem.n_features)


def count_rows(problem: Problem) -> float:
    """Number of rows; a row of integer weight w counts as w rows, as if it were repeated."""
    weights = problem.weights
    return float(weights.values.sum()) if weights.are_integers else float(problem.n_samples)


def sample_problem(problem: Problem, max_rows: int) -> Problem:
    """The same problem for at most `max_rows` different rows."""
    hashes, rows, copy_of = np.unique(row_hashes(problem), return_index=True, return_inverse=True)
    n = min(max_rows, len(hashes))
    # Sums of integers do not depend on the order of the rows.
    units = np.zeros(len(hashes), dtype=np.int64)
    np.add.at(units, copy_of, problem.weights.units)
    return take_rows(problem, rows[:n], units[:n])


def take_rows(problem: Problem, rows: np.ndarray, units: np.ndarray) -> Problem:
    """The same problem for some rows with other weights, in units."""
    weights = problem.weights
    are_ones = weights.are_integers and bool((units == 1).all())
    values = units / weights.units_per_weight
    weights = replace(weights, units=units, values=values, are_ones=are_ones)

    def sample(data: Dataset) -> Dataset:
        X = data.rows[rows]
        return Dataset(X.tocsc() if sparse.issparse(X) else X, weights, data.pool)

    return with_data(problem, sample, problem.labels[rows])


def with_data(
    problem: Problem, replace_data: Callable[[Dataset], Dataset], labels: np.ndarray
) -> Problem:
    """The same problem with other data and labels."""
    space = None
    if problem.has_space:
        space = replace_data(problem.space), problem.space_centers
    return Problem(
        replace_data(problem.data),
        problem.centers,
        labels,
        unit_from_labels=problem.unit_from_labels,
        space=space,
        mistake_cost=problem.mistake_cost,
    )


def row_hashes(problem: Problem) -> np.ndarray:
    """Hash of the label and of all values of each row, also in the space: (n_samples,), uint64.

    Zeros add nothing, so that sparse and dense rows have the same hash.
    """
    X, found = problem.space.X, mixed(problem.labels.astype(np.uint64))
    if problem.has_space:
        found = found + _hashes(problem.X, problem.pool)
    return mixed(found + _hashes(X, problem.pool))


def _hashes(X: Any, pool: ThreadPool) -> np.ndarray:
    """Sum of the hashes of the values of each row."""

    def add(block: tuple[int, int]) -> np.ndarray:
        total = np.zeros(X.shape[0], dtype=np.uint64)
        for j in range(*block):
            if sparse.issparse(X):
                part = slice(X.indptr[j], X.indptr[j + 1])
                rows, values = X.indices[part], X.data[part]
            else:
                rows, values = np.arange(X.shape[0]), X[:, j]
            kept = values.nonzero()[0]
            rows, values = rows[kept], values[kept].astype(np.float64)
            total[rows] += mixed(values.view(np.uint64) ^ mixed(np.array([j], dtype=np.uint64)))
        return total

    parts = np.array(pool.map(add, pool.blocks(X.shape[1], 1)))
    return np.asarray(parts.sum(axis=0, dtype=np.uint64))


class LocalSearchData:
    """The rows of a problem, about ten bytes per value, also for sparse data."""

    def __init__(self, problem: Problem) -> None:
        from pellucid._core.kernels.local_search import RankedRows

        self.problem, weights = problem, problem.weights
        X = dense_rows(problem.data)
        all_ranks, codes = np.empty(X.shape, dtype=np.uint16), np.empty(X.shape, dtype=np.uint8)
        self.values: list[np.ndarray] = [np.empty(0)] * X.shape[1]  # different ones, by column

        def rank_column(j: int) -> None:
            self.values[j], ranks = np.unique(X[:, j], return_inverse=True)
            all_ranks[:, j] = ranks
            codes[:, j] = coarse_codes(ranks, weights.values, len(self.values[j]))[ranks]

        problem.pool.map(rank_column, range(X.shape[1]))
        found = SpaceStatistics.of(problem)
        # Statistics are about an origin, and in this unit of the values.
        self._origin, self.unit = found.origin, found.unit
        self.rows = RankedRows(all_ranks, codes, found.values)
        self.total_ss = float(found.values[:, -2].sum())  # about the origin, in squared units
        self.mistake_cost = problem.mistake_cost / self.unit**2  # of weight 1, in squared units
        self.by_weight = weights.are_integers  # whether a row of weight w counts as w rows

    def with_centers(self, sums: np.ndarray) -> Problem:
        """The problem of explaining other centers, given as sums of row statistics.

        Rows belong to the nearest of them or, if mistakes have a cost, to their clusters.
        """
        problem = self.problem
        centers = self._origin + self.unit * sums[:, :-2] / sums[:, -2:-1]
        keeps_labels = problem.mistake_cost > 0
        labels = problem.labels if keeps_labels else problem.space.nearest(centers)
        return problem.explaining(centers, labels)


def cut_value(values: np.ndarray, rank: int) -> float:
    """A number between the values of a column up to a rank and those above."""
    if not 0 <= rank < len(values) - 1:
        return -math.inf if rank < 0 else math.inf
    return choose_threshold(float(values[rank]), float(values[rank + 1]), "midpoint")


def coarse_codes(ranks: np.ndarray, weight: np.ndarray, n_ranks: int) -> np.ndarray:
    """The code of each rank, in at most `N_CODES` steps of about the same weight of some rows."""
    from pellucid._core.kernels.local_search import N_CODES

    if n_ranks <= N_CODES:
        return np.arange(n_ranks)
    ends = np.cumsum(np.bincount(ranks, weights=weight))
    return np.minimum(ends * (N_CODES / ends[-1]), N_CODES - 1).astype(np.intp)


class Workspace:
    """Scratch as `pellucid._core.kernels.local_search.reoptimise` needs it, and the work done:
    about the nanoseconds spent, computed from the sizes of what was done.
    """

    def __init__(self, data: LocalSearchData, n_leaves: int) -> None:
        from pellucid._core.kernels.local_search import N_CODES

        n_rows, n_values = data.rows.statistics.shape[0], data.rows.statistics.shape[1] - 1
        self.scratch = np.empty((10, max(n_rows, 2 * n_leaves, 257)), dtype=np.int32)
        self.buffers = np.empty((3, 2 * n_leaves - 1, n_values))
        self.coarse = np.empty((data.rows.rank.shape[1], N_CODES + 1, 2))
        self.work = 0.0
