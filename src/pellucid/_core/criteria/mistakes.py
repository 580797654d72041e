"""Mistakes: rows that a split separates from their own center (IMM, EMN)."""

from __future__ import annotations

from bisect import bisect_left
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
from pellucid._core.criteria.mistake_scans import (
    MistakeScan,
    RowHistogram,
    RowMistakeScan,
    StoredHistogram,
)
from pellucid._core.criteria.partition import split_by_center, split_rows

_SMALL_HISTOGRAM = 2**22
"""Bytes of a histogram that is stored whatever the size of the data."""

_CELLS_PER_ROW = 4
"""Cells of a histogram that take as long as a row."""


@dataclass(slots=True)
class MistakesState:
    """What is stored about a node.

    Attributes
    ----------
    ends : ndarray of shape (n_centers + 1,)
        The active rows are grouped by center: those of the node's c-th center are
        ``active[ends[c]:ends[c + 1]]``.
    histogram : ndarray of shape (n_features, n_centers, n_bins), int64, optional
        Weight of the active rows by column, center and bin; None before the node is searched, and
        for data whose histograms are too large to store.
    """

    ends: np.ndarray
    histogram: np.ndarray | None = None


class Mistakes(CenterSplitCriterion[MistakesState]):
    """Least weight of rows separated from their own center; these rows do not count below.

    A child has some of its parent's centers and the rows of these centers, except for the
    separated rows. So its histogram is the parent's, restricted to its centers, minus the
    separated rows: the rows of the data are counted only once.
    """

    nodes_are_independent = True

    def root(self) -> Node[MistakesState]:
        """The node that holds everything, its rows grouped by center."""
        return self.start_node(self.problem.by_center)

    def start_state(self, cluster: int | None = None) -> MistakesState:
        """State of the root."""
        rows, label = self.problem.by_center, self.problem.labels.item
        starts = [bisect_left(rows, c, key=label) for c in range(self.problem.n_clusters)]
        return MistakesState(np.array([*starts, len(rows)]))

    def best_center_splits(self, node, features, n):
        """Splits with the least weight of separated rows."""
        return self._best_splits(node, features, n, np.ones(len(node.rows.centers) - 1))

    def _best_splits(self, node, features, n, divisor) -> list[Split]:
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
        self, node, scan: MistakeScan | RowMistakeScan, feature: int, limit: float
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
        inner = InnerThresholds(values, codes, scan.codes.ascending[feature], edges)
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

    def _has_few_rows(self, rows: NodeRows) -> bool:
        """Whether counting rows is faster than a histogram of bins and centers."""
        n_cells = len(rows.centers) * self.problem.bins.edges.shape[1]
        return _CELLS_PER_ROW * len(rows.active) < n_cells

    def _scan(self, node) -> MistakeScan | RowMistakeScan:
        """Scan of columns, in units of weight: of the stored histogram, or of the rows."""
        problem, codes = self.problem, self.center_codes(node)
        if self._has_few_rows(node.rows):
            return RowMistakeScan(problem, node.rows.active, node.state.ends, codes)
        if (histogram := self.histogram(node)) is not None:
            return MistakeScan(problem.bins, StoredHistogram(histogram), codes)
        rows = node.rows.active
        group, weight = self._local_labels(node.rows, rows), problem.weights.units_of(rows)
        # Weights are whole and their total is below 2**52, so that sums of floats are exact.
        totals = np.bincount(group, weights=weight, minlength=len(node.rows.centers))
        totals, last = totals.astype(np.int64), codes.ascending[:, -1]
        counted = RowHistogram(problem, rows, group, weight, totals, last)
        return MistakeScan(problem.bins, counted, codes)

    def divide(self, node: Node[MistakesState], split: Split) -> SplitNode:
        """The children; rows separated from their own center become passive where they are."""
        problem, rows, ends = self.problem, node.rows, node.state.ends
        feature, threshold = split.feature, split.threshold
        is_left = problem.centers[rows.centers, feature] <= threshold
        partition = split_by_center(problem, rows.active, ends, is_left, feature, threshold)
        low, high = self.center_interval(rows.centers, split)
        low, high = max(partition.low, low), min(partition.high, high)
        passive = partition.separated
        if len(rows.passive):
            # Passive rows are on the side of the lowest threshold, and bound the highest.
            _, next_value, *sides = split_rows(problem, rows.passive, feature, low)
            passive = [np.concatenate(pair) for pair in zip(passive, sides)]
            high = min(high, next_value)
        children = []
        for side, in_child in enumerate((is_left, ~is_left)):
            members, cuts = in_child.nonzero()[0], [rows.cut_left, rows.cut_right]
            cuts[side] = cuts[side] | {feature}
            child = NodeRows(partition.kept[side], passive[side], rows.centers[members], *cuts)
            state = MistakesState(_offsets(partition.n_kept[members]))
            is_counted = len(members) < 2 or self._has_few_rows(child)
            if node.state.histogram is not None and not is_counted:
                state.histogram = node.state.histogram.take(members, axis=1)
                separated = partition.separated[1 - side]
                self._count(child, separated, state.histogram, sign=-1)
            children.append(Node(child, state))
        return SplitNode(split, low, high, *children)

    def histogram(self, node: Node[MistakesState]) -> np.ndarray | None:
        """Weight of the active rows by feature, center and bin; None if it is too large."""
        problem, state, rows = self.problem, node.state, node.rows
        n_centers, bins = len(rows.centers), problem.bins
        n_bytes = 8 * bins.edges.size * n_centers
        limit = 0 if bins.is_sparse else max(_SMALL_HISTOGRAM, problem.X.nbytes // 4)
        if state.histogram is None and n_bytes <= limit:
            shape = (problem.n_features, n_centers, bins.edges.shape[1])
            state.histogram = np.zeros(shape, dtype=np.int64)
            counted = rows.active
            if len(counted) == problem.n_samples:  # reading in the order of the data is faster
                counted = np.arange(len(counted), dtype=counted.dtype)
            self._count(rows, counted, state.histogram)
        return state.histogram

    def _count(self, node_rows: NodeRows, rows, histogram: np.ndarray, sign: int = 1) -> None:
        """Add the weights of some rows to a histogram, or subtract them."""
        from pellucid._core.kernels.mistakes import hist_dense

        problem = self.problem
        group, weight = self._local_labels(node_rows, rows), sign * problem.weights.units_of(rows)

        def count(block: np.ndarray) -> None:
            out = histogram[block[0] : block[-1] + 1]
            hist_dense(block, problem.bins.codes, rows, group, weight, out)

        features = np.arange(problem.n_features)
        problem.pool.map(count, problem.feature_blocks(features, len(rows)))

    def _local_labels(self, node_rows: NodeRows, rows: np.ndarray) -> np.ndarray:
        """Own center of each row, as a place among the centers of the node."""
        place = np.zeros(self.problem.n_clusters, dtype=self.problem.labels.dtype)
        place[node_rows.centers] = np.arange(len(node_rows.centers))
        return place.take(self.problem.labels.take(rows))


class BalancedMistakes(Mistakes):
    """Fewest mistakes divided by min(centers on the left, centers on the right) (EMN).

    The divisor is constant in the gap between two neighbouring centers, so the best split of a gap
    is the one with the fewest mistakes; only gaps are compared by the ratio.
    """

    def best_center_splits(self, node, features, n):
        """Splits with the least ratio."""
        n_centers = len(node.rows.centers)
        n_left = np.arange(1, n_centers)
        return self._best_splits(node, features, n, np.minimum(n_left, n_centers - n_left))


def _offsets(sizes: np.ndarray) -> np.ndarray:
    """Where parts of these sizes begin and end, one after the other."""
    offsets = np.zeros(len(sizes) + 1, dtype=np.intp)
    np.cumsum(sizes, out=offsets[1:])
    return offsets
