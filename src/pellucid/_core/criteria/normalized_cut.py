"""Normalised cut of the label graph (SpEx)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from pellucid._core.criteria.base import MemoryCriterion, Node
from pellucid._core.criteria.column_search import Split, rows_in_bins, search_columns

_CHUNK = 2**16
"""Numbers of a histogram that are filled and evaluated together, so that they stay in cache."""


@dataclass(slots=True)
class NormalizedCutState:
    """Weight of the node's rows by cluster; None until needed."""

    totals: np.ndarray | None = None


class NormalizedCut(MemoryCriterion[NormalizedCutState]):
    """Least sum of the cut ratios of the two sides.

    In the label graph, every two rows of one cluster are joined. With N_c the weight of cluster c
    in all of the data and S_c that on one side, the cut ratio of the side is

        sum over c of S_c (N_c - S_c) / sum over c of S_c (N_c - 1),

    cut over degree, and 0 for a side without joined rows. Weights that are not integers do not
    stand for copies of a row; the degree is then the sum of S_c N_c, as if each row were joined to
    itself, so that only the ratios of the weights matter.

    No split has a positive gain: a split can only raise the sum of the cut ratios of all leaves,
    and the best split raises it least. A node with rows of one cluster only is not split.
    """

    def start_state(self, cluster: int | None = None) -> NormalizedCutState:
        """Empty state."""
        return NormalizedCutState()

    def gain_bound(self, node: Node) -> float | None:
        """None for a node with rows of one cluster only."""
        return None if np.count_nonzero(self._totals(node)) < 2 else np.inf

    def cluster(self, node: Node) -> int:
        """The cluster with most weight in the node; ties go to the lowest."""
        return int(np.argmax(self._totals(node)))

    def best_splits(self, node: Node, n: int = 1) -> list[Split]:
        """Splits that raise the sum of cut ratios least; the gain is minus the rise."""
        from pellucid._core.kernels.normalized_cut import (
            LabelGraph,
            scan_columns,
            search_within_bins,
        )

        problem, active, bins = self.problem, node.rows.active, self.problem.bins
        totals = self._totals(node)
        if np.count_nonzero(totals) < 2:
            return []
        graph = LabelGraph(totals, self._cluster_weights, self._self_weight)
        histograms = self._counter(active, totals)
        step = max(1, _CHUNK // prod(self._shape))

        def scan(
            block: np.ndarray, found: np.ndarray, limit: float = np.inf
        ) -> tuple[np.ndarray, np.ndarray]:
            wanted, workspace = np.zeros(self._shape[0], dtype=bool), self._workspace()
            for start in range(0, len(block), step):
                features = block[start : start + step]
                sums = histograms(features)
                scan_columns(
                    features=features,
                    sums=sums,
                    n_edges=bins.n_edges,
                    inside=bins.inside,
                    graph=graph,
                    limit=limit,
                    found=found,
                    wanted=wanted,
                    workspace=workspace,
                )
            return sums[-1], wanted

        def refine(feature: int, limit: float) -> np.ndarray:
            found = np.empty((problem.n_features, 1, 3))
            sums, wanted = scan(np.array([feature]), found, limit)
            places, codes, values = rows_in_bins(problem, feature, active, wanted)
            rows = active[places]
            objective, edge, _ = found[feature, 0]
            inside = search_within_bins(
                values=values,
                codes=codes,
                labels=problem.labels[rows],
                weight=problem.weights.units_of(rows),
                sums=sums,
                graph=graph,
                workspace=self._workspace(),
            )
            return np.array([min((objective, bins.edges[feature, int(edge)]), inside)])

        features = np.arange(problem.n_features)
        splits = search_columns(problem, features, len(active), scan, refine, np.inf, n_best=n)
        before = self._cut_ratio(totals)
        return [split._replace(gain=before - split.objective) for split in splits]

    @cached_property
    def _cluster_weights(self) -> np.ndarray:
        """N, the weight of each cluster in all of the data."""
        return self._count(np.arange(self.problem.n_samples)).astype(np.float64)

    @property
    def _self_weight(self) -> float:
        """1 if a row is not joined to itself, else 0."""
        return 1.0 if self.problem.weights.are_integers else 0.0

    @property
    def _shape(self) -> tuple[int, int]:
        """Bins and clusters of the histogram of one column."""
        return self.problem.bins.edges.shape[1], self.problem.n_clusters

    def _workspace(self):
        from pellucid._core.kernels.normalized_cut import NormalizedCutWorkspace

        n_bins, k = self._shape
        return NormalizedCutWorkspace(
            np.empty(k), np.empty(k), np.empty(n_bins), np.empty((n_bins + 1, 4))
        )

    def _count(self, rows: np.ndarray) -> np.ndarray:
        """Weight of some rows by cluster, in units; float64 sums of units are exact."""
        labels, weights = self.problem.labels[rows], self.problem.weights
        units = None if weights.are_ones else weights.units[rows]
        return np.bincount(labels, units, minlength=self.problem.n_clusters).astype(np.int64)

    def _totals(self, node: Node) -> np.ndarray:
        """Weight of the node's rows by cluster."""
        if node.state.totals is None:
            node.state.totals = self._count(node.rows.active)
        return node.state.totals

    def _cut_ratio(self, totals: np.ndarray) -> float:
        """Cut ratio of a set of rows with these weights by cluster."""
        cut = (totals * (self._cluster_weights - totals)).sum()
        degree = (totals * (self._cluster_weights - self._self_weight)).sum()
        return float(cut / degree) if degree > 0 else 0.0

    def _counter(self, rows: np.ndarray, totals: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """A function of columns: the weight of the rows by column, bin and cluster."""
        from pellucid._core.kernels.normalized_cut import add_dense, add_sparse

        bins, slot = self.problem.bins, self.problem.slots(rows)
        labels, weight = self.problem.labels[rows], self.problem.weights.units_of(rows)

        def histograms(features: np.ndarray) -> np.ndarray:
            sums = np.empty((len(features), *self._shape), dtype=np.int64)
            if bins.is_sparse:
                entries = (bins.codes[0], bins.indices, bins.indptr, bins.zero_code, slot)
                add_sparse(features, *entries, labels, weight, totals, sums)
            else:
                add_dense(features, bins.codes, rows, labels, weight, sums)
            return sums

        return histograms
