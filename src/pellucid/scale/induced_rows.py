"""What the induced cost needs of the rows: tasks that are sent to the batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pellucid.scale.batches import Batch
from pellucid.scale.columns import PartRequest
from pellucid.scale.routing import Routing, rows_by_leaf
from pellucid.scale.tasks import rows_in_bins

RIGHT, LEFT, WEIGHT = range(3)
"""Channels: excess of the rows whose nearest center is to the right, to the left; weight."""


@dataclass(frozen=True)
class NodeCenters:
    """Where the centers of a node lie in the columns, by the bins of the quantizer.

    Attributes
    ----------
    centers : ndarray of int
    rank : ndarray of shape (n_features, n_centers)
        Rank of each center in a column.
    order : ndarray of shape (n_features, n_centers)
        Positions of the centers in the order of a column.
    gap_of_bin : ndarray of shape (n_features, n_bins)
        The gap between centers in which each bin lies; -1 and n_gaps outside.
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


class CostedRows(NamedTuple):
    """Some rows of a node.

    Attributes
    ----------
    costs : ndarray of shape (n_rows, n_centers)
        Cost of each row at each center of the node.
    nearest : ndarray of shape (n_rows,)
        Position of the nearest center among those of the node.
    weight, margin : ndarray of shape (n_rows,)
        Weight, and cost of the second nearest center less that of the nearest.
    sums : ndarray of shape (n_centers, 3)
        Weight, margin and least cost by nearest center.
    """

    costs: np.ndarray
    nearest: np.ndarray
    weight: np.ndarray
    margin: np.ndarray
    sums: np.ndarray

    @classmethod
    def of(cls, costs: np.ndarray, weight: np.ndarray) -> CostedRows:
        """Of rows with these costs and weights."""
        from pellucid._core.kernels.induced_cost import find_nearest

        n_rows, n_centers = costs.shape
        rows, centers = np.arange(n_rows, dtype=np.int32), np.arange(n_centers)
        nearest, margin = np.empty(n_rows, dtype=np.int32), np.empty(n_rows, dtype=np.int64)
        sums = np.zeros((n_centers, 3), dtype=np.int64)
        find_nearest(rows, weight, centers, costs, nearest, margin, sums)
        return cls(costs, nearest, weight, margin, sums)


class PassiveRows(NamedTuple):
    """Rows of a node that are not active, and their nearest centers by position in the node."""

    rows: np.ndarray
    nearest: np.ndarray


@dataclass(frozen=True)
class InducedCostRows:
    """Excess cost of rows that a threshold separates from their nearest center of the node.

    Attributes
    ----------
    infos : dict of int to NodeCenters
        By node.
    centers : ndarray of shape (n_clusters, n_features)
    cost_unit : float
    """

    infos: dict[int, NodeCenters]
    centers: np.ndarray
    cost_unit: float
    leaf_of_center: None = None  # all rows count

    @property
    def homes(self) -> np.ndarray:
        """The node of each center; -1 for centers in no open node."""
        homes = np.full(len(self.centers), -1, dtype=np.int32)
        for node, info in self.infos.items():
            homes[info.centers] = node
        return homes

    def select(self, batch: Batch, request: PartRequest, leaf: np.ndarray) -> np.ndarray:
        """All rows of the node of a request in its bins."""
        return rows_in_bins(batch, request, leaf)

    def n_channels(self, node: int) -> int:
        """Excess to the right and to the left, and weight."""
        return 3

    def channels(
        self, batch: Batch, node: int, feature: int, rows: np.ndarray, codes: np.ndarray
    ) -> np.ndarray:
        """The terms of some rows."""
        from pellucid._core.kernels.induced_cost import sum_excess

        of_rows, info = self.costed(batch, rows, node), self.infos[node]
        n_gaps, n_bins = len(info.centers) - 1, info.gap_of_bin.shape[1]
        change = np.empty(len(rows), dtype=np.int64)
        sum_excess(
            codes=codes,
            rows=np.arange(len(rows), dtype=np.int32),
            nearest_rank=info.rank[feature].take(of_rows.nearest),
            ordered=info.order[feature],
            costs=of_rows.costs,
            gap_of_bin=info.gap_of_bin[feature],
            by_gap=np.zeros(n_gaps, dtype=np.int64),
            by_bin=np.zeros((2, n_bins), dtype=np.int64),
            change=change,
        )
        terms = np.zeros((len(rows), 3), dtype=np.int64)
        terms[:, RIGHT], terms[:, LEFT] = np.maximum(change, 0), np.maximum(-change, 0)
        terms[:, WEIGHT] = of_rows.weight
        return terms

    def costed(self, batch: Batch, rows: np.ndarray, node: int | None = None) -> CostedRows:
        """Costs of some rows at the centers of a node; at all centers without it."""
        centers = self.centers if node is None else self.centers[self.infos[node].centers]
        costs = batch.costs_of(rows, centers, self.cost_unit)
        return CostedRows.of(costs, batch.weights.units_of(rows))

    def costed_batch(self, batch: Batch) -> CostedRows:
        """Costs of all rows at all centers. The batch stores which rows are settled."""
        costs = batch.costs(self.centers, self.cost_unit)
        of_rows = CostedRows.of(costs, batch.weights.units)
        batch.settled = (of_rows.nearest == batch.labels).astype(np.uint8)
        return of_rows

    def settled(self, batch: Batch) -> np.ndarray:
        """Whether the own center of each row is the nearest of all, by exact costs: uint8."""
        if batch.settled is None:
            self.costed_batch(batch)
        return batch.settled

    def passive(self, batch: Batch, routing: Routing) -> dict[int, PassiveRows]:
        """Rows of each node that are not active. The batch stores them."""
        if batch.passive is None or not batch.passive[0].equals(routing):
            self.passive_costs(batch, routing)
        assert batch.passive is not None
        return batch.passive[1]

    def passive_costs(self, batch: Batch, routing: Routing) -> dict[int, CostedRows]:
        """Costs of the rows of each node that are not active. The batch stores the rows."""
        from pellucid.scale.induced_kernels import passive_rows

        leaf = routing.leaves(batch)
        is_open = np.zeros(max(int(leaf.max(initial=0)), *self.infos) + 1, dtype=np.uint8)
        is_open[list(self.infos)] = 1
        rows = np.empty(batch.n_rows + 1, dtype=np.int32)
        n = passive_rows(batch.starts, self.settled(batch), leaf, self.homes, is_open, rows)
        rows = rows[:n]
        stored, found = {}, {}
        for node, places in rows_by_leaf(leaf.take(rows), list(self.infos)).items():
            of_node = rows.take(places)
            found[node] = self.costed(batch, of_node, node)
            small = found[node].nearest.astype(np.min_scalar_type(len(self.centers)))
            stored[node] = PassiveRows(of_node, small)
        batch.passive = routing, stored
        return found


