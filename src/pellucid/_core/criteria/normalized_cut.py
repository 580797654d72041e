"""Normalised cut of the label graph: which rows belong together, and nothing else (SpEx)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pellucid._core.criteria.base import Criterion, InheritedHistogram, Node, NodeRows
from pellucid._core.criteria.column_search import Split, open_bins, search_columns

_CHUNK = 2**16
"""Sums that are added up and judged together: few enough to stay in cache."""


@dataclass(slots=True)
class NormalizedCutState:
    """What is stored about a node.

    Attributes
    ----------
    totals : ndarray of shape (n_clusters,), int64, optional
        Weight of the node's rows by cluster; None until needed.
    histogram : ndarray of shape (n_features, n_bins, n_clusters), int64, optional
        Weight by column, bin and cluster; None until the node is searched, and for small nodes.
    inherited : InheritedHistogram, optional
        What the histogram can be computed from, besides the rows of the node.
    """

    totals: np.ndarray | None = None
    histogram: np.ndarray | None = None
    inherited: InheritedHistogram | None = None


class LabelGraph(Criterion[NormalizedCutState]):
    """Least sum of cut over degree of the two sides, in the graph that joins rows of one cluster.

    With N[c] the weight of cluster c in all of the data and S[c] that on one side, the side's cut
    is the sum of S[c] (N[c] - S[c]) and its degree the sum of S[c] (N[c] - 1). A side without
    degree, which has only clusters of one row, counts 0. Weights that are not whole cannot be
    copies of a row; the degree is then the sum of S[c] N[c], as if each row were joined to itself
    too, and does not change its meaning with the scale of the weights.

    No cut has a positive gain: cutting can only raise the sum over all leaves, and the best cut
    raises it least. A cell with rows of one cluster only is finished.
    """

    def gain_bound(self, node: Node) -> float | None:
        """No bound is better than a search; a cell with rows of one cluster only needs none."""
        return None if np.count_nonzero(self._totals(node)) < 2 else np.inf

    def best_splits(self, node: Node, n: int = 1) -> list[Split]:
        """Cuts that raise the sum of cut over degree least; the gain is minus the rise."""
        from pellucid._core.kernels.normalized_cut import scan_labels, sweep_labels

        problem, active, bins = self.problem, node.rows.active, self.problem.bins
        totals = self._totals(node)
        if np.count_nonzero(totals) < 2:
            return []
        graph = (totals, self._whole, self._lone)
        kept, add = self._kept(node), self._adder(active, totals)
        step = max(1, _CHUNK // np.prod(self._shape))

        def room() -> tuple[np.ndarray, ...]:
            width, k = self._shape
            return np.empty(k), np.empty(k), np.empty(width), np.empty((width + 1, 4))

        def scan(block: np.ndarray, found: np.ndarray, limit: float = np.inf):
            wanted, space = np.zeros(self._shape[0], dtype=bool), room()
            for start in range(0, len(block), step):
                few = block[start : start + step]
                sums = add(few) if kept is None else kept[few[0] : few[-1] + 1]
                where = (few, sums, bins.n_edges, bins.inside)
                scan_labels(*where, *graph, limit, found, wanted, space)
            return sums[-1], wanted

        def refine(feature: int, limit: float) -> np.ndarray:
            found = np.empty((problem.n_features, 1, 3))
            sums, wanted = scan(np.array([feature]), found, limit)
            places, codes, values = open_bins(problem, feature, active, wanted)
            rows = active[places]
            own, weight = problem.labels[rows], problem.weights.units_of(rows)
            value, edge, _ = found[feature, 0]
            on_edge = (value, bins.edges[feature, int(edge)])
            inside = sweep_labels(values, codes, own, weight, sums, *graph, room())
            return np.array([min(on_edge, inside)])

        features = np.arange(problem.n_features)
        size = len(active) if kept is None else np.prod(self._shape)
        cuts = search_columns(problem, features, size, scan, refine, np.inf, n_best=n)
        before = self._share(totals)
        return [cut._replace(gain=before - cut.objective) for cut in cuts]

    def cluster(self, node: Node) -> int:
        """The cluster with most weight in the cell, the lowest of equals."""
        return int(np.argmax(self._totals(node)))

    def start_state(self, cluster: int | None = None) -> NormalizedCutState:
        """State of a node of which nothing is known yet."""
        return NormalizedCutState()

    def child_states(self, node: Node, left: NodeRows, right: NodeRows):
        """The larger child inherits the histogram of its parent."""
        states = NormalizedCutState(), NormalizedCutState()
        if node.state.histogram is not None:
            sizes = len(left.active), len(right.active)
            larger = int(sizes[0] <= sizes[1])
            smaller_rows = (left, right)[1 - larger].active
            states[larger].inherited = InheritedHistogram(node.state.histogram, smaller_rows)
        return states

    @cached_property
    def _whole(self) -> np.ndarray:
        """Weight of each cluster in all of the data."""
        return self._count(np.arange(self.problem.n_samples)).astype(np.float64)

    @property
    def _lone(self) -> float:
        """What a row is not joined to: itself, where weights are copies."""
        return 1.0 if self.problem.weights.are_integers else 0.0

    def _count(self, rows: np.ndarray) -> np.ndarray:
        """Weight of some rows by cluster, in whole units; their sum is exact in float64 too."""
        labels, weights = self.problem.labels[rows], self.problem.weights
        units = None if weights.are_ones else weights.units[rows]
        return np.bincount(labels, units, minlength=self.problem.n_clusters).astype(np.int64)

    def _totals(self, node: Node) -> np.ndarray:
        """Weight of the node's rows by cluster."""
        if node.state.totals is None:
            node.state.totals = self._count(node.rows.active)
        return node.state.totals

    def _share(self, totals: np.ndarray) -> float:
        """Cut over degree of a set of rows."""
        cut = (totals * (self._whole - totals)).sum()
        degree = (totals * (self._whole - self._lone)).sum()
        return float(cut / degree) if degree > 0 else 0.0

    def _adder(self, rows: np.ndarray, totals: np.ndarray):
        """How to add up the weight of some rows by feature, bin and cluster."""
        from pellucid._core.kernels.normalized_cut import add_dense, add_stored

        bins, slot = self.problem.bins, self.problem.slots(rows)
        own, weight = self.problem.labels[rows], self.problem.weights.units_of(rows)

        def add(features: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
            sums = np.empty((len(features), *self._shape), dtype=np.int64) if out is None else out
            if bins.is_sparse:
                entries = (bins.codes[0], bins.indices, bins.indptr, bins.zero_code, slot)
                add_stored(features, *entries, own, weight, totals, sums)
            else:
                add_dense(features, bins.codes, rows, own, weight, sums)
            return sums

        return add

    @property
    def _shape(self) -> tuple[int, int]:
        """Shape of the sums by bin of one feature."""
        return self.problem.bins.edges.shape[1], self.problem.n_clusters

    def _kept(self, node: Node) -> np.ndarray | None:
        """Sums by feature and bin; None for nodes so small that they are soon added up again."""
        problem, state, active = self.problem, node.state, node.rows.active
        inherited, state.inherited = state.inherited, None
        if problem.bins.is_sparse or len(active) < 2 * np.prod(self._shape):
            return None
        rows = active if inherited is None else inherited.removed_rows
        add = self._adder(rows, self._totals(node))
        kept = np.empty((problem.n_features, *self._shape), dtype=np.int64)

        def work(block: np.ndarray) -> None:
            span = slice(block[0], block[-1] + 1)
            add(block, kept[span])
            if inherited is not None:
                np.subtract(inherited.parent[span], kept[span], out=kept[span])

        features = np.arange(problem.n_features)
        problem.pool.map(work, problem.feature_blocks(features, len(rows)))
        state.histogram = kept
        return kept
