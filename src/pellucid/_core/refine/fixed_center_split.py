"""The best cut of a node for fixed centers: the cost of each row on either side is known."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from pellucid._core.criteria.column_search import Split, search_columns
from pellucid._core.criteria.partition import split_rows
from pellucid._core.criteria.problem import Problem
from pellucid._core.kernels import INFINITE_COST


class ContestedRows(NamedTuple):
    """Rows of a node whose cost on the left of a cut differs from that on the right.

    Attributes
    ----------
    rows : ndarray of int32
        Row numbers, ascending.
    difference : ndarray of int64
        Cost on the left minus cost on the right; never 0.
    negative, positive : int
        Sums of the negative and of the positive differences.
    """

    rows: np.ndarray
    difference: np.ndarray
    negative: int
    positive: int


def contested_rows(
    rows: np.ndarray, left: np.ndarray, right: np.ndarray, cluster: np.ndarray, costs: np.ndarray
) -> ContestedRows:
    """Those of the rows of a node whose cost depends on the side.

    Parameters
    ----------
    rows : ndarray of int32
        The rows that reach the node.
    left, right : ndarray of shape (n_samples,)
        The leaf that each row would reach on the left and on the right.
    cluster : ndarray
        Cluster of each leaf.
    costs : ndarray of shape (n_samples, n_clusters), int64
    """
    from pellucid._core.kernels.fixed_center_split import find_contested

    found, difference = np.empty_like(rows), np.empty(len(rows), dtype=np.int64)
    n, negative, positive = find_contested(rows, left, right, cluster, costs, found, difference)
    return ContestedRows(found[:n], difference[:n], negative, positive)


class FixedCenterSearch:
    """The search for the cut with the least sum of differences on its left.

    Parameters
    ----------
    problem : Problem
    contested : ContestedRows
    """

    def __init__(self, problem: Problem, contested: ContestedRows) -> None:
        self.problem, self.contested = problem, contested
        self._features = np.arange(problem.n_features)

    def best(self, goal: int) -> Split | None:
        """The best cut below a goal, with contested rows on both sides.

        Its threshold is the value of a contested row, so that the cut of other rows does not depend
        on where edges of bins are.
        """
        size = len(self.contested.rows)
        if size < 2:
            return None
        cuts = search_columns(
            self.problem, self._features, size, self._scan, self._refine, INFINITE_COST, goal=goal
        )
        if not cuts:
            return None
        best = cuts[0]
        rows = split_rows(self.problem, self.contested.rows, best.feature, best.threshold)
        return best._replace(threshold=rows.low)

    def best_features(self, number: int) -> np.ndarray:
        """The columns with the best cuts, ascending; they do not depend on edges of bins."""
        problem, features = self.problem, self._features
        if number >= len(features):
            return features
        found = np.full((len(features), 1, 3), INFINITE_COST)
        blocks = problem.feature_blocks(features, len(self.contested.rows))
        problem.pool.map(lambda block: self._scan(block, found), blocks)
        limit = np.sort(found[:, 0, 0])[number - 1]
        promising = np.flatnonzero(np.minimum(found[:, 0, 0], found[:, 0, 2]) <= limit)
        refined = problem.pool.map(lambda j: self._refine(j, limit), promising.tolist())
        least = [cuts[0, 0] for cuts in refined]
        return np.sort(promising[np.argsort(least, kind="stable")[:number]])

    def _scan(self, block: np.ndarray, found: np.ndarray) -> None:
        from pellucid._core.kernels.fixed_center_split import scan_dense, scan_sparse

        bins, contested = self.problem.bins, self.contested
        if not bins.is_sparse:
            width = bins.inside.shape[1]
            scan_dense(
                block, bins.codes, bins.n_edges, bins.inside, *contested,
                np.zeros((2 * len(block), width, 2), dtype=np.int64),
                np.empty(width, dtype=bool), found[:, 0],
            )  # fmt: skip
            return
        scan_sparse(
            features=block,
            codes=bins.codes[0],
            indices=bins.indices,
            indptr=bins.indptr,
            zero_code=bins.zero_code,
            n_edges=bins.n_edges,
            inside=bins.inside,
            difference=self._difference_of_all,
            negative=contested.negative,
            positive=contested.positive,
            found=found[:, 0],
        )

    @cached_property
    def _difference_of_all(self) -> np.ndarray:
        """Difference of every row of the data; 0 for those that are not contested."""
        difference = np.zeros(self.problem.n_samples, dtype=np.int64)
        difference[self.contested.rows] = self.contested.difference
        return difference

    def _refine(self, feature: int, limit: float) -> np.ndarray:
        from pellucid._core.kernels.fixed_center_split import open_bins, sweep_bins

        problem, contested, bins = self.problem, self.contested, self.problem.bins
        codes, n_codes = bins.dense_column(feature, problem.n_samples), bins.n_edges[feature] + 1
        at_edge = np.empty(n_codes, dtype=np.int64)
        positions = np.empty(len(contested.rows) + 1, dtype=np.int32)
        sums, wanted = np.zeros((1, n_codes, 2), dtype=np.int64), np.zeros(n_codes, dtype=bool)
        edge, n = open_bins(
            feature, codes, n_codes, bins.inside, contested, limit, sums, wanted, at_edge, positions
        )
        positions = positions[:n]
        values = problem.values(feature, contested.rows[positions])
        order = np.argsort(values, kind="stable")
        least, threshold = sweep_bins(order, values, positions, codes, contested, at_edge)
        at_best_edge = int(at_edge[edge]) if edge >= 0 else INFINITE_COST
        # Objects, since integers of this size do not fit into floats.
        best = min((at_best_edge, bins.edges[feature, edge]), (int(least), threshold))
        return np.array([best], dtype=object)
