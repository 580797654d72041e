"""Labels, costs and moments of rows whose values are stored column by column."""

from __future__ import annotations

import numpy as np

from pellucid._core.data.arrays import Weights
from pellucid._core.data.moments import RELATIVE_ERROR, GroupMoments, nearest_by_squares
from pellucid._utils.numeric_domain import MAX_VALUE, OutOfDomain, are_in_domain


def nearest_centers(columns: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Nearest center of each row, as by `pellucid._core.data.moments.nearest_centers`.

    `columns` has shape (n_features, n_rows). Raises `OutOfDomain` if a value is not finite or too
    large.
    """
    from pellucid._core.batches.column_kernels import BLOCK_ROWS, nearest_by_column

    labels = np.empty(columns.shape[1], dtype=np.intp)
    scratch = tuple(np.zeros((6, BLOCK_ROWS)))
    with np.errstate(over="ignore", invalid="ignore"):
        half_squares = 0.5 * (centers**2).sum(axis=1)
        nearest_by_column(
            columns=columns,
            centers=centers,
            half_squares=half_squares,
            largest=half_squares.max(),
            error=RELATIVE_ERROR * (len(columns) + 8),
            limit=MAX_VALUE**2,
            scores=np.empty((len(centers), BLOCK_ROWS)),
            scratch=scratch,
            out=labels,
        )
        undecided = np.flatnonzero(labels < 0)
        if len(undecided):
            values = np.ascontiguousarray(columns[:, undecided].T, dtype=np.float64)
            if not are_in_domain(values):
                raise OutOfDomain
            labels[undecided] = nearest_by_squares(values, centers)
    return labels


def gathered(columns: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The values of some rows: (n_features, len(rows))."""
    from pellucid._core.batches.column_kernels import gather

    out = np.empty((len(columns), len(rows)), dtype=columns.dtype)
    gather(columns, rows, out)
    return out


def costs_in_units(
    columns: np.ndarray, centers: np.ndarray, weights: Weights, unit: float
) -> np.ndarray:
    """Cost of every row at every center in units, as by `Dataset.costs`: (n_rows, n_clusters)."""
    from pellucid._core.batches.column_kernels import BLOCK_ROWS, costs_by_column

    n_rows = columns.shape[1]
    costs = np.empty((n_rows, len(centers)), dtype=np.int64)
    # Integer weights multiply the rounded cost, exactly as repeated rows would add it.
    takes_ones = weights.are_integers and not weights.are_ones
    scale = np.ones(n_rows) if takes_ones else weights.values
    scratch = tuple(np.zeros((3, BLOCK_ROWS)))
    sums = np.empty((len(centers), BLOCK_ROWS), dtype=np.int64)
    centers = np.ascontiguousarray(centers)
    costs_by_column(columns, centers, scale, 1 / unit, scratch, sums, costs)
    if takes_ones:
        costs *= weights.units[:, None]
    return costs


def own_margins(
    columns: np.ndarray, starts: np.ndarray, centers: np.ndarray, weights: Weights, unit: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Costs at the own centers, margins, both in units, int64, and second nearest centers.

    The rows of center g are ``starts[g]`` up to ``starts[g + 1]``. The margin is the least cost at
    another center, the second nearest, less that at the own one. Where it is not decided which one
    is the second nearest, there are a lower bound of the margin and n_clusters; where the margin
    may not be positive, -1 and n_clusters + 1. What is found for a row does not depend on the other
    rows.
    """
    from pellucid._core.batches.column_kernels import BLOCK_ROWS, margins_by_column

    (n_features, n_rows), n_clusters = columns.shape, len(centers)
    costs, margins = np.empty((2, n_rows), dtype=np.int64)
    second = np.empty(n_rows, dtype=np.min_scalar_type(n_clusters + 1))
    takes_ones = weights.are_integers and not weights.are_ones
    margins_by_column(
        columns=columns,
        starts=starts,
        centers=np.ascontiguousarray(centers),
        coordinates=np.ascontiguousarray(centers.T),
        scale=np.ones(n_rows) if takes_ones else weights.values,
        # The terms of both costs are rounded by at most 1/2 each.
        limits=(1 / unit, (n_features + 8) * 2.0**-51, n_features + 2.0),
        scratch=tuple(np.zeros((6, BLOCK_ROWS))),
        exact=tuple(np.empty((2, BLOCK_ROWS), dtype=np.int64)),
        place=np.empty(BLOCK_ROWS, dtype=np.uint64),
        sums=np.empty((n_clusters, BLOCK_ROWS)),
        costs=costs,
        margins=margins,
        second=second,
    )
    if takes_ones:
        costs *= weights.units
        margins[margins > 0] *= weights.units[margins > 0]
    return costs, margins, second


def moments_of_groups(
    columns: np.ndarray, starts: np.ndarray, weight: np.ndarray, origins: np.ndarray
) -> GroupMoments:
    """Moments of groups of neighbouring rows, from starts[g] to starts[g + 1], about origins."""
    from pellucid._core.batches.column_kernels import moments_by_group

    weights, (squares, sums) = np.zeros(len(origins)), np.zeros((2, *origins.shape))
    moments_by_group(columns, starts, weight, origins, weights, squares, sums)
    return GroupMoments(weights, squares.sum(axis=1), sums)


def moments_of_some(
    columns: np.ndarray,
    rows: np.ndarray,
    weight: np.ndarray,
    groups: tuple[np.ndarray, np.ndarray],
    origins: tuple[np.ndarray, np.ndarray],
) -> tuple[GroupMoments, GroupMoments]:
    """Moments of some rows about the origins of their groups, in two groupings."""
    from pellucid._core.batches.column_kernels import moments_of_rows

    weights = tuple(np.zeros(len(of_groups)) for of_groups in origins)
    squares, sums = (tuple(map(np.zeros_like, origins)) for _ in range(2))
    moments_of_rows(columns, rows, weight, groups, origins, weights, squares, sums)
    first, second = (
        GroupMoments(w, square.sum(axis=1), total)
        for w, square, total in zip(weights, squares, sums)
    )
    return first, second
