"""A tree with a leaf for each cluster that can be changed and mended, part by part."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import linear_sum_assignment

from pellucid._core.kernels.local_search_layout import (
    AT,
    BEGIN,
    END,
    FEATURE,
    LEFT,
    PARENT,
    RIGHT,
    STALE,
)
from pellucid._core.refine.local_search_data import Ground
from pellucid.tree import ThresholdTree, TreeBuilder
from pellucid.tree.rounding import ThresholdStyle, choose_threshold

ROOT, NONE = 0, -1

_HOPE = 0.5
"""How many times its latest rise a share may still be short of the goal."""


class Room:
    """Where compiled loops keep what they need for a moment, and what they have done so far.

    Attributes
    ----------
    work : float
        About the nanoseconds that have been taken, counted from the sizes of what was done.
    """

    def __init__(self, ground: Ground) -> None:
        self.places = np.empty((6, len(ground.lines)), dtype=np.int32)
        self.work = 0.0


class Standing:
    """A tree over the rows of a ground.

    Attributes
    ----------
    nodes, rows, sums, shares
        As `pellucid._core.kernels.local_search` has them; some nodes may be free.
    is_full : bool
        Whether at first there were as many leaves as clusters, all of them with rows.
    """

    def __init__(self, ground: Ground, room: Room, tree: ThresholdTree) -> None:
        n_nodes = 2 * ground.problem.n_clusters - 1
        self.ground, self.room = ground, room
        self.nodes = np.full((n_nodes, 8), NONE, dtype=np.int64)
        self.nodes[: tree.node_count, FEATURE] = tree.feature
        self.nodes[: tree.node_count, LEFT] = tree.children_left
        self.nodes[: tree.node_count, RIGHT] = tree.children_right
        for i in np.flatnonzero(~tree.is_leaf):
            values = ground.values[tree.feature[i]]
            self.nodes[i, AT] = np.searchsorted(values, tree.threshold[i], side="right") - 1
        self.nodes[ROOT, BEGIN:PARENT] = 0, len(ground.lines)
        self.rows = np.arange(len(ground.lines), dtype=np.int32)
        self.sums, self.shares = np.zeros((n_nodes, ground.lines.shape[1])), np.zeros((n_nodes, 2))
        self.is_full = self.send(ROOT) and 2 * tree.n_leaves - 1 == n_nodes

    def copy(self) -> Standing:
        """The same tree, to be changed on its own."""
        other = object.__new__(Standing)
        other.ground, other.room, other.is_full = self.ground, self.room, self.is_full
        other.nodes, other.rows = self.nodes.copy(), self.rows.copy()
        other.sums, other.shares = self.sums.copy(), self.shares.copy()
        return other

    def below(self, start: int) -> list[int]:
        """The nodes from one downwards, parents first."""
        children = self.nodes[:, LEFT:BEGIN].tolist()
        found, waiting = [], [start]
        while waiting:
            i = waiting.pop()
            found.append(i)
            left, right = children[i]
            if left != NONE:
                waiting += (right, left)
        return found

    def is_leaf(self, i: int) -> bool:
        """Whether a node has no children."""
        return self.nodes.item(i, LEFT) == NONE

    def leaves(self, start: int = ROOT) -> list[int]:
        """The leaves from a node downwards."""
        return [i for i in self.below(start) if self.is_leaf(i)]

    def inner(self) -> list[int]:
        """The nodes that are no leaves."""
        return [i for i in self.below(ROOT) if not self.is_leaf(i)]

    def parent(self, i: int) -> int:
        """The parent of a node that is not the root."""
        return self.nodes.item(i, PARENT)

    def share(self, leaves: list[int]) -> float:
        """Share of some leaves; the more, the cheaper they are."""
        return sum([self.shares.item(i, 0) for i in leaves])

    def send(self, start: int) -> bool:
        """Send the rows of a node down; whether all leaves come to have some."""
        from pellucid._core.kernels.local_search import send

        ground, room = self.ground, self.room.places
        n_empty = send(
            ground.rank,
            ground.lines,
            self.nodes,
            start,
            self.rows,
            room,
            self.sums,
            self.shares,
        )
        return n_empty == 0

    def mark_above(self, i: int, top: int = ROOT) -> None:
        """Something has changed at a node: those above it may have better cuts now."""
        while i != top:
            i = self.parent(i)
            self.nodes[i, STALE] = True

    def mend(self, top: int, goal: float = -math.inf, lowest: float = -math.inf) -> float:
        """Improve cuts from a node downwards until none can be, or until there is little hope.

        The node itself comes last, or else a cut that has just been changed would be taken back
        at once; up to then, a share below the lowest is hopeless. Returns the share of that part.
        """
        part, leaves = self.below(top), self.leaves(top)
        rest = [i for i in reversed(part[1:]) if not self.is_leaf(i)]
        share, is_last = self.share(leaves), False
        while share >= lowest:
            changed = False
            for i in rest:
                if self.nodes.item(i, STALE) and self.improve(i):
                    self.mark_above(i, top)
                    changed = True
            before, share = share, self.share(leaves)
            if is_last and (not changed or goal - share > _HOPE * (share - before)):
                break
            if not (changed or is_last):
                is_last = True
                rest.append(top)
        return share

    def find_cut(self, node: int) -> tuple[float, int, int]:
        """What the best cut of a node gains, its column and its rank; for a leaf, its split."""
        from pellucid._core.kernels.local_search import find_cut

        ground, room = self.ground, self.room
        gain, feature, at, work = find_cut(
            ground.rank,
            ground.code,
            ground.lines,
            self.nodes,
            node,
            self.rows,
            self.sums,
            self.shares,
            room.places,
            ground.problem.weights.are_integers,
        )
        room.work += work
        return gain, feature, at

    def improve(self, node: int) -> bool:
        """Give an inner node the best cut for the subtrees it has; whether it is another one."""
        gain, feature, at = self.find_cut(node)
        if gain > 0:
            self.nodes[node, : AT + 1] = feature, at
            self.send(node)
        self.nodes[node, STALE] = False
        return gain > 0

    def gain(self, leaf: int) -> float:
        """What the share gains if a leaf is split where it is best split."""
        if (known := self.shares.item(leaf, 1)) < 0:
            known, *cut = self.find_cut(leaf)
            self.nodes[leaf, : AT + 1] = cut
            self.shares[leaf, 1] = known
        return known

    def split(self, leaf: int) -> None:
        """Split a leaf where it gains most, which must be known."""
        used = set(self.below(ROOT))
        children = [i for i in range(len(self.nodes)) if i not in used][:2]
        self.nodes[children, LEFT:BEGIN] = NONE
        self.nodes[leaf, LEFT:BEGIN] = children
        self.send(leaf)

    def cut(self, node: int, feature: int, place: float) -> bool:
        """Give a node another cut, so far along its rows; whether all leaves have rows still."""
        rows = self.rows[slice(*self.nodes[node, BEGIN:PARENT].tolist())]
        ends = np.cumsum(self.ground.lines[rows, -2])
        row = rows[min(int(np.searchsorted(ends, place * ends[-1], "right")), len(rows) - 1)]
        self.nodes[node, : AT + 1] = feature, self.ground.rank[row, feature]
        return self.send(node)

    def cut_off(self, top: int) -> None:
        """Make a leaf of a node."""
        self.nodes[self.below(top)[1:], END] = 0
        self.nodes[top, LEFT:BEGIN] = NONE
        self.send(top)

    def pluck(self, leaf: int) -> int:
        """Take a leaf out; what was beside it comes into the place of both, which is returned."""
        top = self.parent(leaf)
        left, right = self.nodes[top, LEFT:BEGIN].tolist()
        other = left + right - leaf
        self.nodes[[left, right], END] = 0
        self.nodes[top, :BEGIN] = self.nodes[other, :BEGIN]
        self.send(top)
        self.mark_above(top)
        return top

    def lift(self, threshold_style: ThresholdStyle) -> ThresholdTree:
        """The tree, once all rows of the problem have been sent through it.

        Each leaf is named after the cluster of the reference that it is most like.
        """
        problem, values = self.ground.problem, self.ground.values
        builder = TreeBuilder(problem.n_features)
        labels, k = problem.labels, problem.n_clusters
        likeness, leaves = [], []
        waiting = [(ROOT, 0, np.arange(problem.n_samples, dtype=np.int32))]
        while waiting:
            node, number, rows = waiting.pop()
            feature, at, left, right = self.nodes[node, :BEGIN].tolist()
            if left == NONE:
                weight = problem.weights.values[rows]
                likeness.append(np.bincount(labels[rows], weights=weight, minlength=k))
                leaves.append(number)
                continue
            found = problem.values(feature, rows)
            low, high = values[feature][at : at + 2].tolist()
            goes_left = found <= choose_threshold(low, high, "midpoint")
            interval = float(found[goes_left].max()), float(found[~goes_left].min())
            threshold = choose_threshold(*interval, threshold_style)
            children = builder.split(number, feature=feature, threshold=threshold)
            waiting.append((left, children[0], rows[goes_left]))
            waiting.append((right, children[1], rows[~goes_left]))
        for leaf, cluster in zip(*linear_sum_assignment(np.array(likeness), maximize=True)):
            builder.set_cluster(leaves[leaf], cluster)
        return builder.build()
