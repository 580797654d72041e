"""Rows to walk on from tree to tree, and trees as such walks have them."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from pellucid.cuts.problem import Problem
from pellucid.cuts.thresholds import ThresholdStyle, choose_threshold
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
        lines -= np.average(lines, axis=0, weights=weight)
        square = weight * np.einsum("ij,ij->i", lines, lines)
        self.sample = Sample(lines, weight, square, rank, n_ranks, code)
        self.cost = float(square.sum())

    def price(self, labels: np.ndarray) -> float:
        """What some clusters cost here; `labels` are those of all rows of the problem."""
        labels, lines, weight = labels[self.rows], self.sample.lines, self.sample.weight
        centers = group_means(lines, labels, weight, self.problem.n_clusters)
        return cost_to_centers(lines, labels, np.nan_to_num(centers), weight)

    def room(self, seed: int):
        """Room for compiled loops, with random numbers of its own."""
        from pellucid.kernels.walk_rows import Room

        n, n_nodes = len(self.rows), 2 * self.problem.n_clusters
        numbers = np.empty((4, n), dtype=np.int64)
        return Room(
            *numbers,
            count=np.empty(self.sample.n_ranks.max() + 1, dtype=np.int64),
            extra=np.empty(n),
            rows=np.empty(n, dtype=np.int32),
            nodes=np.empty(n_nodes, dtype=np.int64),
            stack=np.empty(n_nodes, dtype=np.int64),
            random=np.array([88172645463325252 + 2654435761 * seed], dtype=np.uint64),
        )

    def bare(self):
        """A tree that is nothing but a leaf, with room for as many leaves as clusters."""
        from pellucid.kernels.walk_rows import Tree

        n, n_nodes = len(self.rows), 2 * self.problem.n_clusters - 1
        tree = Tree(
            *np.full((5, n_nodes), LEAF, dtype=np.int64),
            *np.zeros((2, n_nodes), dtype=np.int64),
            sums=np.zeros((n_nodes, self.problem.n_features)),
            weights=np.zeros(n_nodes),
            is_stale=np.ones(n_nodes, dtype=bool),
            gain=np.full(n_nodes, np.nan),
            gain_feature=np.zeros(n_nodes, dtype=np.int64),
            gain_at=np.zeros(n_nodes, dtype=np.int64),
            rows=np.arange(n, dtype=np.int32),
        )
        tree.end[0] = n
        return tree

    def plant(self, tree: ThresholdTree):
        """A tree with a leaf for each cluster, as compiled loops have it; its rows are not sent."""
        planted, n = self.bare(), tree.node_count
        planted.left[:n], planted.right[:n] = tree.children_left, tree.children_right
        planted.feature[:n] = tree.feature
        for node in np.flatnonzero(tree.children_left != LEAF):
            values = self._values[tree.feature[node]]
            planted.at[node] = np.searchsorted(values, tree.threshold[node], side="right") - 1
        return planted

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
            if planted.left[node] == LEAF:
                weight = problem.weights.values[rows]
                likeness.append(np.bincount(labels[rows], weights=weight, minlength=k))
                leaves.append(number)
                continue
            feature, at = int(planted.feature[node]), planted.at[node]
            low, high = self._values[feature][at : at + 2].tolist()
            values = problem.values(feature, rows)
            goes_left = values <= choose_threshold(low, high, "midpoint")
            interval = float(values[goes_left].max()), float(values[~goes_left].min())
            threshold = choose_threshold(*interval, threshold_style)
            children = builder.split(number, feature=feature, threshold=threshold)
            for child, half in zip(children, (rows[goes_left], rows[~goes_left])):
                side = planted.left if child == children[0] else planted.right
                waiting.append((int(side[node]), child, half))
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
