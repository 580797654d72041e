"""Beam search: several trees grow side by side, and the best of them are kept after each cut."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import NamedTuple

from pellucid._core.criteria.base import Criterion, Node
from pellucid._core.criteria.column_search import Split
from pellucid._core.growers.growing_tree import GrowthResult, set_counts
from pellucid._utils.progress import Progress
from pellucid.tree import TreeBuilder
from pellucid.tree.rounding import ThresholdStyle, choose_threshold


class _Branch(NamedTuple):
    """A cut of a node, with what it leads to."""

    cut: Split
    threshold: float
    left: _Node
    right: _Node


@dataclass(eq=False)
class _Node:
    """A node that any number of trees share: where it lies says all about it."""

    number: int
    node: Node | None
    cuts: list[tuple[float, Split]] = field(default_factory=list)
    branches: dict[int, _Branch] = field(default_factory=dict)


class _State(NamedTuple):
    """A tree: which nodes are cut how, and which are its leaves."""

    loss: float
    cut_at: frozenset[tuple[int, int]]
    leaves: tuple[_Node, ...]

    @property
    def is_finished(self) -> bool:
        return not any(node.cuts for node in self.leaves)


@dataclass(frozen=True)
class BeamSearch:
    """Grow many trees at a time and keep the best.

    In each round every tree is cut in every way at one of its leaves: at each leaf in turn, by
    each of the leaf's best cuts, of which there is one for each feature and each pair of
    neighbouring centers. Of the trees that result, those with the least loss so far are kept; a
    tree that is reached in two orders is one tree. What the criterion's greedy search would grow
    is always among them, so the result is never worse.

    Parameters
    ----------
    width : int, default=40
        Number of trees that are kept.
    n_candidates : int, default=10
        Number of cuts that are tried at each leaf.

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
        self, criterion: Criterion, threshold_style: ThresholdStyle, progress: Progress
    ) -> GrowthResult:
        """The tree of least loss that was found.

        Parameters
        ----------
        criterion : Criterion
        threshold_style : {"round", "midpoint", "data"}
        progress : Progress
            One step is a cut of all trees.
        """
        nursery = _Nursery(criterion, threshold_style, self.n_candidates)
        greedy = _State(0.0, frozenset(), (nursery.add(criterion.root()),))
        beam, finished = [greedy], []
        while beam:
            beam = self._best_successors(beam, nursery)
            greedy = nursery.go_on_greedily(greedy)
            finished += [state for state in beam if state.is_finished]
            beam = [state for state in beam if not state.is_finished]
            nursery.forget_all_but([*beam, *finished, greedy])
            progress.step()
        while not greedy.is_finished:
            greedy = nursery.go_on_greedily(greedy)
        best = min([greedy, *finished], key=lambda state: state.loss)
        return nursery.build(best)

    def _best_successors(self, beam: list[_State], nursery: _Nursery) -> list[_State]:
        """The best trees with one more cut."""
        wanted = []
        for order, state in enumerate(beam):
            for place, node in enumerate(state.leaves):
                for rank, (loss, _) in enumerate(node.cuts):
                    wanted.append((state.loss + loss, rank, order, place))
        chosen: dict[frozenset, _State] = {}
        # The same tree may come up as often as it has leaves that could be the last to be cut.
        for loss, rank, order, place in _ascending(wanted):
            state = beam[order]
            key = state.cut_at | {(state.leaves[place].number, rank)}
            if key not in chosen:
                chosen[key] = nursery.cut(state, place, rank, loss, key)
                if len(chosen) == self.width:
                    break
        return list(chosen.values())


def _ascending(items: list):
    heapq.heapify(items)
    while items:
        yield heapq.heappop(items)


class _Nursery:
    """All nodes of all trees, each searched for cuts once and divided once for each of them."""

    def __init__(
        self, criterion: Criterion, threshold_style: ThresholdStyle, n_candidates: int
    ) -> None:
        self.criterion = criterion
        self.threshold_style = threshold_style
        self.n_candidates = n_candidates
        self.nodes: list[_Node] = []
        self.searched: set[int] = set()

    def add(self, node: Node) -> _Node:
        """A new node, with its best cuts."""
        splits = self.criterion.best_splits(node, self.n_candidates)
        losses = [(self.criterion.loss(node, split), split) for split in splits]
        new = _Node(len(self.nodes), node, losses)
        self.nodes.append(new)
        self.searched.add(new.number)
        return new

    def cut(self, state: _State, place: int, rank: int, loss: float, key: frozenset) -> _State:
        """The tree with one more cut."""
        node = state.leaves[place]
        if rank not in node.branches:
            split, low, high, *children = self.criterion.divide(node.node, node.cuts[rank][1])
            threshold = choose_threshold(low, high, self.threshold_style)
            node.branches[rank] = _Branch(split, threshold, *map(self.add, children))
        branch = node.branches[rank]
        leaves = (*state.leaves[:place], branch.left, branch.right, *state.leaves[place + 1 :])
        return _State(loss, key, leaves)

    def go_on_greedily(self, state: _State) -> _State:
        """The tree with the best cut of its first leaf that has one."""
        for place, node in enumerate(state.leaves):
            if node.cuts:
                key = state.cut_at | {(node.number, 0)}
                return self.cut(state, place, 0, state.loss + node.cuts[0][0], key)
        return state

    def forget_all_but(self, states: list[_State]) -> None:
        """Let go of what no tree can come to any more: all but their leaves, and what has already
        been grown from these by others.
        """
        alive: set[int] = set()
        waiting = [node for state in states for node in state.leaves]
        while waiting:
            node = waiting.pop()
            if node.number not in alive:
                alive.add(node.number)
                for branch in node.branches.values():
                    waiting += [branch.left, branch.right]
        for number in self.searched - alive:
            self.nodes[number].node = None
        self.searched &= alive

    def build(self, state: _State) -> GrowthResult:
        """The tree, with what is in its leaves."""
        problem = self.criterion.problem
        builder, leaves, gains = TreeBuilder(problem.n_features), {}, []
        ranks = dict(state.cut_at)
        waiting = [(0, self.nodes[0])]
        while waiting:
            number, node = waiting.pop()
            if node.number not in ranks:
                leaves[number] = node.node
                continue
            branch = node.branches[ranks[node.number]]
            feature, threshold = branch.cut.feature, branch.threshold
            left, right = builder.split(number, feature=feature, threshold=threshold)
            gains.append(branch.cut.gain)
            waiting += [(right, branch.right), (left, branch.left)]
        for number, leaf in leaves.items():
            builder.set_cluster(number, self.criterion.cluster(leaf))
        set_counts(builder, leaves, problem.weights)
        return GrowthResult(builder, gains, leaves)
