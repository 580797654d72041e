"""Excess of the rows of nodes in single columns: tasks that are sent to the batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pellucid.scale.batches import Batch
from pellucid.scale.columns import PartRequest, PartSums
from pellucid.scale.induced_rows import InducedCostRows, PassiveRows
from pellucid.scale.routing import Routing
from pellucid.scale.tasks import PartSumsTask


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


class ExcessSums(NamedTuple):
    """Excess of the rows of a node in a column; see `sum_excess_in_ranges`.

    Attributes
    ----------
    by_gap : ndarray of shape (n_gaps,)
    by_bin : ndarray of shape (2, n_bins)
    """

    by_gap: np.ndarray
    by_bin: np.ndarray


@dataclass(frozen=True)
class InducedCostTask:
    """Induced costs of columns, and sums over parts of columns."""

    routing: Routing
    criterion: InducedCostRows
    requests: Sequence[ExcessRequest | PartRequest]

    def __call__(self, batch: Batch) -> list[ExcessSums | PartSums]:
        """Sums of one batch."""
        found: list[Any] = [None] * len(self.requests)
        is_excess = [isinstance(request, ExcessRequest) for request in self.requests]
        if any(is_excess):
            passive = self.criterion.passive(batch, self.routing)
            for place, request in enumerate(self.requests):
                if is_excess[place]:
                    rows = self._separated_rows(batch, request, passive[request.node])
                    found[place] = self._sum(batch, request, rows)
        parts = [r for r, chosen in zip(self.requests, is_excess) if not chosen]
        if parts:
            sums = iter(PartSumsTask(self.routing, self.criterion, parts)(batch))
            found = [next(sums) if result is None else result for result in found]
        return found

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

    def _sum(self, batch: Batch, request: ExcessRequest, rows: np.ndarray) -> ExcessSums:
        from pellucid.scale.induced_kernels import sum_excess_in_ranges

        node, feature, ranges = request
        of_rows, info = self.criterion.costed(batch, rows, node), self.criterion.infos[node]
        found = ExcessSums(
            np.zeros(len(ranges), dtype=np.int64),
            np.zeros((2, info.gap_of_bin.shape[1]), dtype=np.int64),
        )
        sum_excess_in_ranges(
            codes=batch.codes[feature].take(rows),
            nearest_rank=info.rank[feature].take(of_rows.nearest),
            order=info.order[feature],
            costs=of_rows.costs,
            gaps=(ranges[:, 0] <= ranges[:, 1]).nonzero()[0],
            ranges=ranges,
            by_gap=found.by_gap,
            by_bin=found.by_bin,
        )
        return found

    def merge(self, first: list[Any], second: list[Any]) -> list[Any]:
        """Sums of two batches."""
        return [
            ExcessSums(*(x + y for x, y in zip(a, b))) if isinstance(a, ExcessSums) else a.merge(b)
            for a, b in zip(first, second)
        ]
