"""Greedy growth: every leaf is split at its best split until the criterion finds none."""

from __future__ import annotations

from pellucid._core.criteria.base import Criterion, SplitNode
from pellucid._core.growers.growing_tree import GrowingTree, GrowthResult, map_nodes
from pellucid._utils.progress import Progress
from pellucid.tree.rounding import ThresholdStyle


def grow_greedily(
    criterion: Criterion, threshold_style: ThresholdStyle, progress: Progress
) -> GrowthResult:
    """Split all leaves of a level, from left to right, then those of the next level."""
    tree = GrowingTree(criterion, threshold_style)

    def divide(number: int) -> SplitNode | None:
        split = criterion.best_split(tree.leaves[number])
        return None if split is None else criterion.divide(tree.leaves[number], split)

    level = [0]
    while level:
        next_level: list[int] = []
        for number, divided in zip(level, map_nodes(criterion, divide, level, tree.leaves)):
            if divided is not None:
                next_level += tree.accept(number, divided)
                progress.step()
        level = next_level
    return tree.result()
