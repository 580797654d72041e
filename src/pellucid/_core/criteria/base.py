"""What a criterion is: the best splits of a node, and the two children of a split."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar, cast

import numpy as np

from pellucid._core.criteria.column_search import Split
from pellucid._core.criteria.mistake_scans import CenterCodes
from pellucid._core.criteria.partition import SplitRows, split_rows
from pellucid._core.criteria.problem import Problem

State = TypeVar("State")
"""What a criterion stores about a node: a small dataclass of its own, or None."""


@dataclass(frozen=True, eq=False)
class NodeRows:
    """The part of the data that reaches a node of a growing tree.

    Attributes
    ----------
    active : ndarray of int32
        Rows that count in the search for a split.
    passive : ndarray of int32
        The other rows of the node.
    centers : ndarray of int
        Reference centers of the node, ascending.
    cut_left, cut_right : frozenset of int
        Features of which a split above sent this node to the left (right).
    depth : int
        Number of splits above the node.
    """

    active: np.ndarray
    passive: np.ndarray
    centers: np.ndarray
    cut_left: frozenset[int] = frozenset()
    cut_right: frozenset[int] = frozenset()
    depth: int = 0


@dataclass(frozen=True, eq=False)
class Node(Generic[State]):
    """A node of a growing tree: its rows, and what the criterion stores about it.

    A search drops the state of a node by dropping the node; children hold what they need.
    """

    rows: NodeRows
    state: State


class SplitNode(NamedTuple):
    """A node that has been split.

    Attributes
    ----------
    split : Split
    low, high : float
        Every threshold t with low <= t < high gives the same children.
    left, right : Node
    """

    split: Split
    low: float
    high: float
    left: Node[Any]
    right: Node[Any]


class Criterion(ABC, Generic[State]):
    """How good is a split? One subclass per answer; each works with every grower.

    Parameters
    ----------
    problem : Problem
    """

    nodes_are_independent = False
    """Whether nodes may be searched and split concurrently, in any order."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    @property
    def min_rows_to_share_columns(self) -> int:
        """Rows of a node from which on its columns are worth distributing over threads."""
        return 0

    def root(self) -> Node[State]:
        """The node that holds all rows and centers."""
        rows = np.arange(self.problem.n_samples, dtype=np.int32)
        return self.start_node(rows)

    def start_node(
        self, active: np.ndarray, cluster: int | None = None, depth: int = 0
    ) -> Node[State]:
        """A node without a parent: the root, or the leaf of a start tree.

        Parameters
        ----------
        active : ndarray of int32
        cluster : int, optional
            Cluster of the leaf in the start tree.
        depth : int
            Its depth there.
        """
        rows = NodeRows(active, active[:0], np.arange(self.problem.n_clusters), depth=depth)
        return Node(rows, self.start_state(cluster))

    def start_state(self, cluster: int | None = None) -> State:
        """State of a node without a parent; None if the criterion stores nothing."""
        return cast(State, None)

    def child_states(
        self, node: Node[State], left: NodeRows, right: NodeRows
    ) -> tuple[State, State]:
        """States of the two children of a node."""
        return self.start_state(), self.start_state()

    @abstractmethod
    def best_splits(self, node: Node[State], n: int = 1) -> list[Split]:
        """The n best splits of the node, the best first; empty if it has none or needs none.

        Smallest objective; ties go to the lowest feature, then to the lowest threshold. Of splits
        that differ only in where the threshold lies between the same centers, only the best.
        """

    def best_split(self, node: Node[State]) -> Split | None:
        """The best split, or None."""
        splits = self.best_splits(node)
        return splits[0] if splits else None

    def loss(self, node: Node[State], split: Split) -> float:
        """What a split adds to the sum by which whole trees are compared; less is better."""
        return split.objective

    def gain_bound(self, node: Node[State]) -> float | None:
        """An upper bound for the gain of the best split, or None if the node needs no split.

        Nodes whose bound is small may never have to be searched.
        """
        return np.inf

    @abstractmethod
    def cluster(self, node: Node[State]) -> int:
        """The cluster of the node as a leaf."""

    def divide(self, node: Node[State], split: Split) -> SplitNode:
        """The children of a split, and the interval of all thresholds that give the same."""
        rows, feature, threshold = node.rows, split.feature, split.threshold
        low, high, left, right = self.split_rows(rows.active, feature, threshold)
        is_left, none = self.problem.centers[rows.centers, feature] <= threshold, left[:0]
        cuts_of_left = rows.cut_left | {feature}, rows.cut_right
        cuts_of_right = rows.cut_left, rows.cut_right | {feature}
        sides = (
            NodeRows(left, none, rows.centers[is_left], *cuts_of_left, rows.depth + 1),
            NodeRows(right, none, rows.centers[~is_left], *cuts_of_right, rows.depth + 1),
        )
        states = self.child_states(node, *sides)
        return SplitNode(split, low, high, Node(sides[0], states[0]), Node(sides[1], states[1]))

    def split_rows(self, rows: np.ndarray, feature: int, threshold: float) -> SplitRows:
        """Rows on either side of a threshold."""
        return split_rows(self.problem, rows, feature, threshold)


class CenterSplitCriterion(Criterion[State]):
    """A criterion whose splits separate reference centers; a node with one center is a leaf."""

    def best_splits(self, node: Node[State], n: int = 1) -> list[Split]:
        """Best splits over all columns, at most one for each pair of neighbouring centers."""
        if len(node.rows.centers) < 2:
            return []
        coordinates = self.problem.centers[node.rows.centers]
        features = (coordinates != coordinates[0]).any(axis=0).nonzero()[0]
        return self.best_center_splits(node, features, n) if len(features) else []

    @abstractmethod
    def best_center_splits(self, node: Node[State], features: np.ndarray, n: int) -> list[Split]:
        """Best splits over the columns in which the centers of the node differ."""

    def divide(self, node: Node[State], split: Split) -> SplitNode:
        """The children; each center stays on its side under all thresholds of the interval."""
        divided = super().divide(node, split)
        low, high = self.center_interval(node.rows.centers, split)
        return divided._replace(low=max(low, divided.low), high=min(high, divided.high))

    def center_interval(self, centers: np.ndarray, split: Split) -> tuple[float, float]:
        """All thresholds that separate the centers as the split does."""
        coordinates = self.problem.centers[centers, split.feature]
        is_left = coordinates <= split.threshold
        low = coordinates.max(initial=-np.inf, where=is_left)
        return float(low), float(coordinates.min(initial=np.inf, where=~is_left))

    def center_codes(self, node: Node[State]) -> CenterCodes:
        """Codes of the node's centers in all columns."""
        by_center = self.problem.bins.center_code.take(node.rows.centers, axis=1)
        return CenterCodes(by_center, np.sort(by_center, axis=1))

    def cluster(self, node: Node[State]) -> int:
        """The node's center; of several that no split separates, the one with most rows."""
        centers, active = node.rows.centers, node.rows.active
        if len(centers) == 1:
            return int(centers[0])
        problem = self.problem
        # Integers below 2**52, so that the sums do not depend on the order of the rows.
        weight = np.bincount(
            problem.labels[active],
            weights=problem.weights.units_of(active),
            minlength=problem.n_clusters,
        )[centers]
        return int(centers[np.argmax(weight)])
