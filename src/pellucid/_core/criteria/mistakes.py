"""Mistakes: rows that a split separates from their own center (IMM, EMN)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pellucid._core import kernels
from pellucid._core.criteria.base import CenterSplitCriterion, Node, SplitNode
from pellucid._core.criteria.center_search import CHUNK, CenterSearch, EdgeSums, ObjectiveTerms
from pellucid._core.criteria.column_search import Split
from pellucid._core.criteria.partition import split_by_center, split_rows

_MANY_ROWS_PER_BIN = 8
"""Rows per bin of a column from which on the sums of a node are stored. Its rows take 8 bytes per
column and its sums 16 bytes per bin, so that the sums of all open nodes take at most a quarter of
the memory of the data.
"""


@dataclass(slots=True)
class MistakesState:
    """What is stored about a node.

    The active rows are grouped by center: those of the node's c-th center are
    ``active[ends[c]:ends[c + 1]]``. `sums` are those of the active rows, see
    `pellucid._core.kernels.mistakes`, if they are stored.
    """

    ends: np.ndarray
    sums: np.ndarray | None = None


class Mistakes(CenterSplitCriterion[MistakesState]):
    """Least weight of rows separated from their own center; these rows do not count below.

    The sums of a child of dense data are its parent's minus those of the rows that are not in the
    child, if they are fewer than the rows of the child.
    """

    nodes_are_independent = True

    def root(self) -> Node[MistakesState]:
        return self.start_node(self.problem.by_center)

    def start_state(self, cluster: int | None = None) -> MistakesState:
        return MistakesState(self._ends)

    @cached_property
    def _ends(self) -> np.ndarray:
        rows, label = self.problem.by_center, self.problem.labels.item
        starts = [bisect_left(rows, c, key=label) for c in range(self.problem.n_clusters)]
        return np.array([*starts, len(rows)])

    def best_center_splits(
        self, node: Node[MistakesState], features: np.ndarray, n: int
    ) -> list[Split]:
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
        sides = rows.children(feature, is_left, partition.kept, passive)
        sizes = partition.n_kept[is_left], partition.n_kept[~is_left]
        children = [Node(side, MistakesState(_offsets(n))) for side, n in zip(sides, sizes)]
        if node.state.sums is not None:
            self._store_child_sums(node.state.sums, children, partition.separated)
        return SplitNode(split, low, high, *children)

    def sums(self, node: Node[MistakesState]) -> np.ndarray:
        """Sums of the active rows of a node of dense data; they are stored if it has many rows."""
        rows, sums = node.rows.active, node.state.sums
        if sums is None:
            sums = self._count(rows)
            if self._has_many(len(rows)):
                node.state.sums = sums
        return sums

    def _store_child_sums(
        self, sums: np.ndarray, children: list[Node[MistakesState]], separated: Sequence[np.ndarray]
    ) -> None:
        """Store the sums of the larger child, given those of the parent: less those of the rows
        that are not in it. Nothing is done if counting its rows is no slower.
        """
        small, large = sorted(children, key=lambda child: len(child.rows.active))
        n_rows = len(large.rows.active)
        n_removed = len(small.rows.active) + sum(map(len, separated))
        if len(large.rows.centers) < 2 or not self._has_many(n_rows) or n_removed > n_rows:
            return
        of_small = self._count(small.rows.active)
        if len(small.rows.centers) > 1 and self._has_many(len(small.rows.active)):
            small.state.sums = of_small
        large.state.sums = sums - of_small
        if any(map(len, separated)):
            large.state.sums -= self._count(np.concatenate(separated))

    def _has_many(self, n_rows: int) -> bool:
        return n_rows >= _MANY_ROWS_PER_BIN * self.problem.bins.edges.shape[1]

    def _count(self, rows: np.ndarray) -> np.ndarray:
        problem, bins = self.problem, self.problem.bins

        def add(part: slice, columns: slice, sums: np.ndarray) -> None:
            some = rows[part]
            labels, weights = problem.labels.take(some), problem.weights.units_of(some)
            codes, center_code = bins.codes[columns], bins.center_code[columns]
            of_rows, every = (some, labels, weights), np.arange(len(codes))
            kernels.mistakes.add_mistakes(every, codes, *of_rows, center_code, sums)

        return problem.add_up(len(rows), (*bins.edges.shape, 2), add)


class _MistakeSearch(CenterSearch):
    """Search for the best splits of one node; the sums of separated rows are exact.

    Those of dense columns are known, and those of sparse ones are added up as they are read.
    """

    def __init__(self, criterion: Mistakes, node: Node[MistakesState], n: int) -> None:
        problem, rows, ends = criterion.problem, node.rows.active, node.state.ends
        weight, n_bins = problem.weights.units_of(rows), problem.bins.edges.shape[1]
        terms = mistake_terms(problem.n_features, criterion.divisor(len(ends) - 1))
        super().__init__(problem, rows, weight, criterion.center_codes(node), terms, n)
        self.step, self.cost_per_column = problem.n_features, 2 * n_bins
        if not problem.bins.is_sparse:
            self._sums = criterion.sums(node)
            return
        self.step, self.cost_per_column = max(1, CHUNK // (2 * n_bins)), len(rows)
        self._totals = np.diff(np.append(0, weight.cumsum())[ends])
        self._group = np.full(problem.n_samples, -1, dtype=np.int32)
        self._group[rows] = np.repeat(np.arange(len(ends) - 1), np.diff(ends))

    def separation_sums(self, features: np.ndarray) -> EdgeSums:
        bins, weights = self.problem.bins, self.problem.weights.units
        if bins.is_sparse:
            sums = np.zeros((len(features), bins.edges.shape[1], 2), dtype=np.int64)
            of_rows = self._group, weights, self._totals, self.codes.by_center
            kernels.mistakes.add_csc_mistakes(features, *bins.entries, *of_rows, sums)
        else:
            sums = self._sums[features]
        decrease = np.ascontiguousarray(sums[:, :, 1])
        return EdgeSums((sums[:, :, 0] - decrease).cumsum(axis=1), decrease, decrease)

    def exact_sums(self, feature: int) -> tuple[EdgeSums, Callable[..., np.ndarray]]:
        problem, rows, weight = self.problem, self.rows, self.weight
        centers = problem.bins.center_code[feature]

        def change(places: np.ndarray, codes: np.ndarray) -> np.ndarray:
            is_past_center = codes > centers.take(problem.labels.take(rows.take(places)))
            return weight.take(places) * (1 - 2 * is_past_center)

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
    return np.append(0, np.cumsum(sizes))
