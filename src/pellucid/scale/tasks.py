"""Tasks that all criteria share: sums over parts of columns, and extreme values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

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

    def select(self, batch: Batch, request: PartRequest, leaf: Any) -> np.ndarray:
        """Rows that count in the node of a request and are in its bins, ascending.

        `leaf` is what the routing found for the rows.
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


def rows_in_bins(batch: Batch, request: PartRequest, leaf: np.ndarray) -> np.ndarray:
    """All rows of the node of a request that are in its bins, ascending.

    NumPy compares many codes at once, and mostly the bins are neighbours.
    """
    codes, wanted = batch.codes[request.feature], request.bins.nonzero()[0]
    first, n_others = codes.dtype.type(wanted[0]), codes.dtype.type(wanted[-1] - wanted[0])
    # Smaller codes wrap around.
    rows = ((codes - first <= n_others) & (leaf == request.node)).nonzero()[0]
    if len(wanted) <= n_others:
        rows = rows[request.bins.take(codes.take(rows))]
    return rows.astype(np.int32)


@dataclass(frozen=True)
class PartSumsTask:
    """Sums over the parts of several columns of several nodes."""

    routing: Routing
    criterion: NodeRowSums
    requests: Sequence[PartRequest]

    def __call__(self, batch: Batch) -> list[PartSums]:
        """Sums of one batch."""
        from pellucid.scale.kernels import add_values_by_part, extremes_by_part

        found, leaf = [], self.routing.leaves(batch)
        for request in self.requests:
            node, feature = request.node, request.feature
            rows = self.criterion.select(batch, request, leaf)
            result = PartSums.empty(request.n_parts, self.criterion.n_channels(node))
            of_rows = batch.columns[feature].take(rows).astype(np.float64)
            parts = request.parts(of_rows)
            is_inside = parts >= 0
            if not is_inside.all():
                rows, of_rows, parts = rows[is_inside], of_rows[is_inside], parts[is_inside]
            if len(rows):
                codes = batch.codes[feature].take(rows)
                terms = self.criterion.channels(batch, node, feature, rows, codes)
                add_values_by_part(parts, terms, result.sums)
                extremes_by_part(parts, of_rows, result.lowest, result.highest)
            found.append(result)
        return found

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
        found = np.full((len(nodes) + 1, 2), np.inf)
        found[-1] = -np.inf
        find_neighbours(
            leaf=self.routing.leaves(batch),
            labels=batch.labels,
            members=(self.kind, leaf_of_center),
            request_of_leaf=requests_by_leaf(nodes, self.routing),
            columns=batch.columns,
            feature=np.append(features, 0).astype(np.uint64),
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
