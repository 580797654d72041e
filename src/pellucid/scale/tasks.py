"""Tasks that all criteria share: sums over parts of columns, and extreme values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from pellucid._core.data.arrays import order_by
from pellucid.scale.batches import Batch
from pellucid.scale.columns import PartRequest, PartSums
from pellucid.scale.members import ALL
from pellucid.scale.routing import Routing


class NodeRowSums(Protocol):
    """What a criterion sums over the rows of a part; it is sent to the batches."""

    leaf_of_center: np.ndarray | None
    """The leaf of each center, -1 if it is not open. If given, only rows that are in the leaf of
    their own center count in the search.
    """

    def select(self, batch: Batch, request: PartRequest, leaf: np.ndarray, codes: np.ndarray):
        """Rows that count in the node of a request and are in its bins; `codes` are those of all
        rows in the column. Not needed if all rows count.
        """

    def n_channels(self, node: int) -> int:
        """Sums per part."""

    def channels(
        self, batch: Batch, node: int, feature: int, rows: np.ndarray, codes: np.ndarray
    ) -> np.ndarray:
        """The terms of some rows of a node: (len(rows), n_channels), int64.

        `codes` are the bins of the rows in the column.
        """


def requests_by_leaf(nodes: Sequence[int], routing: Routing) -> np.ndarray:
    """The requests of each leaf, if nodes[r] is the node of request r: (n_nodes, most per leaf).

    Where a leaf has fewer requests, the number is len(nodes), which stands for no request.
    """
    order, n_nodes = np.argsort(nodes, kind="stable"), len(routing.left)
    counts = np.bincount(nodes, minlength=n_nodes)
    place = np.arange(len(nodes)) - (counts.cumsum() - counts)[np.take(nodes, order)]
    table = np.full((n_nodes, int(counts.max())), len(nodes), dtype=np.uint64)
    table[np.take(nodes, order), place] = order
    return table


@dataclass(frozen=True)
class PartSumsTask:
    """Sums over the parts of several columns of several nodes."""

    routing: Routing
    criterion: NodeRowSums
    requests: Sequence[PartRequest]

    def __call__(self, batch: Batch) -> list[PartSums]:
        """Sums of one batch."""
        from pellucid.scale.kernels import add_values_by_part, extremes_by_part

        features = np.unique([request.feature for request in self.requests])
        slot = np.searchsorted(features, [request.feature for request in self.requests])
        codes, values = batch.column_codes(features), batch.values(features)
        found = []
        for request, s, rows in zip(self.requests, slot, self._rows(batch, codes, slot)):
            node, n_channels = request.node, self.criterion.n_channels(request.node)
            result = PartSums.empty(request.n_parts, n_channels)
            of_rows = values[s, rows].astype(np.float64)
            parts = request.parts(of_rows)
            is_inside = parts >= 0
            if not is_inside.all():
                rows, of_rows, parts = rows[is_inside], of_rows[is_inside], parts[is_inside]
            if len(rows):
                terms = self.criterion.channels(batch, node, request.feature, rows, codes[s, rows])
                add_values_by_part(parts, terms, result.sums)
                extremes_by_part(parts, of_rows, result.lowest, result.highest)
            found.append(result)
        return found

    def _rows(self, batch: Batch, codes: np.ndarray, slot: np.ndarray) -> list[np.ndarray]:
        """Rows of the nodes in the bins, by request."""
        from pellucid.scale.kernels import select_rows

        leaf, criterion = self.routing.leaves(batch), self.criterion
        if criterion.leaf_of_center is not None:
            pairs = zip(self.requests, slot.tolist())
            return [criterion.select(batch, request, leaf, codes[s]) for request, s in pairs]
        n_requests = len(self.requests)
        request_of_leaf = requests_by_leaf([r.node for r in self.requests], self.routing)
        bins = np.zeros((n_requests + 1, len(self.requests[0].bins)), dtype=np.uint8)
        for line, request in zip(bins, self.requests):
            line[:] = request.bins
        most = request_of_leaf.shape[1]
        rows, requests = np.empty((2, most * batch.n_rows + 1), dtype=np.int32)
        n = select_rows(
            leaf=leaf,
            request_of_leaf=request_of_leaf,
            codes=codes,
            slot=np.append(slot, 0).astype(np.uint64),
            bins=bins,
            rows=rows,
            requests=requests,
        )
        by_request = order_by(requests[:n], n_requests)
        ends = np.bincount(requests[:n], minlength=n_requests).cumsum()
        return np.split(rows[by_request], ends[:-1])

    def merge(self, first: list[PartSums], second: list[PartSums]) -> list[PartSums]:
        """Sums of two batches."""
        return [a.merge(b) for a, b in zip(first, second)]


class SideRequest(NamedTuple):
    """A threshold of a node, whose neighbouring values are wanted.

    Attributes
    ----------
    node, feature : int
    threshold : float
    """

    node: int
    feature: int
    threshold: float


@dataclass(frozen=True)
class NeighbourTask:
    """Largest value that is at most a threshold, and smallest above it, by request.

    Attributes
    ----------
    kind : int
        Which rows of the nodes are meant: one of `pellucid.scale.members`.
    """

    routing: Routing
    criterion: NodeRowSums
    requests: Sequence[SideRequest]
    kind: int = ALL

    def __call__(self, batch: Batch) -> np.ndarray:
        """Minus the largest value, and the smallest: (n_requests, 2)."""
        from pellucid.scale.kernels import find_neighbours

        nodes, features, thresholds = zip(*self.requests)
        leaf_of_center = self.criterion.leaf_of_center
        if leaf_of_center is None:
            leaf_of_center = np.full(len(batch.starts) - 1, -1, dtype=np.int32)
        used = np.unique(features)
        found = np.full((len(nodes) + 1, 2), np.inf)
        found[-1] = -np.inf
        find_neighbours(
            leaf=self.routing.leaves(batch),
            labels=batch.labels,
            members=(self.kind, leaf_of_center),
            request_of_leaf=requests_by_leaf(nodes, self.routing),
            columns=batch.values(used),
            slot=np.append(np.searchsorted(used, features), 0).astype(np.uint64),
            threshold=np.append(thresholds, 0.0),
            out=found,
        )
        return found[:-1]

    def merge(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Extremes of two batches."""
        return np.minimum(first, second)


@dataclass(frozen=True)
class ColumnRangeTask:
    """Least and largest value of every column in some nodes."""

    routing: Routing
    nodes: list[int]

    def __call__(self, batch: Batch) -> np.ndarray:
        """Least values, and minus the largest: (n_nodes, 2, n_features)."""
        leaf = self.routing.leaves(batch)
        found = np.full((len(self.nodes), 2, batch.n_features), np.inf)
        for out, node in zip(found, self.nodes):
            rows = (leaf == node).nonzero()[0]
            if len(rows):
                values = batch.columns[:, rows]
                out[:] = values.min(axis=1), -values.max(axis=1)
        return found

    def merge(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Extremes of two batches."""
        return np.minimum(first, second)
