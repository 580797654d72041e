"""Best-first growth on partitioned data (ExKMC).

Which leaf is split next is known only after its rivals were searched, and every search takes passes
over the data. So the children of the splits that are likely to be made are searched together. The
splits that were found form a tree with more nodes than wanted; the order of the gains then decides
which of them are made, as if each had been searched when it was needed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from pellucid._core.criteria.column_search import Split
from pellucid._utils.progress import Progress
from pellucid.scale.fitting import CountTask
from pellucid.scale.node_search import run_searches
from pellucid.scale.routing import Routing
from pellucid.scale.surrogate_cost import LeafSums, PartitionedSurrogateCost
from pellucid.scale.tasks import PartSumsTask, SideRequest, find_sides
from pellucid.tree import ThresholdTree, TreeBuilder
from pellucid.tree.rounding import ThresholdStyle, choose_threshold


@dataclass
class _Found:
    """What is known about a node of the large tree.

    Attributes
    ----------
    sums : LeafSums
    split : Split, optional
        The best split; None if the node needs none.
    threshold : float
    children : tuple of int, optional
        Numbers in the large tree, once they exist.
    """

    sums: LeafSums
    split: Split | None = None
    threshold: float = np.nan
    children: tuple[int, int] | None = None


@dataclass
class ExpandedTree:
    """A tree that was grown leaf by leaf.

    Attributes
    ----------
    builder : TreeBuilder
    gains : list of int
    costs : list of int
        Surrogate cost of each leaf of the final tree.
    """

    builder: TreeBuilder
    gains: list[Any] = field(default_factory=list)
    costs: list[int] = field(default_factory=list)


def grow_best_first(
    criterion: PartitionedSurrogateCost,
    threshold_style: ThresholdStyle,
    progress: Progress,
    n_leaves: int,
    start: ThresholdTree | None = None,
) -> ExpandedTree:
    """Split the leaf of largest gain until there are `n_leaves` or no leaf can be split.

    Splits after the last gain are undone.
    """
    return _BestFirst(criterion, threshold_style, progress, n_leaves, start).grow()


class _BestFirst:
    def __init__(
        self,
        criterion: PartitionedSurrogateCost,
        threshold_style: ThresholdStyle,
        progress: Progress,
        n_leaves: int,
        start: ThresholdTree | None,
    ) -> None:
        self.criterion, self.style, self.progress = criterion, threshold_style, progress
        self.n_leaves, self.start = n_leaves, start
        self.large = self._new_builder()
        self.found: dict[int, _Found] = {}

    def _new_builder(self) -> TreeBuilder:
        if self.start is None:
            return TreeBuilder(self.criterion.problem.n_features)
        return TreeBuilder.from_tree(self.start)

    def grow(self) -> ExpandedTree:
        leaves, routing = self.large.leaves, Routing.of(self.large)
        self._search(self.criterion.sums(leaves, routing), routing)
        while True:
            tree, missing, likely = self._replay()
            if not missing:
                return tree
            self._make_children(missing | likely)

    def _replay(self) -> tuple[ExpandedTree, set[int], set[int]]:
        """The tree as far as it is known; nodes whose children must be known to go on; and nodes
        that are likely to be split next.
        """
        tree = ExpandedTree(self._new_builder())
        large_number = {leaf: leaf for leaf in tree.builder.leaves}
        for leaf in large_number:
            tree.builder.set_cluster(leaf, self.found[leaf].sums.cluster)
        while len(large_number) < self.n_leaves:
            splits = {
                leaf: split
                for leaf, number in large_number.items()
                if (split := self.found[number].split) is not None
            }
            if not splits:
                break
            options = sorted(splits, key=lambda leaf: (-splits[leaf].gain, leaf))
            leaf = options[0]
            node, split = self.found[large_number[leaf]], splits[leaf]
            if node.children is None:
                n_left = self.n_leaves - len(large_number)
                numbers = [large_number[option] for option in options[:n_left]]
                likely = {n for n in numbers if self.found[n].children is None}
                return tree, {large_number[leaf]}, likely
            del large_number[leaf]
            pair = tree.builder.split(leaf, feature=split.feature, threshold=node.threshold)
            for child, number in zip(pair, node.children):
                large_number[child] = number
                tree.builder.set_cluster(child, self.found[number].sums.cluster)
            tree.gains.append(split.gain)
        while tree.gains and tree.gains[-1] == 0:
            parent = tree.builder.splits[-1]
            record = tree.builder.nodes[parent]
            pair = large_number.pop(record.left), large_number.pop(record.right)
            large_number[parent] = next(n for n, f in self.found.items() if f.children == pair)
            tree.gains.pop()
            tree.builder.undo()
        tree.costs = [self.found[number].sums.cost for number in large_number.values()]
        return tree, set(), set()

    def _make_children(self, numbers: set[int]) -> None:
        """Split nodes of the large tree and search their children."""
        for number in sorted(numbers):
            node = self.found[number]
            assert node.split is not None
            node.children = self.large.split(
                number, feature=node.split.feature, threshold=node.threshold
            )
            self.progress.step()
        routing = Routing.of(self.large)
        self._search(self._child_sums(numbers, routing), routing)

    def _child_sums(self, numbers: set[int], routing: Routing) -> dict[int, LeafSums]:
        """Sums of the children of some nodes. One pass sums the smaller child of each node; the
        other one has what remains.
        """
        problem = self.criterion.problem
        n_rows = problem.map(CountTask(routing, len(problem.centers)))[0].sum(axis=1)
        pairs = {
            number: sorted(self.found[number].children or (), key=lambda child: n_rows[child])
            for number in numbers
        }
        found = self.criterion.sums([small for small, _ in pairs.values()], routing)
        for number, (small, large) in pairs.items():
            node = self.found[number]
            found[large] = node.sums.minus(found[small])
            node.sums = node.sums.without_losses()
        return found

    def _search(self, sums: dict[int, LeafSums], routing: Routing) -> None:
        """Find the best splits of some leaves of the large tree, and their thresholds."""
        criterion, problem = self.criterion, self.criterion.problem
        mixed = {n: of_leaf for n, of_leaf in sums.items() if not of_leaf.is_pure}
        splits = run_searches(
            {n: criterion.search(n, of_leaf) for n, of_leaf in mixed.items()},
            partial(PartSumsTask, routing, criterion.row_sums),
            problem.map,
        )
        without_gain = {n: mixed[n] for n, found in splits.items() if not found}
        splits |= criterion.first_splits(without_gain, routing)
        requests = [
            SideRequest(n, found[0].feature, found[0].threshold)
            for n, found in splits.items()
            if found
        ]
        sides = np.empty((0, 2))
        if requests:
            sides = find_sides(problem, routing, criterion.row_sums, requests)
        has_split = {number for number, _, _ in requests}
        for number, of_leaf in sums.items():
            self.found[number] = _Found(
                of_leaf if number in has_split else of_leaf.without_losses()
            )
        for (number, _, _), (below, above) in zip(requests, sides.tolist()):
            node = self.found[number]
            node.split = splits[number][0]
            node.threshold = choose_threshold(-below, above, self.style)
