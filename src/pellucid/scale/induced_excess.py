"""Excess of the rows of nodes in single columns: tasks that are sent to the batches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pellucid.scale.batches import Batch, PickedRows
from pellucid.scale.columns import PartRequest, PartSums
from pellucid.scale.induced_rows import InducedCostRows
from pellucid.scale.partitions import ExactTask
from pellucid.scale.routing import Routing
from pellucid.scale.tasks import add_picked_rows, add_to_parts


class ExcessRequest(NamedTuple):
    """A column of a node whose induced costs are wanted.

    Attributes
    ----------
    node, feature : int
    ranges : ndarray of shape (n_gaps, 2)
        Of each gap between centers, the first and the last edge that is wanted; the last one is
        below the first if there are none.
    """

    node: int
    feature: int
    ranges: np.ndarray

    @property
    def has_edges(self) -> bool:
        """Whether any edge is wanted."""
        return bool((self.ranges[:, 0] <= self.ranges[:, 1]).any())


class ExcessSums(NamedTuple):
    """Excess of the rows of a node in a column; see `sum_excess_in_ranges`.

    Attributes
    ----------
    by_gap : ndarray of shape (n_gaps,)
    by_bin : ndarray of shape (2, n_bins)
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

    def __call__(self, batch: Batch) -> list[ExcessSums | PartSums]:
        """Sums of one batch."""
        return self.over([batch])

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
        from pellucid.scale.induced_kernels import add_active_excess, add_passive_excess

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
        from pellucid.scale.induced_kernels import sum_excess_in_ranges

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

    def merge(self, first: list[Any], second: list[Any]) -> list[Any]:
        """Sums of two batches."""
        return [
            ExcessSums(*(x + y for x, y in zip(a, b))) if isinstance(a, ExcessSums) else a.merge(b)
            for a, b in zip(first, second)
        ]
