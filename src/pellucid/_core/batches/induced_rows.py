"""What the induced cost needs of the rows: tasks that are sent to the batches."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pellucid._core.batches.batch import Batch, PickedRows
from pellucid._core.batches.columns import PartRequest, PartSums
from pellucid._core.batches.partitions import ExactTask
from pellucid._core.batches.routing import Routing, rows_by_leaf
from pellucid._core.batches.tasks import NodeRowSums, PartSumsTask

RIGHT, LEFT, WEIGHT = range(3)
"""Channels: excess of the rows whose nearest center is to the right, to the left; weight."""


@dataclass(frozen=True)
class NodeCenters:
    """Where the centers of a node lie in the columns, by the bins of the quantizer.

    By column, (n_features, n_centers): `rank` of each center, and `order`, the positions of the
    centers in ascending order. `gap_of_bin`, (n_features, n_bins), is the gap between centers in
    which each bin lies; -1 and n_gaps outside.
    """

    centers: np.ndarray
    rank: np.ndarray
    order: np.ndarray
    gap_of_bin: np.ndarray

    @classmethod
    def of(cls, centers: np.ndarray, center_code: np.ndarray, n_bins: int) -> NodeCenters:
        """From the codes of all centers: (n_features, n_clusters)."""
        codes = center_code.take(centers, axis=1)
        order = codes.argsort(axis=1)
        rank = np.empty_like(order)
        np.put_along_axis(rank, order, np.arange(len(centers))[None], axis=1)
        ascending, bins = np.sort(codes, axis=1), np.arange(n_bins)
        gap = np.array([np.searchsorted(line, bins) - 1 for line in ascending])
        return cls(centers, rank, order, gap)


class NearestCenters(NamedTuple):
    """The two nearest centers of each row among those of its node, the nearest first.

    `cost` is that of the nearest, and `margin` is what the second costs more, both in units. Rows
    that are not known have centers of no node.
    """

    nearest: np.ndarray
    second: np.ndarray
    cost: np.ndarray
    margin: np.ndarray

    @classmethod
    def unknown(cls, n_rows: int, n_clusters: int) -> NearestCenters:
        """Of rows that are not known."""
        small = np.min_scalar_type(n_clusters)
        centers = (np.full(n_rows, n_clusters, dtype=small) for _ in range(2))
        return cls(*centers, *np.zeros((2, n_rows), dtype=np.int64))

    @classmethod
    def of(cls, costs: np.ndarray) -> NearestCenters:
        """Of rows with some costs, (n_rows, n_centers): the positions of the centers."""
        from pellucid._core.batches.kernels import find_two_nearest

        found = cls(*np.empty((2, len(costs)), np.int32), *np.empty((2, len(costs)), np.int64))
        find_two_nearest(costs, *found)
        return found


@dataclass(frozen=True)
class InducedCostRows(NodeRowSums):
    """Excess cost of rows that a threshold separates from their nearest center of the node."""

    infos: dict[int, NodeCenters]
    centers: np.ndarray
    cost_unit: float
    needs_costs = True

    def n_channels(self, node: int) -> int:
        """Excess to the right and to the left, and weight."""
        return 3

    def channels(self, node: int, feature: int, rows: PickedRows) -> np.ndarray:
        """The terms of some rows."""
        from pellucid._core.kernels.induced_cost import sum_excess

        costs, info = self.costs(rows, node), self.infos[node]
        n_gaps, n_bins = len(info.centers) - 1, info.gap_of_bin.shape[1]
        change = np.empty(rows.n_rows, dtype=np.int64)
        sum_excess(
            codes=rows.codes,
            rows=np.arange(rows.n_rows, dtype=np.int32),
            nearest_rank=info.rank[feature].take(NearestCenters.of(costs).nearest),
            ordered=info.order[feature],
            costs=costs,
            gap_of_bin=info.gap_of_bin[feature],
            by_gap=np.zeros(n_gaps, dtype=np.int64),
            by_bin=np.zeros((2, n_bins), dtype=np.int64),
            change=change,
        )
        terms = np.zeros((rows.n_rows, 3), dtype=np.int64)
        terms[:, RIGHT], terms[:, LEFT] = np.maximum(change, 0), np.maximum(-change, 0)
        terms[:, WEIGHT] = rows.weights.units
        return terms

    def costs(self, rows: Batch | PickedRows, node: int) -> np.ndarray:
        """Costs of some rows at the centers of a node: (n_rows, n_centers)."""
        return rows.costs(self.centers[self.infos[node].centers], self.cost_unit)

    def nearest_centers(self, batch: Batch, routing: Routing) -> NearestCenters:
        """The two nearest centers of all rows of open nodes. The batch stores them.

        Only rows of which one of the two is no longer in their node are computed again.
        """
        from pellucid._core.batches.kernels import rows_to_update

        last, found = batch.nearest
        if last is None or not routing.continues(last):
            found = NearestCenters.unknown(batch.n_rows, len(self.centers))
        leaf, node_of_center = routing.leaves(batch), np.full(len(self.centers) + 1, -1)
        is_open = np.zeros(len(routing.left), dtype=np.uint8)
        for node, info in self.infos.items():
            node_of_center[info.centers], is_open[node] = node, 1
        rows = np.empty(batch.n_rows + 1, dtype=np.int32)
        n = rows_to_update(found.nearest, found.second, leaf, node_of_center, is_open, rows)
        if n:
            found, rows = NearestCenters(*(array.copy() for array in found)), rows[:n]
            for node, places in rows_by_leaf(leaf.take(rows), list(self.infos)).items():
                of_node = rows.take(places)
                is_all = len(of_node) == batch.n_rows
                picked = batch if is_all else batch.pick(of_node, 0, for_costs=True)
                near = NearestCenters.of(self.costs(picked, node))
                centers = self.infos[node].centers
                found.nearest[of_node] = centers.take(near.nearest)
                found.second[of_node] = centers.take(near.second)
                found.cost[of_node], found.margin[of_node] = near.cost, near.margin
            batch.nearest = routing, found
        return found


class NodeMargins(NamedTuple):
    """Sums over the rows of a node: their least costs, and a `histogram` of weight and margin by
    nearest center and bin, (2, n_features, n_centers, n_bins).
    """

    cost: int
    histogram: np.ndarray


@dataclass(frozen=True)
class MarginTask(ExactTask):
    """Margins of the rows of some nodes in all columns."""

    routing: Routing
    rows: InducedCostRows
    n_bins: int

    def over(self, batches: Iterable[Batch]) -> dict[int, NodeMargins]:
        from pellucid._core.kernels.mistakes import hist_dense

        (n_clusters, n_features), infos = self.rows.centers.shape, self.rows.infos
        features, costs = np.arange(n_features), dict.fromkeys(infos, 0)
        histograms = {
            node: np.zeros((2, n_features, len(info.centers), self.n_bins), dtype=np.int64)
            for node, info in infos.items()
        }
        for batch in batches:
            found = self.rows.nearest_centers(batch, self.routing)
            for node, rows in self.routing.members(batch).groups(list(infos)).items():
                place = np.empty(n_clusters, dtype=np.int32)
                place[infos[node].centers] = np.arange(len(infos[node].centers))
                group = place.take(found.nearest.take(rows))
                terms = batch.weights.units_of(rows), found.margin.take(rows)
                for values, out in zip(terms, histograms[node]):
                    hist_dense(features, batch.codes, rows, group, values, out)
                costs[node] += int(found.cost.take(rows).sum())
        return {node: NodeMargins(costs[node], histograms[node]) for node in infos}


class ExcessRequest(NamedTuple):
    """A column of a node whose induced costs are wanted.

    `ranges`, (n_gaps, 2), are the first and the last edge that is wanted in each gap between
    centers; the last one is below the first if there are none.
    """

    node: int
    feature: int
    ranges: np.ndarray

    @property
    def has_edges(self) -> bool:
        """Whether any edge is wanted."""
        return bool((self.ranges[:, 0] <= self.ranges[:, 1]).any())


class ExcessSums(NamedTuple):
    """Excess of the rows of a node in a column by gap and, (2, n_bins), by bin; see
    `sum_excess_in_ranges`.
    """

    by_gap: np.ndarray
    by_bin: np.ndarray

    @classmethod
    def empty(cls, n_gaps: int, n_bins: int) -> ExcessSums:
        """Sums over no rows."""
        return cls(np.zeros(n_gaps, dtype=np.int64), np.zeros((2, n_bins), dtype=np.int64))


class InducedCostTask(PartSumsTask):
    """Induced costs of columns, and sums over parts of columns."""

    def empty(self, request: ExcessRequest | PartRequest) -> ExcessSums | PartSums:
        """Sums over no rows."""
        if isinstance(request, PartRequest):
            return super().empty(request)
        n_bins = self.criterion.infos[request.node].gap_of_bin.shape[1]
        return ExcessSums.empty(len(request.ranges), n_bins)

    def members(self, batch: Batch) -> Any:
        """The rows by node, and their nearest centers."""
        return super().members(batch), self.criterion.nearest_centers(batch, self.routing)

    def rows(
        self, batch: Batch, request: ExcessRequest | PartRequest, found: Any, members: Any
    ) -> np.ndarray:
        """Rows whose costs are needed; the excess of the others is added."""
        if isinstance(request, PartRequest):
            return super().rows(batch, request, found, members[0])
        members, near = members
        return self._add_margins(batch, request, members.rows(request.node), near, found)

    def add(self, request: ExcessRequest | PartRequest, rows: PickedRows, found: Any) -> None:
        """Add the sums of some rows of a request."""
        if isinstance(request, PartRequest):
            super().add(request, rows, found)
        else:
            self._add_excess(request, rows, found)

    def _add_margins(
        self,
        batch: Batch,
        request: ExcessRequest,
        rows: np.ndarray,
        near: NearestCenters,
        found: ExcessSums,
    ) -> np.ndarray:
        """Add the excess of rows of the node where it is the margin; returns the other separated
        rows: those between their nearest center and an edge of the ranges.
        """
        from pellucid._core.batches.kernels import add_margins

        node, feature, ranges = request
        info, gaps = self.criterion.infos[node], (ranges[:, 0] <= ranges[:, 1]).nonzero()[0]
        (first, last), bins = ranges[gaps].T, np.arange(info.gap_of_bin.shape[1])
        is_right = np.arange(len(info.centers))[:, None] > gaps  # (n_centers, len(gaps))
        below = np.where(is_right, last, -1).max(axis=1, initial=-1)
        above = np.where(is_right, len(bins), first).min(axis=1, initial=len(bins))
        is_wanted = (bins <= below[:, None]) | (bins > above[:, None])
        rank = np.zeros(len(self.criterion.centers), dtype=np.intp)
        rank[info.centers] = info.rank[feature]
        rows, codes = rows.copy(), batch.codes[feature]
        n = add_margins(rows, tuple(near), rank, codes, is_wanted, gaps, ranges, *found)
        return rows[:n]

    def _add_excess(self, request: ExcessRequest, rows: PickedRows, found: ExcessSums) -> None:
        from pellucid._core.batches.kernels import sum_excess_in_ranges

        node, feature, ranges = request
        costs, info = self.criterion.costs(rows, node), self.criterion.infos[node]
        sum_excess_in_ranges(
            codes=rows.codes,
            nearest_rank=info.rank[feature].take(NearestCenters.of(costs).nearest),
            order=info.order[feature],
            costs=costs,
            gaps=(ranges[:, 0] <= ranges[:, 1]).nonzero()[0],
            ranges=ranges,
            by_gap=found.by_gap,
            by_bin=found.by_bin,
        )
