"""Surrogate cost of the splits of many leaves at once (ExKMC)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pellucid._core.criteria.column_search import ColumnSearch, Split
from pellucid._core.criteria.surrogate_search import scan_sums
from pellucid.scale.batches import Batch, PickedRows
from pellucid.scale.columns import FineColumn, PartRequest
from pellucid.scale.node_search import Judgement, Search, search_node
from pellucid.scale.partitions import ExactTask
from pellucid.scale.problem import ScaleProblem
from pellucid.scale.routing import Routing, rows_by_leaf
from pellucid.scale.tasks import ColumnRangeTask, rows_in_bins


class LeafSums(NamedTuple):
    """Sums over the rows of a leaf.

    Attributes
    ----------
    costs : ndarray of shape (n_clusters,), int64
        Cost of all rows at each center.
    floor : ndarray of shape (1,), int64
        Sum of the least costs of all rows.
    losses : ndarray of shape (n_features, n_bins, n_clusters), int64
        Sums of the losses by column and bin; empty if they are no longer needed.
    """

    costs: np.ndarray
    floor: np.ndarray
    losses: np.ndarray

    @classmethod
    def empty(cls, n_features: int, n_bins: int, n_clusters: int) -> LeafSums:
        """Sums over no rows."""
        costs, floor = np.zeros(n_clusters, dtype=np.int64), np.zeros(1, dtype=np.int64)
        return cls(costs, floor, np.zeros((n_features, n_bins, n_clusters), dtype=np.int64))

    def minus(self, other: LeafSums) -> LeafSums:
        """Sums over the rows that another leaf, a part of this one, does not have."""
        return LeafSums(*(a - b for a, b in zip(self, other)))

    def without_losses(self) -> LeafSums:
        """The sums that do not depend on columns."""
        return self._replace(losses=self.losses[:0])

    @property
    def cost(self) -> int:
        """Surrogate cost of the leaf."""
        return int(self.costs.min())

    @property
    def cluster(self) -> int:
        """The center with the least cost; ties go to the lowest."""
        return int(self.costs.argmin())

    @property
    def is_pure(self) -> bool:
        """Whether the same center has the least cost for each row, so that no split gains."""
        return int(self.floor[0]) == self.cost


@dataclass(frozen=True)
class LossRows:
    """Losses of rows: cost at a center less the least cost at any center."""

    centers: np.ndarray
    cost_unit: float
    leaf_of_center: None = None  # all rows count
    needs_costs: bool = True

    def select(self, batch: Batch, request: PartRequest, leaf: np.ndarray) -> np.ndarray:
        """All rows of the node of a request in its bins."""
        return rows_in_bins(batch, request, leaf)

    def n_channels(self, node: int) -> int:
        """One sum per center."""
        return len(self.centers)

    def channels(self, node: int, feature: int, rows: PickedRows) -> np.ndarray:
        """Losses of some rows."""
        return row_losses_of(rows.costs(self.centers, self.cost_unit))[0]


def row_losses_of(costs: np.ndarray, rows: np.ndarray | None = None) -> tuple[np.ndarray, int]:
    """Losses of rows (of all by default) at all centers, and the sum of their least costs."""
    from pellucid._core.kernels.surrogate_cost import row_losses

    if rows is None:
        rows = np.arange(len(costs), dtype=np.int32)
    losses = np.empty((len(rows), costs.shape[1]), dtype=np.int64)
    return losses, row_losses(rows, costs, np.arange(costs.shape[1]), losses)


@dataclass(frozen=True)
class LossTask(ExactTask):
    """Costs of some leaves, and their losses by column and bin."""

    routing: Routing
    criterion: LossRows
    leaves: list[int]
    n_bins: int

    def __call__(self, batch: Batch) -> dict[int, LeafSums]:
        """Sums of one batch, by leaf."""
        return self.over([batch])

    def over(self, batches: Iterable[Batch]) -> dict[int, LeafSums]:
        """Sums of several batches, by leaf."""
        n_features, k = self.criterion.centers.shape[1], len(self.criterion.centers)
        found = {leaf: LeafSums.empty(n_features, self.n_bins, k) for leaf in self.leaves}
        for batch in batches:
            self._add(batch, found)
        return found

    def _add(self, batch: Batch, found: dict[int, LeafSums]) -> None:
        from pellucid._core.kernels.surrogate_cost import add_losses

        centers, unit = self.criterion.centers, self.criterion.cost_unit
        groups = rows_by_leaf(self.routing.leaves(batch), self.leaves)
        takes_most = 2 * sum(map(len, groups.values())) > batch.n_rows
        of_batch = batch.costs(centers, unit) if takes_most else None
        for leaf, rows in groups.items():
            if of_batch is None:
                losses, floor = row_losses_of(batch.costs_of(rows, centers, unit))
            else:
                losses, floor = row_losses_of(of_batch, rows)
            sums = found[leaf]
            add_losses(batch.codes, rows, losses, sums.losses)
            sums.costs[:] += losses.sum(axis=0) + floor
            sums.floor[0] += floor

    def merge(self, first: dict[int, LeafSums], second: dict[int, LeafSums]) -> dict[int, LeafSums]:
        """Sums of two batches."""
        return {n: LeafSums(*(a + b for a, b in zip(first[n], second[n]))) for n in first}


class PartitionedSurrogateCost:
    """Best splits by surrogate cost; see `pellucid._core.criteria.surrogate_cost`.

    Parameters
    ----------
    problem : ScaleProblem
    """

    row_sums: LossRows

    def __init__(self, problem: ScaleProblem) -> None:
        self.problem = problem
        self.row_sums = LossRows(problem.centers, problem.cost_unit)

    def sums(self, leaves: list[int], routing: Routing) -> dict[int, LeafSums]:
        """Sums of some leaves."""
        return self.problem.map(LossTask(routing, self.row_sums, leaves, self.problem.n_bins))

    def search(self, number: int, sums: LeafSums) -> Search:
        """The split of least cost of a leaf that is not pure; none if no split gains anything."""
        from pellucid._core.kernels.surrogate_cost import INFINITE

        bins, floor = self.problem.bins, int(sums.floor[0])
        n_features, totals = len(sums.losses), sums.costs - floor
        found = np.empty((n_features, 1, 3), dtype=np.int64)
        for feature in range(n_features):
            found[feature], _ = scan_sums(bins.inside[feature], totals, sums.losses[feature].copy())

        def make_column(feature: int) -> FineColumn:
            return FineColumn(bins.edges[feature], sums.losses[feature], bins.inside[feature])

        def judge(feature: int, column: FineColumn, limit: int) -> Judgement:
            found, bounds = scan_sums(column.inside, totals, column.sums.copy())
            loss, edge, _ = found[0].tolist()
            # Objects, since integers of this size do not fit into floats.
            best = np.array([[loss, column.edges[edge]]], dtype=object)
            return Judgement(best, bounds <= min(limit, loss), int(bounds.min()))

        goal = sums.cost - floor + 1
        features = np.arange(n_features)
        search = ColumnSearch(found, features, bins.edges, INFINITE, goal=goal)
        splits = yield from search_node(number, search, make_column, judge, self.problem)
        if number in self.problem.gaps:
            self.problem.gaps[number] *= self.problem.cost_unit
        return [
            split._replace(objective=floor + loss, gain=sums.cost - floor - loss)
            for split in splits
            if floor + (loss := split.objective) < sums.cost
        ]

    def first_splits(self, sums: dict[int, LeafSums], routing: Routing) -> dict[int, list[Split]]:
        """Splits without gain: the first feature with several values, only the lowest left."""
        numbers = list(sums)
        if not numbers:
            return {}
        ranges = self.problem.map(ColumnRangeTask(routing, numbers))
        found = {}
        for number, (lowest, highest) in zip(numbers, ranges):
            varied = (lowest < -highest).nonzero()[0]
            found[number] = [
                Split(sums[number].cost, int(j), float(lowest[j]), 0) for j in varied[:1]
            ]
        return found
