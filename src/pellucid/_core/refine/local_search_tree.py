"""Trees of the local search: any subtree changes, and its cuts are re-optimised.

A cluster is a leaf or, with more leaves than clusters, a group of leaves. With S and W the sum and
the weight of the rows of a cluster, the local search maximises the sum of |S|^2 / W over the
clusters. A split of a leaf in a group divides its rows between its cluster and another one.

The loops, and the statistics that they maintain, are in `pellucid._core.kernels.local_search`.
"""

from __future__ import annotations

import math
from collections import Counter
from random import Random
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from pellucid._core.refine import tuning
from pellucid._core.refine.local_search_data import LocalSearchData, Workspace, cut_value
from pellucid._core.refine.mutable_tree import ArrayTree, Cut, build_tree
from pellucid.tree import LEAF, ThresholdTree
from pellucid.tree.rounding import ThresholdStyle


class LocalSearchTree(ArrayTree):
    """A tree over the rows of the local search.

    It `is_grouped` if it may have more leaves than clusters. Then `arrays.group` has the cluster of
    each leaf; otherwise every leaf is a group of its own.
    """

    max_depth: int | None = None
    """Depth from which leaves are not split."""

    def __init__(self, data: LocalSearchData, workspace: Workspace, tree: ThresholdTree) -> None:
        _, n_nodes, n_values = workspace.buffers.shape
        n_rows = len(data.rows.statistics)
        self.data, self.workspace, n_clusters = data, workspace, data.problem.n_clusters
        self.is_grouped = n_nodes > 2 * n_clusters - 1
        self.n_exact_columns, is_same_space = tuning.N_EXACT_COLUMNS, not data.problem.has_space
        # As `reoptimise` needs them; entries 1 to 3 are set in each call.
        self._limits = np.array([n_clusters, 0.0, 0.0, 0.0, data.mistake_cost, is_same_space])
        nodes = np.full((10, n_nodes), LEAF, dtype=np.int64)
        rows = np.arange(n_rows, dtype=np.int32)
        self._set_arrays(nodes, rows, np.zeros((n_nodes, n_values)), np.zeros((3, n_nodes)))
        arrays, given = self.arrays, slice(tree.node_count)
        arrays.group[:] = arrays.cluster[:] = np.arange(n_nodes)
        if self.is_grouped:
            self.n_exact_columns = tuning.N_EXACT_COLUMNS_OF_GROUPS
            arrays.group[:] = 0
            arrays.group[given] = np.where(tree.is_leaf, tree.cluster, 0)
            self._bounds = np.zeros((n_nodes, n_clusters))
        arrays.feature[given] = tree.feature
        arrays.left[given], arrays.right[given] = tree.children_left, tree.children_right
        for i in np.flatnonzero(~tree.is_leaf):
            values = data.values[tree.feature[i]]
            arrays.rank[i] = np.searchsorted(values, tree.threshold[i], side="right") - 1
        arrays.begin[self.root], arrays.end[self.root] = 0, n_rows
        self.route(self.root)

    def _set_arrays(self, *blocks: np.ndarray) -> None:
        from pellucid._core.kernels.local_search import TreeArrays

        self._blocks = nodes, rows, sums, scores = blocks
        self.arrays = TreeArrays._make([*nodes, rows, sums, *scores])
        self.left, self.right = self.arrays.left, self.arrays.right

    def copy(self) -> LocalSearchTree:
        other = object.__new__(LocalSearchTree)
        other.__dict__.update(self.__dict__)
        other._set_arrays(*(block.copy() for block in self._blocks))
        if self.is_grouped:
            other._bounds = self._bounds.copy()
        return other

    def path(self, node: int) -> list[int]:
        """A node, its parent, and so on up to the root."""
        parent, path = self.arrays.parent, [node]
        while path[-1] != self.root:
            path.append(parent.item(path[-1]))
        return path

    def node_rows(self, node: int) -> np.ndarray:
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
        self.arrays.is_stale[self.path(node)[1:]] = True

    def reoptimise(self, top: int, goal: float = -math.inf, lowest: float = -math.inf) -> float:
        """Improve cuts from a node down until none improves, and return BSS of the tree.

        Minus infinity if a cluster has no rows. The cut of the node itself comes last. Until then,
        the search is given up if BSS is below `lowest`; from then on, if `goal` is out of reach.
        """
        from pellucid._core.kernels.local_search import reoptimise

        if self.data.mistake_cost > 0 and not (self.is_grouped or self.is_leaf(top)):
            self._match_clusters()
        space, limits, by_weight = self.workspace, self._limits, self.data.by_weight
        limits[1:4] = self.n_exact_columns, lowest, goal
        value, work = reoptimise(
            *self.data.rows, *self._blocks, top, limits, by_weight,
            space.scratch, space.buffers, space.coarse,
        )  # fmt: skip
        space.work += work
        return value

    def _match_clusters(self) -> None:
        """Give each leaf the cluster whose rows it has, if mistakes have a cost."""
        leaves, arrays, problem = np.array(self.leaves()), self.arrays, self.data.problem
        k, n_rows = problem.n_clusters, (arrays.end - arrays.begin)[leaves]
        order = np.argsort(arrays.begin[leaves], kind="stable")
        place = np.repeat(order, n_rows[order])
        rows = arrays.rows[: len(place)]
        weight = self.data.rows.statistics[rows, -3]
        agreed = np.bincount(place * k + problem.labels[rows], weight, len(leaves) * k)
        agreed = agreed.reshape(-1, k)
        at, cluster = linear_sum_assignment(agreed, maximize=True)
        arrays.cluster[leaves[at]] = cluster
        arrays.agreed[leaves[at]] = agreed[at, cluster]

    def set_cut(self, node: int, feature: int, rank: int) -> None:
        """Set the cut of a node; `route` is left to the caller."""
        self.arrays.feature[node], self.arrays.rank[node] = feature, rank

    def split_one(self, leaves: list[int], random: Random) -> int | None:
        """Split one of some leaves, drawn by what it gains; the leaf, or None if none gains."""
        if self.max_depth is not None:
            leaves = [leaf for leaf in leaves if len(self.path(leaf)) <= self.max_depth]
        if self.is_grouped:
            return self._split_group(leaves, random)
        gains = [self.split_gain(leaf) * random.lognormvariate(0, tuning.NOISE) for leaf in leaves]
        if max(gains, default=0.0) <= 0:
            return None
        best = leaves[gains.index(max(gains))]
        self.add_children(best)
        self.route(best)
        return best

    def split_gain(self, leaf: int) -> float:
        """Rise of BSS by the best split of a leaf that is a group of its own."""
        gain = self.arrays.split_gain.item(leaf)
        if gain < 0:
            gain = self.arrays.split_gain[leaf] = self.reoptimise(leaf)
        return gain

    def _split_group(self, leaves: list[int], random: Random) -> int | None:
        """Split a leaf between its cluster and another one.

        Leaf and cluster are drawn with probabilities that grow with their bounds. The other cluster
        is on a random side.
        """
        place = _draw(self.gain_bounds(leaves), random) if leaves else None
        if place is None:
            return None
        (at, other), is_left = place, random.random() < 0.5
        leaf = leaves[at]
        own = self.arrays.group.item(leaf)
        children = self.add_children(leaf)
        self.arrays.group[list(children)] = (other, own) if is_left else (own, other)
        self.set_cut(leaf, 0, -1 if is_left else len(self.data.values[0]))
        self.route(leaf)
        self.reoptimise(leaf)
        return leaf

    def update_bounds(self) -> None:
        """Compute all bounds of splits of groups from the current means."""
        if self.is_grouped:
            self.arrays.split_gain[:] = -1
            self.gain_bounds(self.leaves())

    def gain_bounds(self, leaves: list[int]) -> np.ndarray:
        """How much the cost falls if each row of a leaf may choose another cluster.

        An upper bound of what a split gains with fixed centers. Leaves whose rows have not changed
        since the latest accepted step keep their bounds.
        """
        from pellucid._core.kernels.local_search import fill_gain_bounds

        if (self.arrays.split_gain[leaves] < 0).any():
            statistics, space = self.data.rows.statistics, self.workspace
            space.work += fill_gain_bounds(
                statistics, *self._blocks, self.data.by_weight, self._bounds, space.buffers,
                self.data.mistake_cost,
            )  # fmt: skip
        return self._bounds[leaves]

    def relabel(self, random: Random) -> int | None:
        """Give a random leaf to another cluster; its parent, or None if no row is nearer to one."""
        leaf = random.choice(self.leaves())
        place = _draw(self.gain_bounds([leaf]), random)
        if place is None:
            return None
        self.arrays.group[leaf] = place[1]
        self.route(leaf)
        self.mark_ancestors(leaf)
        return self.arrays.parent.item(leaf)

    def removable(self) -> list[int]:
        """The leaves of which one is removed before another one is split.

        With groups, none if the tree may have another leaf; otherwise the empty leaves if there are
        any, or those whose clusters have other leaves.
        """
        leaves, group = self.leaves(), self.arrays.group
        if not self.is_grouped:
            return leaves
        if 2 * len(leaves) - 1 < len(self.left):
            return []
        empty = [leaf for leaf in leaves if not len(self.node_rows(leaf))]
        n_leaves = Counter(group[leaves].tolist())
        return empty or [leaf for leaf in leaves if n_leaves[group.item(leaf)] > 1]

    def cut_at_quantile(self, node: int, feature: int, quantile: float) -> None:
        """Split a node at a weighted quantile of a column."""
        rows, data = self.node_rows(node), self.data.rows
        ranks = data.rank[rows, feature]
        ends = np.cumsum(np.bincount(ranks, weights=data.statistics[rows, -3]))
        place = int(np.searchsorted(ends, quantile * ends[-1], "right"))
        self.set_cut(node, feature, min(place, len(ends) - 1))
        self.route(node)

    def collapse(self, top: int) -> None:
        """Make a node a leaf; with groups, of the cluster that has most weight there."""
        if self.is_grouped:
            leaves, arrays = self.leaves(top), self.arrays
            arrays.group[top] = np.bincount(arrays.group[leaves], arrays.sums[leaves, -2]).argmax()
        self.arrays.end[self.preorder(top)[1:]] = 0
        self.set_children(top)
        self.route(top)

    def remove_leaf(self, leaf: int) -> int:
        """Replace the parent of a leaf by the leaf's sibling; return the parent's node."""
        arrays, top = self.arrays, self.arrays.parent.item(leaf)
        left, right = self.children(top)
        sibling = left + right - leaf
        if self.is_grouped:
            arrays.group[top] = arrays.group[sibling]
        arrays.end[[left, right]] = 0
        self.set_cut(top, arrays.feature.item(sibling), arrays.rank.item(sibling))
        self.set_children(top, *self.children(sibling))
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
        problem, arrays, values = self.data.problem, self.arrays, self.data.values
        splits = zip(*(a.tolist() for a in (arrays.feature, arrays.rank, self.left, self.right)))
        nodes = [
            None if left == LEAF else Cut(j, cut_value(values[j], rank), left, right)
            for j, rank, left, right in splits
        ]
        builder, leaves = build_tree(problem, nodes, threshold_style)
        weights: dict[int, np.ndarray] = {}  # by group and cluster
        for node, rows in leaves.values():
            weight, group = problem.weights.values[rows], arrays.group.item(node)
            found = np.bincount(problem.labels[rows], weight, minlength=problem.n_clusters)
            weights[group] = weights.get(group, 0) + found
        matched = linear_sum_assignment(list(weights.values()), maximize=True)[1]
        cluster = dict(zip(weights, matched.tolist()))
        for number, (node, _) in leaves.items():
            builder.set_cluster(number, cluster[arrays.group.item(node)])
        return builder.build()


def _draw(bounds: np.ndarray, random: Random) -> tuple[int, int] | None:
    """Row and column of an entry, drawn in proportion to a power; None if all entries are 0."""
    largest = bounds.max()
    if largest <= 0:
        return None
    # Rounded, since sums in floating point depend on the order of the rows.
    ends = (np.rint(bounds.ravel() * (tuning.BOUND_STEPS / largest)) ** tuning.BOUND_POWER).cumsum()
    place = int(np.searchsorted(ends, random.random() * ends[-1], "right"))
    return divmod(min(place, len(ends) - 1), bounds.shape[1])
