"""What the induced cost needs of the rows: tasks that are sent to the batches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from pellucid._core.batches.batch import Batch, PickedRows
from pellucid._core.batches.column_loops import own_margins
from pellucid._core.batches.columns import PartRequest, PartSums
from pellucid._core.batches.partitions import ExactTask
from pellucid._core.batches.routing import Routing, rows_by_leaf
from pellucid._core.batches.tasks import add_picked_rows, add_to_parts, rows_in_bins

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


class RowMargins(NamedTuple):
    """Margins of some rows.

    `nearest` is the position of the nearest center, and `margin` the cost of the second nearest
    less that of the nearest, or a lower bound. `sums`, (n_centers, 3), are weight, margin and least
    cost by nearest center.
    """

    nearest: np.ndarray
    weight: np.ndarray
    margin: np.ndarray
    sums: np.ndarray


class CostedRows(NamedTuple):
    """Costs of some rows of a node, (n_rows, n_centers), and margins among its centers.

    `second` is the position of the second nearest center.
    """

    costs: np.ndarray
    margins: RowMargins
    second: np.ndarray

    @property
    def nearest(self) -> np.ndarray:
        """Position of the nearest center among those of the node."""
        return self.margins.nearest

    @classmethod
    def of(cls, rows: PickedRows, centers: np.ndarray, unit: float) -> CostedRows:
        """Of some rows at some centers."""
        from pellucid._core.batches.kernels import find_two_nearest

        costs, weight = rows.costs(centers, unit), rows.weights.units
        n_rows, n_centers = costs.shape
        nearest, second = np.empty((2, n_rows), dtype=np.int32)
        margin, sums = np.empty(n_rows, dtype=np.int64), np.zeros((n_centers, 3), dtype=np.int64)
        find_two_nearest(costs, weight, nearest, second, margin, sums)
        return cls(costs, RowMargins(nearest, weight, margin, sums), second)


class OwnMargins(NamedTuple):
    """Rows in the order of their own centers, with their `costs` there.

    `margins` are the least cost at another center less that at the own one, or a lower bound of it;
    -1 if the own center is not the nearest. What a row has does not depend on the other rows.
    `second` is that other center; n_clusters if the margin is a lower bound, n_clusters + 1 if it
    is -1.
    """

    costs: np.ndarray
    margins: np.ndarray
    second: np.ndarray

    @classmethod
    def of(
        cls, batch: Batch, rows: np.ndarray | None, centers: np.ndarray, unit: float
    ) -> OwnMargins:
        """Of some rows of a batch, which are ascending, or of all."""
        if rows is None:
            columns, starts, weights = batch.columns, batch.starts, batch.weights
        else:
            picked = batch.pick(rows, 0, for_costs=True)
            columns, weights = picked.columns, picked.weights
            starts = rows.searchsorted(batch.starts.astype(rows.dtype))
        costs, margins, second = own_margins(columns, starts, centers, weights, unit)
        unsure = (margins < 0).nonzero()[0].astype(np.int32)
        if len(unsure):
            places = unsure if rows is None else rows.take(unsure)
            of_unsure = CostedRows.of(batch.pick(places, 0, for_costs=True), centers, unit)
            is_nearest = of_unsure.nearest == batch.labels_of(places)
            margins[unsure] = np.where(is_nearest, of_unsure.margins.margin, -1)
            second[unsure] = np.where(is_nearest, of_unsure.second, len(centers) + 1)
        return cls(costs, margins, second)


class PassiveRows(NamedTuple):
    """Rows of a node that are not active, their two nearest centers of the node, and margins."""

    rows: np.ndarray
    nearest: np.ndarray
    second: np.ndarray
    margin: np.ndarray


@dataclass(frozen=True)
class InducedCostRows:
    """Excess cost of rows that a threshold separates from their nearest center of the node."""

    infos: dict[int, NodeCenters]
    centers: np.ndarray
    cost_unit: float
    centers_of_node: None = None  # all rows count
    needs_costs: bool = True

    @property
    def homes(self) -> np.ndarray:
        """The node of each center; -1 for centers in no open node."""
        homes = np.full(len(self.centers), -1, dtype=np.int32)
        for node, info in self.infos.items():
            homes[info.centers] = node
        return homes

    def select(self, batch: Batch, request: PartRequest, members: Any) -> np.ndarray:
        """All rows of the node of a request in its bins."""
        return rows_in_bins(batch, request, members)

    def n_channels(self, node: int) -> int:
        """Excess to the right and to the left, and weight."""
        return 3

    def channels(self, node: int, feature: int, rows: PickedRows) -> np.ndarray:
        """The terms of some rows."""
        from pellucid._core.kernels.induced_cost import sum_excess

        of_rows, info = self.costed_rows(rows, node), self.infos[node]
        n_gaps, n_bins = len(info.centers) - 1, info.gap_of_bin.shape[1]
        change = np.empty(rows.n_rows, dtype=np.int64)
        sum_excess(
            codes=rows.codes,
            rows=np.arange(rows.n_rows, dtype=np.int32),
            nearest_rank=info.rank[feature].take(of_rows.nearest),
            ordered=info.order[feature],
            costs=of_rows.costs,
            gap_of_bin=info.gap_of_bin[feature],
            by_gap=np.zeros(n_gaps, dtype=np.int64),
            by_bin=np.zeros((2, n_bins), dtype=np.int64),
            change=change,
        )
        terms = np.zeros((rows.n_rows, 3), dtype=np.int64)
        terms[:, RIGHT], terms[:, LEFT] = np.maximum(change, 0), np.maximum(-change, 0)
        terms[:, WEIGHT] = of_rows.margins.weight
        return terms

    def costed_rows(self, rows: PickedRows, node: int) -> CostedRows:
        """Costs of some rows at the centers of a node."""
        return CostedRows.of(rows, self.centers[self.infos[node].centers], self.cost_unit)

    def own_margins(self, batch: Batch) -> OwnMargins:
        """Margins of all rows at their own centers. The batch stores them."""
        found = OwnMargins.of(batch, None, self.centers, self.cost_unit)
        batch.margins = found.second, found.margins
        return found

    def stored_margins(self, batch: Batch) -> tuple[np.ndarray, np.ndarray]:
        """Second nearest centers and margins of all rows; see `OwnMargins`."""
        if batch.margins is None:
            self.own_margins(batch)
        assert batch.margins is not None
        return batch.margins

    def passive(self, batch: Batch, routing: Routing) -> dict[int, PassiveRows]:
        """Rows of each node that are not active. The batch stores them."""
        if batch.passive is None or not batch.passive[0].equals(routing):
            self.passive_costs(batch, routing)
        assert batch.passive is not None
        return batch.passive[1]

    def passive_costs(self, batch: Batch, routing: Routing) -> dict[int, CostedRows]:
        """Costs of the rows of each node that are not active. The batch stores the rows."""
        from pellucid._core.batches.kernels import passive_rows

        leaf = routing.leaves(batch)
        is_open = np.zeros(max(int(leaf.max(initial=0)), *self.infos) + 1, dtype=np.uint8)
        is_open[list(self.infos)] = 1
        rows = np.empty(batch.n_rows + 1, dtype=np.int32)
        of_settled, _ = self.stored_margins(batch)
        n = passive_rows(batch.starts, of_settled, leaf, self.homes, is_open, rows)
        rows, small = rows[:n], np.min_scalar_type(len(self.centers))
        stored, found = {}, {}
        for node, places in rows_by_leaf(leaf.take(rows), list(self.infos)).items():
            of_node = rows.take(places)
            found[node] = self.costed_rows(batch.pick(of_node, 0, for_costs=True), node)
            margins, centers = found[node].margins, self.infos[node].centers.astype(small)
            nearest, second = (centers.take(x) for x in (margins.nearest, found[node].second))
            stored[node] = PassiveRows(of_node, nearest, second, margins.margin)
        batch.passive = routing, stored
        return found


class NodeMargins(NamedTuple):
    """Sums over rows, by nearest center.

    `totals`, (n_centers, 3), are weight, margin and least cost; `histogram` has weight and margin
    by bin: (2, n_features, n_centers, n_bins).
    """

    totals: np.ndarray
    histogram: np.ndarray

    @classmethod
    def empty(cls, n_features: int, n_centers: int, n_bins: int) -> NodeMargins:
        """Sums over no rows."""
        totals = np.zeros((n_centers, 3), dtype=np.int64)
        return cls(totals, np.zeros((2, n_features, n_centers, n_bins), dtype=np.int64))

    def add(self, batch: Batch, rows: np.ndarray, margins: RowMargins) -> None:
        """Add some rows."""
        from pellucid._core.kernels.mistakes import hist_dense

        nearest, weight, margin, sums = margins
        self.totals[:] += sums
        features = np.arange(batch.n_features)
        for values, out in zip((weight, margin), self.histogram):
            hist_dense(features, batch.codes, rows, nearest, values, out)

    def add_own(self, batch: Batch, rows: np.ndarray, own: OwnMargins) -> None:
        """Add settled rows, by own center."""
        weight = batch.weights.units_of(rows)
        ends = rows.searchsorted(batch.starts.astype(rows.dtype))
        terms = weight, own.margins, own.costs
        sums = np.array([[term[i:j].sum() for term in terms] for i, j in pairwise(ends)])
        self.add(batch, rows, RowMargins(batch.labels_of(rows), weight, own.margins, sums))

    def plus(self, other: NodeMargins, sign: int = 1) -> NodeMargins:
        """Sums over the rows of both; with the sign -1, without those of the other."""
        return NodeMargins(*(a + sign * b for a, b in zip(self, other)))

    def take(self, centers: np.ndarray) -> NodeMargins:
        """The sums of some centers."""
        return NodeMargins(self.totals[centers], self.histogram.take(centers, axis=2))


class InducedStep(NamedTuple):
    """The state of a growing tree: where rows go, and the open nodes with their centers."""

    routing: Routing
    rows: InducedCostRows


class LevelMargins(NamedTuple):
    """Margins of the rows of a level.

    Those of active rows are by own center and among all centers, so lower bounds; those of
    `passive` rows are by node and its centers.
    """

    active: NodeMargins
    passive: dict[int, NodeMargins]


@dataclass(frozen=True)
class MarginTask(ExactTask):
    """Margins of the rows of some nodes in all columns.

    With `last`, the step before, rows that were active then and are no longer, though their center
    is in an open node, are summed in place of those that are active.
    """

    step: InducedStep
    n_bins: int
    last: InducedStep | None = None

    def over(self, batches: Iterable[Batch]) -> LevelMargins:
        criterion = self.step.rows
        n_features = criterion.centers.shape[1]
        active = NodeMargins.empty(n_features, len(criterion.centers), self.n_bins)
        passive = {
            node: NodeMargins.empty(n_features, len(info.centers), self.n_bins)
            for node, info in criterion.infos.items()
        }
        for batch in batches:
            self._add_active(batch, active)
            costs = criterion.passive_costs(batch, self.step.routing)
            for node, of_node in criterion.passive(batch, self.step.routing).items():
                passive[node].add(batch, of_node.rows, costs[node].margins)
        return LevelMargins(active, passive)

    def _add_active(self, batch: Batch, active: NodeMargins) -> None:
        criterion = self.step.rows
        if self.last is not None:
            last_leaf = self.last.routing.leaves(batch)
            rows = self._separated_rows(batch, last_leaf, self.step.routing.leaves(batch))
            own = OwnMargins.of(batch, rows, criterion.centers, criterion.cost_unit)
        else:
            leaf, own = self.step.routing.leaves(batch), criterion.own_margins(batch)
            is_active = (criterion.homes[batch.labels] == leaf) & (own.margins >= 0)
            rows = is_active.nonzero()[0].astype(np.int32)
            if len(rows) < batch.n_rows:
                own = OwnMargins(*(array.take(rows) for array in own))
        active.add_own(batch, rows, own)

    def _separated_rows(self, batch: Batch, last_leaf: np.ndarray, leaf: np.ndarray) -> np.ndarray:
        from pellucid._core.batches.kernels import separated_rows

        assert self.last is not None
        rows = np.empty(batch.n_rows + 1, dtype=np.int32)
        n = separated_rows(
            starts=batch.starts,
            second=self.step.rows.stored_margins(batch)[0],
            last_leaf=last_leaf,
            leaf=leaf,
            last_leaf_of_center=self.last.rows.homes,
            leaf_of_center=self.step.rows.homes,
            rows=rows,
        )
        return rows[:n]


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


@dataclass(frozen=True)
class InducedCostTask(ExactTask):
    """Induced costs of columns, and sums over parts of columns."""

    routing: Routing
    criterion: InducedCostRows
    requests: Sequence[ExcessRequest | PartRequest]

    def over(self, batches: Iterable[Batch]) -> list[ExcessSums | PartSums]:
        """Sums of several batches. The few rows of all of them are worked on together."""
        criterion = self.criterion
        found: list[ExcessSums | PartSums] = []
        for request in self.requests:
            if isinstance(request, PartRequest):
                found.append(PartSums.empty(request.n_parts, criterion.n_channels(request.node)))
            else:
                n_bins = criterion.infos[request.node].gap_of_bin.shape[1]
                found.append(ExcessSums.empty(len(request.ranges), n_bins))
        add_picked_rows(
            batches,
            lambda batch: self._pick(batch, found),
            lambda place, rows: self._add(place, rows, found),
        )
        return found

    def _pick(self, batch: Batch, found: list[Any]) -> list[PickedRows]:
        """Rows whose costs are needed, by request; the excess of the others is added."""
        criterion, members = self.criterion, self.routing.members(batch)
        picked = []
        for request, sums in zip(self.requests, found):
            if isinstance(request, PartRequest):
                rows = criterion.select(batch, request, members)
            else:
                rows = self._add_margins(batch, request, members.leaf, sums)
            picked.append(batch.pick(rows, request.feature, for_costs=True))
        return picked

    def _add(self, place: int, rows: PickedRows, found: list[Any]) -> None:
        request = self.requests[place]
        if isinstance(request, PartRequest):
            add_to_parts(request, self.criterion, rows, found[place])
        else:
            self._add_excess(request, rows, found[place])

    def _add_margins(
        self, batch: Batch, request: ExcessRequest, leaf: np.ndarray, found: ExcessSums
    ) -> np.ndarray:
        """Add the excess of rows where it is the margin; returns the other separated rows.

        Separated are rows between their nearest center and an edge of the ranges.
        """
        from pellucid._core.batches.kernels import add_active_excess, add_passive_excess

        node, feature, ranges = request
        criterion, codes = self.criterion, batch.codes[feature]
        info, gaps = criterion.infos[node], (ranges[:, 0] <= ranges[:, 1]).nonzero()[0]
        (first, last), bins = ranges[gaps].T, np.arange(info.gap_of_bin.shape[1])
        rank = np.full(len(criterion.centers) + 2, -1)
        rank[info.centers] = info.rank[feature]
        is_right = rank[:-2, None] > gaps  # (n_clusters, len(gaps))
        below = np.where(is_right, last, -1).max(axis=1, initial=-1)
        above = np.where(is_right, len(bins), first).min(axis=1, initial=len(bins))
        is_wanted = (bins <= below[:, None]) | (bins > above[:, None])
        rows = np.empty(batch.n_rows + 1, dtype=np.int32)
        n = add_active_excess(
            starts=batch.starts,
            margins=criterion.stored_margins(batch),
            leaf=leaf,
            node=node,
            rank_of_center=rank,
            codes=codes,
            is_wanted=is_wanted.astype(np.uint8),
            gaps=gaps,
            ranges=ranges,
            by_gap=found.by_gap,
            by_bin=found.by_bin,
            rows=rows,
        )
        passive = criterion.passive(batch, self.routing)[node]
        wanted = is_wanted[passive.nearest, codes.take(passive.rows)].nonzero()[0]
        others, nearest, second, margin = (array.take(wanted) for array in passive)
        ranks = rank.take(nearest), rank.take(second)
        n_others = add_passive_excess(others, codes, ranks, margin, gaps, ranges, *found)
        return np.concatenate([rows[:n], others[:n_others]])

    def _add_excess(self, request: ExcessRequest, rows: PickedRows, found: ExcessSums) -> None:
        from pellucid._core.batches.kernels import sum_excess_in_ranges

        node, feature, ranges = request
        of_rows, info = self.criterion.costed_rows(rows, node), self.criterion.infos[node]
        sum_excess_in_ranges(
            codes=rows.codes,
            nearest_rank=info.rank[feature].take(of_rows.nearest),
            order=info.order[feature],
            costs=of_rows.costs,
            gaps=(ranges[:, 0] <= ranges[:, 1]).nonzero()[0],
            ranges=ranges,
            by_gap=found.by_gap,
            by_bin=found.by_bin,
        )
