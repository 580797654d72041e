"""Mistakes: rows that a split separates from their own center (IMM, EMN)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pellucid._core.criteria.base import CenterSplitCriterion, Node, NodeRows, SplitNode
from pellucid._core.criteria.column_search import (
    InnerThresholds,
    Split,
    best_edges,
    rows_in_bins,
    search_columns,
)
from pellucid._core.criteria.mistake_scans import EntrySums, MistakeScan, StoredSums
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
        return self._best_splits(node, features, n, np.ones(len(node.rows.centers) - 1))

    def _best_splits(
        self, node: Node[MistakesState], features: np.ndarray, n: int, divisor: np.ndarray
    ) -> list[Split]:
        """Splits of least mistakes / divisor[g], g being the gap between neighbouring centers."""
        scan, unit = self._scan(node), self.problem.weights.units_per_weight

        mistakes = np.empty((self.problem.n_features, len(divisor), 3))

        def scan_columns(block: np.ndarray, found: np.ndarray) -> None:
            scan(block, mistakes)
            found[block] = mistakes[block]
            found[block, :, ::2] /= divisor[:, None]

        def refine(feature: int, limit: float) -> np.ndarray:
            limit *= divisor.max() * (1 + 1e-12)  # a little more, because of rounding
            best = self._refine(node, scan, feature, limit)
            best[:, 0] /= divisor
            return best

        splits = search_columns(
            self.problem,
            features,
            scan.cost_per_column,
            scan_columns,
            refine,
            no_split=np.inf,
            n_gaps=len(divisor),
            n_best=n,
        )
        return [split._replace(objective=split.objective / unit) for split in splits]

    def _refine(
        self, node: Node[MistakesState], scan: MistakeScan, feature: int, limit: float
    ) -> np.ndarray:
        """Fewest mistakes and their threshold in each gap of a column, exact up to a limit."""
        problem, bins, active = self.problem, self.problem.bins, node.rows.active
        found, amount, candidates = scan.column(feature, limit)
        best, edges = best_edges(found, bins.edges[feature]), bins.edges[feature]
        places, codes, values = rows_in_bins(problem, feature, active, candidates)
        if not len(values):
            return best
        rows = active.take(places)
        weight = problem.weights.units_of(rows)
        is_past_center = codes > bins.center_code[feature].take(problem.labels.take(rows))
        inner = InnerThresholds(values, codes, scan.sorted_code[feature], edges)
        mistakes = inner.sums(np.where(is_past_center, -weight, weight), amount)
        gaps = np.flatnonzero(np.diff(inner.starts))
        if len(gaps):
            starts, n = inner.starts[gaps], inner.starts[-1]
            least = np.minimum.reduceat(mistakes[:n], starts)
            is_least = mistakes[:n] == least.repeat(np.diff(np.append(starts, n)))
            places = is_least.nonzero()[0]
            thresholds = inner.thresholds[places[places.searchsorted(starts)]]
            known, edge = best[gaps].T
            is_better = (least < known) | ((least == known) & (thresholds < edge))
            best[gaps[is_better]] = np.stack([least, thresholds], axis=1)[is_better]
        return best

    def _scan(self, node: Node[MistakesState]) -> MistakeScan:
        """Scan of columns, in units of weight."""
        bins, codes, rows = self.problem.bins, self.center_codes(node), node.rows.active
        sums: StoredSums | EntrySums
        if bins.is_sparse:
            sums = EntrySums(self.problem, rows, node.state.ends, codes)
        else:
            sums = StoredSums(self.sums(node))
        return MistakeScan(bins.inside, sums, codes.ascending)

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
            if node.state.sums is not None and len(members) > 1:
                removed = (partition.kept[1 - side], *partition.separated)
                state.sums = self._child_sums(node.state.sums, len(child.active), removed)
            children.append(Node(child, state))
        return SplitNode(split, low, high, *children)

    def sums(self, node: Node[MistakesState]) -> np.ndarray:
        """Sums of the active rows of a node of dense data; they are stored if it has many rows."""
        rows, sums = node.rows.active, node.state.sums
        if sums is None:
            sums = np.zeros((*self.problem.bins.edges.shape, 2), dtype=np.int64)
            self._add(rows, sums)
            if self._has_many(len(rows)):
                node.state.sums = sums
        return sums

    def _child_sums(
        self, sums: np.ndarray, n_rows: int, removed: tuple[np.ndarray, ...]
    ) -> np.ndarray | None:
        """Sums of a child, given those of its parent; None if counting its rows is no slower."""
        if not self._has_many(n_rows) or sum(map(len, removed)) > n_rows:
            return None
        sums = sums.copy()
        self._add(np.concatenate(removed), sums, sign=-1)
        return sums

    def _has_many(self, n_rows: int) -> bool:
        return n_rows >= _MANY_ROWS_PER_BIN * self.problem.bins.edges.shape[1]

    def _add(self, rows: np.ndarray, sums: np.ndarray, sign: int = 1) -> None:
        """Add rows to the sums, or subtract them."""
        from pellucid._core.kernels.mistakes import add_mistakes

        problem, bins = self.problem, self.problem.bins
        labels, weights = problem.labels.take(rows), sign * problem.weights.units_of(rows)

        def add(block: np.ndarray) -> None:
            add_mistakes(block, bins.codes, rows, labels, weights, bins.center_code, sums)

        features = np.arange(problem.n_features)
        problem.pool.map(add, problem.feature_blocks(features, len(rows)))


class BalancedMistakes(Mistakes):
    """Fewest mistakes divided by min(centers on the left, centers on the right) (EMN).

    The divisor is constant in the gap between two neighbouring centers, so the best split of a gap
    is the one with the fewest mistakes; only gaps are compared by the ratio.
    """

    def best_center_splits(
        self, node: Node[MistakesState], features: np.ndarray, n: int
    ) -> list[Split]:
        """Splits with the least ratio."""
        n_centers = len(node.rows.centers)
        n_left = np.arange(1, n_centers)
        return self._best_splits(node, features, n, np.minimum(n_left, n_centers - n_left))


def _offsets(sizes: np.ndarray) -> np.ndarray:
    """Where parts of these sizes begin and end, one after the other."""
    offsets = np.zeros(len(sizes) + 1, dtype=np.intp)
    np.cumsum(sizes, out=offsets[1:])
    return offsets
