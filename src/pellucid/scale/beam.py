"""Beam search on partitioned data (BSIMM): all new nodes of all trees are searched together.

The trees of a beam share their nodes, and the nodes of different trees overlap. So a row is not in
one leaf, but in all nodes whose conditions it meets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pellucid._core.criteria.column_search import Split
from pellucid._core.growers.beam import BeamBranch, BeamSearch, NodePool, PartialTree, PoolNode
from pellucid._utils.progress import Progress
from pellucid.scale.batches import Batch
from pellucid.scale.columns import PartRequest
from pellucid.scale.growth import grow_greedily
from pellucid.scale.mistakes import CenterRows, PartitionedMistakes
from pellucid.scale.node_search import run_searches
from pellucid.scale.partitions import ExactTask
from pellucid.scale.problem import OpenNode
from pellucid.scale.tasks import PartSumsTask, SideRequest
from pellucid.tree import TreeBuilder
from pellucid.tree.rounding import ThresholdStyle, choose_threshold

_HISTOGRAM_BYTES = 2**28
"""Bytes of the histograms that are counted in one pass."""


class Side(NamedTuple):
    """How the rows of a node differ from those of its parent.

    Attributes
    ----------
    parent : int
        -1 for the root.
    feature : int
    threshold : float
    is_left : bool
    """

    parent: int = -1
    feature: int = -1
    threshold: float = np.nan
    is_left: bool = True


@dataclass(frozen=True)
class PoolRouting:
    """The conditions of overlapping nodes, as they are sent to the batches.

    Attributes
    ----------
    sides : dict of int to Side
        Of some nodes and all of their ancestors.
    """

    sides: dict[int, Side]

    def leaves(self, batch: Batch) -> Membership:
        """Which rows are in which node."""
        return Membership(self.sides, batch)


class Membership:
    """Rows of a batch by node, found when they are needed.

    Parameters
    ----------
    sides : dict of int to Side
    batch : Batch
    """

    def __init__(self, sides: dict[int, Side], batch: Batch) -> None:
        self._sides, self._batch = sides, batch
        self._rows: dict[int, np.ndarray] = {}

    def rows(self, number: int) -> np.ndarray:
        """Rows of a node, ascending."""
        path = []
        while number not in self._rows and self._sides[number].parent >= 0:
            path.append(number)
            number = self._sides[number].parent
        if number not in self._rows:
            self._rows[number] = np.arange(self._batch.n_rows, dtype=np.int32)
        rows = self._rows[number]
        for child in reversed(path):
            side = self._sides[child]
            values = self._batch.columns[side.feature].take(rows)
            is_left = values <= side.threshold
            rows = self._rows[child] = rows[is_left == side.is_left]
        return rows


class PoolRows(CenterRows):
    """Rows of overlapping nodes, by center; see `CenterRows`."""

    def rows(
        self, batch: Batch, leaf: Membership, number: int, is_active: bool = True
    ) -> np.ndarray:
        """Rows of a node whose own center is in the node; or the others."""
        rows = leaf.rows(number)
        is_own = np.zeros(len(self.leaf_of_center), dtype=bool)
        is_own[self.centers[number]] = True
        return rows[is_own[batch.labels_of(rows)] == is_active]

    def select(self, batch: Batch, request: PartRequest, leaf: Any) -> np.ndarray:
        """Active rows of the node of a request in its bins."""
        rows = self.rows(batch, leaf, request.node)
        return rows[request.bins[batch.codes[request.feature].take(rows)]]


@dataclass(frozen=True)
class PoolNeighbourTask(ExactTask):
    """Neighbouring values of thresholds in overlapping nodes; see `NeighbourTask`."""

    routing: PoolRouting
    rows: PoolRows
    requests: Sequence[SideRequest]
    is_active: bool = True

    def __call__(self, batch: Batch) -> np.ndarray:
        """Minus the largest value, and the smallest: (n_requests, 2)."""
        found, leaf = np.full((len(self.requests), 2), np.inf), self.routing.leaves(batch)
        for out, (node, feature, threshold) in zip(found, self.requests):
            rows = self.rows.rows(batch, leaf, node, self.is_active)
            values = batch.columns[feature].take(rows).astype(np.float64)
            is_left = values <= threshold
            out[0] = -values.max(initial=-np.inf, where=is_left)
            out[1] = values.min(initial=np.inf, where=~is_left)
        return found

    def merge(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Extremes of two batches."""
        return np.minimum(first, second)


