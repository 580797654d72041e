"""Mistakes of the splits of many nodes at once (IMM, EMN)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pellucid._core.criteria.column_search import ColumnSearch, best_edges
from pellucid._core.criteria.mistake_scans import CenterCodes, MistakeScan, StoredHistogram
from pellucid.scale.batches import Batch
from pellucid.scale.columns import FineColumn
from pellucid.scale.node_search import Search, search_node
from pellucid.scale.problem import OpenNode, ScaleBins, ScaleProblem
from pellucid.scale.routing import Routing, rows_by_leaf


@dataclass(frozen=True)
class CenterRows:
    """Rows that have not been separated from their own center, by center.

    Attributes
    ----------
    leaf_of_center : ndarray of shape (n_clusters,)
        The leaf that holds each center.
    centers : dict of int to ndarray
        Centers of each node.
    """

    leaf_of_center: np.ndarray
    centers: dict[int, np.ndarray]

    def active(self, batch: Batch, leaf: np.ndarray) -> np.ndarray:
        """Whether each row is in the leaf of its own center."""
        return self.leaf_of_center[batch.labels] == leaf

    def rows(self, batch: Batch, leaf: np.ndarray, numbers: list[int]) -> dict[int, np.ndarray]:
        """Active rows of some nodes."""
        return rows_by_leaf(np.where(self.active(batch, leaf), leaf, -1), numbers)

    def passive_rows(
        self, batch: Batch, leaf: np.ndarray, numbers: list[int]
    ) -> dict[int, np.ndarray]:
        """The other rows of some nodes."""
        return rows_by_leaf(np.where(self.active(batch, leaf), -1, leaf), numbers)

    def n_channels(self, node: int) -> int:
        """One sum per center."""
        return len(self.centers[node])

    def channels(self, batch: Batch, node: int, feature: int, rows: np.ndarray) -> np.ndarray:
        """Weight of each row in the channel of its own center."""
        place = np.searchsorted(self.centers[node], batch.labels[rows])
        terms = np.zeros((len(rows), len(self.centers[node])), dtype=np.int64)
        terms[np.arange(len(rows)), place] = batch.weights.units_of(rows)
        return terms


@dataclass(frozen=True)
class MistakeHistogramTask:
    """Weight of the active rows of all nodes by column, own center and bin."""

    routing: Routing
    rows: CenterRows
    n_bins: int

    def __call__(self, batch: Batch) -> np.ndarray:
        """Weights: (n_features, n_clusters, n_bins), int64."""
        from pellucid._core.kernels.mistakes import hist_dense

        leaf = self.routing.leaves(batch)
        nodes = np.zeros(len(self.routing.left), dtype=bool)
        nodes[list(self.rows.centers)] = True
        rows = (self.rows.active(batch, leaf) & nodes[leaf]).nonzero()[0].astype(np.int32)
        shape = (batch.n_features, len(self.rows.leaf_of_center), self.n_bins)
        out, features = np.zeros(shape, dtype=np.int64), np.arange(batch.n_features)
        weight = batch.weights.units_of(rows)
        hist_dense(features, batch.codes, rows, batch.labels[rows], weight, out)
        return out

    def merge(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Weights of two batches."""
        return first + second


class PartitionedMistakes:
    """Best splits by mistakes, divided by the smaller number of centers if `balanced`.

    Parameters
    ----------
    problem : ScaleProblem
    balanced : bool
        EMN instead of IMM.
    """

    has_passive_rows = True

    def __init__(self, problem: ScaleProblem, balanced: bool = False) -> None:
        self.problem, self.balanced = problem, balanced

    def row_sums(self, nodes: Sequence[OpenNode]) -> CenterRows:
        """Which rows count in some nodes."""
        leaf_of_center = np.full(len(self.problem.centers), -1, dtype=np.int32)
        for node in nodes:
            leaf_of_center[node.centers] = node.number
        return CenterRows(leaf_of_center, {node.number: node.centers for node in nodes})

    def searches(
        self, nodes: Sequence[OpenNode], routing: Routing, n: int = 1
    ) -> dict[int, Search]:
        """Searches for the n best splits of nodes with several centers, after one pass."""
        problem = self.problem
        task = MistakeHistogramTask(routing, self.row_sums(nodes), problem.n_bins)
        histogram = problem.map(task)
        return {
            node.number: self.search(node, histogram.take(node.centers, axis=1), n)
            for node in nodes
        }

    def search(self, node: OpenNode, histogram: np.ndarray, n: int) -> Search:
        """The search for the n best splits of a node, given its histogram by own center."""
        problem, bins = self.problem, self.problem.bins
        coordinates = problem.centers[node.centers]
        features = (coordinates != coordinates[0]).any(axis=0).nonzero()[0]
        if not len(features):
            return
        n_centers = len(node.centers)
        n_left = np.arange(1, n_centers)
        divisor = np.minimum(n_left, n_centers - n_left) if self.balanced else np.ones(len(n_left))
        by_center = bins.center_code.take(node.centers, axis=1)
        codes = CenterCodes(by_center, np.sort(by_center, axis=1))
        scan = MistakeScan(bins, StoredHistogram(histogram), codes)
        found = np.full((problem.n_features, len(divisor), 3), np.inf)
        scan(features, found)
        found[:, :, ::2] /= divisor[:, None]

        def make_column(feature: int) -> FineColumn:
            sums = histogram[feature].T.copy()
            return FineColumn(bins.edges[feature], sums, bins.inside[feature])

        def judge(feature: int, column: FineColumn, limit: float):
            limit *= divisor.max() * (1 + 1e-12)  # a little more, because of rounding
            place = np.searchsorted(column.edges, coordinates[:, feature])[None]
            fine = MistakeScan(
                ScaleBins(column.edges[None], column.inside[None], place),
                StoredHistogram(np.ascontiguousarray(column.sums.T)[None]),
                CenterCodes(place, np.sort(place, axis=1)),
            )
            found, _, candidates = fine.column(0, limit)
            best = best_edges(found, column.edges)
            best[:, 0] /= divisor
            return best, candidates & column.inside

        search = ColumnSearch(found[features], features, bins.edges, np.inf, n)
        splits = yield from search_node(node.number, search, make_column, judge, problem.n_bins)
        per_weight = problem.weight_units.per_weight
        return [split._replace(objective=split.objective / per_weight) for split in splits]
