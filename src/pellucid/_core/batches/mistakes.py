"""Mistakes of the splits of many nodes at once (IMM, EMN)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pellucid._core.batches.batch import Batch, PickedRows
from pellucid._core.batches.columns import FineColumn, PartRequest
from pellucid._core.batches.criterion import BatchCriterion, Judgement, Search
from pellucid._core.batches.partitions import BatchProblem, ExactTask
from pellucid._core.batches.routing import OverlapRouting, Routing
from pellucid._core.batches.tasks import NodeRowSums
from pellucid._core.criteria.base import Node
from pellucid._core.criteria.center_search import FIRST, CenterCodes, EdgeSums, edge_sums
from pellucid._core.criteria.column_search import ColumnSearch, best_edges
from pellucid._core.criteria.mistakes import BalancedMistakes, Mistakes, mistake_terms

_HISTOGRAM_BYTES = 2**28
"""Bytes of the histograms of overlapping nodes that are counted in one pass."""


@dataclass(frozen=True)
class CenterRows(NodeRowSums):
    """Rows that have not been separated from their own center, by center.

    `leaf_of_center` is the leaf that holds each center, unless nodes overlap; -1 for centers in no
    open node.
    """

    leaf_of_center: np.ndarray
    centers_of_node: dict[int, np.ndarray]

    def place(self, node: int) -> np.ndarray:
        """The place of each center among those of a node; -1 for the others."""
        place, centers = np.full(len(self.leaf_of_center), -1), self.centers_of_node[node]
        place[centers] = np.arange(len(centers))
        return place

    def select(self, batch: Batch, request: PartRequest, members: Any) -> np.ndarray:
        rows = super().select(batch, request, members)
        return rows[self.place(request.node)[batch.labels_of(rows)] >= 0]

    def n_channels(self, node: int) -> int:
        return len(self.centers_of_node[node])

    def channels(self, node: int, feature: int, rows: PickedRows) -> np.ndarray:
        """Weight of each row in the channel of its own center."""
        terms = np.zeros((rows.n_rows, self.n_channels(node)), dtype=np.int64)
        terms[np.arange(rows.n_rows), self.place(node)[rows.labels]] = rows.weights.units
        return terms


class _GrowthStep(NamedTuple):
    """The state of a growing tree: where rows go, and which of them are active."""

    routing: Routing
    rows: CenterRows

    def are_active(self, batch: Batch, counts: np.ndarray) -> np.ndarray:
        """Whether each row is in the leaf of its own center, given the rows of each center."""
        leaf = self.routing.leaves(batch)
        return self.rows.leaf_of_center.astype(leaf.dtype).repeat(counts) == leaf

    def continues(self, last: _GrowthStep) -> bool:
        """Whether all active rows of this step were active in another one."""
        are_open = self.rows.leaf_of_center >= 0
        were_open = last.rows.leaf_of_center >= 0
        return bool((were_open >= are_open).all()) and self.routing.continues(last.routing)


@dataclass(frozen=True)
class MistakeHistogramTask(ExactTask):
    """Weight of rows by column, own center and bin.

    All active rows count. With `last`, an earlier step, rows count if they were active then and are
    no longer, and their center is still in an open node.
    """

    step: _GrowthStep
    shape: tuple[int, int, int]  # columns, centers, bins
    last: _GrowthStep | None = None

    def over(self, batches: Iterable[Batch]) -> np.ndarray:
        from pellucid._core.kernels.mistakes import hist_dense

        out, features = np.zeros(self.shape, dtype=np.int64), np.arange(self.shape[0])
        for batch in batches:
            counts, is_active = np.diff(batch.starts), True
            if self.last is not None:
                is_open = (self.step.rows.leaf_of_center >= 0).repeat(counts)
                is_active = is_open & self.last.are_active(batch, counts)
            is_active &= self.step.are_active(batch, counts) == (self.last is None)
            rows = is_active.nonzero()[0].astype(np.int32)
            weight = batch.weights.units_of(rows)
            hist_dense(features, batch.codes, rows, batch.labels_of(rows), weight, out)
        return out


@dataclass(frozen=True)
class OverlapHistogramTask(ExactTask):
    """Weight of the active rows of overlapping nodes by column, own center and bin."""

    routing: OverlapRouting
    rows: CenterRows
    n_bins: int

    def __call__(self, batch: Batch) -> dict[int, np.ndarray]:
        """By node, weights: (n_features, n_centers, n_bins), int64."""
        from pellucid._core.kernels.mistakes import hist_dense

        features, found = np.arange(batch.n_features), {}
        members = self.routing.members(batch)
        for number in self.rows.centers_of_node:
            rows = members.rows(number)
            group = self.rows.place(number)[batch.labels_of(rows)]
            rows, group = rows[group >= 0], group[group >= 0].astype(np.int32)
            shape = batch.n_features, self.rows.n_channels(number), self.n_bins
            found[number] = out = np.zeros(shape, dtype=np.int64)
            hist_dense(features, batch.codes, rows, group, batch.weights.units_of(rows), out)
        return found


class BatchMistakes(BatchCriterion[None]):
    """Best splits by mistakes; see `pellucid._core.criteria.mistakes`."""

    has_passive_rows = True
    divisor = staticmethod(Mistakes.divisor)

    def __init__(self, problem: BatchProblem) -> None:
        super().__init__(problem)
        self._last: _GrowthStep | None = None
        self._histogram = np.empty(0, dtype=np.int64)

    def row_sums(self, nodes: Sequence[Node[None]]) -> CenterRows:
        leaf_of_center = np.full(self.problem.n_clusters, -1, dtype=np.int32)
        centers_of_node = {node.rows.number: node.rows.centers for node in nodes}
        for number, centers in centers_of_node.items():
            leaf_of_center[centers] = number
        return CenterRows(leaf_of_center, centers_of_node)

    def first_sums(self, nodes: Sequence[Node[None]], routing: Any) -> dict[int, np.ndarray]:
        """Histograms by own center.

        That of all active rows is kept; those that a split separated are subtracted.
        """
        rows, problem = self.row_sums(nodes), self.problem
        if routing.overlaps:
            return problem.map(OverlapHistogramTask(routing, rows, problem.n_bins))
        step, shape = _GrowthStep(routing, rows), (*problem.centers.T.shape, problem.n_bins)
        last = self._last if self._last is not None and step.continues(self._last) else None
        counted = problem.map(MistakeHistogramTask(step, shape, last))
        self._histogram = counted if last is None else self._histogram - counted
        self._last = step
        return {
            number: self._histogram.take(centers, axis=1)
            for number, centers in rows.centers_of_node.items()
        }

    def groups(self, nodes: Sequence[Node[None]]) -> Iterator[Sequence[Node[None]]]:
        """Nodes whose histograms are counted in one pass: all, unless they overlap."""
        if not self.routing(nodes).overlaps:
            yield nodes
            return
        n_bytes, group = 0, list[Node[None]]()
        for node in nodes:
            size = 8 * self.problem.n_features * self.problem.n_bins * len(node.rows.centers)
            if group and n_bytes + size > _HISTOGRAM_BYTES:
                yield group
                group, n_bytes = [], 0
            group.append(node)
            n_bytes += size
        yield group

    def node_search(self, node: Node[None], sums: np.ndarray, n: int, n_nodes: int) -> Search:
        problem, bins = self.problem, self.problem.bins
        number, centers = node.rows.number, node.rows.centers
        coordinates = problem.centers[centers]
        features = (coordinates != coordinates[0]).any(axis=0).nonzero()[0]
        if not len(features):
            return []
        divisor = self.divisor(len(centers))
        terms = mistake_terms(problem.n_features, divisor)
        codes = CenterCodes.of(bins.center_code, centers)
        found = np.full((problem.n_features, len(divisor), 3), np.inf)
        counted = sums.take(features, axis=0)
        totals = counted[0].sum(axis=1)
        at_edges = edge_sums(features, counted, counted, totals, codes)
        terms.judge(features, codes.ascending, at_edges, bins.inside, -np.inf, found)

        def sums_of(feature: int) -> np.ndarray:
            return sums[feature].T.copy()

        def judge(feature: int, column: FineColumn, limit: float) -> Judgement:
            place = np.searchsorted(column.edges, coordinates[:, feature])[None]
            codes, counted = CenterCodes(place, np.sort(place)), column.sums.T[None].copy()
            at_edges = edge_sums(FIRST, counted, counted, totals, codes)
            levels = EdgeSums(*(of_column[0] for of_column in at_edges))
            fine = 0, codes.ascending[0], levels, column.inside
            found, wanted = terms.judge_column(*fine, limit)
            if n == 1 and (least := found[:, 0].min()) < limit:
                _, wanted = terms.judge_column(*fine, least)
            return Judgement(best_edges(found, column.edges), wanted, found[:, 2].min())

        search = ColumnSearch(found[features], features, bins.edges, np.inf, n)
        splits = yield from self.search_node(number, search, sums_of, judge, n_nodes)
        per_weight = problem.weight_units.per_weight
        if number in problem.gaps:
            problem.gaps[number] /= per_weight
        return [split._replace(objective=split.objective / per_weight) for split in splits]


class BatchBalancedMistakes(BatchMistakes):
    """Mistakes divided by the smaller number of centers (EMN)."""

    divisor = staticmethod(BalancedMistakes.divisor)
