"""The cut for rows that know what they pay on either side: each pays as little as can be."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from pellucid._core.criteria.column_search import BinnedColumn, Split, search_columns
from pellucid._core.criteria.problem import Problem


class Torn(NamedTuple):
    """Rows that do not pay the same on both sides of a cut.

    Attributes
    ----------
    rows : ndarray of int32
        Row numbers, ascending.
    extra : ndarray of int64
        What each of them pays more on the left; never 0.
    falls, rises : int
        Sums of the negative and of the positive of these.
    """

    rows: np.ndarray
    extra: np.ndarray
    falls: int
    rises: int


def tear(rows: np.ndarray, left, right, cluster, costs) -> Torn:
    """Those of the rows of a node that do not pay the same on both sides.

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
    from pellucid._core.kernels.fixed_center_split import tear_rows

    torn, extra = np.empty_like(rows), np.empty(len(rows), dtype=np.int64)
    n, falls, rises = tear_rows(rows, left, right, cluster, costs, torn, extra)
    return Torn(torn[:n], extra[:n], falls, rises)


class TornSearch:
    """The search for the best cut of torn rows.

    Parameters
    ----------
    problem : Problem
    torn : Torn
    """

    def __init__(self, problem: Problem, torn) -> None:
        self.problem, self.torn = problem, torn
        self._features = np.arange(problem.n_features)

    def best(self, goal: int) -> Split | None:
        """Cut with the least sum of extras on its left, below a goal; a torn row on each side.

        Its threshold is the value of a torn row: where edges happen to lie between two of them
        does not matter to other rows.
        """
        from pellucid._core.kernels.fixed_center_split import NOTHING

        if len(self.torn.rows) < 2:
            return None
        size = len(self.torn.rows)
        cuts = search_columns(
            self.problem, self._features, size, self._scan, self._refine, NOTHING, goal=goal
        )
        if not cuts:
            return None
        best = cuts[0]
        column = BinnedColumn(self.problem, best.feature, self.torn.rows)
        return best._replace(threshold=column.around(best.threshold)[0])

    def best_features(self, number: int) -> np.ndarray:
        """The columns with the best cuts, ascending, whatever the bins of the columns are."""
        from pellucid._core.kernels.fixed_center_split import NOTHING

        problem, features = self.problem, self._features
        if number >= len(features):
            return features
        found = np.full((len(features), 1, 3), NOTHING)
        blocks = problem.feature_blocks(features, len(self.torn.rows))
        problem.pool.map(lambda block: self._scan(block, found), blocks)
        limit = np.sort(found[:, 0, 0])[number - 1]
        promising = np.flatnonzero(np.minimum(found[:, 0, 0], found[:, 0, 2]) <= limit)
        looked = problem.pool.map(lambda j: self._refine(j, limit), promising.tolist())
        least = [cuts[0, 0] for cuts in looked]
        return np.sort(promising[np.argsort(least, kind="stable")[:number]])

    def _scan(self, block: np.ndarray, found: np.ndarray) -> None:
        from pellucid._core.kernels.fixed_center_split import scan_dense, scan_sparse

        bins, found = self.problem.bins, found[:, 0]
        if bins.is_sparse:
            stored = (bins.codes[0], bins.indices, bins.indptr, bins.zero_code)
            about = (bins.n_edges, bins.inside, self._extra_of_all, *self.torn[2:])
            scan_sparse(block, *stored, *about, found)
        else:
            scan_dense(block, bins.codes, bins.n_edges, bins.inside, *self.torn, found)

    @cached_property
    def _extra_of_all(self) -> np.ndarray:
        """Extra of every row of the data; 0 for those that are not torn."""
        extra = np.zeros(self.problem.n_samples, dtype=np.int64)
        extra[self.torn.rows] = self.torn.extra
        return extra

    def _refine(self, feature: int, limit: int) -> np.ndarray:
        from pellucid._core.kernels.fixed_center_split import NOTHING, open_extras, sweep_extras

        problem, torn, bins = self.problem, self.torn, self.problem.bins
        codes, n_codes = bins.dense_column(feature, problem.n_samples), bins.n_edges[feature] + 1
        at_edge, edge, places = open_extras(codes, n_codes, bins.inside[feature], *torn, limit)
        values = problem.values(feature, torn.rows[places])
        order = np.argsort(values, kind="stable")
        least, at = sweep_extras(order, values, places, codes, *torn[:2], at_edge)
        inside = (int(least), at)
        on_edge = (int(at_edge[edge]) if edge >= 0 else NOTHING, bins.edges[feature, edge])
        # Objects, since whole numbers of this size do not fit into floats.
        return np.array([min(on_edge, inside)], dtype=object)
