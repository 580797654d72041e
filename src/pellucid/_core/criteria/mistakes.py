"""Mistakes: rows that a split separates from their own center (IMM, EMN)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from pellucid._core.criteria.base import CenterSplitCriterion, Node, NodeRows, SplitNode
from pellucid._core.criteria.center_search import (
    CenterSearch,
    EdgeSums,
    LabeledRows,
    ObjectiveTerms,
)
from pellucid._core.criteria.column_search import Split
from pellucid._core.criteria.partition import split_by_center, split_rows

_MANY_ROWS_PER_BIN = 4
"""Rows per bin and center of a column from which on the histogram of a node is stored. Its rows
take 8 bytes per column and its histogram 8 bytes per bin and center, so that the histograms of all
open nodes take at most a quarter of the memory of the data.
"""

_SMALL = 2**24
"""Bytes of a histogram that is counted as a whole whatever the size of the data."""


@dataclass(slots=True)
class MistakesState:
    """What is stored about a node.

    The active rows are grouped by center: those of the node's c-th center are
    ``active[ends[c]:ends[c + 1]]``. `histogram` has their weight by column, center and bin, if it
    is stored.
    """

    ends: np.ndarray
    histogram: np.ndarray | None = None


class Mistakes(CenterSplitCriterion[MistakesState]):
    """Least weight of rows separated from their own center; these rows do not count below.

    The histogram of a child of dense data is that of its centers in its parent, without the rows
    that the split separates.
    """

    nodes_are_independent = True

    def root(self) -> Node[MistakesState]:
        """The node that holds everything, its rows grouped by center."""
        return self.start_node(self.problem.by_center)

    def start_state(self, cluster: int | None = None) -> MistakesState:
        rows, label = self.problem.by_center, self.problem.labels.item
        starts = [bisect_left(rows, c, key=label) for c in range(self.problem.n_clusters)]
        return MistakesState(np.array([*starts, len(rows)]))

    def best_center_splits(
        self, node: Node[MistakesState], features: np.ndarray, n: int
    ) -> list[Split]:
        """Splits with the least weight of separated rows."""
        splits = _MistakeSearch(self, node, n).best_splits(features)
        unit = self.problem.weights.units_per_weight
        return [split._replace(objective=split.objective / unit) for split in splits]

    @staticmethod
    def divisor(n_centers: int) -> np.ndarray:
        """What the mistakes of a split are divided by, for each gap between centers."""
        return np.ones(n_centers - 1)

    def divide_node(self, node: Node[MistakesState], split: Split) -> SplitNode:
        """The children; rows separated from their own center become passive where they are."""
        problem, rows, ends = self.problem, node.rows, node.state.ends
        feature, threshold = split.feature, split.threshold
        is_left = problem.centers[rows.centers, feature] <= threshold
        partition = split_by_center(problem, rows.active, ends, is_left, feature, threshold)
        low, high = self.center_interval(rows.centers, split)
        low, high = max(partition.low, low), min(partition.high, high)
        passive: Sequence[np.ndarray] = partition.separated
        if len(rows.passive):
            # Passive rows are on the side of the lowest threshold, and bound the highest.
            _, next_value, *sides = split_rows(problem, rows.passive, feature, low)
            passive = [np.concatenate(pair) for pair in zip(passive, sides)]
            high = min(high, next_value)
        children = []
        for side, in_child in enumerate((is_left, ~is_left)):
            members, cuts = in_child.nonzero()[0], [rows.cut_left, rows.cut_right]
            cuts[side] = cuts[side] | {feature}
            parts = partition.kept[side], passive[side], rows.centers[members]
            child = NodeRows(*parts, cuts[0], cuts[1], rows.depth + 1)
            state = MistakesState(_offsets(partition.n_kept[members]))
            if node.state.histogram is not None and len(members) > 1:
                removed = partition.separated[1 - side]
                state.histogram = self._child_histogram(node, members, child, removed)
            children.append(Node(child, state))
        return SplitNode(split, low, high, *children)

    def histogram(self, node: Node[MistakesState]) -> np.ndarray | None:
        """Weight of the active rows by column, center of the node and bin.

        None if it is not counted as a whole: of sparse data, and if it is large. It is stored if
        the node has many rows.
        """
        problem, rows, histogram = self.problem, node.rows, node.state.histogram
        if histogram is not None or problem.bins.is_sparse:
            return histogram
        (n_features, n_bins), n_centers = problem.bins.edges.shape, len(rows.centers)
        size = 8 * n_features * n_centers * n_bins
        if size > max(_SMALL, problem.X.nbytes // 4):
            return None
        histogram = np.zeros((n_features, n_centers, n_bins), dtype=np.int64)
        self._add(rows.active, rows.centers, histogram)
        if len(rows.active) >= _MANY_ROWS_PER_BIN * n_centers * n_bins:
            node.state.histogram = histogram
        return histogram

    def _child_histogram(
        self, node: Node[MistakesState], members: np.ndarray, child: NodeRows, removed: np.ndarray
    ) -> np.ndarray | None:
        """The histogram of a child, given its centers in the parent and the rows of these that are
        on the other side; None if it has few rows.
        """
        parent = node.state.histogram
        assert parent is not None
        if len(child.active) < _MANY_ROWS_PER_BIN * len(members) * parent.shape[2]:
            return None
        histogram = parent.take(members, axis=1)
        self._add(removed, child.centers, histogram, sign=-1)
        return histogram

    def _add(
        self, rows: np.ndarray, centers: np.ndarray, histogram: np.ndarray, sign: int = 1
    ) -> None:
        """Add rows of some centers to their histogram, or subtract them."""
        from pellucid._core.kernels.mistakes import hist_dense

        problem, codes = self.problem, self.problem.bins.codes
        place = np.zeros(problem.n_clusters, dtype=np.int32)
        place[centers] = np.arange(len(centers))
        group = place[problem.labels.take(rows)]
        weights = sign * problem.weights.units_of(rows)

        def add(block: np.ndarray) -> None:
            hist_dense(block, codes, rows, group, weights, histogram[block[0] : block[-1] + 1])

        features = np.arange(problem.n_features)
        problem.pool.map(add, problem.feature_blocks(features, len(rows)))


class _MistakeSearch(CenterSearch):
    """Search for the best splits of one node; the sums of separated rows are exact."""

    def __init__(self, criterion: Mistakes, node: Node[MistakesState], n: int) -> None:
        problem, rows, ends = criterion.problem, node.rows.active, node.state.ends
        weight = problem.weights.units_of(rows)
        totals = np.diff(np.append(0, weight.cumsum())[ends])
        center = np.repeat(np.arange(len(ends) - 1, dtype=np.int32), np.diff(ends))
        sums = np.stack([totals, totals], axis=1)
        labeled = LabeledRows(rows, center, weight, weight, sums, 0)
        terms = mistake_terms(problem.n_features, criterion.divisor(len(ends) - 1))
        codes = criterion.center_codes(node)
        super().__init__(problem, labeled, codes, terms, n, criterion.histogram(node))

    def exact_sums(self, feature: int) -> tuple[EdgeSums, Callable[..., np.ndarray]]:
        problem, rows, weight = self.problem, self.labeled.rows, self.labeled.weight
        centers = problem.bins.center_code[feature]

        def change(places: np.ndarray, codes: np.ndarray) -> np.ndarray:
            is_past_center = codes > centers.take(problem.labels.take(rows.take(places)))
            return np.where(is_past_center, -weight[places], weight[places])

        sums = self.separation_sums(np.array([feature]))
        return EdgeSums(*(of_column[0] for of_column in sums)), change


def mistake_terms(n_features: int, divisor: np.ndarray) -> ObjectiveTerms:
    """The objective is the weight of the mistakes, divided by a number for each gap."""
    nothing = np.zeros(n_features)
    return ObjectiveTerms(divisor, 0.0, np.inf, 0.0, nothing, nothing, is_amount=True)


class BalancedMistakes(Mistakes):
    """Fewest mistakes divided by min(centers on the left, centers on the right) (EMN).

    The divisor is constant in the gap between two neighbouring centers, so the best split of a gap
    is the one with the fewest mistakes; only gaps are compared by the ratio.
    """

    @staticmethod
    def divisor(n_centers: int) -> np.ndarray:
        """The smaller number of centers on a side."""
        n_left = np.arange(1, n_centers)
        return np.minimum(n_left, n_centers - n_left).astype(np.float64)


def _offsets(sizes: np.ndarray) -> np.ndarray:
    """Where parts of these sizes begin and end, one after the other."""
    offsets = np.zeros(len(sizes) + 1, dtype=np.intp)
    np.cumsum(sizes, out=offsets[1:])
    return offsets
