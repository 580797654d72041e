"""Growers on partitioned data: one pass per step serves all open nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np

from pellucid._core.criteria.column_search import Split
from pellucid._utils.progress import Progress
from pellucid.scale.members import ACTIVE, ALL, PASSIVE
from pellucid.scale.node_search import Search, run_searches
from pellucid.scale.problem import OpenNode, ScaleProblem
from pellucid.scale.routing import Routing
from pellucid.scale.tasks import NodeRowSums, SideRequest, find_sides
from pellucid.tree import TreeBuilder
from pellucid.tree.rounding import ThresholdStyle, choose_threshold


class CenterCriterion(Protocol):
    """A criterion whose splits separate reference centers."""

    problem: ScaleProblem

    @property
    def has_passive_rows(self) -> bool:
        """Whether nodes have rows that do not count in the search."""

    @property
    def task(self) -> Callable[..., Any]:
        """``task(routing, row_sums, requests)`` answers the requests of searches in one pass."""

    def row_sums(self, nodes: Sequence[OpenNode]) -> NodeRowSums:
        """What is summed over the rows of some nodes."""

    def searches(
        self, nodes: Sequence[OpenNode], routing: Routing, n: int = 1
    ) -> dict[int, Search]:
        """Searches for the n best splits of nodes."""


class GrowingNodes:
    """The leaves of a growing tree with their centers.

    Parameters
    ----------
    problem : ScaleProblem
    """

    builder: TreeBuilder
    leaves: dict[int, OpenNode]

    def __init__(self, problem: ScaleProblem) -> None:
        self.builder = TreeBuilder(problem.n_features)
        self.leaves = {0: OpenNode(0, np.arange(len(problem.centers)))}
        self._centers = problem.centers

    @property
    def leaf_centers(self) -> dict[int, np.ndarray]:
        """Reference centers of each leaf."""
        return {number: node.centers for number, node in self.leaves.items()}

    def split(self, number: int, split: Split, threshold: float) -> list[int]:
        """Split a leaf; returns its children."""
        node, feature = self.leaves.pop(number), split.feature
        left, right = self.builder.split(number, feature=feature, threshold=threshold)
        is_left = self._centers[node.centers, feature] <= split.threshold
        cut_left, cut_right = node.cut_left, node.cut_right
        self.leaves[left] = OpenNode(left, node.centers[is_left], cut_left | {feature}, cut_right)
        self.leaves[right] = OpenNode(
            right, node.centers[~is_left], cut_left, cut_right | {feature}
        )
        return [left, right]


def grow_greedily(
    criterion: CenterCriterion, threshold_style: ThresholdStyle, progress: Progress
) -> GrowingNodes:
    """Split all leaves of a level, from left to right, then those of the next level."""
    problem = criterion.problem
    tree, level = GrowingNodes(problem), [0]
    while level:
        nodes = [tree.leaves[number] for number in level if len(tree.leaves[number].centers) > 1]
        if not nodes:
            break
        routing, row_sums = Routing.of(tree.builder), criterion.row_sums(nodes)
        task = partial(criterion.task, routing, row_sums)
        splits = run_searches(criterion.searches(nodes, routing), task, problem.map)
        chosen = {number: found[0] for number, found in splits.items() if found}
        intervals = _intervals(criterion, tree, chosen, routing, row_sums)
        level = [
            child
            for number in level
            if number in chosen
            for child in tree.split(
                number, chosen[number], choose_threshold(*intervals[number], threshold_style)
            )
        ]
        for _ in chosen:
            progress.step()
    return tree


def _intervals(
    criterion: CenterCriterion,
    tree: GrowingNodes,
    splits: dict[int, Split],
    routing: Routing,
    row_sums: NodeRowSums,
) -> dict[int, tuple[float, float]]:
    """All thresholds that split the rows and the centers of each node alike."""
    if not splits:
        return {}
    problem, edges = criterion.problem, criterion.problem.bins.edges
    coordinates = {n: problem.centers[tree.leaves[n].centers, s.feature] for n, s in splits.items()}
    requests = [SideRequest(n, split.feature, split.threshold) for n, split in splits.items()]
    # A threshold that is no edge of the quantizer is the value of a row.
    are_values = all(t in coordinates[n] or t not in edges[feature] for n, feature, t in requests)
    counts_all = not criterion.has_passive_rows or are_values
    found = find_sides(problem, routing, row_sums, requests, ALL if counts_all else ACTIVE)
    intervals = {}
    for (number, _, threshold), (below, above) in zip(requests, found.tolist()):
        is_left = coordinates[number] <= threshold
        low = max(-below, coordinates[number].max(initial=-np.inf, where=is_left))
        high = min(above, coordinates[number].min(initial=np.inf, where=~is_left))
        intervals[number] = low, high
    if not counts_all:
        # Passive rows are on the side of the lowest threshold, and bound the highest.
        requests = [SideRequest(n, splits[n].feature, low) for n, (low, _) in intervals.items()]
        found = find_sides(problem, routing, row_sums, requests, PASSIVE)
        for (number, _, low), above in zip(requests, found[:, 1].tolist()):
            intervals[number] = low, min(intervals[number][1], above)
    return {number: (float(low), float(high)) for number, (low, high) in intervals.items()}