@dataclass(frozen=True)
class PoolHistogramTask(ExactTask):
    """Weight of the active rows of overlapping nodes by column, own center and bin."""

    routing: PoolRouting
    rows: PoolRows
    n_bins: int

    def __call__(self, batch: Batch) -> dict[int, np.ndarray]:
        """By node, weights: (n_features, n_centers, n_bins), int64."""
        from pellucid._core.kernels.mistakes import hist_dense

        features, found = np.arange(batch.n_features), {}
        leaf = self.routing.leaves(batch)
        for number, centers in self.rows.centers.items():
            rows = self.rows.rows(batch, leaf, number)
            place = np.zeros(len(self.rows.leaf_of_center), dtype=np.int32)
            place[centers] = np.arange(len(centers))
            out = np.zeros((batch.n_features, len(centers), self.n_bins), dtype=np.int64)
            group, weight = place[batch.labels_of(rows)], batch.weights.units_of(rows)
            hist_dense(features, batch.codes, rows, group, weight, out)
            found[number] = out
        return found

    def merge(self, first: dict[Any, Any], second: dict[Any, Any]) -> dict[int, np.ndarray]:
        """Weights of two batches."""
        return {number: first[number] + second[number] for number in first}


class PartitionedPool(NodePool):
    """Nodes of all partial trees; those that are new in a round are searched together.

    Parameters
    ----------
    criterion : PartitionedMistakes
    threshold_style : {"round", "midpoint", "data"}
    n_candidates : int
    """

    criterion: PartitionedMistakes

    def __init__(
        self, criterion: PartitionedMistakes, threshold_style: ThresholdStyle, n_candidates: int
    ) -> None:
        super().__init__(criterion, threshold_style, n_candidates)
        self._sides: dict[int, Side] = {}
        self._new: list[tuple[PoolNode, BeamBranch]] = []
        root = self.add(np.arange(len(criterion.problem.centers)))
        self._sides[root.number] = Side()
        self._search([root])

    def add(self, node: Any) -> PoolNode:
        """Add a node, given its centers; it is searched later."""
        number = len(self.nodes)
        self.reachable.add(number)
        self.nodes.append(PoolNode(number, OpenNode(number, node), []))
        return self.nodes[-1]

    def divide(self, leaf: PoolNode, split: Split) -> BeamBranch:
        """Make a split; its threshold and the candidates of its children are found later."""
        centers = leaf.node.centers
        is_left = self.criterion.problem.centers[centers, split.feature] <= split.threshold
        children = self.add(centers[is_left]), self.add(centers[~is_left])
        branch = BeamBranch(split, np.nan, *children)
        self._new.append((leaf, branch))
        return branch

    def complete(self) -> None:
        """Find the thresholds of the new splits, and search their children."""
        children = []
        for (leaf, branch), (low, high) in zip(self._new, self._intervals()):
            branch.threshold = choose_threshold(low, high, self.threshold_style)
            for child, is_left in ((branch.left, True), (branch.right, False)):
                side = Side(leaf.number, branch.split.feature, branch.threshold, is_left)
                self._sides[child.number] = side
                children.append(child)
        self._new = []
        self._search(children)

    def _routing(self, numbers: Sequence[int]) -> PoolRouting:
        """The conditions of some nodes and their ancestors."""
        sides: dict[int, Side] = {}
        for number in numbers:
            while number >= 0 and number not in sides:
                sides[number] = self._sides[number]
                number = sides[number].parent
        return PoolRouting(sides)

    def _rows(self, numbers: Sequence[int]) -> PoolRows:
        n_clusters = len(self.criterion.problem.centers)
        centers = {number: self.nodes[number].node.centers for number in numbers}
        return PoolRows(np.full(n_clusters, -1, dtype=np.int32), centers)

    def _intervals(self) -> list[tuple[float, float]]:
        """For each new split, all thresholds that split the rows and the centers alike."""
        if not self._new:
            return []
        problem = self.criterion.problem
        requests = [SideRequest(n.number, b.split.feature, b.split.threshold) for n, b in self._new]
        numbers = sorted({request.node for request in requests})
        routing, rows = self._routing(numbers), self._rows(numbers)
        found, intervals = problem.map(PoolNeighbourTask(routing, rows, requests)), []
        for (number, feature, threshold), (below, above) in zip(requests, found.tolist()):
            coordinates = problem.centers[rows.centers[number], feature]
            is_left = coordinates <= threshold
            low = max(-below, coordinates.max(initial=-np.inf, where=is_left))
            high = min(above, coordinates.min(initial=np.inf, where=~is_left))
            intervals.append((float(low), float(high)))
        # Passive rows are on the side of the lowest threshold, and bound the highest.
        requests = [r._replace(threshold=low) for r, (low, _) in zip(requests, intervals)]
        found = problem.map(PoolNeighbourTask(routing, rows, requests, is_active=False))
        return [(low, min(high, above)) for (low, high), above in zip(intervals, found[:, 1])]

    def _search(self, nodes: Sequence[PoolNode]) -> None:
        """Find the best splits of nodes with several centers."""
        criterion, problem = self.criterion, self.criterion.problem
        wanted = [node.number for node in nodes if len(node.node.centers) > 1]
        for numbers in self._groups(wanted):
            routing, rows = self._routing(numbers), self._rows(numbers)
            histograms = problem.map(PoolHistogramTask(routing, rows, problem.n_bins))
            searches = {
                number: criterion.search(
                    self.nodes[number].node, histograms[number], self.n_candidates
                )
                for number in numbers
            }
            task = partial(PartSumsTask, routing, rows)
            for number, splits in run_searches(searches, task, problem.map).items():
                found = [(split.objective, split) for split in splits]
                self.nodes[number].candidates = found

    def _groups(self, numbers: list[int]) -> Iterator[list[int]]:
        """Nodes whose histograms are counted in one pass."""
        problem, n_bytes = self.criterion.problem, 0
        group: list[int] = []
        for number in numbers:
            n_centers = len(self.nodes[number].node.centers)
            size = 8 * problem.n_features * problem.n_bins * n_centers
            if group and n_bytes + size > _HISTOGRAM_BYTES:
                yield group
                group, n_bytes = [], 0
            group.append(number)
            n_bytes += size
        if group:
            yield group

    def drop_unreachable(self, trees: list[PartialTree]) -> None:
        """Nodes hold no rows, so that there is nothing to drop."""

    def build_partitioned(self, tree: PartialTree) -> tuple[TreeBuilder, dict[int, np.ndarray]]:
        """The builder of a finished tree, and the centers of its leaves."""
        builder, centers = TreeBuilder(self.criterion.problem.n_features), {}
        rank_of, stack = dict(tree.splits), [(0, self.nodes[0])]
        while stack:
            number, node = stack.pop()
            if node.number not in rank_of:
                centers[number] = node.node.centers
                continue
            branch = node.branches[rank_of[node.number]]
            left, right = builder.split(
                number, feature=branch.split.feature, threshold=branch.threshold
            )
            stack += [(right, branch.right), (left, branch.left)]
        return builder, centers


def grow_partitions(
    criterion: PartitionedMistakes,
    search: str | BeamSearch,
    threshold_style: ThresholdStyle,
    progress: Progress,
) -> tuple[TreeBuilder, dict[int, np.ndarray]]:
    """The builder of the tree that a search finds, and the centers of its leaves."""
    if search == "greedy":
        tree = grow_greedily(criterion, threshold_style, progress)
        return tree.builder, tree.leaf_centers
    beam = search if isinstance(search, BeamSearch) else BeamSearch()
    pool = PartitionedPool(criterion, threshold_style, beam.n_candidates)
    return pool.build_partitioned(beam.search(pool, progress))
