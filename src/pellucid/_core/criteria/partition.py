"""Rows of a node, partitioned by a split."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pellucid._core.criteria.problem import Problem


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
    kept: tuple[np.ndarray, np.ndarray]
    n_kept: np.ndarray
    separated: tuple[np.ndarray, np.ndarray]


def split_rows(problem: Problem, rows: np.ndarray, feature: int, threshold: float) -> SplitRows:
    """Partition rows by a threshold."""
    ends, is_left = np.array([0, len(rows)]), np.ones(1, dtype=bool)
    low, high, kept, _, separated = split_by_center(
        problem, rows, ends, is_left, feature, threshold
    )
    return SplitRows(low, high, kept[0], separated[1])


def split_by_center(
    problem: Problem,
    rows: np.ndarray,
    ends: np.ndarray,
    center_is_left: np.ndarray,
    feature: int,
    threshold: float,
) -> CenterPartition:
    """Partition rows that are grouped by center.

    Those of the c-th center are ``rows[ends[c]:ends[c + 1]]``.
    """
    from pellucid._core.kernels.partition import partition_rows

    bins, n = problem.bins, len(rows)
    # One element more than needed: the kernel writes every row before it decides where it belongs.
    kept, separated = np.empty((2, 2, n + 1), dtype=rows.dtype)
    sizes, n_kept = np.zeros((2, 2), np.intp), np.empty(len(center_is_left), np.intp)
    low, high = partition_rows(
        rows=rows,
        ends=ends,
        center_is_left=center_is_left,
        column=bins.dense_column(feature, problem.n_samples),
        values=problem.column(feature),
        edges=bins.edges[feature],
        inside=bins.inside[feature],
        code=bins.edges[feature].searchsorted(threshold),
        threshold=threshold,
        kept=kept,
        separated=separated,
        sizes=sizes,
        n_kept=n_kept,
    )
    (kept_left, kept_right), (left, right) = sizes.tolist()
    return CenterPartition(
        low,
        high,
        (kept[0, :kept_left], kept[1, :kept_right]),
        n_kept,
        (separated[0, :left], separated[1, :right]),
    )
