"""Limits on the size of a tree."""

from __future__ import annotations

from dataclasses import dataclass

from pellucid.tree import ThresholdTree
from pellucid.tree.measures import conditions_per_leaf


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
        return self.safe_depth is not None

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
