"""Excess of the rows of nodes in single columns: tasks that are sent to the batches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pellucid.scale.batches import Batch, PickedRows
from pellucid.scale.columns import PartRequest, PartSums
from pellucid.scale.induced_rows import InducedCostRows, PassiveRows
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
        criterion, found = self.criterion, []
        for request in self.requests:
            if isinstance(request, PartRequest):
                found.append(PartSums.empty(request.n_parts, criterion.n_channels(request.node)))
            else:
                n_bins = criterion.infos[request.node].gap_of_bin.shape[1]
                found.append(ExcessSums.empty(len(request.ranges), n_bins))
        add_picked_rows(batches, self._pick, lambda place, rows: self._add(place, rows, found))
        return found

    def _pick(self, batch: Batch) -> list[PickedRows]:
        criterion, leaf = self.criterion, self.routing.leaves(batch)
        picked = []
        for request in self.requests:
            if isinstance(request, PartRequest):
                rows = criterion.select(batch, request, leaf)
            else:
                passive = criterion.passive(batch, self.routing)[request.node]
                rows = self._separated_rows(batch, request, passive)
            picked.append(batch.pick(rows, request.feature, for_costs=True))
        return picked

    def _add(self, place: int, rows: PickedRows, found: list[Any]) -> None:
        request = self.requests[place]
        if isinstance(request, PartRequest):
            add_to_parts(request, self.criterion, rows, found[place])
        else:
            self._add_excess(request, rows, found[place])

    def _separated_rows(
        self, batch: Batch, request: ExcessRequest, passive: PassiveRows
    ) -> np.ndarray:
        """Rows that an edge of the ranges separates from their nearest center."""
        from pellucid.scale.induced_kernels import active_rows_in_bins

        info, codes = self.criterion.infos[request.node], batch.codes[request.feature]
        gaps = (request.ranges[:, 0] <= request.ranges[:, 1]).nonzero()[0]
        (first, last), bins = request.ranges[gaps].T, np.arange(info.gap_of_bin.shape[1])
        is_right = info.rank[request.feature][:, None] > gaps  # (n_centers, len(gaps))
        below = np.where(is_right, last, -1).max(axis=1, initial=-1)
        above = np.where(is_right, len(bins), first).min(axis=1, initial=len(bins))
        is_wanted = (bins <= below[:, None]) | (bins > above[:, None])
        rows = np.empty(batch.n_rows + 1, dtype=np.int32)
        n = active_rows_in_bins(
            starts=batch.starts,
            settled=self.criterion.settled(batch),
            leaf=self.routing.leaves(batch),
            node=request.node,
            centers=info.centers,
            codes=codes,
            is_wanted=is_wanted.astype(np.uint8),
            rows=rows,
        )
        others = passive.rows[is_wanted[passive.nearest, codes.take(passive.rows)]]
        return np.concatenate([rows[:n], others])

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
