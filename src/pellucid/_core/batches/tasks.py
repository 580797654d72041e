"""Tasks that all criteria share: sums over parts of columns, and extreme values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pellucid._core.batches.batch import ACTIVE, ALL, PASSIVE, Batch, PickedRows
from pellucid._core.batches.columns import PartRequest, PartSums
from pellucid._core.batches.partitions import ExactTask
from pellucid._core.batches.routing import OverlapRouting, Routing


class NodeRowSums:
    """What a criterion sums over the rows of a part; it is sent to the batches."""

    centers_of_node: dict[int, np.ndarray]
    """Reference centers by node, if only rows of these count in its search."""
    needs_costs = False
    """Whether `channels` needs the costs of the rows."""

    def select(self, batch: Batch, request: PartRequest, members: Any) -> np.ndarray:
        """Rows that count in the node of a request and are in its bins, ascending: all of them.

        `members` is what the routing found for the rows.
        """
        feature, wanted = request.feature, request.bins.nonzero()[0]
        first, last = int(wanted[0]), int(wanted[-1])
        rows = members.between(request.node, feature, first, last)
        if len(wanted) <= last - first:  # mostly the bins are neighbours
            rows = rows[request.bins.take(batch.codes[feature].take(rows))]
        return rows

    def n_channels(self, node: int) -> int:
        """Sums per part."""
        raise NotImplementedError

    def channels(self, node: int, feature: int, rows: PickedRows) -> np.ndarray:
        """The terms of some rows of a node: (n_rows, n_channels), int64."""
        raise NotImplementedError


@dataclass(frozen=True)
class PartSumsTask(ExactTask):
    """Sums over the parts of several columns of several nodes."""

    routing: Routing | OverlapRouting
    criterion: Any
    requests: Sequence[Any]

    def over(self, batches: Iterable[Batch]) -> list[Any]:
        """Sums of several batches. The few rows of all of them are worked on together."""
        found, for_costs = list(map(self.empty, self.requests)), self.criterion.needs_costs
        picked: list[list[PickedRows]] = []
        n_rows, limit = 0, 0
        for batch in batches:
            members = self.members(batch)
            picked.append([])
            for request, sums in zip(self.requests, found):
                rows = self.rows(batch, request, sums, members)
                picked[-1].append(batch.pick(rows, request.feature, for_costs=for_costs))
                n_rows += len(rows)
            limit = max(limit, batch.n_rows)
            if 2 * n_rows > limit:  # as many as a batch may have
                self._add_joined(picked, found)
                picked, n_rows = [], 0
        self._add_joined(picked, found)
        return [sums.with_rows() if isinstance(sums, PartSums) else sums for sums in found]

    def _add_joined(self, picked: list[list[PickedRows]], found: list[Any]) -> None:
        for request, sums, *parts in zip(self.requests, found, *picked):
            if any(part.n_rows for part in parts):
                self.add(request, PickedRows.joined(parts), sums)

    def empty(self, request: Any) -> Any:
        """Sums over no rows."""
        n_channels = self.criterion.n_channels(request.node)
        return PartSums.zeros(np.arange(request.n_parts), n_channels)

    def members(self, batch: Batch) -> Any:
        return self.routing.members(batch)

    def rows(self, batch: Batch, request: Any, found: Any, members: Any) -> np.ndarray:
        """Rows of a batch that a request needs, ascending."""
        return self.criterion.select(batch, request, members)

    def add(self, request: Any, rows: PickedRows, found: Any) -> None:
        from pellucid._core.kernels.surrogate_cost import add_entries

        values = rows.values.astype(np.float64)
        parts = request.parts(values)
        is_inside = (parts >= 0).nonzero()[0]
        if len(is_inside) < len(parts):
            rows, values, parts = rows.take(is_inside), values[is_inside], parts[is_inside]
        if rows.n_rows:
            terms = self.criterion.channels(request.node, request.feature, rows)
            add_entries(np.arange(len(parts)), parts, 0, terms, found.sums)
            np.minimum.at(found.lowest, parts, values)
            np.maximum.at(found.highest, parts, values)


class SideRequest(NamedTuple):
    """A threshold of a node, whose neighbouring values are wanted."""

    node: int
    feature: int
    threshold: float


@dataclass(frozen=True)
class NeighbourTask(ExactTask):
    """Largest value that is at most a threshold, and smallest above it, by request.

    `bins` has the bin of each threshold; `kind` says which rows are meant: ALL, ACTIVE or PASSIVE.
    """

    routing: Routing | OverlapRouting
    criterion: NodeRowSums
    requests: Sequence[SideRequest]
    bins: Sequence[int]
    kind: int = ALL

    def __call__(self, batch: Batch) -> np.ndarray:
        """Minus the largest value, and the smallest: (n_requests, 2)."""
        members, found = self.routing.members(batch), np.empty((len(self.requests), 2))
        is_meant = np.empty(len(batch.starts) - 1, dtype=bool)  # rows of each center
        last_bin = int(np.iinfo(batch.codes.dtype).max)
        for place, ((node, feature, threshold), number) in enumerate(zip(self.requests, self.bins)):
            if self.kind != ALL:
                is_meant[:] = self.kind == PASSIVE
                is_meant[self.criterion.centers_of_node[node]] = self.kind == ACTIVE
            # In the bin of the threshold and those beside it, or else in all bins.
            for first, last in ((max(number - 1, 0), number + 1), (0, last_bin)):
                rows = members.between(node, feature, first, last)
                if self.kind != ALL:
                    rows = rows[is_meant[batch.labels_of(rows)]]
                values = batch.columns[feature].take(rows).astype(np.float64)
                is_left = values <= threshold
                below = values.max(initial=-np.inf, where=is_left)
                above = values.min(initial=np.inf, where=~is_left)
                found[place] = -below, above
                if -np.inf < below and above < np.inf:
                    break
        return found

    def merge(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        return np.minimum(first, second)


@dataclass(frozen=True)
class NodeSizeTask(ExactTask):
    """Number of rows of some nodes."""

    routing: Routing | OverlapRouting
    nodes: list[int]

    def __call__(self, batch: Batch) -> np.ndarray:
        return np.array(list(map(len, self.routing.members(batch).groups(self.nodes).values())))


@dataclass(frozen=True)
class ColumnRangeTask(ExactTask):
    """Least and largest value of every column in some nodes."""

    routing: Routing | OverlapRouting
    nodes: list[int]

    def __call__(self, batch: Batch) -> np.ndarray:
        """Least values, and minus the largest: (n_nodes, 2, n_features)."""
        groups = self.routing.members(batch).groups(self.nodes)
        found = np.full((len(self.nodes), 2, batch.n_features), np.inf)
        for out, rows in zip(found, groups.values()):
            if len(rows):
                values = batch.columns[:, rows]
                out[:] = values.min(axis=1), -values.max(axis=1)
        return found

    def merge(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        return np.minimum(first, second)


@dataclass(frozen=True)
class CountTask(ExactTask):
    """Rows and weights of the leaves."""

    routing: Routing
    n_clusters: int

    def __call__(self, batch: Batch) -> np.ndarray:
        """Numbers of rows, and units of weight, by leaf and own center."""
        n_leaves, k = len(self.routing.left), self.n_clusters
        pairs = self.routing.leaves(batch).astype(np.intp) * k + batch.labels
        # Units are whole and their total is below 2**52, so that sums of floats are exact.
        sums = (np.bincount(pairs, w, n_leaves * k) for w in (None, batch.weights.units))
        return np.array([part.astype(np.int64).reshape(n_leaves, k) for part in sums])
