"""Trees of the local search with more leaves than clusters.

A cluster is a group of leaves. With S and W the sum and the weight of the rows of a cluster, the
local search maximises the sum of |S|^2 / W over the clusters, as for trees with one leaf per
cluster. A split of a leaf divides its rows between the cluster of the leaf and another one.
"""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from pellucid._core.refine.local_search_tree import LocalSearchData, LocalSearchTree, Workspace
from pellucid.tree import ThresholdTree

if TYPE_CHECKING:
    from typing import Self

_POWER = 4.0
"""Splits are drawn in proportion to this power of their bounds."""

_STEPS = 2.0**16
"""Bounds are rounded to so many steps."""


class GroupedTree(LocalSearchTree):
    """A tree with groups of leaves over the rows of the local search.

    Parameters
    ----------
    data : LocalSearchData
    workspace : Workspace
    tree : ThresholdTree
    """

    n_exact_columns = 2

    def __init__(self, data: LocalSearchData, workspace: Workspace, tree: ThresholdTree) -> None:
        super().__init__(data, workspace, tree)
        self.arrays.group[:] = 0
        self.arrays.group[: tree.node_count] = np.where(tree.is_leaf, tree.cluster, 0)
        self._bounds = np.zeros((len(self.left), data.problem.n_clusters))

    def copy(self) -> Self:
        """A tree that can be changed without changing this one."""
        other = super().copy()
        other._bounds = self._bounds.copy()
        return other

    def update_bounds(self) -> None:
        """Compute all bounds from the current means."""
        self.arrays.split_gain[:] = -1
        self._gain_bounds(self.leaves())

    def _gain_bounds(self, leaves: list[int]) -> np.ndarray:
        """How much the cost falls if each row of a leaf may choose another cluster.

        An upper bound of what a split gains with fixed centers. Leaves whose rows have not changed
        since the latest accepted step keep their bounds.
        """
        from pellucid._core.kernels.local_search import fill_gain_bounds

        if (self.arrays.split_gain[leaves] < 0).any():
            statistics, space = self.data.rows.statistics, self.workspace
            by_weight = self.data.problem.weights.are_integers
            space.work += fill_gain_bounds(
                statistics, *self._blocks, by_weight, self._bounds, space.buffers
            )
        return self._bounds[leaves]

    def split_one(self, leaves: list[int], random: Random) -> int | None:
        """Split a leaf between its cluster and another one; the leaf, or None if nothing gains.

        Leaf and cluster are drawn with probabilities that grow with their bounds. The other cluster
        is on a random side.
        """
        place = _draw(self._gain_bounds(leaves), random)
        if place is None:
            return None
        (at, other), is_left = place, random.random() < 0.5
        leaf = leaves[at]
        own = self.arrays.group.item(leaf)
        children = self._add_children(leaf)
        self.arrays.group[list(children)] = (other, own) if is_left else (own, other)
        self.set_cut(leaf, 0, -1 if is_left else len(self.data.values[0]))
        self.route(leaf)
        self.reoptimise(leaf)
        return leaf

    def removable(self) -> list[int]:
        """The leaves of which one is removed before another one is split.

        None if the tree may have another leaf. The empty leaves if there are any, otherwise those
        whose clusters have other leaves.
        """
        leaves, group = self.leaves(), self.arrays.group
        if 2 * len(leaves) - 1 < len(self.left):
            return []
        empty = [leaf for leaf in leaves if not len(self.node_rows(leaf))]
        n_leaves = Counter(group[leaves].tolist())
        return empty or [leaf for leaf in leaves if n_leaves[group.item(leaf)] > 1]

    def remove_leaf(self, leaf: int) -> int:
        """Replace the parent of a leaf by the leaf's sibling; return the parent's node."""
        parent = self.parent(leaf)
        left, right = self.children(parent)
        self.arrays.group[parent] = self.arrays.group[left + right - leaf]
        return super().remove_leaf(leaf)

    def collapse(self, top: int) -> None:
        """Make a node a leaf of the cluster that has most weight there."""
        leaves = self.leaves(top)
        weight = np.bincount(self.arrays.group[leaves], self.arrays.sums[leaves, -2])
        self.arrays.group[top] = weight.argmax()
        super().collapse(top)

    def relabel(self, random: Random) -> int | None:
        """Give a random leaf to another cluster; its parent, or None if no row is nearer to one."""
        leaf = random.choice(self.leaves())
        place = _draw(self._gain_bounds([leaf]), random)
        if place is None:
            return None
        self.arrays.group[leaf], self.arrays.split_gain[leaf] = place[1], -1
        self.mark_ancestors(leaf)
        return self.parent(leaf)


def _draw(bounds: np.ndarray, random: Random) -> tuple[int, int] | None:
    """Row and column of an entry, drawn in proportion to a power; None if all entries are 0."""
    largest = bounds.max()
    if largest <= 0:
        return None
    # Rounded, since sums in floating point depend on the order of the rows.
    ends = (np.rint(bounds.ravel() * (_STEPS / largest)) ** _POWER).cumsum()
    place = int(np.searchsorted(ends, random.random() * ends[-1], "right"))
    return divmod(min(place, len(ends) - 1), bounds.shape[1])
