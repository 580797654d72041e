"""Rows to walk on from tree to tree, and trees as such walks have them."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from pellucid.cuts.problem import Problem
from pellucid.cuts.thresholds import ThresholdStyle, choose_threshold
from pellucid.numeric.fixed_point import Data, Weights
from pellucid.numeric.moments import cost_to_centers, group_means
from pellucid.tree import LEAF, ThresholdTree, TreeBuilder

_N_CODES = 256
"""Steps in which columns are looked at first."""


class Ground:
    """Rows of a problem, all of them or a sample.

    Parameters
    ----------
    problem : Problem
    rows : ndarray of int
        Row numbers, ascending.
    weight : ndarray of shape (n,)
        How much each of them counts.

    Attributes
    ----------
    sample : Sample
        The rows as compiled loops have them.
    cost : float
        What the rows would pay as a single cluster.
    """

    def __init__(self, problem: Problem, rows: np.ndarray, weight: np.ndarray) -> None:
        from pellucid.kernels.walk_rows import Sample

        self.problem, self.rows = problem, rows
        lines = _dense(problem, rows)
        n_features, n = lines.shape[1], len(rows)
        rank = np.empty((n_features, n), dtype=np.int32)
        code = np.empty((n_features, n), dtype=np.uint8)
        self._values: list[np.ndarray] = [np.empty(0)] * n_features

        def work(j: int) -> None:
            self._values[j], rank[j] = np.unique(lines[:, j], return_inverse=True)
            code[j] = _codes(rank[j], weight, len(self._values[j]))

        problem.team.map(work, range(n_features))
        n_ranks = np.array([len(values) for values in self._values])
        self._origin = np.average(lines, axis=0, weights=weight)
        self._data: Data | None = None
        lines -= self._origin
        square = weight * np.einsum("ij,ij->i", lines, lines)
        self.sample = Sample(lines, weight, square, rank, n_ranks, code)
        self.cost = float(square.sum())

    def price(self, labels: np.ndarray) -> float:
        """What some clusters cost here; `labels` are those of all rows of the problem."""
        labels, lines, weight = labels[self.rows], self.sample.lines, self.sample.weight
        centers = group_means(lines, labels, weight, self.problem.n_clusters)
        return cost_to_centers(lines, labels, np.nan_to_num(centers), weight)

    def explain(self, centers: np.ndarray) -> Problem:
        """The problem of explaining other centers, of these rows alone."""
        if self._data is None:
            problem, rows = self.problem, self.rows
            self._data = problem.data
            if len(rows) < problem.n_samples:
                X = problem.data.take(rows).X
                self._data = Data(X, Weights.of(self.sample.weight), problem.team)
        return Problem(self._data, centers, self._data.nearest(centers))

    def means(self, planted) -> np.ndarray:
        """Means of the leaves of a tree."""
        from pellucid.kernels.walk_rows import ROOT

        nodes, leaves, waiting = planted.nodes, [], [ROOT]
        while waiting:
            node = waiting.pop()
            if nodes["left"][node] == LEAF:
                leaves.append(node)
            else:
                waiting += [nodes["right"][node], nodes["left"][node]]
        return self._origin + planted.sums[leaves] / nodes["weight"][leaves, None]

    def room(self, seed: int):
        """Room for compiled loops, with random numbers of its own."""
        from pellucid.kernels.walk_rows import SPOT, Room

        n, n_nodes = len(self.rows), 2 * self.problem.n_clusters
        return Room(
            spots=np.empty(n, dtype=SPOT),
            extra=np.empty(n),
            count=np.empty(self.sample.n_ranks.max() + 1, dtype=np.int64),
            list=np.empty(n_nodes, dtype=np.int64),
            stack=np.empty(n_nodes, dtype=np.int64),
            random=np.array([88172645463325252 + 2654435761 * seed], dtype=np.uint64),
        )

    def plant(self, tree: ThresholdTree):
        """A tree with a leaf for each cluster, as compiled loops have it; its rows are not sent."""
        from pellucid.kernels.walk_rows import NODE, Tree

        n_nodes = 2 * self.problem.n_clusters - 1
        nodes = np.zeros(n_nodes, dtype=NODE)
        nodes["left"][: tree.node_count] = tree.children_left
        nodes["right"][: tree.node_count] = tree.children_right
        nodes["feature"][: tree.node_count] = tree.feature
        for node in np.flatnonzero(tree.children_left != LEAF):
            values = self._values[tree.feature[node]]
            nodes["at"][node] = np.searchsorted(values, tree.threshold[node], side="right") - 1
        nodes["end"][0] = len(self.rows)
        rows = np.arange(len(self.rows), dtype=np.int32)
        return Tree(nodes, np.zeros((n_nodes, self.problem.n_features)), rows)

    def lift(self, planted, threshold_style: ThresholdStyle) -> ThresholdTree:
        """A tree that all rows of the problem have been sent through.

        Each leaf is named after the cluster of the reference that it is most like.
        """
        problem = self.problem
        builder = TreeBuilder(problem.n_features)
        labels, k = problem.labels, problem.n_clusters
        likeness, leaves = [], []
        waiting = [(0, 0, np.arange(problem.n_samples, dtype=np.int32))]
        while waiting:
            node, number, rows = waiting.pop()
            left, right, feature, at = planted.nodes[["left", "right", "feature", "at"]][node]
            if left == LEAF:
                weight = problem.weights.values[rows]
                likeness.append(np.bincount(labels[rows], weights=weight, minlength=k))
                leaves.append(number)
                continue
            low, high = self._values[feature][at : at + 2].tolist()
            values = problem.values(feature, rows)
            goes_left = values <= choose_threshold(low, high, "midpoint")
            interval = float(values[goes_left].max()), float(values[~goes_left].min())
            threshold = choose_threshold(*interval, threshold_style)
            children = builder.split(number, feature=feature, threshold=threshold)
            waiting.append((left, children[0], rows[goes_left]))
            waiting.append((right, children[1], rows[~goes_left]))
        for leaf, cluster in zip(*linear_sum_assignment(np.array(likeness), maximize=True)):
            builder.set_cluster(leaves[leaf], cluster)
        return builder.build()


def _dense(problem: Problem, rows: np.ndarray) -> np.ndarray:
    """Some rows as float64, an array of its own."""
    X = problem.data.rows
    part = X if len(rows) == X.shape[0] else X[rows]
    part = part.toarray() if sparse.issparse(part) else part
    return np.array(part, dtype=np.float64, order="C")


def _codes(rank: np.ndarray, weight: np.ndarray, n_ranks: int) -> np.ndarray:
    """Ranks in few steps of about the same weight."""
    if n_ranks <= _N_CODES:
        return rank
    ends = np.cumsum(np.bincount(rank, weights=weight))
    return np.minimum(ends * (_N_CODES / ends[-1]), _N_CODES - 1).astype(np.uint8)[rank]
