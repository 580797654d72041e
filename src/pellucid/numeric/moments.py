"""Means and costs of groups of rows, dense or CSC, each in one read of the data."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from pellucid.numeric.blocks import row_major
from pellucid.numeric.team import ALONE, Team

_BLOCK_COLUMNS = 8
"""Columns worth a task of their own: a cache line of a row-major matrix."""


def group_means(
    X, labels: np.ndarray, weight: np.ndarray, n_groups: int, team: Team = ALONE
) -> np.ndarray:
    """Weighted mean of each group of rows; NaN for an empty group. Label -1 is in no group.

    Each column is summed in the order of the rows, so dense and sparse data give the same bits.
    """
    from pellucid.kernels.costs import dense_sums, sparse_sums

    sums = np.zeros((n_groups, X.shape[1]))

    def work(block: tuple[int, int]) -> None:
        if sparse.issparse(X):
            sparse_sums(X.data, X.indices, X.indptr, *block, labels, weight, sums)
        else:
            for rows, part in row_major(X, 0, X.shape[0], slice(*block)):
                dense_sums(part, labels[rows], weight[rows], block[0], sums)

    team.map(work, team.blocks(X.shape[1], _BLOCK_COLUMNS))
    members = slice(None) if labels.min(initial=0) >= 0 else labels >= 0
    totals = np.bincount(labels[members], weights=weight[members], minlength=n_groups)
    with np.errstate(invalid="ignore", divide="ignore"):
        return sums / totals[:, None]


def cost_to_centers(
    X, labels: np.ndarray, centers: np.ndarray, weight: np.ndarray, team: Team = ALONE
) -> float:
    """Weighted sum of squared distances of the rows to ``centers[labels]``; label -1 is free."""
    totals, _ = _spread(X, labels, labels, weight, centers, team)
    return float(totals[:2, :, 1].sum())


def means_and_costs(
    X,
    labels: np.ndarray,
    others: np.ndarray,
    weight: np.ndarray,
    origins: np.ndarray,
    team: Team = ALONE,
    besides: Callable[[], object] | None = None,
) -> list[tuple[np.ndarray, float]]:
    """Mean of each group of rows, and the cost of the rows to those means, in one read.

    For two groupings of the rows, which have most of them in common. Moments are taken about
    `origins`, which should lie near the means; an empty group keeps its origin as its mean.
    Label -1 is in no group. See `Team.map` for `besides`.
    """
    totals, sums = _spread(X, labels, others, weight, origins, team, besides)
    return [_mean_and_cost(totals[0] + totals[s], sums[0] + sums[s], origins) for s in (1, 2)]


def _mean_and_cost(totals, sums, origins) -> tuple[np.ndarray, float]:
    shift = np.divide(sums, totals[:, :1], out=np.zeros_like(sums), where=totals[:, :1] > 0)
    cost = totals[:, 1].sum() - totals[:, 0] @ (shift**2).sum(axis=1)
    return origins + shift, max(float(cost), 0.0)


def _spread(
    X, labels, others, weight, origins, team: Team, besides=None
) -> tuple[np.ndarray, np.ndarray]:
    """Weight and squares of each group about its origin, and the first moments.

    Three times: of rows that both groupings put there, of those that only the first does, and of
    those that only the second does.
    """
    from pellucid.kernels.costs import BLOCK_ROWS, dense_spread, sparse_spread

    n_groups, n_features = origins.shape
    if sparse.issparse(X):
        totals, sums = np.zeros((3, n_groups, 2)), np.zeros((3, n_groups, n_features))
        parts = (X.data, X.indices, X.indptr)

        def add_up(s: int) -> None:
            groups = (labels, others)[s - 1]
            sparse_spread(*parts, groups, weight, origins, totals[s], sums[s])

        team.map(add_up, [1] if others is labels else [1, 2], besides)
        return totals, sums
    n_blocks, n_places = -(-X.shape[0] // BLOCK_ROWS), 3 * n_groups
    heft, squares = np.zeros((2, n_blocks, n_places))
    sums = np.zeros((n_blocks, n_places, n_features))
    labels, others = (one.astype(np.intp, copy=False) for one in (labels, others))

    def work(blocks: tuple[int, int]) -> None:
        begin, end = (min(block * BLOCK_ROWS, X.shape[0]) for block in blocks)
        for rows, part in row_major(X, begin, end):
            by_row = labels[rows], others[rows], weight[rows]
            b = slice(rows.start // BLOCK_ROWS, -(-rows.stop // BLOCK_ROWS))
            dense_spread(part, *by_row, origins, heft[b], squares[b], sums[b])

    team.map(work, team.blocks(n_blocks, 1, each=4), besides)
    totals = np.stack([heft.sum(axis=0), squares.sum(axis=0)], axis=1)
    return totals.reshape(3, n_groups, 2), sums.sum(axis=0).reshape(3, n_groups, n_features)


def size_about(X, weight: np.ndarray, origin: np.ndarray, team: Team = ALONE) -> float:
    """Weighted sum of squared distances of all rows to one point."""
    return cost_to_centers(X, np.zeros(X.shape[0], dtype=np.intp), origin[None], weight, team)
