"""Beam search: the best partial trees are kept after each split."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import nan
from typing import Any, NamedTuple

from pellucid._core.criteria.base import Criterion
from pellucid._core.criteria.column_search import Split
from pellucid._core.growers.growing_tree import GrowthResult, set_counts
from pellucid._utils.progress import Progress
from pellucid.tree import TreeBuilder
from pellucid.tree.rounding import ThresholdStyle


@dataclass(frozen=True)
class BeamSearch:
    """Beam search for the parameter `search` of tree estimators: several trees grow side by side.

    Greedy search makes one split of one tree at a time. Here, in each round, every partial tree is
    expanded at each of its leaves by each of the leaf's C best splits; a feature and a pair of
    neighbouring centers contribute at most one split. The B partial trees of least loss are kept.
    Partial trees with the same splits are one, whatever the order of the splits. The tree of greedy
    search is always among the candidates, so the result is never worse.

    Parameters
    ----------
    width : int, default=40
        B, the number of partial trees that are kept.
    n_candidates : int, default=10
        C, the number of splits that are tried at each leaf.

    See Also
    --------
    BSIMM : Beam search for the fewest mistakes, as in its paper.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from pellucid import BeamSearch, ExGreedy
    >>> model = ExGreedy(3, search=BeamSearch(width=5), random_state=0).fit(load_iris().data)
    >>> model.n_leaves_
    3
    """

    width: int = 40
    n_candidates: int = 10

    def grow(
        self, criterion: Criterion[Any], threshold_style: ThresholdStyle, progress: Progress
    ) -> GrowthResult:
        """Grow a tree of small total loss.

        Parameters
        ----------
        criterion : Criterion
            How splits are rated.
        threshold_style : {"round", "midpoint", "data"}
        progress : Progress
            One step per round.

        Returns
        -------
        GrowthResult
            The tree, and the leaf of each row.
        """
        pool = NodePool(criterion, threshold_style, self.n_candidates)
        return pool.build(self.search(pool, progress))

    def search(self, pool: NodePool, progress: Progress) -> PartialTree:
        """The best tree that is found from the root of a pool.

        Parameters
        ----------
        pool : NodePool
            Nodes that partial trees share.
        progress : Progress
            One step per round.

        Returns
        -------
        PartialTree
            The finished tree of least loss.
        """
        greedy = PartialTree(0.0, frozenset(), (pool.nodes[0],))
        beam, finished = [greedy], []
        while beam:
            beam = self._best_successors(beam, pool)
            greedy = pool.split_greedily(greedy)
            pool.complete()
            finished += [tree for tree in beam if tree.is_finished]
            beam = [tree for tree in beam if not tree.is_finished]
            pool.drop_unreachable([*beam, *finished, greedy])
            progress.step()
        while not greedy.is_finished:
            greedy = pool.split_greedily(greedy)
            pool.complete()
        return min([greedy, *finished], key=lambda tree: tree.loss)

    def _best_successors(self, beam: list[PartialTree], pool: NodePool) -> list[PartialTree]:
        """The partial trees of least loss with one more split."""
        successors = [
            (tree.loss + loss, rank, order, position)
            for order, tree in enumerate(beam)
            for position, leaf in enumerate(tree.leaves)
            for rank, (loss, _) in enumerate(leaf.candidates)
        ]
        chosen: dict[frozenset[Any], PartialTree] = {}
        # A tree can be reached by any order of its splits, so equal trees are skipped.
        for loss, rank, order, position in _ascending(successors):
            tree = beam[order]
            key = tree.splits | {(tree.leaves[position].number, rank)}
            if key not in chosen:
                chosen[key] = pool.split(tree, position, rank, loss)
                if len(chosen) == self.width:
                    break
        return list(chosen.values())


def _ascending(items: list[Any]) -> Iterator[Any]:
    """The items in ascending order, sorted only as far as they are used."""
    heapq.heapify(items)
    while items:
        yield heapq.heappop(items)


@dataclass(eq=False)
class PoolNode:
    """A node that any number of partial trees share.

    `number` is its position in the pool. `node` is that of the criterion; None until
    `NodePool.complete`, and once no tree can use it. `candidates` are the best splits with their
    losses, the best first; `branches` are the splits that have been made, by their rank there.
    """

    number: int
    node: Any = None
    candidates: list[tuple[float, Split]] = field(default_factory=list)
    branches: dict[int, BeamBranch] = field(default_factory=dict)


@dataclass(eq=False)
class BeamBranch:
    """A split of a node and its children. The threshold is known after `NodePool.complete`."""

    split: Split
    left: PoolNode
    right: PoolNode
    threshold: float = nan


class PartialTree(NamedTuple):
    """A tree under construction, with the sum of the losses of its splits.

    `splits` are its inner nodes, each with the rank of its split among the node's candidates;
    `leaves` are from left to right.
    """

    loss: float
    splits: frozenset[tuple[int, int]]
    leaves: tuple[PoolNode, ...]

    @property
    def is_finished(self) -> bool:
        return not any(leaf.candidates for leaf in self.leaves)


class NodePool:
    """Nodes of all partial trees; each is searched once, and divided once per split."""

    def __init__(
        self, criterion: Criterion[Any], threshold_style: ThresholdStyle, n_candidates: int
    ) -> None:
        self.criterion = criterion
        self.threshold_style = threshold_style
        self.n_candidates = n_candidates
        self.nodes: list[PoolNode] = []
        self.reachable: set[int] = set()
        self._new: list[tuple[PoolNode, BeamBranch]] = []
        root = self._add()
        root.node = criterion.root()
        self._search([root])

    def _add(self) -> PoolNode:
        self.reachable.add(len(self.nodes))
        self.nodes.append(PoolNode(len(self.nodes)))
        return self.nodes[-1]

    def _search(self, nodes: Sequence[PoolNode]) -> None:
        found = self.criterion.search([node.node for node in nodes], self.n_candidates)
        for node, splits in zip(nodes, found):
            node.candidates = [(self.criterion.loss(node.node, split), split) for split in splits]

    def complete(self) -> None:
        """Make the splits of a round together, and search their children."""
        if not self._new:
            return
        nodes, splits = [leaf.node for leaf, _ in self._new], [b.split for _, b in self._new]
        children = []
        divided = self.criterion.divide(nodes, splits, self.threshold_style)
        for (_, branch), (_, threshold, left, right) in zip(self._new, divided):
            branch.threshold, branch.left.node, branch.right.node = threshold, left, right
            children += [branch.left, branch.right]
        self._new = []
        self._search(children)

    def split(self, tree: PartialTree, position: int, rank: int, loss: float) -> PartialTree:
        """The tree with one more split, and its loss."""
        leaf = tree.leaves[position]
        if rank not in leaf.branches:
            branch = BeamBranch(leaf.candidates[rank][1], self._add(), self._add())
            leaf.branches[rank] = branch
            self._new.append((leaf, branch))
        branch = leaf.branches[rank]
        children = branch.left, branch.right
        leaves = (*tree.leaves[:position], *children, *tree.leaves[position + 1 :])
        return PartialTree(loss, tree.splits | {(leaf.number, rank)}, leaves)

    def split_greedily(self, tree: PartialTree) -> PartialTree:
        """The tree with the best split of its first leaf that has one."""
        for position, leaf in enumerate(tree.leaves):
            if leaf.candidates:
                return self.split(tree, position, 0, tree.loss + leaf.candidates[0][0])
        return tree

    def drop_unreachable(self, trees: list[PartialTree]) -> None:
        """Drop the rows of all nodes but the leaves of the trees and their descendants."""
        reachable: set[int] = set()
        stack = [leaf for tree in trees for leaf in tree.leaves]
        while stack:
            node = stack.pop()
            if node.number not in reachable:
                reachable.add(node.number)
                for branch in node.branches.values():
                    stack += [branch.left, branch.right]
        for number in self.reachable - reachable:
            self.nodes[number].node = None
        self.reachable = reachable

    def build(self, tree: PartialTree) -> GrowthResult:
        builder, leaves, gains = TreeBuilder(self.criterion.problem.n_features), {}, []
        rank_of = dict(tree.splits)
        stack = [(0, self.nodes[0])]
        while stack:
            number, node = stack.pop()
            if node.number not in rank_of:
                leaves[number] = node.node
                builder.set_cluster(number, self.criterion.cluster(node.node))
                continue
            branch = node.branches[rank_of[node.number]]
            left, right = builder.split(
                number, feature=branch.split.feature, threshold=branch.threshold
            )
            gains.append(branch.split.gain)
            stack += [(right, branch.right), (left, branch.left)]
        set_counts(builder, leaves, self.criterion)
        return GrowthResult(builder, gains, leaves)
