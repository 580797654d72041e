"""Normalised cuts of the nearest-neighbour graph of the rows, which needs no reference (SpEx)."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from pellucid._core.criteria.base import MemoryCriterion, Node
from pellucid._core.criteria.column_search import Split
from pellucid._core.criteria.problem import Problem
from pellucid._core.criteria.space_cost import dense_rows
from pellucid._core.data.arrays import stable_argsort

_TIE = 2.0**44
"""Sums of ratios are compared in steps of 1 / this, so that rounding decides no tie."""


def neighbor_graph(problem: Problem, n_neighbors: int) -> sparse.csr_array:
    """Edges between rows by number: rows are joined if one is among the nearest of the other.

    A row of weight w is w rows at the same place, joined like all others. Rows are ordered by
    their values first, so that the graph does not depend on their order. The k-d tree computes the
    distance of two rows from these two alone.
    """
    from sklearn.neighbors import NearestNeighbors

    n, X = problem.n_samples, dense_rows(problem.data)
    order = np.repeat(by_value := np.lexsort(X.T[::-1]), problem.weights.units[by_value])
    if len(order) < 2:
        return sparse.csr_array((n, n), dtype=np.int64)
    n_nearest, n_jobs = min(n_neighbors, len(order) - 1), problem.pool.n_threads
    nearest = NearestNeighbors(n_neighbors=n_nearest, algorithm="kd_tree", n_jobs=n_jobs)
    joined = nearest.fit(X[order]).kneighbors_graph().astype(np.int64)
    edges = sparse.coo_array(joined.maximum(joined.T))
    # Equal entries are added up: the edges between the copies of two rows.
    return sparse.csr_array((edges.data, (order[edges.row], order[edges.col])), shape=(n, n))


class NeighborCut(MemoryCriterion[None]):
    """Least sum of the cut ratios of the two sides in the nearest-neighbour graph.

    The cut ratio of a side is the number of edges that leave it, also those to other nodes, divided
    by the sum of the degrees of its rows. As with the label graph, splits have no positive gain;
    the best one raises the sum of the cut ratios of all leaves least.
    """

    def __init__(self, problem: Problem, n_neighbors: int) -> None:
        super().__init__(problem)
        self._graph = neighbor_graph(problem, n_neighbors)
        self._degree = self._graph.sum(axis=1)

    def cluster(self, node: Node[None]) -> int:
        """The cluster of the reference with most weight, if there is a reference."""
        return int(self.problem.weight_by_cluster(node.rows.active).argmax())

    def best_splits(self, node: Node[None], n: int = 1) -> list[Split]:
        """The best splits, at most one per column."""
        rows, problem = node.rows.active, self.problem
        edges = sparse.coo_array(self._graph[rows][:, rows])
        degree, inner = self._degree[rows], int(edges.data.sum())
        total = int(degree.sum())
        own, found = _ratio(np.array(total - inner), np.array(total)), []
        for feature in range(problem.n_features):
            values = problem.values(feature, rows)
            order = stable_argsort(values)
            ordered = values[order]
            ends = np.flatnonzero(ordered[1:] != ordered[:-1])  # the last row of a left side
            if not len(ends):
                continue
            rank = np.empty(len(rows), dtype=np.intp)
            rank[order] = np.arange(len(rows))
            first, second = rank[edges.row], rank[edges.col]
            # Numbers of edges are whole and far below 2**52, so that sums of floats are exact.
            within = [
                np.bincount(place, edges.data, minlength=len(rows)).cumsum()[ends]
                for place in (np.maximum(first, second), np.minimum(first, second))
            ]
            left = degree[order].cumsum()[ends]
            right, below, above = total - left, within[0], inner - within[1]
            objective = _ratio(left - below, left) + _ratio(right - above, right)
            best = int(np.rint(objective * _TIE).argmin())
            value = float(np.rint(objective[best] * _TIE) / _TIE)
            gain = float(np.rint(own * _TIE) / _TIE) - value
            found.append(Split(value, feature, float(ordered[ends[best]]), gain))
        return sorted(found)[:n]


def _ratio(cut: np.ndarray, degree: np.ndarray) -> np.ndarray:
    return np.divide(cut, degree, out=np.zeros(np.shape(degree)), where=degree > 0)
