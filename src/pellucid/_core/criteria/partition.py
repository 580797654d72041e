"""Rows of a node, partitioned by a split."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pellucid._core import kernels
from pellucid._core.criteria.problem import Problem
from pellucid._utils.threads import ThreadPool

_MIN_ROWS = 2**15
"""Fewest rows per task."""


class SplitRows(NamedTuple):
    """Rows on either side of a threshold.

    `low` and `high` are the largest value on the left and the smallest on the right, or infinities.
    """

    low: float
    high: float
    left: np.ndarray
    right: np.ndarray


class CenterPartition(NamedTuple):
    """Rows grouped by their own center, on either side of a threshold.

    `low` and `high` are as in `SplitRows`. `kept` are the rows on the left (right) whose center is
    there too, in their order, `n_kept` their number by center, and `separated` those whose center
    is on the other side.
    """

    low: float
    high: float
    kept: Sequence[np.ndarray]
    n_kept: np.ndarray
    separated: Sequence[np.ndarray]


def split_rows(problem: Problem, rows: np.ndarray, feature: int, threshold: float) -> SplitRows:
    """Partition rows by a threshold."""
    ends, is_left = np.array([0, len(rows)]), np.ones(1, dtype=bool)
    found = split_by_center(problem, rows, ends, is_left, feature, threshold)
    return SplitRows(found.low, found.high, found.kept[0], found.separated[1])


def split_by_center(
    problem: Problem,
    rows: np.ndarray,
    ends: np.ndarray,
    center_is_left: np.ndarray,
    feature: int,
    threshold: float,
) -> CenterPartition:
    """Partition rows of which those of the c-th center are ``rows[ends[c]:ends[c + 1]]``."""
    bins, pool = problem.bins, problem.pool
    column, values = bins.dense_column(feature, problem.n_samples), problem.column(feature)
    edges = bins.edges[feature]
    of_column = column, values, edges, bins.inside[feature], edges.searchsorted(threshold)

    def partition(block: tuple[int, int]) -> tuple[Any, ...]:
        some = rows[slice(*block)]
        # One element more than needed: every row is written before it is decided where it belongs.
        sides = np.empty((2, 2, len(some) + 1), dtype=rows.dtype)
        sizes, n_kept = np.zeros((2, 2), np.intp), np.empty(len(center_is_left), np.intp)
        of_rows = some, np.clip(ends, *block) - block[0], center_is_left
        out = sides, sizes, n_kept
        low, high = kernels.partition.partition_rows(*of_rows, *of_column, threshold, *out)
        parts = [side[:n] for side, n in zip(sides.reshape(4, -1), sizes.ravel().tolist())]
        return low, high, n_kept, parts

    blocks = pool.blocks(len(rows), _MIN_ROWS, per_thread=1)
    lows, highs, n_kept, parts = zip(*pool.map(partition, blocks))
    joined = parts[0] if len(parts) == 1 else _joined(parts, pool)
    kept, separated = joined[:2], joined[2:]
    return CenterPartition(max(lows), min(highs), kept, np.sum(n_kept, axis=0), separated)


def _joined(parts: Sequence[list[np.ndarray]], pool: ThreadPool) -> list[np.ndarray]:
    """The first arrays of all parts one after the other, the second ones, and so on."""
    ends = np.cumsum([[len(array) for array in part] for part in parts], axis=0)
    joined = [np.empty(size, dtype=parts[0][0].dtype) for size in ends[-1]]

    def copy(i: int) -> None:
        for whole, array, end in zip(joined, parts[i], ends[i]):
            whole[end - len(array) : end] = array

    pool.map(copy, range(len(parts)))
    return joined