class NodeMargins(NamedTuple):
    """Sums over rows, by center.

    Attributes
    ----------
    totals : ndarray of shape (n_centers, 3)
        Weight, margin and least cost by nearest center.
    histogram : ndarray of shape (n_features, n_centers, n_bins, 2)
        Weight and margin by column, nearest center and bin.
    """

    totals: np.ndarray
    histogram: np.ndarray

    @classmethod
    def of(cls, batch: Batch, rows: np.ndarray, of_rows: CostedRows, n_bins: int) -> NodeMargins:
        """Sums over some rows."""
        from pellucid.scale.kernels import margin_histograms

        n_centers = of_rows.costs.shape[1]
        out = np.zeros((batch.n_features, n_centers, n_bins, 2), dtype=np.int64)
        margin_histograms(batch.codes, rows, of_rows.nearest, of_rows.weight, of_rows.margin, out)
        return cls(of_rows.sums, out)

    def plus(self, other: NodeMargins, sign: int = 1) -> NodeMargins:
        """Sums over the rows of both; with the sign -1, without those of the other."""
        return NodeMargins(*(a + sign * b for a, b in zip(self, other)))

    def take(self, centers: np.ndarray) -> NodeMargins:
        """The sums of some centers."""
        return NodeMargins(self.totals[centers], self.histogram.take(centers, axis=1))


class InducedStep(NamedTuple):
    """The state of a growing tree: where rows go, and the open nodes with their centers."""

    routing: Routing
    rows: InducedCostRows


class LevelMargins(NamedTuple):
    """Margins of the rows of a level.

    Attributes
    ----------
    active : NodeMargins
        Of active rows by own center. The margins are those among all centers: lower bounds.
    passive : dict of int to NodeMargins
        Of all other rows, by node and its centers.
    """

    active: NodeMargins
    passive: dict[int, NodeMargins]


@dataclass(frozen=True)
class MarginTask:
    """Margins of the rows of some nodes in all columns.

    Attributes
    ----------
    step : InducedStep
    n_bins : int
    last : InducedStep, optional
        The step before. Rows that were active then and are no longer, though their center is in an
        open node, are summed in place of those that are active.
    """

    step: InducedStep
    n_bins: int
    last: InducedStep | None = None

    def __call__(self, batch: Batch) -> LevelMargins:
        """Sums of one batch."""
        criterion, n_bins = self.step.rows, self.n_bins
        if self.last is None:
            leaf = self.step.routing.leaves(batch)
            active = self._active(batch, leaf)
        else:
            last_leaf = self.last.routing.leaves(batch)
            leaf = self.step.routing.leaves(batch)
            rows = self._separated_rows(batch, last_leaf, leaf)
            active = NodeMargins.of(batch, rows, criterion.costed(batch, rows), n_bins)
        costs = criterion.passive_costs(batch, self.step.routing)
        passive = {
            node: NodeMargins.of(batch, rows, costs[node], n_bins)
            for node, (rows, _) in criterion.passive(batch, self.step.routing).items()
        }
        return LevelMargins(active, passive)

    def _active(self, batch: Batch, leaf: np.ndarray) -> NodeMargins:
        criterion = self.step.rows
        of_rows = criterion.costed_batch(batch)
        is_active = (criterion.homes[batch.labels] == leaf) & (criterion.settled(batch) == 1)
        rows = is_active.nonzero()[0].astype(np.int32)
        if len(rows) < batch.n_rows:
            of_rows = CostedRows.of(of_rows.costs[rows], of_rows.weight[rows])
        return NodeMargins.of(batch, rows, of_rows, self.n_bins)

    def _separated_rows(self, batch: Batch, last_leaf, leaf) -> np.ndarray:
        from pellucid.scale.induced_kernels import separated_settled_rows

        assert self.last is not None
        rows = np.empty(batch.n_rows + 1, dtype=np.int32)
        n = separated_settled_rows(
            starts=batch.starts,
            settled=self.step.rows.settled(batch),
            last_leaf=last_leaf,
            leaf=leaf,
            last_leaf_of_center=self.last.rows.homes,
            leaf_of_center=self.step.rows.homes,
            rows=rows,
        )
        return rows[:n]

    def merge(self, first: LevelMargins, second: LevelMargins) -> LevelMargins:
        """Sums of two batches."""
        passive = {n: sums.plus(second.passive[n]) for n, sums in first.passive.items()}
        return LevelMargins(first.active.plus(second.active), passive)
