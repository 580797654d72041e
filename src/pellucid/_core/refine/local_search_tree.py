"""Rows and trees of the local search: trees with one leaf per cluster that are re-optimised.

`pellucid._core.refine.grouped_tree` has those with more leaves than clusters.

The loops, and the statistics that they maintain, are in `pellucid._core.kernels.local_search`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from pellucid._core.criteria.problem import Problem
from pellucid._core.refine.mutable_tree import ArrayTree
from pellucid.tree import LEAF, ThresholdTree, TreeBuilder
from pellucid.tree.rounding import ThresholdStyle, choose_threshold

if TYPE_CHECKING:
    from typing import Self

_NOISE = 0.25
"""Standard deviation of the logarithm of the random factors of gains in the choice of a leaf."""

_BITS = 52
"""Sums of row statistics have at most this many bits, so they are exact in float64."""


class LocalSearchData:
    """The rows of a problem, about ten bytes per value, also for sparse data.

    Parameters
    ----------
    problem : Problem

    Attributes
    ----------
    rows : RankedRows
        Ranks and statistics of the rows, about an origin.
    values : list of ndarray
        The different values of each column.
    total_ss : float
        Sum of squares of all rows about the origin, in squared units.
    unit : float
        Unit of the values.
    """

    def __init__(self, problem: Problem) -> None:
        from pellucid._core.kernels.local_search import RankedRows

        self.problem, weights = problem, problem.weights
        X = problem.data.rows
        X = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
        all_ranks, codes = np.empty(X.shape, dtype=np.uint16), np.empty(X.shape, dtype=np.uint8)
        self.values: list[np.ndarray] = [np.empty(0)] * X.shape[1]

        def rank_column(j: int) -> None:
            self.values[j], ranks = np.unique(X[:, j], return_inverse=True)
            all_ranks[:, j] = ranks
            codes[:, j] = _coarse_codes(ranks, weights.values, len(self.values[j]))

        problem.pool.map(rank_column, range(X.shape[1]))
        # A mean of the rows would depend on their order, and on rows being repeated or weighted.
        # Centers may be far from the rows, so that sums about them would lose digits.
        ends = np.array([(values[0], values[-1]) for values in self.values]).T
        self._origin = np.clip(problem.centers.mean(axis=0), *ends)
        X, weight = X - self._origin, weights.values[:, None]
        self.unit = _unit((weight * np.abs(X)).sum(axis=0).max())
        # A row of integer weight w must be the same as w rows, to the bit.
        copies = weights.values if weights.are_integers else np.ones(len(X))
        X = np.rint(weight / copies[:, None] * X / self.unit)
        square = np.einsum("ij,ij->i", X, X) * copies / weights.values
        square_unit = _unit((copies * square).sum())
        statistics = np.empty((X.shape[0], X.shape[1] + 2))
        statistics[:, :-2] = copies[:, None] * X
        statistics[:, -2] = weights.units / weights.units_per_weight
        statistics[:, -1] = copies * np.rint(square / square_unit) * square_unit
        self.rows = RankedRows(all_ranks, codes, statistics)
        self.total_ss = float(statistics[:, -1].sum())

    def cut_value(self, feature: int, rank: int) -> float:
        """A number between the values of a column up to a rank and those above."""
        values = self.values[feature]
        if not 0 <= rank < len(values) - 1:
            return -math.inf if rank < 0 else math.inf
        return choose_threshold(float(values[rank]), float(values[rank + 1]), "midpoint")

    def with_centers(self, sums: np.ndarray) -> Problem:
        """The problem of explaining other centers, given as sums of row statistics."""
        centers, data = self._origin + self.unit * sums[:, :-2] / sums[:, -2:-1], self.problem.data
        return Problem(data, centers, data.nearest(centers))


def _unit(total: float) -> float:
    """The least power of two of which a total has at most 2**`_BITS`."""
    return float(2.0 ** (np.frexp(total)[1] - _BITS)) if total > 0 else 1.0


def _coarse_codes(ranks: np.ndarray, weight: np.ndarray, n_ranks: int) -> np.ndarray:
    """Ranks in at most `N_CODES` steps of about the same weight."""
    from pellucid._core.kernels.local_search import N_CODES

    if n_ranks <= N_CODES:
        return ranks
    ends = np.cumsum(np.bincount(ranks, weights=weight))
    return np.minimum(ends * (N_CODES / ends[-1]), N_CODES - 1)[ranks]


class Workspace:
    """Scratch of the loops, and the work that they have done.

    Attributes
    ----------
    scratch, buffers, coarse : ndarray
        As `pellucid._core.kernels.local_search.reoptimise` needs them.
    work : float
        About the nanoseconds spent, computed from the sizes of what was done.
    """

    def __init__(self, data: LocalSearchData, n_leaves: int) -> None:
        from pellucid._core.kernels.local_search import N_CODES

        n_rows, n_values = data.rows.statistics.shape
        self.scratch = np.empty((10, max(n_rows, 2 * n_leaves, 257)), dtype=np.int32)
        self.buffers = np.empty((3, 2 * n_leaves - 1, n_values))
        self.coarse = np.empty((n_values - 2, N_CODES + 1, 2))
        self.work = 0.0


class LocalSearchTree(ArrayTree):
    """A tree with one leaf per cluster over the rows of the local search.

    Parameters
    ----------
    data : LocalSearchData
    workspace : Workspace
    tree : ThresholdTree

    Attributes
    ----------
    arrays : TreeArrays
    """

    n_exact_columns = 4
    """Columns that are searched at every rank for one cut."""

    def __init__(self, data: LocalSearchData, workspace: Workspace, tree: ThresholdTree) -> None:
        n_nodes, (n_rows, n_values) = workspace.buffers.shape[1], data.rows.statistics.shape
        self.data, self.workspace = data, workspace
        self._all_nodes: list[int] | None = None
        self._all_leaves: list[int] | None = None
        self._set_arrays(
            np.full((9, n_nodes), LEAF, dtype=np.int64),
            np.arange(n_rows, dtype=np.int32),
            np.zeros((n_nodes, n_values)),
            np.zeros((2, n_nodes)),
        )
        arrays, given = self.arrays, slice(tree.node_count)
        arrays.group[:] = np.arange(n_nodes)
        arrays.feature[given] = tree.feature
        arrays.left[given], arrays.right[given] = tree.children_left, tree.children_right
        for i in np.flatnonzero(~tree.is_leaf):
            values = data.values[tree.feature[i]]
            arrays.rank[i] = np.searchsorted(values, tree.threshold[i], side="right") - 1
        arrays.begin[self.root], arrays.end[self.root] = 0, n_rows
        self.route(self.root)

    def _set_arrays(
        self, nodes: np.ndarray, rows: np.ndarray, sums: np.ndarray, scores: np.ndarray
    ) -> None:
        from pellucid._core.kernels.local_search import TreeArrays

        self._blocks = nodes, rows, sums, scores
        self.arrays = TreeArrays._make([*nodes, rows, sums, *scores])
        self.left, self.right = self.arrays.left, self.arrays.right

    def _set_children(self, node: int, left: int, right: int) -> None:
        self.left[node], self.right[node] = left, right
        self._all_nodes = self._all_leaves = None

    def preorder(self, start: int | None = None) -> list[int]:
        """Nodes from `start` (the root) down; those of the whole tree are stored."""
        if start is not None and start != self.root:
            return super().preorder(start)
        if self._all_nodes is None:
            self._all_nodes = super().preorder()
        return self._all_nodes

    def leaves(self, start: int | None = None) -> list[int]:
        """Leaves from `start` (the root) down; those of the whole tree are stored."""
        if start is not None and start != self.root:
            return super().leaves(start)
        if self._all_leaves is None:
            self._all_leaves = super().leaves()
        return self._all_leaves

    def copy(self) -> Self:
        """A tree that can be changed without changing this one."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._set_arrays(*(block.copy() for block in self._blocks))
        return other

    def parent(self, node: int) -> int:
        """The parent of a node that is not the root."""
        return self.arrays.parent.item(node)

    def path(self, node: int) -> Iterator[int]:
        """A node, its parent, and so on up to the root."""
        for _ in range(len(self.left)):
            yield node
            if node == self.root:
                return
            node = self.parent(node)
        raise RuntimeError("the parents of a tree have a cycle")

    def count_neighbours(self) -> int:
        """How many trees differ from a tree of this size in one cut, or in one leaf's place."""
        n_leaves = len(self.leaves())
        n_cuts = sum(len(values) - 1 for values in self.data.values)
        return (n_leaves - 1) * (n_cuts + n_leaves)

    def node_rows(self, node: int) -> np.ndarray:
        """The rows of a node."""
        return self.arrays.rows[self.arrays.begin.item(node) : self.arrays.end.item(node)]

    def between_ss(self) -> float:
        """Between-cluster sum of squares, in squared units; -inf if a cluster has no rows."""
        return self.reoptimise(self.root, lowest=math.inf)

    def route(self, start: int) -> None:
        """Send the rows of a node down to its leaves."""
        from pellucid._core.kernels.local_search import route_rows

        rank, _, statistics = self.data.rows
        route_rows(rank, statistics, *self._blocks, start, self.workspace.scratch)

    def mark_ancestors(self, node: int) -> None:
        """Mark the nodes above a changed one: they may have better cuts now."""
        self.arrays.is_stale[list(self.path(node))[1:]] = True

    def reoptimise(self, top: int, goal: float = -math.inf, lowest: float = -math.inf) -> float:
        """Improve cuts from a node down until none improves, and return BSS of the tree.

        Minus infinity if a cluster has no rows. The cut of the node itself comes last. Until then,
        the search is given up if BSS is below `lowest`; from then on, if `goal` is out of reach.
        """
        from pellucid._core.kernels.local_search import reoptimise

        limits = np.array([self.data.problem.n_clusters, self.n_exact_columns, lowest, goal])
        by_weight, space = self.data.problem.weights.are_integers, self.workspace
        value, work = reoptimise(
            *self.data.rows, *self._blocks, top, limits, by_weight,
            space.scratch, space.buffers, space.coarse,
        )  # fmt: skip
        space.work += work
        return value

    def set_cut(self, node: int, feature: int, rank: int) -> None:
        """Set the cut of a node; `route` is left to the caller."""
        self.arrays.feature[node], self.arrays.rank[node] = feature, rank

    def split_gain(self, leaf: int) -> float:
        """Rise of BSS by the best split of a leaf."""
        gain = self.arrays.split_gain.item(leaf)
        if gain < 0:
            gain = self.arrays.split_gain[leaf] = self.reoptimise(leaf)
        return gain

    def split_one(self, leaves: list[int], random: Random) -> int | None:
        """Split the leaf of largest gain times a random factor; the leaf, or None if none gains."""
        gains = [self.split_gain(leaf) * random.lognormvariate(0, _NOISE) for leaf in leaves]
        if max(gains, default=0.0) <= 0:
            return None
        best = leaves[gains.index(max(gains))]
        self._add_children(best)
        self.route(best)
        return best

    def _add_children(self, leaf: int) -> tuple[int, int]:
        left, right = self.two_unused()
        self._set_children(leaf, left, right)
        self._set_children(left, LEAF, LEAF)
        self._set_children(right, LEAF, LEAF)
        return left, right

    def update_bounds(self) -> None:
        """Nothing to do: only trees with more leaves than clusters have bounds."""

    def removable(self) -> list[int]:
        """The leaves of which one is removed before another one is split."""
        return self.leaves()

    def cut_at_quantile(self, node: int, feature: int, quantile: float) -> None:
        """Split a node at a weighted quantile of a column."""
        rows, data = self.node_rows(node), self.data.rows
        ranks = data.rank[rows, feature]
        ends = np.cumsum(np.bincount(ranks, weights=data.statistics[rows, -2]))
        place = int(np.searchsorted(ends, quantile * ends[-1], "right"))
        self.set_cut(node, feature, min(place, len(ends) - 1))
        self.route(node)

    def collapse(self, top: int) -> None:
        """Make a node a leaf."""
        self.arrays.end[self.preorder(top)[1:]] = 0
        self._set_children(top, LEAF, LEAF)
        self.route(top)

    def remove_leaf(self, leaf: int) -> int:
        """Replace the parent of a leaf by the leaf's sibling; return the parent's node."""
        arrays, top = self.arrays, self.parent(leaf)
        left, right = self.children(top)
        sibling = left + right - leaf
        arrays.end[[left, right]] = 0
        self.set_cut(top, arrays.feature.item(sibling), arrays.rank.item(sibling))
        self._set_children(top, *self.children(sibling))
        self.route(top)
        self.mark_ancestors(top)
        return top

    def rule_sizes(self) -> tuple[int, int]:
        """Splits on the longest path, and conditions in the longest rule of a leaf."""
        feature, depth = self.arrays.feature.tolist(), {self.root: 0}
        conditions: dict[int, frozenset[Any]] = {self.root: frozenset()}
        for node in self.inner():
            for child, is_left in zip(self.children(node), (True, False)):
                depth[child] = depth[node] + 1
                conditions[child] = conditions[node] | {(feature[node], is_left)}
        return max(depth.values()), max(map(len, conditions.values()))

    def to_tree(self, threshold_style: ThresholdStyle) -> ThresholdTree:
        """The final tree, with thresholds in a style, and without leaves that have no rows.

        Groups of leaves are matched with reference clusters so that most weight has its own
        cluster.
        """
        problem, arrays = self.data.problem, self.arrays
        builder = TreeBuilder(problem.n_features)
        weight_by_cluster: dict[int, np.ndarray] = {}
        leaves: list[tuple[int, int]] = []
        stack = [(self.root, 0, np.arange(problem.n_samples, dtype=np.int32))]
        while stack:
            node, number, rows = stack.pop()
            if self.is_leaf(node):
                group = arrays.group.item(node)
                weight, k = problem.weights.values[rows], problem.n_clusters
                found = np.bincount(problem.labels[rows], weight, minlength=k)
                weight_by_cluster[group] = weight_by_cluster.get(group, 0) + found
                leaves.append((number, group))
                continue
            feature, rank = arrays.feature.item(node), arrays.rank.item(node)
            values = problem.values(feature, rows)
            goes_left = values <= self.data.cut_value(feature, rank)
            sides = rows[goes_left], rows[~goes_left]
            if not (len(sides[0]) and len(sides[1])):
                stack.append((self.children(node)[0 if len(sides[0]) else 1], number, rows))
                continue
            interval = float(values[goes_left].max()), float(values[~goes_left].min())
            threshold = choose_threshold(*interval, threshold_style)
            children = builder.split(number, feature=feature, threshold=threshold)
            stack += zip(self.children(node), children, sides)
        matched = linear_sum_assignment(list(weight_by_cluster.values()), maximize=True)[1]
        cluster = dict(zip(weight_by_cluster, matched.tolist()))
        for number, group in leaves:
            builder.set_cluster(number, cluster[group])
        return builder.build()
