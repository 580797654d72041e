"""Limits on the size of a tree."""

from __future__ import annotations

from dataclasses import dataclass

from pellucid._core.criteria.base import Node
from pellucid._core.criteria.column_search import Split
from pellucid._core.criteria.induced_cost import InducedCost
from pellucid._core.criteria.problem import Problem
from pellucid.tree import ThresholdTree
from pellucid.tree.sizes import conditions_per_leaf


@dataclass(frozen=True)
class TreeLimits:
    """Maximal size of a tree; None is no limit.

    Attributes
    ----------
    n_leaves : int
    max_depth : int or None
        Splits on the longest path.
    max_conditions : int or None
        Conditions in the longest rule of a leaf, without redundant ones.
    """

    n_leaves: int
    max_depth: int | None = None
    max_conditions: int | None = None

    @property
    def limits_depth(self) -> bool:
        """Whether a tree may be too deep."""
        return self.max_depth is not None or self.max_conditions is not None

    @property
    def safe_depth(self) -> int | None:
        """Depth up to which every tree is within the limits; a rule has no more conditions."""
        limits = [limit for limit in (self.max_depth, self.max_conditions) if limit is not None]
        return min(limits, default=None)

    def allows(self, tree: ThresholdTree) -> bool:
        """Whether a tree is within the limits."""
        if self.max_conditions is None:
            return self.allows_sizes(tree.max_depth, 0)
        return self.allows_sizes(tree.max_depth, int(conditions_per_leaf(tree).max()))

    def allows_sizes(self, depth: int, n_conditions: int) -> bool:
        """Whether a tree of this depth, and with so long a rule, is within the limits."""
        is_shallow = self.max_depth is None or depth <= self.max_depth
        return is_shallow and (self.max_conditions is None or n_conditions <= self.max_conditions)


class DepthLimitedCost(InducedCost):
    """Induced cost, restricted to splits after which a tree of limited depth is still possible.

    With m splits allowed below a node, each side of its split may have at most 2^(m - 1) centers.

    Parameters
    ----------
    problem : Problem
    depth_penalty : float
    max_depth : int
    """

    def __init__(self, problem: Problem, depth_penalty: float, max_depth: int) -> None:
        super().__init__(problem, depth_penalty)
        self.max_depth = max_depth

    def best_split(self, node: Node) -> Split | None:
        """The best split that keeps the depth; if there is none, the best one."""
        n, splits = 1, self.best_splits(node)
        while not (allowed := [split for split in splits if self._keeps_depth(node, split)]):
            if len(splits) < n:  # these are all
                return splits[0] if splits else None
            n *= 32
            splits = self.best_splits(node, n)
        return allowed[0]

    def _keeps_depth(self, node: Node, split: Split) -> bool:
        """Whether the centers on each side fit into the levels below."""
        centers, max_centers = node.rows.centers, 2.0 ** (self.max_depth - node.rows.depth - 1)
        n_left = int((self.problem.centers[centers, split.feature] <= split.threshold).sum())
        return max(n_left, len(centers) - n_left) <= max_centers
